"""A version as a folder or a zip file, always the same bytes, with a manifest of every file: the table of its forms.

`python -m apps.goldsets.formats.folder docs/reference/files.md` writes what each form loses into the reference.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

from apps.goldsets.core.signing import SIGNATURE
from apps.goldsets.formats import (
    huggingface,
    jsonl,
    judgements,
    parquet_files,
    qrels,
    slices,
    trace_annotations,
    triples,
)
from apps.goldsets.formats.content import Content
from apps.goldsets.formats.zipping import CHECKSUMS, MANIFEST, checksums, write_zip

Sign = Callable[[bytes], bytes]
Files = Iterator[tuple[str, Iterator[bytes]]]

ALL_BUT = "everything but"


class Form(NamedTuple):
    """A form of an export: its words on the page, the imports that read it back, and what it loses.

    `read_by` is empty where none reads it. `needs_facts`: its writer also tells what the version is, from the manifest.
    `has_parquet`: its bytes depend on a library too. `has_answers`: what single people noted or answered is in it.
    `has_scores`: the scores of runs are in it; `has_traces`: where its pairs were returned. Neither is part of a
    version, so both are asked for by name.
    """

    write: Callable[..., Files]
    title: str
    about: str
    read_by: str
    lost: str
    needs_facts: bool = False
    has_parquet: bool = False
    has_answers: bool = False
    has_scores: bool = False
    has_traces: bool = False

    @property
    def is_by_name(self) -> bool:
        return self.has_scores or self.has_traces

    @property
    def loss(self) -> str:
        """As pages have it, which say Q&As for triples."""
        read = f"Read back by the import of {self.read_by}" if self.read_by else "No import reads it"
        return f"Loses {self.lost}. {read}.".replace("triples", "Q&As")


FORMS: dict[str, Form] = {
    "jsonl": Form(
        jsonl.files,
        "JSONL",
        "Q&As, queries, judgements and corpus, one object per line",
        "corpus, queries, triples, judgements",
        "nothing",
    ),
    "csv": Form(
        judgements.csv_files,
        "CSV",
        "One row per judged pair, for spreadsheets",
        "judgements",
        f"{ALL_BUT} the grade of each pair, with the query's text and the notes",
        has_answers=True,
    ),
    "xlsx": Form(
        judgements.xlsx_files,
        "Excel",
        "The same as a workbook, ids as text",
        "judgements",
        f"{ALL_BUT} the grade of each pair, with the query's text and the notes",
        has_answers=True,
    ),
    "relevance": Form(
        judgements.relevance_files,
        "Relevance",
        "query_id, query_text, doc_id, relevance, split, as CSV and Parquet",
        "judgements",
        f"{ALL_BUT} the grade of each pair, with the query's text and its split",
        has_parquet=True,
    ),
    "notes": Form(
        judgements.noted_files,
        "Grades with notes",
        "query_id, query_text, doc_id, doc_title, grade, notes, as CSV and workbook; notes as they were written",
        "judgements",
        f"{ALL_BUT} the grade of each pair, with the query's text, the passage's title and the notes",
        has_answers=True,
    ),
    "trec": Form(
        qrels.trec_files,
        "TREC",
        "Qrels and topics for trec_eval",
        "judgements, queries",
        "of grades their resolution and number of judges; of queries all but id, text, description and intent, and"
        " their line ends; passages and triples",
    ),
    "beir": Form(
        qrels.beir_files,
        "BEIR",
        "Corpus, queries and qrels by split",
        "corpus, queries, judgements",
        "of grades their resolution and number of judges; of queries all but id, text, split and source; of passages"
        " the title of their document and their metadata; triples",
    ),
    "parquet": Form(
        parquet_files.files,
        "Parquet",
        "The tables of JSONL, for pandas and data warehouses",
        "corpus, queries, triples, judgements",
        "nothing",
        has_parquet=True,
    ),
    "huggingface": Form(
        huggingface.files,
        "Hugging Face",
        "A folder with a data card for datasets.load_dataset",
        "corpus, queries, triples, judgements",
        "of grades their resolution and number of judges, as loaders expect it",
        needs_facts=True,
        has_parquet=True,
    ),
    "rag": Form(
        triples.rag_files,
        "RAG evaluation",
        "Question, contexts and ground truth of each Q&A, JSONL",
        "triples",
        "authors, reviewers, dates and resolution of triples; grades and passages nobody expects",
    ),
    "ragas": Form(
        triples.ragas_files,
        "ragas",
        "The same with the field names of ragas",
        "triples",
        f"{ALL_BUT} question, answer, and the expected passages with their ids",
    ),
    "yaml": Form(
        triples.yaml_files,
        "YAML",
        "Q&As, to read and edit by hand",
        "triples",
        f"{ALL_BUT} triples, which are whole",
    ),
    "letor": Form(
        qrels.letor_files,
        "Learning to rank",
        "SVMlight lines of LETOR: the grade, with the scores of runs as features",
        "",
        f"{ALL_BUT} the grades, the scores and the ids of each pair",
        has_scores=True,
    ),
    "annotations": Form(
        trace_annotations.files,
        "Trace annotations",
        "Grades of what your systems returned in traces, for Phoenix and for Langfuse",
        "",
        f"{ALL_BUT} the grades of passages that were returned in a trace whose ids were kept",
        needs_facts=True,
        has_answers=True,
        has_traces=True,
    ),
    "judgements": Form(
        judgements.files,
        "Single judgements",
        "Each person's grade, time and note, under a pseudonym",
        "judgements",
        f"{ALL_BUT} the answers of people; of these their names, and the passages that they marked",
        has_parquet=True,
        has_answers=True,
    ),
}
"""Every form there is, for the page, the command line, the API and the reference; they are written in this order."""
ALL = "all"
CHOICES = (*FORMS, ALL)


def chosen(formats: Iterable[str]) -> list[str]:
    """The names of the requested formats, in their fixed order; `all` means every one that holds the version alone."""
    wanted = set(formats)
    if unknown := wanted - set(CHOICES):
        raise ValueError(f"{', '.join(sorted(unknown))} is no form; use {', '.join(CHOICES)}")
    return [name for name, form in FORMS.items() if name in wanted or (ALL in wanted and not form.is_by_name)]


def write_folder(
    content: Content, folder: Path, *, formats: Sequence[str], facts: dict[str, Any], sign: Sign | None = None
) -> dict:
    """Write the files, the slices that go along, the manifest and the checksums to an empty folder.

    Returns the manifest. `facts` is the manifest without its list of files; `sign` turns the checksums into their
    signature. Raises Unwritable when a row does not fit a format; files written before stay.
    """
    forms = [FORMS[name] for name in chosen(formats)]
    files = (form.write(content, facts) if form.needs_facts else form.write(content) for form in forms)
    return write_files(chain(*files, slices.files(content)), folder, facts=facts, sign=sign)


def write_files(files: Files, folder: Path, *, facts: dict[str, Any], sign: Sign | None = None) -> dict[str, Any]:
    """Write the files, their manifest, which is `facts` with the files, and the checksums to an empty folder."""
    entries = [_write(folder / path, path, chunks) for path, chunks in files]
    listed = sorted(entries, key=lambda entry: entry["path"].encode())
    manifest = {**facts, "checksums": CHECKSUMS, "files": listed}
    if sign:
        manifest["signature"] = SIGNATURE
    data = manifest_bytes(manifest)
    (folder / MANIFEST).write_bytes(data)
    sums = checksums(manifest, data)
    (folder / CHECKSUMS).write_bytes(sums)
    if sign:
        (folder / SIGNATURE).write_bytes(sign(sums))
    return manifest


def manifest_bytes(manifest: dict[str, Any]) -> bytes:
    text = json.dumps(manifest, ensure_ascii=False, allow_nan=False, indent=2, sort_keys=True)
    return text.encode() + b"\n"


def _write(target: Path, path: str, chunks: Iterator[bytes]) -> dict[str, Any]:
    target.parent.mkdir(parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    with target.open("wb") as stream:
        for chunk in chunks:
            stream.write(chunk)
            digest.update(chunk)
            size += len(chunk)
    return {"path": path, "bytes": size, "sha256": digest.hexdigest()}


def zip_folder(folder: Path, stream: IO[bytes]) -> None:
    """Write the files of a folder to a zip file in its one form."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    sizes = [(path.relative_to(folder).as_posix(), path.stat().st_size) for path in paths]
    write_zip(sizes, lambda name: (folder / name).open("rb"), stream)


BEGIN, END = "<!-- losses: written by apps.goldsets.formats.folder -->", "<!-- end of losses -->"
HEADING = ("| form | read back by the import of | what it loses |", "| --- | --- | --- |")


def with_table(text: str) -> str:
    """The reference with what each form loses between its two marks."""
    rows = [f"| `{name}` | {form.read_by or 'none'} | {form.lost} |" for name, form in FORMS.items()]
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return "\n".join([f"{before}{BEGIN}", *HEADING, *rows, f"{END}{after}"])


if __name__ == "__main__":
    reference = Path(sys.argv[1])
    reference.write_text(with_table(reference.read_text()))
