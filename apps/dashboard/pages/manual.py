"""The documents, served by the app itself: to everybody who has signed in, with or without a project."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

COMMENT = re.compile(r"^<!--.*?-->$", re.MULTILINE)
"""What our documents say to those who write them."""
SCROLL = '<div class="scroll" tabindex="0" role="region" aria-label="{}">'


class ManualPage(NamedTuple):
    """`title` is the text of the first heading, `anchors` those of all."""

    title: str
    html: str
    anchors: frozenset[str]


def rendered(text: str, name: str, names: frozenset[str]) -> ManualPage:
    """The page `name` from its Markdown. A link to a file that is not among `names` is shown as its words."""
    tokens = _MARKDOWN.parse(COMMENT.sub("", text))
    headings = [_named(token, words) for token, words in pairwise(tokens) if _is_heading(token)]
    _without_ways_out(tokens, name, names)
    _without_styles(tokens)
    html = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    return ManualPage(headings[0] if headings else name, html, frozenset(anchor(words) for words in headings))


def anchor(heading: str) -> str:
    """The anchor of a heading, as GitHub and others make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def _is_heading(token: Token) -> bool:
    return token.type == "heading_open"


def _named(token: Token, words: Token) -> str:
    token.attrSet("id", anchor(words.content))
    return words.content.replace("`", "")


def _without_ways_out(tokens: Sequence[Token], name: str, names: frozenset[str]) -> None:
    for token in tokens:
        open_links: list[bool] = []
        for part in token.children or ():
            if part.type == "link_open":
                open_links.append(_leads_out(str(part.attrGet("href")), name, names))
            if part.type in {"link_open", "link_close"} and open_links[-1]:
                part.tag, part.attrs = "span", {}
            if part.type == "link_close":
                open_links.pop()


def _without_styles(tokens: Sequence[Token]) -> None:
    """Cells of an aligned column: the pages' content policy applies no style that is written in them."""
    for token in tokens:
        if style := token.attrs.pop("style", None):
            token.attrSet("data-align", str(style).removeprefix("text-align:"))


def _leads_out(href: str, name: str, names: frozenset[str]) -> bool:
    path = href.partition("#")[0]
    if not path or "://" in href or href.startswith("mailto:"):
        return False
    return normpath(join(dirname(name), path)) not in names


def _table_open(_renderer: RendererHTML, *_rest: Any) -> str:
    return SCROLL.format("Table") + '<table class="data">'


def _table_close(_renderer: RendererHTML, *_rest: Any) -> str:
    return "</table></div>"


def _fence(renderer: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    return f"{SCROLL.format('Code')}{RendererHTML.fence(renderer, tokens, at, options, env)}</div>"


_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_MARKDOWN.add_render_rule("table_open", _table_open)
_MARKDOWN.add_render_rule("table_close", _table_close)
_MARKDOWN.add_render_rule("fence", _fence)


FOLDER = Path(settings.BASE_DIR) / "docs"
SERVED = {".md", ".png", ".json"}
FIRST = (
    "tour.md",
    "first-day.md",
    "tutorial.md",
    "glossary.md",
    "score.md",
    "pipelines.md",
    "in-a-test-suite.md",
    "retrievers.md",
    "compared.md",
    "operations.md",
)


class ManualPart(NamedTuple):
    """Pages under one heading of the contents, each with its name and title."""

    title: str
    pages: list[tuple[str, str]]


@cache
def files() -> dict[str, Path]:
    """What is served, by its path below the folder."""
    found = sorted(path for path in FOLDER.rglob("*") if path.suffix in SERVED)
    return {path.relative_to(FOLDER).as_posix(): path for path in found}


@cache
def manual_page(name: str) -> ManualPage:
    """Raises KeyError where there is no such page."""
    return rendered(files()[name].read_text(encoding="utf-8"), name, frozenset(files()))


@cache
def contents() -> list[ManualPart]:
    pages = [name for name in files() if name.endswith(".md")]
    rest = [name for name in pages if "/" not in name and name not in FIRST]
    return [
        ManualPart("First", _titled(name for name in FIRST if name in files())),
        ManualPart("Reference", _titled(name for name in pages if name.startswith("reference/"))),
        ManualPart("The program", _titled([*rest, *(name for name in pages if name.startswith("adr/"))])),
    ]


def _titled(names: Iterable[str]) -> list[tuple[str, str]]:
    return [(name, manual_page(name).title) for name in names]


@login_required
@require_safe
def manual(request: HttpRequest) -> HttpResponse:
    return render(request, "dashboard/manual.html", {"parts": contents()})


@login_required
@require_safe
def manual_file(request: HttpRequest, name: str) -> HttpResponseBase:
    """A page of the documents, or a picture or schema that one shows. Raises Http404 for any other file."""
    path = files().get(name)
    if path is None:
        raise Http404("No such page of the documents.")
    if path.suffix != ".md":
        return FileResponse(path.open("rb"))
    return render(request, "dashboard/manual_page.html", {"page": manual_page(name)})
