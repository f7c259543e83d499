"""Data of the comparison page: two evaluations of one split by one measure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Generic, NamedTuple, Protocol, TypeVar

from apps.common.text.wording import number
from apps.evaluation import rules
from apps.evaluation.actions.comparisons import record_comparison
from apps.evaluation.models import ClosedComparison, RegressionNote
from apps.evaluation.presenters import score_charts as charts
from apps.evaluation.presenters.score_tables import EvaluationSheet, ScoredSheet, conventions_of, log_look
from apps.evaluation.selectors import evaluations, rankings
from apps.evaluation.selectors.comparisons import Compared, ComparisonFamily, EvaluationPair
from apps.goldsets.models import VersionQuery
from apps.metrics import comparison
from apps.metrics.comparison import MeasureComparison, QueryChange, Regressions, RunComparison, SupplementaryTests
from apps.metrics.statistics.families import RankedDifference
from apps.metrics.statistics.power import more_needed_words
from apps.metrics.statistics.significance import FEWEST_FOR_A_VERDICT, Correction
from apps.retrieval.models import Pool


class Drop(Protocol):
    """A query or triple that got worse, with the decision on it, if any."""

    @property
    def change(self) -> QueryChange: ...

    @property
    def pk(self) -> int: ...

    @property
    def note(self) -> RegressionNote | None: ...


S = TypeVar("S", bound=ScoredSheet)
D = TypeVar("D", bound=Drop)


@dataclass
class PairSheet(Generic[S, D]):
    """Two evaluations of one split of a version by one measure, as far as this person may see them."""

    baseline: S
    candidate: S
    requested: str = ""
    correction: Correction = Correction.HOLM

    @cached_property
    def pair(self) -> EvaluationPair:
        values = (self.baseline.values, self.candidate.values)
        return EvaluationPair(self.baseline.evaluation, self.candidate.evaluation, values, self.correction)

    @cached_property
    def compared(self) -> RunComparison:
        """The comparison; by the measure shown it is corrected over all comparisons by it on this version."""
        return self.pair.among(self.measure)

    @property
    def names(self) -> tuple[str, str]:
        return self.pair.comparison.names

    @property
    def rows(self) -> Sequence[MeasureComparison]:
        return self.compared.measures if self.pair.comparison.measures else []

    @property
    def measure(self) -> str:
        """The measure asked for, where both have it, else the first; "" where they share none."""
        shared = [one.measure for one in self.pair.comparison.measures]
        return self.requested if self.requested in shared else next(iter(shared), "")

    @cached_property
    def headline(self) -> MeasureComparison | None:
        return self.compared.measure(self.measure) if self.measure else None

    @property
    def family(self) -> ComparisonFamily:
        return self.pair.family(self.measure)

    @property
    def standing(self) -> RankedDifference:
        return self.family.shown

    def log_look(self, what: str, at: datetime) -> None:
        """Log the look where it shows sealed scores, and put the comparison on record."""
        log_look(self.candidate, what)
        record_comparison(pair=self.pair, measure=self.measure, actor=self.candidate.member.user, at=at)

    @cached_property
    def verdict(self) -> str:
        assert self.headline is not None
        return self.compared.verdict(self.headline, self.regressions)

    @property
    def verdict_lines(self) -> tuple[str, str]:
        """The verdict as a sentence; then method, p and regressions."""
        assert self.headline is not None
        return self.compared.verdict_lines(self.headline, self.regressions)

    @property
    def anytime_words(self) -> tuple[str, str]:
        """For whom the verdict decides; then what interval and p are good for."""
        return self.standing.words(self.compared.items)

    @property
    def family_words(self) -> str:
        """How many comparisons p and evidence are corrected over."""
        count = self.standing.count
        if count == 1:
            return f"This is the only comparison by {self.measure} on this version so far."
        return f"This is one of {count:,} comparisons by {self.measure} on this version; p and evidence allow for that."

    @property
    def evidence(self) -> tuple[str, str] | None:
        """The chart of the evidence and its figures; None for who may not see every query or question.

        From one step to the next it tells the difference of a single one.
        """
        if not all(self.candidate.visible):
            return None
        items = self.compared.items
        return charts.evidence(self.measure, self.standing, items), charts.evidence_figures(self.standing, items)

    @property
    def compared_rows(self) -> list[tuple[Compared, str]]:
        """All comparisons by the measure on this version, strongest evidence first, with the verdict of each."""
        is_lower_better = comparison.is_lower_better(self.measure)
        return [(row, row.standing.side(is_lower_better=is_lower_better)) for row in self.family.rows]

    @property
    def least_plan(self) -> int:
        """The smallest number of queries that can be planned."""
        return max(self.family.seen + 1, FEWEST_FOR_A_VERDICT)

    @property
    def planning_refusal(self) -> str | None:
        """Why this person can plan no number of queries here."""
        one, other = self.pair.systems
        return rules.planning_refusal(
            self.candidate.member,
            self.candidate.evaluation,
            self.least_plan,
            self.family.seen,
            is_one_system=one == other,
            is_reached=self.family.reached,
        )

    @cached_property
    def regressions(self) -> Regressions:
        """Counts over every query, also those that this person may not see: a count names no query."""
        fell = [change for change in self.all_changes if change.is_drop]
        return Regressions(len(fell), sum(change.query_id not in self.notes for change in fell))

    @cached_property
    def notes(self) -> dict[str, RegressionNote]:
        return self.pair.notes(self.measure)

    @cached_property
    def all_changes(self) -> list[QueryChange]:
        """Every query or triple, worst first, also those that this person may not see."""
        return self.pair.comparison.changes(self.measure)

    @cached_property
    def closed(self) -> ClosedComparison | None:
        return evaluations.closed(self.baseline.evaluation, self.candidate.evaluation, self.measure)

    @property
    def closing_refusal(self) -> str | None:
        """Why this person cannot close the comparison now; shown next to the button."""
        return rules.closing_refusal(
            self.candidate.member,
            self.regressions,
            is_closed=self.closed is not None,
            hit=self.candidate.evaluation.hit,
        )

    @property
    def to_judge_again(self) -> int:
        """Number of drops marked “Grades wrong” without a pool."""
        wrong = RegressionNote.Decision.GRADES_WRONG
        return sum(note.decision == wrong and note.pool is None for note in self.notes.values())

    @property
    def pools(self) -> list[Pool]:
        """The pools of pairs of this comparison to judge again, oldest first."""
        pools = {note.pool.pk: note.pool for note in self.notes.values() if note.pool}
        return [pools[pk] for pk in sorted(pools)]

    @property
    def left_open(self) -> list[str]:
        """Open work on drops marked “Grades wrong”, shown before a comparison is closed for good."""
        pools = Pool.objects.filter(pk__in=[pool.pk for pool in self.pools], rounds=None).order_by("pk")
        reasons = [f"{pool.name} has no round yet." for pool in pools]
        if not (n := self.to_judge_again):
            return reasons
        drops = "One drop is" if n == 1 else f"{n:,} drops are"
        return [f"{drops} marked “Grades wrong”, but not being judged again yet.", *reasons]

    @property
    def drops(self) -> list[D]:
        """The drops that this person may see, worst first."""
        raise NotImplementedError

    @property
    def misses(self) -> int:
        """How many questions to go through for their misses; by grades there are none."""
        return 0

    @property
    def explained(self) -> int:
        return sum(drop.note is not None for drop in self.drops)

    @property
    def left(self) -> int:
        return len(self.drops) - self.explained

    def drop_of(self, query_id: str) -> D | None:
        return next((drop for drop in self.drops if drop.change.query_id == query_id), None)

    def open_after(self, query_id: str) -> D | None:
        """The next drop without an explanation: after this query, else from the top; None when none is left."""
        ids = [drop.change.query_id for drop in self.drops]
        start = ids.index(query_id) + 1 if query_id in ids else 0
        return next((drop for drop in [*self.drops[start:], *self.drops[:start]] if drop.note is None), None)


class DropRow(NamedTuple):
    change: QueryChange
    query: VersionQuery
    note: RegressionNote | None

    @property
    def pk(self) -> int:
        return self.query.pk


@dataclass
class ComparisonSheet(PairSheet[EvaluationSheet, DropRow]):
    """Two evaluations by grades of one split of a version, as far as this person may see them."""

    @property
    def unsettled(self) -> list[str]:
        """The other measures that are not settled, each with the number of queries that its difference would need."""
        open_rows = [row for row in self.rows if row.verdict == "not settled" and row != self.headline]
        return [f"{row.measure} ({_needed(row.supplement)})" for row in open_rows]

    @property
    def handful_words(self) -> str:
        """The warning where the difference of a measure depends on a handful of queries; else empty."""
        return comparison.HANDFUL_WORDS if comparison.handfuls(self.rows) else ""

    @property
    def power_words(self) -> tuple[str, str]:
        """How many more queries would settle the headline's measure, and the difference that so many can detect; both
        empty where they are not defined and of too few queries, the first where it is settled or a number is planned.
        """
        if self.headline is None or self.headline.difference.n < FEWEST_FOR_A_VERDICT:
            return "", ""
        supplement, difference = self.headline.supplement, self.headline.difference.mean
        n, spread, least = supplement.tests.n, supplement.tests.spread, supplement.detectable
        if not spread:
            return "", ""
        shown = f"With {n:,} queries, a true difference of {number(least)} would be detected four times in five."
        if least is None:  # more than the measure can differ
            shown = ""
        plans = self.standing.rests_on_evidence or self.headline.is_sure
        needed = "" if plans else more_needed_words(difference, spread, n)
        return needed, shown

    @cached_property
    def drawn(self) -> list[tuple[MeasureComparison, str]]:
        bounds = charts.difference_bounds(self.rows)
        return [(row, charts.difference_cell(row.measure, row.difference, bounds)) for row in self.rows]

    @property
    def head(self) -> str:
        return charts.head_cell(charts.difference_bounds(self.rows), signs=True)

    @cached_property
    def changes(self) -> list[QueryChange]:
        """The queries that this person may see, worst first."""
        return [change for change in self.all_changes if self.candidate.visible[change.place]]

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

    @cached_property
    def overlap(self) -> rankings.MeanOverlap | None:
        """How alike the two runs rank; None by text, and where neither has a result."""
        if self.candidate.evaluation.is_by_text:
            return None
        return rankings.overlap_of(self.baseline.evaluation.run, self.candidate.evaluation.run, self.candidate.queries)

    @property
    def judged_curve(self) -> str:
        return charts.judged_curve(self._judged_to)

    @property
    def judged_figures(self) -> str:
        return charts.judged_figures(self._judged_to)

    @property
    def recall_curve(self) -> str:
        """Precision at each level of recall; empty where an evaluation is from before it was computed."""
        return charts.recall_curve(self._at_recall) if all(self._at_recall.values()) else ""

    @property
    def recall_figures(self) -> str:
        return charts.recall_figures(self._at_recall)

    @property
    def _at_recall(self) -> dict[str, list[float]]:
        sheets = (self.baseline, self.candidate)
        pairs = zip(self.names, sheets, strict=True)
        return {name: sheet.evaluation.counts.get("precision_at_recall", []) for name, sheet in pairs}

    @property
    def _judged_to(self) -> dict[str, list[float | None]]:
        sheets = (self.baseline, self.candidate)
        pairs = zip(self.names, sheets, strict=True)
        return {name: sheet.evaluation.counts.get("judged_to", []) for name, sheet in pairs}

    @property
    def conventions(self) -> str:
        return conventions_of(row.measure for row in self.rows)


def _needed(supplement: SupplementaryTests) -> str:
    if supplement.needed is None:
        return "smaller than its standard error"
    return f"about {supplement.needed_words} queries in total, if the true difference is as large"
