"""The queries, grades and triples of an exported gold set, read from whichever format the folder contains."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from apps.cli.evaluate.release_files import ReleaseFiles
from apps.cli.evaluate.release_triples import blocks_of, has_triples, triples_of
from apps.cli.evaluate.released import STRATA, Grade, ReleasedQuery, ReleasedTriple, ReleaseSplit
from apps.common.files.csvsafe import restore_cell
from apps.goldsets.formats.slices import SLICES, BadSlices, read_slices, slice_called
from apps.goldsets.formats.verification import PUBLIC, NotAnExport, verify

CITATION = "CITATION.cff"
HOW_TO_EXPORT = "Export it with karat export --format jsonl."


def read_release(path: Path, split: str | None = None) -> ReleaseSplit:
    """The queries, grades and triples of one split of an exported version.

    `split` None means dev where the release has it, else everything; of a public release always everything, since
    nothing in it is sealed. "" means everything. Raises NotAnExport for a folder that is no export or whose files
    differ from its manifest, and InputError for a file with an error.
    """
    report = verify(path)
    if not report.is_intact:
        raise NotAnExport(f"{path} was changed since it was exported. {report.faults[0]} Export it again.")
    files = ReleaseFiles(path)
    read = next((reader for name, reader in FORMS.items() if name in files), None)
    if read is None and not has_triples(files):
        raise NotAnExport(f"{path} contains no questions with their texts. {HOW_TO_EXPORT}")
    queries, grades = read(files) if read else ([], [])
    blocks = blocks_of(files) if has_triples(files) else {}
    triples = triples_of(files, queries, blocks)
    splits = {query.split for query in queries} | {one.asked.split for one in triples}
    usual = "dev" if "dev" in splits and report.manifest.get("format") != PUBLIC else ""
    chosen = usual if split is None else split
    if chosen and chosen not in splits:
        raise NotAnExport(
            f"{path} contains no {chosen} split. It contains {', '.join(sorted(splits - {''})) or 'no split'}."
        )
    release = _release(report.manifest, path, chosen, queries, grades, triples)
    return release._replace(blocks=blocks, slices=_slices(files), is_citable=CITATION in files)


def _slices(files: ReleaseFiles) -> dict[str, frozenset[str]]:
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
    manifest: dict[str, Any],
    path: Path,
    split: str,
    queries: list[ReleasedQuery],
    grades: list[Grade],
    triples: Sequence[ReleasedTriple],
) -> ReleaseSplit:
    inside = {query.query_id for query in queries if not split or query.split == split}
    side_grades = tuple(row for row in grades if row.query_id in inside)
    graded = {row.query_id for row in side_grades}
    side_triples = tuple(one for one in triples if not split or one.asked.split == split)
    if not graded and not side_triples:
        where = f" of the {split} split" if split else ""
        raise NotAnExport(f"{path} contains neither grades nor Q&As{where} to score against.")
    judged = sorted((query for query in queries if query.query_id in graded), key=lambda q: q.query_id.encode())
    gold_set = manifest.get("gold_set")
    name = f"{gold_set['name']} {manifest.get('version', '')}" if isinstance(gold_set, dict) else path.name
    return ReleaseSplit(name, str(manifest.get("digest", "")), split, tuple(judged), side_grades, side_triples)


def _from_jsonl(files: ReleaseFiles) -> tuple[list[ReleasedQuery], list[Grade]]:
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


def _from_beir(files: ReleaseFiles) -> tuple[list[ReleasedQuery], list[Grade]]:
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


def _tabbed(files: ReleaseFiles, name: str, number: int, line: str) -> Grade:
    parts = line.split("\t")
    if len(parts) != 3:
        raise files.fault(name, number, "", "", "does not contain query, block and grade, separated by tabs.")
    return Grade(parts[0], parts[1], _whole(files, name, number, "score", parts[2]))


def _from_csv(files: ReleaseFiles) -> tuple[list[ReleasedQuery], list[Grade]]:
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


def _object(files: ReleaseFiles, name: str, number: int, line: str, *needed: str) -> dict[str, Any]:
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


def _whole(files: ReleaseFiles, name: str, number: int, field: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise files.fault(name, number, field, text, f"'{text}' is not a whole number.") from None


FORMS: dict[str, Callable[[ReleaseFiles], tuple[list[ReleasedQuery], list[Grade]]]] = {
    "jsonl/judgements.jsonl": _from_jsonl,
    "csv/judgements.csv": _from_csv,
    "beir/queries.jsonl": _from_beir,
}
