"""The queries and grades of an exported gold set, read from whichever format the folder contains."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from apps.common.errors import InputError
from apps.common.files.csvsafe import restore_cell
from apps.goldsets.formats.slices import SLICES, BadSlices, read_slices, slice_called
from apps.goldsets.formats.verification import NotAnExport, verify
from apps.metrics.columns import Judged, judged_columns
from apps.metrics.vocabulary import Vocabulary

STRATA = ("domain", "query_type", "difficulty", "source")
HOW_TO_EXPORT = "Export it with karat export --format jsonl."


class ReleasedQuery(NamedTuple):
    """A query of the release. `fields` has the labels of its strata; empty where the format has none."""

    query_id: str
    text: str
    split: str
    fields: dict[str, str]


class Grade(NamedTuple):
    query_id: str
    block_id: str
    grade: int


class ReleaseSplit(NamedTuple):
    """One split of a release: the queries with a grade, by the bytes of their ids. `digest` is that of the version.

    `slices` has the ids of each slice's questions, those of queries and of triples, by its name and by its kind.
    `slice` is the name of the one whose queries these are, "" for all.
    """

    name: str
    digest: str
    split: str
    queries: tuple[ReleasedQuery, ...]
    grades: tuple[Grade, ...]
    slices: dict[str, frozenset[str]] = {}
    slice: str = ""

    def only(self, wanted: Collection[str]) -> ReleaseSplit:
        """The same release with these queries alone."""
        queries = tuple(query for query in self.queries if query.query_id in wanted)
        return self._replace(queries=queries, grades=tuple(row for row in self.grades if row.query_id in wanted))

    def in_slice(self, name: str) -> ReleaseSplit:
        """The queries of one slice. Raises NotAnExport where the release has no such slice, or none of its queries."""
        if name not in self.slices:
            known = ", ".join(sorted(self.slices)) or "none"
            raise NotAnExport(f"{self.name} has no slice called {name}. It has: {known}.")
        part = self.only(self.slices[name])._replace(slice=name)
        if not part.queries:
            raise NotAnExport(f"No query of the {name} slice of {self.name} is graded in this split.")
        return part

    def judged(self, blocks: Vocabulary) -> Judged:
        """The grades as columns, queries in the order of `queries`."""
        by_query: dict[str, list[Grade]] = {}
        for row in self.grades:
            by_query.setdefault(row.query_id, []).append(row)
        rows = ((q.query_id, row.block_id, row.grade) for q in self.queries for row in by_query[q.query_id])
        return judged_columns(rows, blocks)


class _Files:
    """The files of an exported folder or zip, by name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._archive = None if path.is_dir() else zipfile.ZipFile(path)

    def __contains__(self, name: str) -> bool:
        return (self.path / name).is_file() if self._archive is None else name in self._archive.namelist()

    def text(self, name: str) -> str:
        data = (self.path / name).read_bytes() if self._archive is None else self._archive.read(name)
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise self.fault(name, None, "", "", "is not UTF-8 text.") from None

    def lines(self, name: str) -> Iterator[tuple[int, str]]:
        """The number, from 1, and text of each line that is not empty."""
        return ((number, line) for number, line in enumerate(self.text(name).split("\n"), 1) if line)

    def fault(self, name: str, line: int | None, field: str, value: str, message: str) -> InputError:
        return InputError(str(self.path / name), line, field, value, message)


def read_release(path: Path, split: str | None = None) -> ReleaseSplit:
    """The queries and grades of one split of an exported version.

    `split` None means dev where the release has it, else everything; "" means everything. Raises NotAnExport for a
    folder that is no export or whose files differ from its manifest, and InputError for a file with an error.
    """
    report = verify(path)
    if not report.is_intact:
        raise NotAnExport(f"{path} was changed since it was exported. {report.faults[0]} Export it again.")
    files = _Files(path)
    read = next((reader for name, reader in FORMS.items() if name in files), None)
    if read is None:
        raise NotAnExport(f"{path} contains no queries with their texts. {HOW_TO_EXPORT}")
    queries, grades = read(files)
    splits = {query.split for query in queries}
    chosen = split if split is not None else ("dev" if "dev" in splits else "")
    if chosen and chosen not in splits:
        raise NotAnExport(
            f"{path} contains no {chosen} split. It contains {', '.join(sorted(splits - {''})) or 'no split'}."
        )
    return _release(report.manifest, path, chosen, queries, grades)._replace(slices=_slices(files))


def _slices(files: _Files) -> dict[str, frozenset[str]]:
    """The questions of each slice by its name, and by its kind: of the rotating ones those of the newest quarter."""
    if SLICES not in files:
        return {}
    try:
        rows = read_slices(files.text(SLICES))
    except BadSlices as fault:
        raise NotAnExport(f"{files.path}: {fault}") from None
    called = {name: slice_called(rows, name) for row in rows for name in (row.name, row.kind)}
    return {name: frozenset(row.ids) for name, row in called.items() if row is not None}


def _release(
    manifest: dict[str, Any], path: Path, split: str, queries: list[ReleasedQuery], grades: list[Grade]
) -> ReleaseSplit:
    inside = {query.query_id for query in queries if not split or query.split == split}
    side_grades = tuple(row for row in grades if row.query_id in inside)
    graded = {row.query_id for row in side_grades}
    if not graded:
        raise NotAnExport(f"{path} contains no grades{f' of the {split} split' if split else ''} to score against.")
    judged = sorted((query for query in queries if query.query_id in graded), key=lambda q: q.query_id.encode())
    gold_set = manifest.get("gold_set")
    name = f"{gold_set['name']} {manifest.get('version', '')}" if isinstance(gold_set, dict) else path.name
    return ReleaseSplit(name, str(manifest.get("digest", "")), split, tuple(judged), side_grades)


def _from_jsonl(files: _Files) -> tuple[list[ReleasedQuery], list[Grade]]:
    queries, grades = [], []
    for number, line in files.lines("jsonl/queries.jsonl"):
        row = _object(files, "jsonl/queries.jsonl", number, line, "query_id", "text")
        fields = {key: str(row.get(key) or "") for key in STRATA}
        split = str((row.get("metadata") or {}).get("split") or "")
        queries.append(ReleasedQuery(str(row["query_id"]), str(row["text"]), split, fields))
    for number, line in files.lines("jsonl/judgements.jsonl"):
        name = "jsonl/judgements.jsonl"
        row = _object(files, name, number, line, "query_id", "block_id", "grade")
        grade = _whole(files, name, number, "grade", str(row["grade"]))
        grades.append(Grade(str(row["query_id"]), str(row["block_id"]), grade))
    return queries, grades


def _from_beir(files: _Files) -> tuple[list[ReleasedQuery], list[Grade]]:
    queries, grades = [], []
    for number, line in files.lines("beir/queries.jsonl"):
        row = _object(files, "beir/queries.jsonl", number, line, "_id", "text")
        about = row.get("metadata") or {}
        fields = {"source": str(about.get("source") or "")}
        queries.append(ReleasedQuery(str(row["_id"]), str(row["text"]), str(about.get("split") or ""), fields))
    for split in sorted({query.split or "all" for query in queries}):
        name = f"beir/qrels/{split}.tsv"
        if name in files:
            grades += [_tabbed(files, name, number, line) for number, line in files.lines(name) if number > 1]
    return queries, grades


def _tabbed(files: _Files, name: str, number: int, line: str) -> Grade:
    parts = line.split("\t")
    if len(parts) != 3:
        raise files.fault(name, number, "", "", "does not contain query, block and grade, separated by tabs.")
    return Grade(parts[0], parts[1], _whole(files, name, number, "score", parts[2]))


def _from_csv(files: _Files) -> tuple[list[ReleasedQuery], list[Grade]]:
    name = "csv/judgements.csv"
    queries: dict[str, ReleasedQuery] = {}
    grades = []
    for number, row in enumerate(csv.DictReader(io.StringIO(files.text(name), newline="")), 2):
        try:
            query_id, text, block_id = (restore_cell(row[key]) for key in ("query_id", "query_text", "doc_id"))
            grade, split = row["grade"], row["split"]
        except (KeyError, TypeError):
            raise files.fault(name, number, "", "", "lacks query_id, query_text, doc_id, grade or split.") from None
        queries.setdefault(query_id, ReleasedQuery(query_id, text, split, {}))
        grades.append(Grade(query_id, block_id, _whole(files, name, number, "grade", grade)))
    return list(queries.values()), grades


def _object(files: _Files, name: str, number: int, line: str, *needed: str) -> dict[str, Any]:
    """The object of a line with all `needed` keys. Raises InputError."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise files.fault(name, number, "", "", "is not a JSON object.")
    for key in needed:
        if key not in values:
            raise files.fault(name, number, key, "", "is missing.")
    return values


def _whole(files: _Files, name: str, number: int, field: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise files.fault(name, number, field, text, f"'{text}' is not a whole number.") from None


FORMS: dict[str, Callable[[_Files], tuple[list[ReleasedQuery], list[Grade]]]] = {
    "jsonl/judgements.jsonl": _from_jsonl,
    "csv/judgements.csv": _from_csv,
    "beir/queries.jsonl": _from_beir,
}
