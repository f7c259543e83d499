"""What a release asks, and what its answers are measured against."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from apps.goldsets.formats.verification import NotAnExport
from apps.metrics.columns import Judged, judged_columns
from apps.metrics.expected.rules import Question, Returned
from apps.metrics.vocabulary import Vocabulary

STRATA = ("domain", "query_type", "difficulty", "source")


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


class ReleasedTriple(NamedTuple):
    """A triple of the release, with its kinds. It is asked as its query where it has one, else under its own id."""

    question: Question
    asked: ReleasedQuery
    fields: dict[str, str]
    kinds: tuple[str, ...] = ()


WITH_SLICES = "An export has its slices when it is asked for them: karat export --slices."


class ReleaseSplit(NamedTuple):
    """One split of a release: the queries with a grade and the triples, each by the bytes of their ids.

    `digest` is that of the version. `blocks` are the passages of its corpus, where the release has them.

    `slices` has the ids of each slice's questions, those of queries and of triples, by its name and by its kind.
    `slice` is the name of the one whose queries these are, "" for all. `is_citable`: a file says how to cite it.
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
        return judged_columns(rows, blocks)
