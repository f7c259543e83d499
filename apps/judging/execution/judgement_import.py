"""Reading judgements made elsewhere: from rows to pairs of a snapshot, with every fault."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from apps.accounts.models import Project
from apps.common.database.bulk import chunks
from apps.common.digests import digest_of_lines
from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.near_ids import Proposal, propose_fit
from apps.common.files.tabular import TableFile
from apps.corpus.models import Snapshot, SnapshotBlock
from apps.judging.core.resolution import resolve
from apps.judging.formats.judgements import QRELS_COLUMNS, Columns, GradeMap, JudgementRow, read_judgements
from apps.judging.formats.ratings import RatingColumns
from apps.queries.models import Query

AT_ONCE = 500
QUERIES, PASSAGES = "queries", "passages"
Fits = Mapping[str, Mapping[str, str]]
"""Known ids by ids of a file, for queries and for passages."""


class Graded(NamedTuple):
    """One imported judgement, by our keys. `rater` is who gave it, in a file with several."""

    line: int
    query_id: int
    version_id: int
    grade: int
    note: str
    rater: str = ""

    @property
    def pair(self) -> tuple[int, int]:
        """Query and block version."""
        return self.query_id, self.version_id


class JudgementDraft(NamedTuple):
    """A parsed file of judgements, before anything is stored.

    `skipped` counts rows that the grade map leaves out, `unknown` rows whose query or block does not exist here; the
    errors name each such row. `digest` covers ids, grades and the snapshot, not the file's form. `rulings` are the
    final grades that are not the grade of more than half of a pair's raters. `near` has a rule for unknown ids that
    nearly fit, by QUERIES and PASSAGES.
    """

    rows: list[Graded]
    skipped: int
    unknown: int
    by_grade: dict[int, int]
    errors: ErrorList
    is_spoilt: bool
    digest: str
    rulings: dict[tuple[int, int], int] = {}
    unsettled: int = 0
    near: dict[str, Proposal] = {}

    @property
    def raters(self) -> list[str]:
        """The raters of the file, by name; none where the importer is the annotator of all."""
        return sorted({row.rater for row in self.rows if row.rater})

    @property
    def mark(self) -> str:
        """The end of the origin of a round made of these judgements."""
        return f"judgements sha256:{self.digest}"

    @property
    def queries(self) -> int:
        """How many queries have judgements."""
        return len({row.query_id for row in self.rows})


class _Reader:
    """Matches rows to the project's queries and the snapshot's blocks, chunk by chunk."""

    def __init__(
        self, project: Project, snapshot: Snapshot, source: TableFile, columns: Columns, fits: Fits | None = None
    ) -> None:
        self.project = project
        self.fits: Fits = fits or {}
        self.strange: dict[str, dict[str, None]] = {QUERIES: {}, PASSAGES: {}}
        self.query_column = "query_id"
        self.by_text = False
        if isinstance(columns, RatingColumns):
            self.query_column, self.by_text = columns.query, columns.by_text
        self.snapshot = snapshot
        self.source = source
        self.errors = ErrorList()
        self.rows: list[Graded] = []
        self.lines: list[str] = []
        self.skipped = 0
        self.unknown = 0
        self.is_spoilt = False
        self.queries: dict[str, int | None] = {}
        self.doubtful: set[str] = set()
        self.finals: dict[tuple[int, int], int] = {}
        self.faulted: set[tuple[int, str]] = set()

    def take(self, chunk: Sequence[JudgementRow]) -> None:
        if self.fits:
            chunk = [self._fitted(row) for row in chunk]
        blocks = self._blocks({row.doc_id for row in chunk})
        self._learn_queries({row.query_id for row in chunk})
        for row in chunk:
            if row.grade is None:
                self.skipped += 1
                continue
            query, version = self.queries[row.query_id], blocks.get(row.doc_id)
            if query is None or version is None:
                self._unknown(row, query, version)
            elif off := [grade for grade in (row.grade, row.final) if grade not in (None, *self.project.grades)]:
                self._fault(row, "grade", str(off[0]), "is not on the scale of this project; map it")
            else:
                self._keep(row, query, version, row.grade)

    def _fitted(self, row: JudgementRow) -> JudgementRow:
        queries, passages = self.fits.get(QUERIES, {}), self.fits.get(PASSAGES, {})
        return row._replace(
            query_id=queries.get(row.query_id, row.query_id), doc_id=passages.get(row.doc_id, row.doc_id)
        )

    def _keep(self, row: JudgementRow, query: int, version: int, grade: int) -> None:
        self.rows.append(Graded(row.line, query, version, grade, row.notes, row.rater))
        parts = [row.query_id, row.doc_id, *([row.rater] if row.rater else []), str(grade)]
        self.lines.append("\t".join(parts))
        if row.final is not None and (query, version) not in self.finals:
            self.finals[(query, version)] = row.final
            self.lines.append(f"{row.query_id}\t{row.doc_id}\t\t{row.final}")

    def _unknown(self, row: JudgementRow, query: int | None, version: int | None) -> None:
        self.unknown += 1
        if query is None:
            self.strange[QUERIES].setdefault(row.query_id)
            which = "is the text of two queries; name queries by id" if row.query_id in self.doubtful else ""
            self._fault(row, self.query_column, row.query_id, which or "is not a query of this project", spoils=False)
        if version is None:
            self.strange[PASSAGES].setdefault(row.doc_id)
            self._fault(row, row.doc_column, row.doc_id, "is not a passage of this snapshot", spoils=False)

    def _fault(self, row: JudgementRow, field: str, value: str, message: str, *, spoils: bool = True) -> None:
        """Add a fault once for its line, however many raters the line has."""
        self.is_spoilt = self.is_spoilt or spoils
        if (row.line, f"{field}{value}") in self.faulted:
            return
        self.faulted.add((row.line, f"{field}{value}"))
        self.errors.add(self.source.error(row.line, field, value, f"'{value}' {message}"))

    def _learn_queries(self, ids: set[str]) -> None:
        new = [outside_id for outside_id in ids if outside_id not in self.queries]
        if not new:
            return
        name = "text" if self.by_text else "outside_id"
        known: dict[str, int] = {}
        for written, pk in Query.objects.filter(project=self.project, **{f"{name}__in": new}).values_list(name, "pk"):
            if written in known:
                self.doubtful.add(written)
            known[written] = pk
        self.queries.update({each: None if each in self.doubtful else known.get(each) for each in new})

    def near(self) -> dict[str, Proposal]:
        """A rule for the unknown ids of queries, and one for those of passages, where there is one."""
        found: dict[str, Proposal] = {}
        if self.strange[QUERIES] and not self.by_text:
            known = set(Query.objects.filter(project=self.project).values_list("outside_id", flat=True))
            taken = [query_id for query_id, key in self.queries.items() if key is not None]
            if near := propose_fit(self.strange[QUERIES], known, taken=taken):
                found[QUERIES] = near
        if self.strange[PASSAGES]:
            blocks = SnapshotBlock.objects.filter(snapshot=self.snapshot)
            known = set(blocks.values_list("block__outside_id", flat=True))
            if near := propose_fit(self.strange[PASSAGES], known, may_merge=True):
                found[PASSAGES] = near
        return found

    def _blocks(self, ids: set[str]) -> dict[str, int]:
        rows = SnapshotBlock.objects.filter(snapshot=self.snapshot, block__outside_id__in=ids)
        return dict(rows.values_list("block__outside_id", "version_id"))


def read_draft(
    source: TableFile,
    *,
    project: Project,
    snapshot: Snapshot,
    format: str,
    columns: Columns = QRELS_COLUMNS,
    grades: GradeMap | None = None,
    match: Collection[str] = (),
) -> JudgementDraft:
    """Read a file of judgements against a snapshot. Raises nothing: faults are in the draft's errors.

    `match` names what to read by the rule for ids that nearly fit: QUERIES, PASSAGES or both. The file is then read
    twice.
    """
    read = partial(_read, source, project=project, snapshot=snapshot, format=format, columns=columns, grades=grades)
    draft = read(fits={})
    if matched := {kind: near for kind, near in draft.near.items() if kind in match}:
        source.rewind()
        draft = read(fits={kind: near.fits for kind, near in matched.items()})
        draft = draft._replace(near=draft.near | matched)
    return draft


def _read(
    source: TableFile,
    *,
    project: Project,
    snapshot: Snapshot,
    format: str,
    columns: Columns,
    grades: GradeMap | None,
    fits: Fits,
) -> JudgementDraft:
    reader = _Reader(project, snapshot, source, columns, fits)
    row_errors = ErrorList()
    try:
        rows = read_judgements(source, row_errors, format=format, columns=columns, grades=grades)
        for chunk in chunks(rows, AT_ONCE):
            reader.take(chunk)
    except InputError as error:
        row_errors.add(error)
    errors = ErrorList()
    errors.absorb(row_errors)
    errors.absorb(reader.errors)
    if not (reader.rows or reader.skipped or errors):
        errors.add(source.error(None, "", "", "the file contains no judgement"))
        reader.is_spoilt = True
    rulings, unsettled = rulings_of(reader.rows, reader.finals)
    return JudgementDraft(
        rows=reader.rows,
        skipped=reader.skipped,
        unknown=reader.unknown,
        by_grade=dict(sorted(Counter(row.grade for row in reader.rows).items())),
        errors=errors,
        is_spoilt=reader.is_spoilt or bool(row_errors),
        digest=digest_of_lines([snapshot.digest, *sorted(reader.lines)]),
        rulings=rulings,
        unsettled=unsettled,
        near=reader.near(),
    )


def rulings_of(rows: Sequence[Graded], finals: dict[tuple[int, int], int]) -> tuple[dict[tuple[int, int], int], int]:
    """The final grades that the ratings do not resolve to, and how many pairs nothing settles."""
    answers: dict[tuple[int, int], list[int | None]] = {}
    for row in rows:
        answers.setdefault(row.pair, []).append(row.grade)
    settled = {pair: resolve(grades, planned=len(grades)).grade for pair, grades in answers.items()}
    unsettled = sum(grade is None and pair not in finals for pair, grade in settled.items())
    return {pair: final for pair, final in finals.items() if settled[pair] != final}, unsettled
