"""What the pages of two runs show: the comparison, and one query in both rankings."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from apps.common.wording import number
from apps.corpus.models import Snapshot
from apps.evaluation import comparing, rules, selectors
from apps.evaluation.charts import scores as charts
from apps.evaluation.comparing import Change, Regressions, Row
from apps.evaluation.models import ClosedComparison, RegressionNote
from apps.evaluation.pages.sheets import Named, Sheet, block_names, conventions_of
from apps.evaluation.pairing import Pairing
from apps.evaluation.scorecard import Beside
from apps.goldsets.models import VersionQuery
from apps.retrieval.models import Pool

DEPTH = 10


class DropRow(NamedTuple):
    change: Change
    query: VersionQuery
    note: RegressionNote | None


@dataclass
class Comparison:
    """Two evaluations of one side of a version, by one measure, as far as a person may see them."""

    baseline: Sheet
    candidate: Sheet
    asked: str = ""

    @cached_property
    def pairing(self) -> Pairing:
        values = (self.baseline.values, self.candidate.values)
        return Pairing(self.baseline.evaluation, self.candidate.evaluation, values)

    @property
    def names(self) -> tuple[str, str]:
        return self.pairing.names

    @property
    def rows(self) -> list[Row]:
        return self.pairing.rows

    @cached_property
    def headline(self) -> Row | None:
        return self.pairing.row_of(self.asked) or next(iter(self.rows), None)

    @property
    def measure(self) -> str:
        assert self.headline is not None
        return self.headline.measure

    @cached_property
    def verdict(self) -> str:
        assert self.headline is not None
        return comparing.verdict(*self.names, self.headline, len(self.rows), self.regressions)

    @cached_property
    def regressions(self) -> Regressions:
        """Over every query, those that this person may not see too: a count names none."""
        fell = [change for change in self._all_changes if change.is_drop]
        return Regressions(len(fell), sum(change.query_id not in self.notes for change in fell))

    @cached_property
    def notes(self) -> dict[str, RegressionNote]:
        return self.pairing.notes(self.measure)

    @cached_property
    def closed(self) -> ClosedComparison | None:
        return selectors.closed(self.baseline.evaluation, self.candidate.evaluation, self.measure)

    @property
    def closing_refusal(self) -> str | None:
        """Why this person cannot close it now, said beside the button."""
        return rules.closing_refusal(self.candidate.member, self.regressions, is_closed=self.closed is not None)

    @property
    def to_judge_again(self) -> int:
        """Drops whose grades were called wrong and that no pool has taken up."""
        wrong = RegressionNote.Decision.GRADES_WRONG
        return sum(note.decision == wrong and note.pool is None for note in self.notes.values())

    @property
    def pools(self) -> list[Pool]:
        """Where pairs of this comparison are judged again, oldest first."""
        found = {note.pool.pk: note.pool for note in self.notes.values() if note.pool}
        return [found[pk] for pk in sorted(found)]

    @property
    def unsettled(self) -> list[str]:
        """The other measures that are not settled, each with the queries that its difference would need."""
        open_rows = [row for row in self.rows if row.verdict == "not settled" and row != self.headline]
        return [f"{row.measure} ({_needed(self.pairing.beside[row.measure])})" for row in open_rows]

    @property
    def power(self) -> str:
        """What so many queries can show of the headline's measure; empty where it cannot be told."""
        beside = self.pairing.beside[self.measure]
        if beside.detectable is None:
            return ""
        n = beside.tests.n
        said = f"These {n:,} queries show a true difference of {number(beside.detectable)} four times in five"
        if self.headline is None or self.headline.difference.is_settled:
            return f"{said}."
        return f"{said}; for one of {number(abs(self.headline.difference.mean))}, {_needed(beside)}."

    @property
    def beside(self) -> list[tuple[Row, Beside]]:
        return [(row, self.pairing.beside[row.measure]) for row in self.rows]

    @cached_property
    def drawn(self) -> list[tuple[Row, str]]:
        bounds = charts.difference_bounds(self.rows)
        return [(row, charts.difference_cell(row.measure, row.difference, bounds)) for row in self.rows]

    @property
    def head(self) -> str:
        return charts.head_cell(charts.difference_bounds(self.rows), signs=True)

    @cached_property
    def _all_changes(self) -> list[Change]:
        return self.pairing.changes(self.measure)

    @cached_property
    def changes(self) -> list[Change]:
        """The queries this person may see, worst first."""
        return [change for change in self._all_changes if self.candidate.visible[change.place]]

    @property
    def deltas(self) -> str:
        return charts.deltas(self.measure, self.changes)

    @property
    def delta_figures(self) -> str:
        return charts.delta_figures(self.changes, self.names)

    @cached_property
    def drops(self) -> list[DropRow]:
        return [
            DropRow(change, self.candidate.queries[change.place], self.notes.get(change.query_id))
            for change in self.changes
            if change.is_drop
        ]

    @property
    def explained(self) -> int:
        return sum(drop.note is not None for drop in self.drops)

    @property
    def left(self) -> int:
        return len(self.drops) - self.explained

    def drop_of(self, query_id: str) -> DropRow | None:
        return next((drop for drop in self.drops if drop.change.query_id == query_id), None)

    def open_after(self, query_id: str) -> DropRow | None:
        """The next drop that nobody has explained: below this query, else from the top; None when none is left."""
        ids = [drop.change.query_id for drop in self.drops]
        start = ids.index(query_id) + 1 if query_id in ids else 0
        return next((drop for drop in [*self.drops[start:], *self.drops[:start]] if drop.note is None), None)

    @property
    def judged_curve(self) -> str:
        return charts.judged_curve(self._judged_to)

    @property
    def judged_figures(self) -> str:
        return charts.judged_figures(self._judged_to)

    @property
    def _judged_to(self) -> dict[str, list[float | None]]:
        sheets = (self.baseline, self.candidate)
        pairs = zip(self.names, sheets, strict=True)
        return {name: sheet.evaluation.counts.get("judged_to", []) for name, sheet in pairs}

    @property
    def conventions(self) -> str:
        return conventions_of(row.measure for row in self.rows)


class Placement(NamedTuple):
    """One line of a ranking as it is drawn; `moved` says where the other ranking has it."""

    rank: int
    score: float
    grade: int | None
    block: Named
    moved: str


@dataclass
class SideBySide:
    """Both runs' rankings of one query, with the released grades."""

    comparison: Comparison
    query: VersionQuery

    @cached_property
    def place(self) -> int:
        return self.comparison.candidate.evaluation.query_ids.index(self.query.outside_id)

    @cached_property
    def rankings(self) -> tuple[list[selectors.Placed], list[selectors.Placed]]:
        sheets = (self.comparison.baseline, self.comparison.candidate)
        left, right = (selectors.ranking_of(sheet.evaluation.run, self.query.query_id) for sheet in sheets)
        return left, right

    @cached_property
    def grades(self) -> dict[int, int]:
        return selectors.grades_of(self.query)

    @cached_property
    def blocks(self) -> dict[int, Named]:
        """Every block that the page names, by its position."""
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

    def _move(self, position: int) -> charts.Move:
        left, right = (ranks.get(position) for ranks in self._ranks)
        block = self.blocks[position]
        return charts.Move(block.title, left, right, self.grades.get(position), block.pk)

    @property
    def moves(self) -> str:
        top = [placed.position for ranking in self.rankings for placed in ranking[:DEPTH]]
        return charts.moves([self._move(position) for position in dict.fromkeys(top)], DEPTH)

    @property
    def missed(self) -> list[charts.Move]:
        """Relevant blocks that neither run has in its first ten, best grade first."""
        found = [self._move(position) for position, grade in self.grades.items() if grade > 0]
        outside = [move for move in found if all(rank is None or rank > DEPTH for rank in (move.left, move.right))]
        return sorted(outside, key=lambda move: (-(move.grade or 0), move.name))

    @property
    def unjudged(self) -> list[charts.Move]:
        """Blocks of either first ten that nobody judged."""
        top = dict.fromkeys(placed.position for ranking in self.rankings for placed in ranking[:DEPTH])
        return [self._move(position) for position in top if position not in self.grades]

    @property
    def relevant_count(self) -> int:
        return sum(grade > 0 for grade in self.grades.values())

    @property
    def scores(self) -> list[dict[str, Any]]:
        """A row a run: its values for this query, judged share and relevant blocks in the first ten."""
        sheets = (self.comparison.baseline, self.comparison.candidate)
        rows = []
        for name, sheet, ranking in zip(self.comparison.names, sheets, self.rankings, strict=True):
            found = [self.grades.get(placed.position) for placed in ranking[:DEPTH]]
            judged = sum(grade is not None for grade in found) / len(found) if found else None
            relevant = sum(grade is not None and grade > 0 for grade in found)
            values = [(row.measure, sheet.values[row.measure][self.place]) for row in self.comparison.rows]
            rows.append({"name": name, "values": values, "judged": judged, "relevant": relevant})
        return rows

    @cached_property
    def drop(self) -> DropRow | None:
        """The query as one that fell; None where it did not."""
        return self.comparison.drop_of(self.query.outside_id)

    @property
    def drop_number(self) -> int:
        assert self.drop is not None
        return 1 + self.comparison.drops.index(self.drop)

    @property
    def neighbours(self) -> tuple[VersionQuery | None, VersionQuery | None]:
        """The queries before and after this one, worst first."""
        order = [change.place for change in self.comparison.changes]
        at, queries = order.index(self.place), self.comparison.candidate.queries
        before = queries[order[at - 1]] if at else None
        after = queries[order[at + 1]] if at + 1 < len(order) else None
        return before, after


def _needed(beside: Beside) -> str:
    if beside.needed is None:
        return "no number of queries would do"
    return f"about {round_up(beside.needed):,} queries would be needed"


def round_up(count: int) -> int:
    """A number of queries to plan with: two leading digits, never fewer than needed."""
    unit = 10 ** max(0, len(str(count)) - 2)
    return -(-count // unit) * unit
