"""The files of a public release, always the same bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from apps.goldsets.formats import jsonl
from apps.goldsets.formats.checksums import MANIFEST
from apps.goldsets.formats.content import Content
from apps.goldsets.formats.folder import Files, write_files
from apps.goldsets.formats.public import card, licences
from apps.goldsets.formats.public.client import CLIENT, PACKAGES, REQUIREMENTS, client_bytes, requirements_bytes
from apps.goldsets.formats.public.example import EXAMPLE
from apps.goldsets.formats.public.schemas import SCHEMAS, schema_bytes
from apps.goldsets.formats.public.words import WordSearch, texts_in


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
    return write_files(_files(content, labels, card_texts, facts["counts"]), folder, facts=facts)


def _files(content: Content, labels: Labels, card_texts: Mapping[str, str], counts: Mapping[str, int]) -> Files:
    name = f"{labels.title} {labels.version}"
    yield "CITATION.cff", iter([citation(labels)])
    yield "DATA_CARD.md", iter([card.card_bytes(name, card_texts)])
    yield CLIENT, iter([client_bytes()])
    yield REQUIREMENTS, iter([requirements_bytes()])
    yield "LICENSE", iter([licences.notice(name, labels.holder, labels.licence).encode()])
    yield "README.md", iter([readme(labels, counts)])
    yield "example/search.py", iter([EXAMPLE])
    yield from jsonl.files(content)
    for file in SCHEMAS:
        yield f"schema/{file}.schema.json", iter([schema_bytes(file)])


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
        f"Score the small search of the example, {_measured_by(counts)}: "
        f'`{score} --program "{example}" --html report.html --save-run example.trec`',
        "Read what it printed last: how sure the figures are, and what to do next. report.html has each with its n.",
        "Ask your own system: `--program` starts it for each question, `--endpoint URL` asks it over HTTP, and files of"
        " answers are read with `--run` and `--results`.",
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
        f' count: `{score} --program "{example} --own-passages" --hit evidence --save-results own.jsonl`'
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
    for name in (MANIFEST, "DATA_CARD.md", *(f"jsonl/{file}.jsonl" for file in SCHEMAS)):
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
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
