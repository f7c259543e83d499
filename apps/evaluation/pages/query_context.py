"""Data of the page of one query in two rankings."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from apps.corpus.models import Snapshot
from apps.evaluation.edges import score_charts as charts
from apps.evaluation.edges.comparison import ComparisonSheet, DropRow
from apps.evaluation.edges.sheets import Named, block_names
from apps.evaluation.selectors.rankings import PlacedBlock, grades_of, rankings_of
from apps.goldsets.models import VersionQuery

DEPTH = 10


class Placement(NamedTuple):
    """One line of a ranking; `moved` is the rank in the other one."""

    rank: int
    score: float
    grade: int | None
    block: Named
    moved: str


@dataclass
class SideBySide:
    """Both runs' rankings of one query, with the released grades."""

    comparison: ComparisonSheet
    place: int

    @property
    def query(self) -> VersionQuery:
        return self.comparison.candidate.queries[self.place]

    @cached_property
    def rankings(self) -> tuple[list[PlacedBlock], list[PlacedBlock]]:
        left, right = (sheet.evaluation.run_id for sheet in (self.comparison.baseline, self.comparison.candidate))
        found = rankings_of([left, right], self.query.query_id)
        return found[left], found[right]

    @cached_property
    def grades(self) -> dict[int, int]:
        return grades_of(self.query)

    @cached_property
    def blocks(self) -> dict[int, Named]:
        """Every block on the page, by its position."""
        seen = {placed.position for ranking in self.rankings for placed in ranking[:DEPTH]}
        return block_names(self._snapshot, seen | {position for position, grade in self.grades.items() if grade > 0})

    @property
    def _snapshot(self) -> Snapshot:
        return self.comparison.candidate.evaluation.version.snapshot

    @property
    def lists(self) -> list[list[Placement]]:
        return [
            [
                Placement(
                    rank=placed.rank,
                    score=placed.score,
                    grade=self.grades.get(placed.position),
                    block=self.blocks[placed.position],
                    moved=self._move(placed.position).words(of_right=of_right),
                )
                for placed in ranking[:DEPTH]
            ]
            for of_right, ranking in zip((False, True), self.rankings, strict=True)
        ]

    @cached_property
    def _ranks(self) -> list[dict[int, int]]:
        return [{placed.position: placed.rank for placed in ranking} for ranking in self.rankings]

    def _move(self, position: int) -> charts.QueryMove:
        left, right = (ranks.get(position) for ranks in self._ranks)
        block = self.blocks[position]
        return charts.QueryMove(block.label, left, right, self.grades.get(position), block.pk)

    @property
    def moves(self) -> str:
        top = [placed.position for ranking in self.rankings for placed in ranking[:DEPTH]]
        return charts.moves([self._move(position) for position in dict.fromkeys(top)], DEPTH)

    @property
    def missed(self) -> list[charts.QueryMove]:
        """Relevant blocks outside both top tens, best grade first."""
        moves = [self._move(position) for position, grade in self.grades.items() if grade > 0]
        outside = [move for move in moves if all(rank is None or rank > DEPTH for rank in (move.left, move.right))]
        return sorted(outside, key=lambda move: (-(move.grade or 0), move.name))

    @property
    def unjudged(self) -> list[charts.QueryMove]:
        """Unjudged blocks in either top ten."""
        top = dict.fromkeys(placed.position for ranking in self.rankings for placed in ranking[:DEPTH])
        return [self._move(position) for position in top if position not in self.grades]

    @property
    def relevant_count(self) -> int:
        return sum(grade > 0 for grade in self.grades.values())

    @property
    def scores(self) -> list[dict[str, Any]]:
        """One row for each run: its values for this query, judged share and relevant blocks in the first ten."""
        sheets = (self.comparison.baseline, self.comparison.candidate)
        rows = []
        for name, sheet, ranking in zip(self.comparison.names, sheets, self.rankings, strict=True):
            grades = [self.grades.get(placed.position) for placed in ranking[:DEPTH]]
            judged = sum(grade is not None for grade in grades) / len(grades) if grades else None
            relevant = sum(grade is not None and grade > 0 for grade in grades)
            values = [(row.measure, sheet.values[row.measure][self.place]) for row in self.comparison.rows]
            rows.append({"name": name, "values": values, "judged": judged, "relevant": relevant})
        return rows

    @cached_property
    def drop(self) -> DropRow | None:
        """The query as a drop; None where it is none."""
        return self.comparison.drop_of(self.query.outside_id)

    @property
    def drop_number(self) -> int:
        assert self.drop is not None
        return 1 + self.comparison.drops.index(self.drop)

    @property
    def next_is_drop(self) -> bool:
        following = self.neighbours[1]
        return following is not None and self.comparison.drop_of(following.outside_id) is not None

    @cached_property
    def neighbours(self) -> tuple[VersionQuery | None, VersionQuery | None]:
        """The queries before and after this one whose pages open too, worst first."""
        queries = self.comparison.candidate.queries
        order = [change.place for change in self.comparison.changes]
        at = order.index(self.place)
        before = queries[order[at - 1]] if at else None
        after = queries[order[at + 1]] if at + 1 < len(order) else None
        return before, after
