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
    return write_files(_files(content, labels, card_texts), folder, facts=facts)


def _files(content: Content, labels: Labels, card_texts: Mapping[str, str]) -> Files:
    name = f"{labels.title} {labels.version}"
    yield "CITATION.cff", iter([citation(labels)])
    yield "DATA_CARD.md", iter([card.card_bytes(name, card_texts)])
    yield "LICENSE", iter([licences.notice(name, labels.holder, labels.licence).encode()])
    yield "README.md", iter([readme(labels)])
    yield "example/search.py", iter([EXAMPLE])
    yield from jsonl.files(content)
    for file in SCHEMAS:
        yield f"schema/{file}.schema.json", iter([schema_bytes(file)])


def ten_lines(labels: Labels) -> list[str]:
    """The lines that lead from the zip file to a score; what is between backquotes is a command."""
    file, folder = labels.file_name, labels.stem
    program = f'--program "python3 {folder}/example/search.py"'
    return [
        "Unpack the zip; it holds all that is needed, and nothing is sent anywhere:",
        f"`python3 -m zipfile -e {file} {folder}`",
        "`pip install karat`",
        f"`karat verify {file}`",
        "Score the small search in the example, with a report and a run to keep:",
        f"`karat eval {file} {program} --html report.html --save-run results.trec`",
        "Then your own: `--program` starts it for each query, `--endpoint URL` asks it over HTTP, and a run is read by",
        f"`karat eval {file} --run results.trec`",
        "Read report.html: every figure has its n and its interval.",
        "Cite it as in CITATION.cff, with the version. DATA_CARD.md says what is in it and what is not.",
    ]


def readme(labels: Labels) -> bytes:
    lines = [f"{number}. {line}" for number, line in enumerate(ten_lines(labels), 1)]
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
    """The first file with a forbidden word in a text of the project, as it reads once decoded, and the word.

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
