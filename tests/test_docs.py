"""What the documents say is so: links lead somewhere, commands are there, the printed output is printed."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from apps.common.templatetags.karat import TERMS
from apps.config import commandline
from apps.corpus.formats import FORMATS as CORPUS
from apps.dashboard.pages.manual import manual_page
from apps.dashboard.pages.shell import HELP
from apps.judging.formats.judgements import FORMATS as JUDGEMENTS
from apps.metrics.measures import registry, sets
from apps.queries.formats import FORMATS as QUERIES
from apps.triples.formats import FORMATS as TRIPLES
from tests.conftest import REPO
from tests.house import LADDER
from tests.metrics import test_measure_families

PAGES = sorted(
    [*(REPO / "docs").rglob("*.md"), *(REPO / name for name in ("README.md", "CHANGELOG.md", "SECURITY.md"))]
)
REFERENCE = REPO / "docs" / "reference"
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^ *```[^\n]*\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
HOST = re.compile(r"https?://([^/\s\"'`)>:]+)")
ISSUERS = {"login.example.org", "accounts.google.com", "login.microsoftonline.com"}  # typed letter by letter
STANDARDS = {"ir-measur.es", "semver.org", "www.standardwebhooks.com"}
ALLOWED_HOSTS = {"localhost", "karat.example.org", "example.org", "search"} | STANDARDS | ISSUERS
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|tmp|root|home|Users|srv|mnt)/")


def each(pages):
    return pytest.mark.parametrize("page", pages, ids=lambda page: str(page.relative_to(REPO)))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and others make them."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def after(text: str, heading: str) -> str:
    """What stands under a heading of the second level."""
    return text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


@each(PAGES)
def test_links_lead_to_files_and_headings_that_are_there(page):
    for link in LINK.findall(FENCE.sub("", page.read_text())):
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{page.name}: {link}"


@pytest.mark.parametrize(
    ("heading", "forms"),
    [("Corpus", CORPUS), ("Queries", QUERIES), ("Triples", TRIPLES), ("Judgements", JUDGEMENTS)],
)
def test_the_forms_of_files_are_those_of_the_table_that_page_api_and_shell_offer(heading, forms):
    """The choices of all three, and what a refusal lists, come from one table for each kind of import."""
    told = after((REFERENCE / "imports.md").read_text(), heading)
    usage = re.search(r"--format ([\w|-]+)", told)

    assert usage is not None
    assert [form for form in forms if f"`{form}`" not in told and form not in usage[1].split("|")] == []


@pytest.mark.parametrize("link", sorted({one.page for one in (*HELP.values(), *TERMS.values())}))
def test_what_pages_of_the_app_link_to_is_there(link):
    """The help of a page and the words that explain themselves lead to a heading of the documents."""
    name, _, anchor = link.partition("#")

    assert not anchor or anchor in anchors(REPO / "docs" / name)
    assert not anchor or anchor in manual_page(name).anchors


@each(PAGES)
def test_pages_name_no_machine_and_no_foreign_host(page):
    text = page.read_text()

    assert MACHINE_PATH.search(text) is None
    assert set(HOST.findall(text)) <= ALLOWED_HOSTS


def test_the_command_line_reference_names_every_command_and_no_other():
    headings = re.findall(r"^## karat (.+)$", (REFERENCE / "cli.md").read_text(), re.MULTILINE)
    commands = {*commandline.WHOLE, *commandline.PURE, *(" ".join(words) for words in commandline.MANAGED)}

    assert sorted(headings) == sorted(commands)


@each([page for page in PAGES if page.parent.name != "adr"])
def test_commands_that_pages_print_are_there(page):
    words = {words[0] for words in commandline.MANAGED} | {*commandline.WHOLE, *commandline.PURE}
    for block in FENCE.findall(page.read_text()):
        for line in re.findall(r"^(?:\$ )?(?:karat|python3 manage\.py) ([a-z][\w-]*)", block, re.MULTILINE):
            assert line in words, f"{page.name}: karat {line}"


@pytest.mark.parametrize("command", ["agree", "score"])
def test_the_options_that_the_reference_lists_are_those_the_command_has(capsys, command):
    with pytest.raises(SystemExit):
        commandline.main([command, "--help"])
    told = set(re.findall(r"--[a-z][a-z-]+", capsys.readouterr().out)) - {"--help"}
    written = after((REFERENCE / "cli.md").read_text(), f"karat {command}")

    assert set(re.findall(r"--[a-z][a-z-]+", written)) == told


def test_every_variable_is_described_and_none_that_nobody_reads():
    files = ("apps/config/settings.py", "apps/backups/management/console.py")
    settings = "".join((REPO / name).read_text() for name in files)
    read = set(
        re.findall(r"(?:environ\.get\(|environ\[|_flag\(|_words\(|_text\(|_above_zero\()\"([A-Z_]+)\"", settings)
    )
    described = set()
    for row in re.findall(r"^\| (`[A-Z].+?) \|", (REFERENCE / "settings.md").read_text(), re.MULTILINE):
        described |= set(re.findall(r"`([A-Z_]+)`", row))

    assert described == read


READ = {"", ".py", ".md", ".html", ".js", ".toml", ".yml", ".lock"}
STRANGERS = re.compile(
    r"(?:pip3? install|pipx install|pipx run|uvx|uv tool (?:run|install)|uv add)\s[^\n`]*?(?<![\w./-])karat(?![\w./-])"
)


def test_nothing_tells_anybody_to_install_the_program_of_a_stranger():
    """`karat` on the package index is not ours, and no file names it behind an install command."""
    listed = subprocess.run(["git", "ls-files"], cwd=REPO, capture_output=True, text=True).stdout.split("\n")
    paths = [REPO / name for name in listed if name and not name.startswith("tests/")]
    texts = {path: path.read_text() for path in paths if path.suffix in READ and path.is_file()}

    assert len(texts) > 1000
    assert [str(path) for path, text in texts.items() if STRANGERS.search(text)] == []


@pytest.mark.parametrize(
    "line",
    ["pip install karat", "python -m pip install --user karat", "uvx karat", "pipx install karat", "uv add karat"],
)
def test_a_line_that_installs_it_is_seen(line):
    assert STRANGERS.search(line)
    assert not STRANGERS.search(line.replace("karat", "dist/karat_gold-0.1.0-py3-none-any.whl"))


def test_the_readme_fits_on_two_screens():
    assert len((REPO / "README.md").read_text().splitlines()) <= 100


def test_the_score_page_prints_what_it_says(tmp_path, monkeypatch, capsys):
    section = after((REPO / "docs" / "score.md").read_text(), "Two files, one command")
    qrels, run, session = FENCE.findall(section)
    (tmp_path / "qrels.txt").write_text(qrels)
    (tmp_path / "bm25.txt").write_text(run)
    command, _, printed = session.partition("\n")
    monkeypatch.chdir(tmp_path)

    assert commandline.main(shlex.split(command.removeprefix("$ karat "))) == 0
    found = capsys.readouterr()
    assert found.out == printed
    assert f"`{found.err.strip()}`" in section


def test_every_row_of_the_threats_names_tests_that_are_there():
    rows = re.findall(r"^\| (?!---|what )(.+) \|$", (REFERENCE / "threats.md").read_text(), re.MULTILINE)
    named = {row: re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", row) for row in rows}

    assert len(rows) > 40
    assert [row for row, tests in named.items() if not tests] == []
    for file, test in (one for tests in named.values() for one in tests):
        assert re.search(rf"def {test}\(", (REPO / file).read_text()), f"{file}::{test}"


@pytest.mark.parametrize("name", ["judging.png", "comparison.png"])
def test_pictures_are_small(name):
    assert (REPO / "docs" / "images" / name).stat().st_size < 150_000


@each([page for page in PAGES if page.name != "glossary.md"])
def test_pages_speak_calmly(page):
    prose = FENCE.sub("", page.read_text())

    assert re.search(r"\w!(?:\s|$)", prose) is None
    assert re.search(r"\b(?:please|simply|easily)\b", prose, re.IGNORECASE) is None


def test_the_worked_example_of_contributing_works(monkeypatch):
    page = (REPO / "docs" / "contributing.md").read_text()
    test, values, entries = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    family = dict(vars(sets))
    exec(values, family)
    (entry,) = eval(f"({entries})", family)
    monkeypatch.setitem(registry.REGISTRY, entry.name, entry)
    monkeypatch.setitem(registry._NAMES, entry.name.lower(), entry)

    own = dict(vars(test_measure_families))
    exec(test, own)
    (name,) = set(own) - set(vars(test_measure_families))
    own[name]()


def test_the_glossary_has_each_word_once_and_explains_it_in_plain_words():
    page = (REPO / "docs" / "glossary.md").read_text()
    rows = re.findall(r"^\| (?!word |---)(.+?) \| (.+) \|$", page, re.MULTILINE)
    words = [word for cell, _ in rows for word in cell.split(", ")]

    assert sorted(words) == sorted(set(words))
    assert {"passage", "question and answer", "Q&A", "estimate", "floor plan", "layer"} <= set(words)
    assert re.findall(r"\b(?:tells?|told|says?|said|stands?|lies?|holds?|held|asks?|asked|found|waits?)\b", page) == []


FOLDERS = {"apps", "benchmarks", "docs", "static", "templates", "tests"}


@each([page for page in PAGES if page.name != "CHANGELOG.md"])
def test_modules_that_pages_name_are_there(page):
    text = page.read_text()
    files = re.findall(r"`([\w-]+/[\w/.-]+\.(?:py|js|css|html))\b", text)
    modules = re.findall(r"`((?:apps\.)?(\w+)\.(?!toml|jsonl?|csv)[\w.]+)`", text)
    named = [file if file.split("/")[0] in FOLDERS else f"apps/{file}" for file in files]
    named = [path for path in named if path.split("/")[0] != "apps" or path.split("/")[1] in LADDER]
    own = [name.removeprefix("apps.").split(".") for name, app in modules if app in {*LADDER, "apps"}]

    assert [path for path in named if not (REPO / path).exists()] == []
    assert [".".join(parts) for parts in own if parts[0] in LADDER and not is_module(parts)] == []


def is_module(parts: list[str]) -> bool:
    """Whether the app, and the first name after it, are there."""
    path = REPO.joinpath("apps", *parts[:2])
    return path.is_dir() or path.with_suffix(".py").exists() or parts[-1].startswith("__")
