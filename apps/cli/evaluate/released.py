"""A release read from its files: what it asks, and what its answers are measured against."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from apps.cli.score.triples import entries_in, facts_in, kinds_in, question_of, with_texts
from apps.common.errors import InputError
from apps.common.files.csvsafe import BYTE_ORDER_MARK, restore_cell
from apps.common.files.tabular import TableFile
from apps.gates.core.rule import GateRule, sample
from apps.goldsets.core.splits import originals_of
from apps.goldsets.formats.slices import SLICES, BadSlices, read_slices, slice_called
from apps.goldsets.formats.verification import PUBLIC, NotAnExport, verify
from apps.metrics.columns import Judged, facets_in, judged_columns
from apps.metrics.expected.rules import Question, Returned
from apps.metrics.vocabulary import Vocabulary
from apps.queries.core.strata import STRATA, label_of
from apps.triples.formats.entry import Entry


class ReleaseFiles:
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

    def table(self, name: str) -> TableFile:
        """The file for readers of tables; errors name it with the folder."""
        return TableFile(str(self.path / name), io.BytesIO(self.text(name).encode()))


class ReleasedQuery(NamedTuple):
    """A query of the release. `fields` has the labels of its strata, `facets` the ids of its subtopics, `metadata` the
    rest; empty where the format has none. `is_unanswerable` is known of JSONL alone.
    """

    query_id: str
    text: str
    split: str
    fields: dict[str, str]
    metadata: Mapping[str, Any] = {}
    facets: tuple[str, ...] = ()
    is_unanswerable: bool = False


class Grade(NamedTuple):
    """A grade of the release; `facets` are the subtopics that the block answers, None where nobody was asked."""

    query_id: str
    block_id: str
    grade: int
    facets: tuple[str, ...] | None = None


class ReleasedTriple(NamedTuple):
    """A triple of the release, with its kinds. It is asked as its query where it has one, else under its own id.

    `marked` are the texts that it marks in blocks, by the id of the block.
    """

    question: Question
    asked: ReleasedQuery
    fields: dict[str, str]
    kinds: tuple[str, ...] = ()
    marked: Mapping[str, tuple[str, ...]] = {}


WITH_SLICES = "An export has its slices when it is asked for them: karat export --slices."


class ReleaseSplit(NamedTuple):
    """One split of a release: the queries with a grade and the triples, each by the bytes of their ids.

    `digest` is that of the version. `blocks` are the passages of its corpus, where the release has them.

    `slices` has the ids of each slice's questions, those of queries and of triples, by its name and by its kind.
    `slice` is the name of the one whose queries these are, "" for all. `is_citable`: a file says how to cite it.
    `reference` names the version for commands, such as doors/v2, "" where the release does not say it.
    """

    name: str
    digest: str
    split: str
    queries: tuple[ReleasedQuery, ...]
    grades: tuple[Grade, ...]
    triples: tuple[ReleasedTriple, ...] = ()
    blocks: dict[str, Returned] = {}
    slices: dict[str, frozenset[str]] = {}
    slice: str = ""
    is_citable: bool = False
    reference: str = ""

    @property
    def asked(self) -> tuple[ReleasedQuery, ...]:
        """Every question that a system is asked: the graded queries, and those of the triples, each once."""
        by_id = {one.asked.query_id: one.asked for one in self.triples} | {one.query_id: one for one in self.queries}
        return tuple(sorted(by_id.values(), key=lambda one: one.query_id.encode()))

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions of the triples with their expected blocks."""
        return tuple(one.question for one in self.triples)

    def only(self, queries: Collection[str], triples: Collection[str]) -> ReleaseSplit:
        """The same release with these queries and these triples alone."""
        return self._replace(
            queries=tuple(query for query in self.queries if query.query_id in queries),
            grades=tuple(row for row in self.grades if row.query_id in queries),
            triples=tuple(one for one in self.triples if one.question.id in triples),
        )

    def in_slice(self, name: str) -> ReleaseSplit:
        """The questions of one slice. Raises NotAnExport where the release has no such slice, or none of them."""
        if name not in self.slices:
            known = f"It has: {', '.join(sorted(self.slices))}." if self.slices else f"It has none. {WITH_SLICES}"
            raise NotAnExport(f"{self.name} has no slice called {name}. {known}")
        part = self.only(self.slices[name], self.slices[name])._replace(slice=name)
        if not part.asked:
            raise NotAnExport(f"No question of the {name} slice of {self.name} is in this split.")
        return part

    def judged(self, blocks: Vocabulary) -> Judged:
        """The grades as columns, queries in the order of `queries`."""
        by_query: dict[str, list[Grade]] = {}
        for row in self.grades:
            by_query.setdefault(row.query_id, []).append(row)
        rows = ((q.query_id, row.block_id, row.grade) for q in self.queries for row in by_query[q.query_id])
        judged = judged_columns(rows, blocks)
        asked = [(place, q, row) for place, q in enumerate(self.queries) for row in by_query[q.query_id] if q.facets]
        numbers = blocks.numbers_of([row.block_id for _, _, row in asked]).tolist()
        facets = facets_in(
            (place, query.facets, row.facets, number, row.grade)
            for (place, query, row), number in zip(asked, numbers, strict=True)
            if row.facets is not None
        )
        originals = originals_of({query.query_id: query.metadata for query in self.queries})
        judged = replace(judged, facets=facets, originals=originals)
        unanswerable = [query.query_id for query in self.queries if query.is_unanswerable]
        return judged.with_unanswerable(unanswerable) if unanswerable else judged


TRIPLES = ("jsonl/triples.jsonl", "yaml/triples.yaml")
CORPUS = "jsonl/corpus.jsonl"
OF_TRIPLES = ("domain", "difficulty")
"""The strata that a triple names itself; the others are those of its query."""


def has_triples(files: ReleaseFiles) -> bool:
    return any(name in files for name in TRIPLES)


def blocks_of(files: ReleaseFiles) -> dict[str, Returned]:
    """The passages of the corpus by their ids; empty where the release has none. Raises InputErrors."""
    return facts_in(files.table(CORPUS)) if CORPUS in files else {}


def triples_of(
    files: ReleaseFiles, queries: Sequence[ReleasedQuery], blocks: dict[str, Returned]
) -> list[ReleasedTriple]:
    """Every triple of the release, by the bytes of their ids. Raises InputErrors with every bad line."""
    name = next((name for name in TRIPLES if name in files), None)
    entries = sorted(entries_in(files.table(name)), key=lambda one: one.id.encode()) if name else []
    told = [question_of(entry) for entry in entries]
    questions = with_texts(told, blocks)
    asked = _asked(entries, {query.query_id: query for query in queries})
    return [
        ReleasedTriple(question, query, _fields(entry, query), tuple(kinds_in(entry)), _marked(one))
        for entry, one, question, query in zip(entries, told, questions, asked, strict=True)
    ]


def _marked(question: Question) -> dict[str, tuple[str, ...]]:
    return {block.block_id: block.evidence for block in question.expected if block.evidence}


def _asked(entries: Sequence[Entry], known: dict[str, ReleasedQuery]) -> Iterator[ReleasedQuery]:
    """What each triple is asked as, with the split of the triple. Two of one query are asked once."""
    texts = {query.query_id: query.text for query in known.values()}
    for entry in entries:
        name = entry.query_id or entry.id
        fields = known[name].fields if name in known else {}
        yield ReleasedQuery(name, texts.setdefault(name, entry.question), entry.split or "", fields)


def _fields(entry: Entry, query: ReleasedQuery) -> dict[str, str]:
    return {field: getattr(entry, field) if field in OF_TRIPLES else query.fields.get(field, "") for field in STRATA}


CITATION = "CITATION.cff"
HOW_TO_EXPORT = "Export it with karat export --format jsonl."


def read_release(path: Path, split: str | None = None, *, with_corpus: bool = False) -> ReleaseSplit:
    """The queries, grades and triples of one split of an exported version.

    `split` None means dev where the release has it, else everything; of a public release always everything, since
    nothing in it is sealed. "" means everything. The passages of the corpus are read for triples, and `with_corpus`.

    Raises NotAnExport for a folder that is no export or whose files
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
    blocks = blocks_of(files) if with_corpus or has_triples(files) else {}
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
    found = ReleaseSplit(name, str(manifest.get("digest", "")), split, tuple(judged), side_grades, side_triples)
    return found._replace(reference=reference_in(manifest))


def reference_in(manifest: dict[str, Any]) -> str:
    """The name of the version for commands, such as doors/v2; "" where the manifest does not say it."""
    gold_set, version = manifest.get("gold_set"), manifest.get("version")
    slug = gold_set.get("slug") if isinstance(gold_set, dict) else None
    return f"{slug}/{version}" if slug and version else ""


def _from_jsonl(files: ReleaseFiles) -> tuple[list[ReleasedQuery], list[Grade]]:
    queries, grades = [], []
    for number, line in files.lines("jsonl/queries.jsonl"):
        row = _object(files, "jsonl/queries.jsonl", number, line, "query_id", "text")
        fields = {key: label_of(row, key) for key in STRATA}
        about = row.get("metadata") or {}
        facets = tuple(str(facet["id"]) for facet in row.get("facets") or ())
        named = str(row["query_id"]), str(row["text"]), str(about.get("split") or "")
        queries.append(ReleasedQuery(*named, fields, about, facets, row.get("unanswerable") is not None))
    for number, line in files.lines("jsonl/judgements.jsonl"):
        name = "jsonl/judgements.jsonl"
        row = _object(files, name, number, line, "query_id", "block_id", "grade")
        grade = _whole(files, name, number, "grade", str(row["grade"]))
        answered = None if row.get("facets") is None else tuple(map(str, row["facets"]))
        grades.append(Grade(str(row["query_id"]), str(row["block_id"]), grade, answered))
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
    table = io.StringIO(files.text(name).removeprefix(BYTE_ORDER_MARK), newline="")
    for number, row in enumerate(csv.DictReader(table), 2):
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


def asked_of(release: ReleaseSplit, rules: Sequence[GateRule], *, part: str, tier: str, seed: int) -> ReleaseSplit:
    """The release with the queries to ask: of the slice `part`, or in the smoke tier a sample and the slices that gates
    name. Raises NotAnExport where the release has no such slice.
    """
    if part:
        return release.in_slice(part)
    if tier != "smoke":
        return release
    queries = [query.query_id for query in release.queries]
    triples = [one.id for one in release.questions]
    named = (rule.slice.value for rule in rules if rule.slice is not None and rule.slice.is_named)
    in_slices = set().union(*(release.slices.get(name, ()) for name in named))
    return release.only(
        in_slices.union(queries[place] for place in sample(queries, seed=seed)),
        in_slices.union(triples[place] for place in sample(triples, seed=seed)),
    )
