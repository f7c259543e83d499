"""Markdown that people wrote for each other, as safe HTML."""

import nh3
from markdown_it import MarkdownIt

_MARKDOWN = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
_DIRECTED = ("p", "h2", "h3", "h4", "ul", "ol", "table")
_TAGS = {
    *("p", "br", "hr", "h2", "h3", "h4", "ul", "ol", "li", "strong", "em", "code", "pre", "blockquote"),
    *("a", "table", "thead", "tbody", "tr", "th", "td"),
}


def _inside_or_named(tag: str, attribute: str, value: str) -> str | None:
    """An address with a scheme, or one on this site. Browsers read `//host` and `/\\host` as another site."""
    return None if value.lstrip().replace("\\", "/").startswith("//") else value


def to_html(markdown: str) -> str:
    """Render a guideline's Markdown. Raw HTML is shown as text; links leave without a referrer, and
    only to addresses that name their scheme.

    Each paragraph and heading has the direction of its own letters.
    """
    html = _MARKDOWN.render(markdown)
    html = html.replace("<h1>", "<h2>").replace("</h1>", "</h2>")
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes={"a": {"href"}},
        attribute_filter=_inside_or_named,
        url_schemes={"http", "https", "mailto"},
        set_tag_attribute_values={tag: {"dir": "auto"} for tag in _DIRECTED},
    )
