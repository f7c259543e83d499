"""Markdown that people wrote for each other, as safe HTML."""

import nh3
from markdown_it import MarkdownIt

_MARKDOWN = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
_DIRECTED = ("p", "h2", "h3", "h4", "ul", "ol", "table")
_TAGS = {
    *("p", "br", "hr", "h2", "h3", "h4", "ul", "ol", "li", "strong", "em", "code", "pre", "blockquote"),
    *("a", "table", "thead", "tbody", "tr", "th", "td"),
}


def to_html(markdown: str) -> str:
    """Render a guideline's Markdown. Raw HTML is shown as text; links leave without a referrer.

    Each paragraph and heading has the direction of its own letters.
    """
    html = _MARKDOWN.render(markdown)
    html = html.replace("<h1>", "<h2>").replace("</h1>", "</h2>")
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes={"a": {"href"}},
        url_schemes={"http", "https", "mailto"},
        set_tag_attribute_values={tag: {"dir": "auto"} for tag in _DIRECTED},
    )
