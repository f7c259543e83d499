"""The part of a version that one reader gets, out of its whole content."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from apps.goldsets.formats.content import (
    Content,
    FrozenBlock,
    FrozenQuery,
    GradeRow,
    JudgementRow,
    SliceRow,
    TripleRow,
)

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

    def slices(self) -> Iterator[SliceRow]:
        return self.slices_now()

    def _has(self, row: FrozenQuery | GradeRow | JudgementRow) -> bool:
        return row.split in self.splits and row.query_id not in self.left_out.queries


def _unnamed(row: TripleRow) -> TripleRow:
    numbered = tuple(f"{REVIEWER} {place}" for place in range(1, len(row.reviewed_by) + 1))
    return row._replace(added_by=AUTHOR if row.added_by else "", reviewed_by=numbered)
