"""The text of a block as safe HTML: its lines, code, links, lists and tables, with evidence lit.

`blocks` and `inline` parse the text into elements and never change it, by the signs of `lines` and the `guesses` about
lines without signs; `written` takes a text without markup as it is; `painting` writes HTML. Pages import from here.
"""

from apps.common.text.blocktext.painting import Span, difference, is_cut, merge, plain, quote, render

__all__ = ["Span", "difference", "is_cut", "merge", "plain", "quote", "render"]
