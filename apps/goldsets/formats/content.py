"""The content of a version as plain rows, whole or in part: writers of all formats read these and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

Row = TypeVar("Row")


class Unwritable(ValueError):
    """A row that a format cannot represent; the message names the row and a way out."""


class FrozenQuery(NamedTuple):
    query_id: str
    text: str
    label: str = ""
    intent: str = ""
    description: str = ""
    source: str = ""
    difficulty: str = ""
    domain: str = ""
    query_type: str = ""
    group: str = ""
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = {}
    split: str = ""
    facets: tuple[dict[str, str], ...] = ()
    expertise: str = ""
    answer_format: str = ""
    asked_on: str = ""
    unanswerable: dict[str, Any] | None = None

    @property
    def facet_ids(self) -> list[str]:
        """The ids of its subtopics, in order."""
        return [facet["id"] for facet in self.facets]


class FrozenBlock(NamedTuple):
    """A block as it was frozen. `redacted` has the digests of a text that was emptied since."""

    block_id: str
    document_id: str
    title: str
    text: str
    section: tuple[str, ...] = ()
    page_start: int | None = None
    page_end: int | None = None
    document_title: str = ""
    metadata: dict[str, Any] = {}
    redacted: dict[str, str] | None = None


class GradeRow(NamedTuple):
    """One resolved grade. An unjudged pair has no row; grade 0 has one. `position` is the block's in the snapshot.

    `facets` are the subtopics that the block answers, by id; None where nobody was asked for them.
    """

    query_id: str
    block_id: str
    grade: int
    split: str = ""
    resolution: str = ""
    judges: int = 1
    query_text: str = ""
    block_title: str = ""
    facets: tuple[str, ...] | None = None
    position: int = 0


class Feature(NamedTuple):
    """A run whose scores are a feature of graded pairs: its tag, its system, and the digest of its rankings."""

    run: str
    system: str
    digest: str


class Scores(Protocol):
    """What runs scored for graded pairs."""

    @property
    def features(self) -> Sequence[Feature]: ...

    def beside(self, grades: Iterable[GradeRow]) -> Iterator[tuple[GradeRow, Sequence[float]]]:
        """Grades in the order of ids, each with the score of every feature."""


class TracedGrade(NamedTuple):
    """A grade of what a system returned in a trace: its place in the list there, from 0, and when it was drawn.

    `place` is that of a passage that holds the graded one; of several in one passage the highest grade counts.
    """

    trace: str
    span: str
    place: int
    system: str
    drawn_at: str
    grade: GradeRow


class Traces(Protocol):
    """Where graded pairs were returned in traces."""

    def of(self, grades: Iterable[GradeRow]) -> Iterator[TracedGrade]:
        """By span and place."""


class JudgementRow(NamedTuple):
    """One person's answer on one pair, as it stood when the version was frozen.

    `annotator` is a pseudonym that is theirs in this version. Exactly one of `grade` and `cant_judge` is set. Passes
    count from 1; a later one is the same pair again, shown blindly. `second` is what they answered last after seeing
    the grades of the others, with a reason where it is another grade; "" where they were asked and did not answer, None
    where they were not asked. `facets` are the subtopics they chose, divided by semicolons, None where not asked.
    """

    query_id: str
    block_id: str
    round: int
    annotator: str
    pass_number: int
    grade: int | None
    cant_judge: str = ""
    note: str = ""
    given_at: str = ""
    active_ms: int | None = None
    away_ms: int | None = None
    guideline: int | None = None
    split: str = ""
    second: int | str | None = None
    reason: str = ""
    facets: str | None = None


class ExpectedBlock(NamedTuple):
    block_id: str
    document_id: str
    page_start: int | None = None
    page_end: int | None = None
    evidence: tuple[str, ...] = ()


class TripleRow(NamedTuple):
    triple_id: str
    question: str
    expected_answer: str
    blocks: tuple[ExpectedBlock, ...]
    match: str = "any"
    query_id: str = ""
    domain: str = ""
    difficulty: str = ""
    added_by: str = ""
    added_at: str = ""
    reviewed_by: tuple[str, ...] = ()
    resolution: str = ""
    is_machine_written: bool = False
    split: str = ""


class SliceRow(NamedTuple):
    """A slice as it was when the files were written. A question has an id as query, labels as triples, or both.

    `as_of` is when the last of them came into it.
    """

    name: str
    kind: str
    questions: tuple[tuple[str, tuple[str, ...]], ...]
    as_of: str = ""

    @property
    def ids(self) -> set[str]:
        """The ids of the queries and the labels of the triples."""
        return {one for query, triples in self.questions for one in (query, *triples) if one}


class Content(Protocol):
    """A version's rows. Each call starts again and yields in the bytewise order of ids."""

    def queries(self) -> Iterator[FrozenQuery]: ...

    def blocks(self) -> Iterator[FrozenBlock]: ...

    def grades(self, split: str | None = None) -> Iterator[GradeRow]:
        """Those of one split, or of all of them."""

    def triples(self) -> Iterator[TripleRow]: ...

    def judgements(self, *, noted: bool = False) -> Iterator[JudgementRow] | None:
        """The answers that the grades rest on, pair by pair; with `noted` those alone that have a note.

        None where the reader may not see single answers.
        """

    def scores(self) -> Scores | None:
        """What runs scored; None where no form has it, and for a reader who may not see it."""

    def traces(self) -> Traces | None:
        """Where its pairs were returned; None where no form has it."""

    def slices(self) -> Iterator[SliceRow]:
        """The slices that go along with the version; none where nobody asked for them."""


def in_order(rows: Iterable[Row], key: Callable[[Row], tuple[Any, ...]]) -> Iterator[Row]:
    """The same rows; raises Unwritable where one does not follow bytewise, or appears twice.

    The database sorts the rows. This checks for the order of UTF-8 bytes, whatever its collation: Python compares texts
    by code points, and UTF-8 has their order.
    """
    last: tuple[Any, ...] | None = None
    for row in rows:
        here = key(row)
        if last is not None and here <= last:
            raise Unwritable(f"{' '.join(map(str, here))!r} is out of order or appears twice.")
        last = here
        yield row


AUTHOR, REVIEWER = "author", "reviewer"


def no_slices() -> Iterator[SliceRow]:
    return iter(())


class LeftOut(NamedTuple):
    """Queries by id and triples by label."""

    queries: frozenset[str] = frozenset()
    triples: frozenset[str] = frozenset()


NOTHING = LeftOut()


@dataclass(frozen=True)
class VersionPart:
    """The rows of the whole in `splits`, but for what is `left_out`.

    Without `names` people are "author" and "reviewer 1"; without `answers` there are no single judgements.
    """

    whole: Content
    splits: Collection[str]
    left_out: LeftOut = NOTHING
    names: bool = True
    answers: bool = True
    run_scores: Scores | None = None
    traces_now: Traces | None = None
    slices_now: Callable[[], Iterator[SliceRow]] = no_slices

    def queries(self) -> Iterator[FrozenQuery]:
        return (row for row in self.whole.queries() if self._has(row))

    def blocks(self) -> Iterator[FrozenBlock]:
        return self.whole.blocks()

    def grades(self, split: str | None = None) -> Iterator[GradeRow]:
        return (row for row in self.whole.grades(split) if self._has(row))

    def triples(self) -> Iterator[TripleRow]:
        rows = (
            row
            for row in self.whole.triples()
            if row.split in self.splits and row.triple_id not in self.left_out.triples
        )
        return rows if self.names else map(_unnamed, rows)

    def judgements(self, *, noted: bool = False) -> Iterator[JudgementRow] | None:
        rows = self.whole.judgements(noted=noted) if self.answers else None
        return None if rows is None else (row for row in rows if self._has(row))

    def scores(self) -> Scores | None:
        return self.run_scores

    def traces(self) -> Traces | None:
        return self.traces_now

    def slices(self) -> Iterator[SliceRow]:
        return self.slices_now()

    def _has(self, row: FrozenQuery | GradeRow | JudgementRow) -> bool:
        return row.split in self.splits and row.query_id not in self.left_out.queries


def _unnamed(row: TripleRow) -> TripleRow:
    numbered = tuple(f"{REVIEWER} {place}" for place in range(1, len(row.reviewed_by) + 1))
    return row._replace(added_by=AUTHOR if row.added_by else "", reviewed_by=numbered)
