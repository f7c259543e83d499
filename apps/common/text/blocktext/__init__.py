"""The text of a block as safe HTML: its lines, code, links, lists and tables, with evidence lit.

`blocks` and `inline` parse the text into elements and never change it: `inline` by the signs in a line, `blocks` by
guesses about lines without signs too. `painting` writes HTML, also of a text without markup. Pages import from here.
"""

from apps.common.text.blocktext.painting import Span, difference, is_cut, merge, plain, quote, render

__all__ = ["Span", "difference", "is_cut", "merge", "plain", "quote", "render"]
