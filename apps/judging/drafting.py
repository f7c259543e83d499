"""Reading somebody else's judgements: from rows to pairs of a snapshot, with everything that does not fit named."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from apps.accounts.models import Project
from apps.common.digests import digest_of_lines
from apps.common.errors import InputError
from apps.common.inputs import ErrorList
from apps.common.tabular import Source
from apps.corpus.models import Snapshot, SnapshotBlock
from apps.judging.readers import QRELS_COLUMNS, GradeMap, JudgementRow, read_judgements
from apps.queries.models import Query

AT_ONCE = 500


class Graded(NamedTuple):
    """One imported judgement, by our keys."""

    line: int
    query_id: int
    version_id: int
    grade: int
    note: str


class Draft(NamedTuple):
    """A file of judgements as read, before anything is stored.

    `skipped` counts rows that the grade map leaves out, `unknown` rows that name a query or block that is not
    here; the errors name each such row. `digest` covers ids, grades and the snapshot, not the file's form.
    """

    rows: list[Graded]
    skipped: int
    unknown: int
    by_grade: dict[int, int]
    errors: ErrorList
    is_spoilt: bool
    digest: str

    @property
    def mark(self) -> str:
        """What the origin of a round made of these judgements ends with."""
        return f"judgements sha256:{self.digest}"

    @property
    def queries(self) -> int:
        """Count the queries that are judged."""
        return len({row.query_id for row in self.rows})


class _Reader:
    """Matches rows to the project's queries and the snapshot's blocks, a chunk at a time."""

    def __init__(self, project: Project, snapshot: Snapshot, source: Source) -> None:
        self.project = project
        self.snapshot = snapshot
        self.source = source
        self.errors = ErrorList()
        self.rows: list[Graded] = []
        self.lines: list[str] = []
        self.skipped = 0
        self.unknown = 0
        self.is_spoilt = False
        self.queries: dict[str, int | None] = {}

    def take(self, chunk: Sequence[JudgementRow]) -> None:
        blocks = self._blocks({row.doc_id for row in chunk})
        self._learn_queries({row.query_id for row in chunk})
        for row in chunk:
            if row.grade is None:
                self.skipped += 1
                continue
            query, version = self.queries[row.query_id], blocks.get(row.doc_id)
            if query is None or version is None:
                self._unknown(row, query, version)
            elif row.grade not in self.project.grades:
                self._fault(row, "grade", str(row.grade), "is not on the scale of this project; map it")
            else:
                self.rows.append(Graded(row.line, query, version, row.grade, row.notes))
                self.lines.append(f"{row.query_id}\t{row.doc_id}\t{row.grade}")

    def _unknown(self, row: JudgementRow, query: int | None, version: int | None) -> None:
        self.unknown += 1
        if query is None:
            self._fault(row, "query_id", row.query_id, "is no query of this project", spoils=False)
        if version is None:
            self._fault(row, "doc_id", row.doc_id, "is no block of this snapshot", spoils=False)

    def _fault(self, row: JudgementRow, field: str, value: str, said: str, *, spoils: bool = True) -> None:
        self.errors.add(self.source.error(row.line, field, value, f"'{value}' {said}"))
        self.is_spoilt = self.is_spoilt or spoils

    def _learn_queries(self, ids: set[str]) -> None:
        new = [outside_id for outside_id in ids if outside_id not in self.queries]
        if not new:
            return
        found = Query.objects.filter(project=self.project, outside_id__in=new)
        known = dict(found.values_list("outside_id", "pk"))
        self.queries.update({outside_id: known.get(outside_id) for outside_id in new})

    def _blocks(self, ids: set[str]) -> dict[str, int]:
        found = SnapshotBlock.objects.filter(snapshot=self.snapshot, block__outside_id__in=ids)
        return dict(found.values_list("block__outside_id", "version_id"))


def read_draft(
    source: Source,
    *,
    project: Project,
    snapshot: Snapshot,
    format: str,
    columns: Sequence[str] = QRELS_COLUMNS,
    grades: GradeMap | None = None,
) -> Draft:
    """Read a file of judgements against a snapshot. Nothing is raised: what is wrong is in the draft's errors."""
    reader = _Reader(project, snapshot, source)
    row_errors = ErrorList()
    try:
        rows = read_judgements(source, row_errors, format=format, columns=columns, grades=grades)
        for chunk in _chunks(rows):
            reader.take(chunk)
    except InputError as error:
        row_errors.add(error)
    errors = ErrorList()
    for found in (*row_errors, *reader.errors):
        errors.add(found)
    errors.total = row_errors.total + reader.errors.total
    if not (reader.rows or reader.skipped or errors):
        errors.add(source.error(None, "", "", "the file holds no judgement"))
        reader.is_spoilt = True
    return Draft(
        rows=reader.rows,
        skipped=reader.skipped,
        unknown=reader.unknown,
        by_grade=dict(sorted(Counter(row.grade for row in reader.rows).items())),
        errors=errors,
        is_spoilt=reader.is_spoilt or bool(row_errors),
        digest=digest_of_lines([snapshot.digest, *sorted(reader.lines)]),
    )


def _chunks(rows: Iterable[JudgementRow]) -> Iterator[list[JudgementRow]]:
    iterator = iter(rows)
    while chunk := list(islice(iterator, AT_ONCE)):
        yield chunk
