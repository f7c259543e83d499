"""The files of a public release, always the same bytes, with their schemas, an example and the command line.

A name on a package index can be anybody's. What a release tells people to run is therefore inside it, byte for byte,
and what it takes from an index is named by digest.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import apps
from apps.goldsets.formats import jsonl
from apps.goldsets.formats.content import Content
from apps.goldsets.formats.folder import Files, write_files
from apps.goldsets.formats.public import card, croissant
from apps.goldsets.formats.public.words import WordSearch, texts_in
from apps.goldsets.formats.zipping import MANIFEST, write_zip

CLIENT = "client/karat.pyz"
REQUIREMENTS = "client/requirements.txt"
PACKAGES = "client/packages"
NEEDED = ("numpy", "pyyaml", "scipy", "urllib3")
"""The packages that `karat eval` cannot do without; `karat verify` needs Python alone."""
ROOT = Path(apps.__path__[0]).resolve().parent
ENTRY = ("apps/config/__init__.py", "apps/config/commandline.py")
COMMANDS = "apps/cli"
DATA = ("apps/reports/formats/report.css",)
MAIN = b'''"""Karat's commands that need no server. Packages are found in the folder `packages` beside this file."""

import sys
from pathlib import Path

sys.path.insert(1, str(Path(sys.argv[0]).resolve().parent / "packages"))

from apps.config.commandline import main

sys.exit(main())
'''


@cache
def client_bytes() -> bytes:
    """The zipapp: `apps.cli` with all that it imports, and the entry of the command line. Always the same bytes."""
    files = {"__main__.py": MAIN} | {path: (ROOT / path).read_bytes() for path in {*_modules(), *ENTRY, *DATA}}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    name, version = project["name"], project["version"]
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    files[f"{name.replace('-', '_')}-{version}.dist-info/METADATA"] = metadata.encode()
    stream = io.BytesIO()
    write_zip([(name, len(data)) for name, data in files.items()], lambda name: io.BytesIO(files[name]), stream)
    return stream.getvalue()


@cache
def requirements_bytes() -> bytes:
    """The needed packages with the digests of their files, as the lock file of this Karat has them."""
    blocks = re.split(r"\n(?=\S)", (ROOT / "requirements.lock").read_text())
    return "".join(f"{block.rstrip()}\n" for block in blocks if block.partition("==")[0] in NEEDED).encode()


def _modules() -> set[str]:
    """The paths of the modules of `apps.cli` and of all that they import, wherever in them the import stands."""
    found: set[str] = set()
    waiting = [path.relative_to(ROOT) for path in (ROOT / COMMANDS).rglob("*.py")]
    while waiting:
        path = waiting.pop()
        if path.as_posix() not in found:
            found.add(path.as_posix())
            waiting += [folder / "__init__.py" for folder in path.parents if folder.parts]
            waiting += [known for name in _imports(path) if (known := _path_of(name))]
    return found


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse((ROOT / path).read_bytes())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


def _path_of(module: str) -> Path | None:
    if module.split(".")[0] != "apps":
        return None
    path = Path(*module.split("."))
    known = (path.with_suffix(".py"), path / "__init__.py")
    return next((one for one in known if (ROOT / one).is_file()), None)


BUNDLED = Path(__file__).parent / "release"
"""Files that go out as they are here: a JSON Schema for each file in the folder jsonl, and the example, a script."""
TABLES = ("corpus", "queries", "judgements", "triples")


@dataclass(frozen=True)
class Order:
    """What people choose for a release. `card` None has it drafted."""

    title: str
    holder: str
    licence: str
    splits: tuple[str, ...]
    card: Mapping[str, str] | None = None


class Labels(NamedTuple):
    """How the release is called, in its texts and in the name of its zip file."""

    title: str
    version: str
    slug: str
    holder: str
    licence: str

    @property
    def file_name(self) -> str:
        return f"{self.slug}-{self.version}-public.zip"

    @property
    def stem(self) -> str:
        return self.file_name.removesuffix(".zip")


def write_public_folder(
    content: Content, folder: Path, *, labels: Labels, card_texts: Mapping[str, str], facts: dict[str, Any]
) -> dict[str, Any]:
    """Write all files and the manifest to an empty folder; return the manifest. `facts` is it without its files."""
    return write_files(_files(content, folder, labels, card_texts, facts), folder, facts=facts)


def _files(
    content: Content, folder: Path, labels: Labels, card_texts: Mapping[str, str], facts: Mapping[str, Any]
) -> Files:
    """Each file is written to `folder` before the next is asked for: the last ones describe the others."""
    name, counts = f"{labels.title} {labels.version}", facts["counts"]
    yield "CITATION.cff", iter([citation(labels)])
    yield "DATA_CARD.md", iter([card.card_bytes(name, card_texts)])
    yield CLIENT, iter([client_bytes()])
    yield REQUIREMENTS, iter([requirements_bytes()])
    yield "LICENSE", iter([card.notice(name, labels.holder, labels.licence).encode()])
    yield "README.md", iter([readme(labels, counts)])
    yield "example/search.py", iter([(BUNDLED / "search.py.txt").read_bytes()])
    yield from jsonl.files(content)
    schemas = {table: (BUNDLED / f"{table}.schema.json").read_bytes() for table in TABLES}
    for table, schema in schemas.items():
        yield f"schema/{table}.schema.json", iter([schema])
    lines = {table: folder / f"jsonl/{table}.jsonl" for table in TABLES}
    described = croissant.description(
        name=name,
        about=_described_by(counts),
        holder=labels.holder or labels.title,
        licence=labels.licence,
        version=labels.version,
        frozen=facts["frozen"],
        schemas={table: json.loads(schema) for table, schema in schemas.items()},
        files={table: (path.stat().st_size, digest_of_file(path)) for table, path in lines.items()},
    )
    yield croissant.FILE, iter([described])


def _described_by(counts: Mapping[str, int]) -> str:
    parts = (("passages", "passages"), ("queries", "queries"), ("pairs", "graded pairs"), ("triples", "Q&As"))
    held = ", ".join(f"{counts[kind]:,} {words}" for kind, words in parts if counts[kind])
    return f"A gold set to measure retrieval with: {held}. DATA_CARD.md says what is in it and what is not."


def ten_lines(labels: Labels, counts: Mapping[str, int]) -> list[str]:
    """The lines that lead from the zip file to a score; what is between backquotes is typed.

    `counts` are those of what goes out, by kind: the lines say what this release is measured by.
    """
    file, folder = labels.file_name, labels.stem
    karat = f"python3 {folder}/{CLIENT}"
    score, example = f"{karat} eval {file}", f"python3 {folder}/example/search.py"
    install = f"python3 -m pip install --require-hashes --target {folder}/{PACKAGES} -r {folder}/{REQUIREMENTS}"
    return [
        "Unpack the zip; it holds all that is needed, and nothing is sent anywhere: "
        f"`python3 -m zipfile -e {file} {folder}`",
        "The command line is in it; it needs Python 3.11 or newer. Check that every byte is as released: "
        f"`{karat} verify {file}`",
        f"Fetch the packages that scoring needs, into this folder and each by its digest: `{install}`",
        f"Rank all questions with the small search of the example, `{example} example.trec`, and score that,"
        f" {_measured_by(counts)}: `{score} --run example.trec --html report.html`",
        "Read what it printed last: how sure the figures are, and what to do next. report.html has each with its n.",
        "Measure your own system: files of answers, as the example writes them, are read with `--run` and `--results`;"
        " `--endpoint URL` asks it over HTTP, and `--program` starts it once for each question.",
        _own_line(counts, score, example),
        f"See what was missed, and what came first instead: `{score} --run example.trec --misses misses.jsonl`",
        "In a pipeline add `--gates gates.toml`: a missed gate ends with code 1. Compare two systems question by"
        f" question, here a system with itself: `{score} --run example.trec --baseline example.trec`",
        "Cite it as in CITATION.cff, with the version. DATA_CARD.md says what is in it and what is not.",
    ]


def _measured_by(counts: Mapping[str, int]) -> str:
    if not counts["triples"]:
        return "by the grades that people gave"
    if not counts["pairs"]:
        return "on Q&As, by the passages that they expect"
    return "by the grades that people gave and on Q&As by the passages that they expect, side by side"


def _own_line(counts: Mapping[str, int], score: str, example: str) -> str:
    """What a system returns: of its own passages grades know nothing."""
    if not counts["triples"]:
        return "It returns ids of passages, the block_id in jsonl/corpus.jsonl, best first: grades are of those."
    return (
        "It returns our ids of passages, or passages of its own with text, document and pages; `--hit` says when those"
        f" count: `{example} --own-passages own.jsonl`, `{score} --results own.jsonl --hit evidence`"
    )


def readme(labels: Labels, counts: Mapping[str, int]) -> bytes:
    lines = [f"{number}. {line}" for number, line in enumerate(ten_lines(labels, counts), 1)]
    return "\n".join([f"# {labels.title} {labels.version}", "", *lines, ""]).encode()


def citation(labels: Labels) -> bytes:
    """Citation File Format 1.2; strings in JSON's form are strings of YAML too."""
    lines = [
        "cff-version: 1.2.0",
        f"message: {_quoted('Cite this data as below, with its version.')}",
        "type: dataset",
        f"title: {_quoted(labels.title)}",
        f"version: {_quoted(labels.version)}",
        f"license: {labels.licence}",
        "authors:",
        f"  - name: {_quoted(labels.holder or labels.title)}",
    ]
    return "\n".join([*lines, ""]).encode()


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def first_forbidden(folder: Path, labels: Labels, search: WordSearch) -> tuple[str, str] | None:
    """The first file with a text that must not go out, as it reads once decoded, and that text.

    Karat's own words, which are the same in every release, are not searched.
    """
    if found := search.find_in([labels.title, labels.slug, labels.holder]):
        return "README.md", found.word
    for name in (MANIFEST, "DATA_CARD.md", *(f"jsonl/{table}.jsonl" for table in TABLES)):
        if found := search.find_in(_texts(name, folder / name)):
            return name, found.word
    return None


def _texts(name: str, path: Path) -> Iterator[str]:
    if name.endswith(".jsonl"):
        with path.open("rb") as lines:
            for line in lines:
                yield from texts_in(json.loads(line))
    elif name == MANIFEST:
        facts = json.loads(path.read_bytes())
        yield from texts_in([facts["gold_set"], facts["scale"], facts["agreement"]])
    else:
        yield path.read_text()


def digest_of_file(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
