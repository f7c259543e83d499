"""The documents, served by the app itself: to everybody who has signed in, with or without a project."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.dashboard.core.manual import ManualPage, rendered

FOLDER = Path(settings.BASE_DIR) / "docs"
SERVED = {".md", ".png", ".json"}
FIRST = ("tour.md", "tutorial.md", "glossary.md", "score.md", "pipelines.md", "compared.md", "operations.md")


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
