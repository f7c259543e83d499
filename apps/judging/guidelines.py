"""The text of a guideline as safe HTML, and what one must say. No database."""

from collections.abc import Sequence
from typing import Any, TypedDict

import nh3
from markdown_it import MarkdownIt

FEW_EXAMPLES = 5
MANY_EXAMPLES = 10

_MARKDOWN = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
_TAGS = {
    *("p", "br", "hr", "h2", "h3", "h4", "ul", "ol", "li", "strong", "em", "code", "pre", "blockquote"),
    *("a", "table", "thead", "tbody", "tr", "th", "td"),
}


class GradeText(TypedDict):
    """What a guideline says of one grade."""

    grade: int
    name: str
    definition: str
    examples: list[str]


def to_html(markdown: str) -> str:
    """Render a guideline's Markdown. Raw HTML is shown as text; links leave without a referrer."""
    html = _MARKDOWN.render(markdown)
    html = html.replace("<h1>", "<h2>").replace("</h1>", "</h2>")
    return nh3.clean(html, tags=_TAGS, attributes={"a": {"href"}}, url_schemes={"http", "https", "mailto"})


def fault(grades: Any, scale: Sequence[int]) -> str | None:
    """Say what is missing in a guideline's grades, or None when each grade of the scale is defined."""
    if not isinstance(grades, list) or [entry.get("grade") for entry in grades] != sorted(scale):
        return f"A guideline defines each grade of the scale once: {', '.join(map(str, sorted(scale)))}."
    for entry in grades:
        if not str(entry.get("name", "")).strip():
            return f"Grade {entry['grade']} has no name."
        if not str(entry.get("definition", "")).strip():
            return f"Grade {entry['grade']} has no definition. Say when it is given."
        if not all(isinstance(example, str) and example.strip() for example in entry.get("examples", [])):
            return f"An example of grade {entry['grade']} is empty."
    return None


def few_examples(grades: Sequence[GradeText]) -> list[int]:
    """List the grades with fewer examples than judges need to tell them apart (five)."""
    return [entry["grade"] for entry in grades if len(entry["examples"]) < FEW_EXAMPLES]


def highest_first(grades: Sequence[GradeText]) -> list[GradeText]:
    """Order a guideline's grades as people read them: what answers all comes first."""
    return sorted(grades, key=lambda entry: entry["grade"], reverse=True)
