"""Data of the comparison page."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from apps.accounts.selectors import Member
from apps.common.text.wording import number
from apps.evaluation import rules
from apps.evaluation.edges import score_charts as charts
from apps.evaluation.edges.pair_sheets import PairSheet
from apps.evaluation.edges.sheets import EvaluationSheet, conventions_of
from apps.evaluation.models import Evaluation, RegressionNote
from apps.evaluation.selectors import evaluations
from apps.evaluation.selectors.comparisons import NO_MEASURE, ComparisonRefused
from apps.goldsets.models import VersionQuery
from apps.metrics import comparison
from apps.metrics.comparison import MeasureComparison, QueryChange, SupplementaryTests
from apps.metrics.statistics.power import MOST_PLANNED, round_up
from apps.metrics.statistics.significance import FEWEST_FOR_A_VERDICT


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
        empty where they are not defined and of too few queries, the first where it is settled.
        """
        if self.headline is None or self.headline.difference.n < FEWEST_FOR_A_VERDICT:
            return "", ""
        supplement = self.headline.supplement
        if not supplement.tests.spread:
            return "", ""
        n, least = supplement.tests.n, supplement.detectable
        shown = f"With {n:,} queries, a true difference of {number(least)} would be detected four times in five."
        if least is None:  # more than the measure can differ
            shown = ""
        needed = "" if self.headline.difference.is_settled else _more_needed(supplement, n)
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


def _needed(supplement: SupplementaryTests) -> str:
    if supplement.needed is None:
        return "no number of queries would be enough"
    about = "" if supplement.needed_words.startswith("over") else "about "
    return f"{about}{supplement.needed_words} queries in total would be needed"


def _more_needed(supplement: SupplementaryTests, n: int) -> str:
    """How many more queries would detect the difference seen; empty where these are enough."""
    if supplement.needed is None or supplement.needed > MOST_PLANNED:
        return f"To settle it, {_needed(supplement)}."
    more = supplement.needed - n
    if more < 1:
        return ""
    named = f"{round_up(more):,} more {'query' if more == 1 else 'queries'}"
    return f"About {named} would probably settle it if the difference stays this large."


BY_QUESTIONS = "These two are scored on Q&As. Compare them on their own page; grades and queries play no part there."


def comparison_of(member: Member, baseline: int, candidate: int, measure: str) -> ComparisonSheet:
    """The comparison of the two by this measure, as far as the person may see it. Raises ComparisonRefused."""
    first, second = evaluations.evaluations_with_values(member.project, baseline, candidate)
    return comparison_between(member, first, second, measure)


def comparison_between(member: Member, first: Evaluation, second: Evaluation, measure: str) -> ComparisonSheet:
    """As `comparison_of`, of two that were read."""
    if reason := rules.comparison_refusal(first, second):
        raise ComparisonRefused(reason, code="comparison_refused")
    if second.hit:
        raise ComparisonRefused(BY_QUESTIONS, code="by_questions")
    sheet = ComparisonSheet(EvaluationSheet(first, member), EvaluationSheet(second, member), measure)
    if sheet.headline is None:
        raise ComparisonRefused(NO_MEASURE, code="no_measure")
    return sheet
