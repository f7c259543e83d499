"""Words that the project no longer uses, refused in code and templates; the glossary has those that it uses.

Names are checked: of files, and in Python, JavaScript, CSS and the tags and attributes of templates. Prose is free, and
so are the names of tests and whatever is in a migration.
"""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from tests.conftest import REPO

RETIRED = {
    "whereabouts": "breakdowns",
    "curtain": "hidden",
    "veil": "blinded",
    "gatekeep": "gates",
    "chore": "periodic task",
    "outlook": "forecast",
    "creep": "grade shift",
    "leaning": "person effect",
}
"""Each word with the one that is used instead. A part of a name is refused when it begins with the word."""

ANY_RETIRED = re.compile("|".join(RETIRED), re.IGNORECASE)
FOLDERS = ("apps", "templates", "static", "tests", "benchmarks")
PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def files(*suffixes: str) -> list[Path]:
    found = [path for folder in FOLDERS for path in sorted((REPO / folder).rglob("*")) if path.suffix in suffixes]
    return [path for path in found if "migrations" not in path.parts]


def retired_in(name: str) -> list[str]:
    parts = [part.lower() for part in PART.findall(name)]
    return [word for word in RETIRED if any(part.startswith(word) for part in parts)]


def names_of_python(text: str) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and not token.string.startswith("test_"):
            yield token.string


def names_of_template(text: str) -> Iterator[str]:
    """The words in tags, and the values of the attributes that name something."""
    text = re.sub(r"{% comment %}.*?{% endcomment %}|{#.*?#}", "", text, flags=re.DOTALL)
    for inside in re.findall(r"{[{%](.*?)[%}]}", text, re.DOTALL):
        yield from re.findall(r"[\w-]+", re.sub(r"(?:trans|plural:)\s*\"[^\"]*\"", "", inside))
    yield from re.findall(r"\b(?:class|id|for|name)=\"([^\"{]*)\"", text)
    yield from re.findall(r"\b(data-[\w-]+)", text)


def names_of_script(text: str) -> Iterator[str]:
    text = re.sub(r"^\s*//.*$|/\*.*?\*/|\"[^\"\n]*\"|`[^`]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    yield from re.findall(r"[A-Za-z_$][\w$]*", text)


def names_of_style(text: str) -> Iterator[str]:
    yield from re.findall(r"(?:[.#]|--)[A-Za-z][\w-]*", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))


READERS = {".py": names_of_python, ".html": names_of_template, ".js": names_of_script, ".css": names_of_style}


@pytest.mark.parametrize("suffix", READERS)
def test_no_name_uses_a_retired_word(suffix):
    wrong = [
        f"{path.relative_to(REPO)}: {name}, better: {RETIRED[word]}"
        for path in files(suffix)
        if ANY_RETIRED.search(text := path.read_text(encoding="utf-8"))
        for name in sorted(set(READERS[suffix](text)))
        for word in retired_in(name)
    ]

    assert wrong == []


def test_no_file_is_named_with_a_retired_word():
    assert [str(path.relative_to(REPO)) for path in files(*READERS) if retired_in(path.stem)] == []


@pytest.mark.parametrize(
    ("reads", "text", "name"),
    [
        (names_of_python, "def add_veil(rule): ...\n", "add_veil"),
        (names_of_template, '<p class="outlook">{{ eta.creep }}</p>', "outlook"),
        (names_of_template, '<p class="outlook">{{ eta.creep }}</p>', "creep"),
        (names_of_script, "const curtainOf = 1; // veil", "curtainOf"),
        (names_of_style, ".outlook { color: var(--veil); }", "--veil"),
    ],
)
def test_names_are_seen_where_they_are(reads, text, name):
    assert name in set(reads(text))
    assert retired_in(name)


def url_names(resolver: URLResolver | None = None) -> Iterator[str]:
    for pattern in (resolver or get_resolver()).url_patterns:
        if isinstance(pattern, URLPattern):
            yield str(pattern.name or "")
        else:
            yield str(pattern.namespace or "")
            yield from url_names(pattern)


def test_names_of_urls_have_hyphens():
    names = set(url_names())

    assert len(names) > 150
    assert sorted(name for name in names if "_" in name) == []


TOO_GENERAL = {"Row", "Part", "Change", "Beside", "Against", "Standing"}
"""Names of classes that leave open of what."""


def test_names_of_classes_say_of_what():
    wrong = [
        f"{path.relative_to(REPO)}: {name}"
        for path in files(".py")
        if path.parts[len(REPO.parts)] == "apps"
        for name in re.findall(r"^ *class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        if name in TOO_GENERAL
    ]

    assert wrong == []


OTHER_TITLES = {"Import passages": "Import documents", "<h1>Corpus</h1>": "<h1>Documents</h1>"}
"""Titles of pages and buttons that had two names, with the one that the navigation has."""


def test_pages_call_a_thing_as_the_navigation_does():
    wrong = [
        f"{path.relative_to(REPO)}: {title}, better: {better}"
        for path in files(".html", ".py")
        if path.parts[len(REPO.parts)] in {"templates", "apps"}
        for title, better in OTHER_TITLES.items()
        if title in path.read_text(encoding="utf-8")
    ]

    assert wrong == []
