"""Style sheets: no class without a use, no use without a style, and each component dressed in one file."""

import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from apps.common.web.assets import imported
from tests.conftest import REPO

CSS = REPO / "static" / "css"
COMPONENTS = CSS / "components"
PAPER = COMPONENTS / "print.css"
"""A medium and no component: what it takes off the paper is dressed elsewhere."""
REPORTS = REPO / "apps" / "reports" / "formats"
"""Reports are documents of their own, with a style sheet of their own."""
RETIRED = {
    "again", "also-changed", "apart", "asked", "asks", "because", "beside", "blank", "bone", "by", "came", "conv",
    "deck", "f", "find", "firsts", "found", "from", "given", "held", "here", "n", "nextq", "own", "past", "pick",
    "press", "push", "q", "read", "s2", "said", "seg", "send", "shut", "stay-reasons", "still", "strip", "told",
    "tried", "walk-keys", "warned", "what", "when", "why",
}  # fmt: skip

TAG = re.compile(r"\{%.*?%\}|\{#.*?#\}", re.S)
ATTRIBUTE = re.compile(r"(?<![\w-])class=([\"'])((?:\{%.*?%\}|\{\{.*?\}\}|(?!\1).)*?)\1", re.S)
DESK = re.compile(r"\{% block desk_class %\}(.*?)\{% endblock %\}")
LITERAL = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'|`([^`]*)`")
NAME = r"[a-z][\w-]*"


def sheets() -> list[Path]:
    return sorted(CSS.rglob("*.css"))


def named(path: Path) -> str:
    return path.relative_to(CSS).as_posix()


@cache
def selectors(path: Path) -> list[str]:
    """Every selector of a sheet, those of a list one by one."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    heads = [head.strip() for head in re.findall(r"[^{};]+(?=\{)", text)]
    return [one for head in heads if head[:1] != "@" for one in apart(head)]


def apart(head: str) -> list[str]:
    """The selectors of a list; a comma in brackets divides nothing."""
    flat = head
    while (closed := re.sub(r"\(([^()]*)\)", lambda inner: f"\1{inner[1].replace(',', chr(2))}\3", flat)) != flat:
        flat = closed
    back = str.maketrans({"\1": "(", "\2": ",", "\3": ")"})
    return [one.strip().translate(back) for one in flat.split(",")]


def classes(selector: str) -> list[str]:
    return re.findall(rf"\.({NAME})", re.sub(r"\"[^\"]*\"", "", selector))


def dressed() -> set[str]:
    return {name for path in sheets() for selector in selectors(path) for name in classes(selector)}


@cache
def written_by(folder: str, ending: str) -> dict[Path, str]:
    paths = (REPO / folder).rglob(f"*.{ending}")
    return {path: path.read_text() for path in paths if "migrations" not in path.parts}


@cache
def in_templates() -> dict[str, set[str]]:
    """Words of class attributes, with the templates they stand in; a part that Django fills in is an asterisk."""
    found = defaultdict(set)
    for path, text in written_by("templates", "html").items():
        for value in [match[2] for match in ATTRIBUTE.finditer(text)] + DESK.findall(text):
            branches = re.sub(r"\{%\s*el(?:se|if)\b.*?%\}", " ", value)
            for word in re.sub(r"\{\{.*?\}\}", "*", TAG.sub("", branches)).split():
                found[word].add(path.relative_to(REPO).as_posix())
    return found


@cache
def literals() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Words that Python and templates' tags hand over; those of scripts; beginnings that a value is put behind."""
    python = list(written_by("apps", "py").values())
    tags = [tag for text in written_by("templates", "html").values() for tag in TAG.findall(text)]
    words = {word for text in [*python, "\n".join(tags)] for word in plain(text)}
    script = {word for text in written_by("static/js", "js").values() for word in scripted(text)}
    return (
        frozenset(words),
        frozenset(script),
        frozenset(re.findall(rf"f\"(?:{NAME} )*({NAME}-)\{{", "\n".join(python))),
    )


def plain(text: str) -> set[str]:
    """What could be classes: strings of nothing else, and the class attributes of markup in strings."""
    strings = ["".join(groups) for groups in LITERAL.findall(text)]
    names = [one for one in strings if re.fullmatch(rf" *{NAME}(?: {NAME})* *", one)]
    return {word for one in names + re.findall(r"class=\\?[\"']([\w -]+)", text) for word in one.split()}


def scripted(text: str) -> set[str]:
    named_in = {name for groups in LITERAL.findall(text) for name in classes("".join(groups).replace('"', ""))}
    return named_in | plain(text)


def is_filled(name: str) -> bool:
    """Whether a template or Python makes this name by putting a value behind (or between) letters."""
    patterns = [re.escape(word).replace(r"\*", r"[\w-]+") for word in in_templates() if "*" in word and word != "*"]
    return any(re.fullmatch(pattern, name) for pattern in patterns) or name.startswith(tuple(literals()[2]))


def test_every_class_of_the_style_sheets_is_used():
    words, script, _ = literals()
    used = set(in_templates()) | words | script

    assert sorted(name for name in dressed() - used if not is_filled(name)) == []


def test_every_class_of_the_templates_is_dressed_or_read_by_a_script():
    known = dressed() | literals()[1]

    assert {name: where for name, where in in_templates().items() if "*" not in name and name not in known} == {}


def test_every_class_that_python_writes_is_dressed():
    written = {
        word
        for path, text in written_by("apps", "py").items()
        if "class" in text and REPORTS not in path.parents
        for value in re.findall(r"class(?:=\\?[\"']|_=\")([a-z][\w -]*)[\"']", text)
        for word in value.split()
    }

    assert sorted(written - dressed()) == []


def test_a_component_is_dressed_in_one_file():
    """The class that a selector begins with belongs to the file that it stands in."""
    homes = defaultdict(set)
    for path in set(COMPONENTS.glob("*.css")) - {PAPER}:
        for selector in selectors(path):
            for name in classes(re.split(r"[ >+~]", selector)[0])[:1]:
                homes[name].add(named(path))

    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_the_sheet_of_a_page_dresses_its_own_and_only_places_components():
    """A class of a page is in one sheet. Of a component it says something only where it stands in something else."""
    sheets_of_components = set(COMPONENTS.glob("*.css")) - {PAPER}
    shared = {name for path in sheets_of_components for one in selectors(path) for name in classes(one)}
    own, bare = defaultdict(set), []
    for path in CSS.glob("*.css"):
        for selector in selectors(path):
            names = set(classes(selector))
            for name in names - shared:
                own[name].add(named(path))
            if names & shared == names and len(names) == 1 and "#" not in selector:
                bare.append(f"{named(path)}: {selector}")

    assert {name: files for name, files in own.items() if len(files) > 1} == {}
    assert bare == []


def test_no_retired_name_is_back():
    assert sorted(RETIRED & (dressed() | set(in_templates()))) == []


def test_the_sheet_of_every_page_has_each_component_and_the_paper_last():
    shared = [named(path) for path in imported(CSS / "shared.css")]

    assert sorted(shared) == sorted(["tokens.css", *(named(path) for path in COMPONENTS.glob("*.css"))])
    assert (shared[0], shared[-1]) == ("tokens.css", named(PAPER))


def test_every_sheet_of_a_page_is_linked_and_every_link_has_a_sheet():
    linked = re.findall(r"css/([\w/-]+\.css)", "".join(written_by("templates", "html").values()))

    assert set(linked) == {named(path) for path in CSS.glob("*.css")} - {"tokens.css"}


@pytest.mark.parametrize("path", sheets(), ids=named)
def test_a_stylesheet_says_in_its_first_line_what_it_styles(path):
    assert re.fullmatch(r"/\* .*[.] \*/", path.read_text().splitlines()[0])


def test_figures_of_what_is_read_and_judged_stand_on_the_line():
    """Of every rule that sets the serif by a shorthand, which resets figures; and no font that has only old ones."""
    rules = [rule for path in sheets() for rule in re.findall(r"\{([^{}]*)\}", path.read_text())]
    serif = [rule for rule in rules if re.search(r"font:[^;]*--font-read", rule)]

    assert not [rule for rule in rules if "oldstyle-nums" in rule]
    assert [rule for rule in serif if "lining-nums" not in rule] == []
    assert "Georgia" not in (CSS / "tokens.css").read_text() + (REPORTS / "report.css").read_text()
