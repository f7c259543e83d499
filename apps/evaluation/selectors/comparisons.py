"""Two evaluations of one split of a version as a pair: values, differences and drops, for pages, API and actions."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from django.db.models import Min

from apps.accounts.selectors import policy
from apps.common.errors import Refusal
from apps.evaluation.models import Evaluation, RegressionNote
from apps.evaluation.selectors import evaluations
from apps.goldsets.models import VersionQuery, VersionTriple
from apps.metrics.columns import Floats, Ints
from apps.metrics.comparison import MeasureComparison, Regressions, RunComparison, RunValues, compare_runs
from apps.metrics.estimate import items_of
from apps.metrics.statistics.anytime import joining_order
from apps.retrieval.models import Run

NO_MEASURE = "These two share no measure. Score both with the same list."


class ComparisonRefused(Refusal):
    """The evaluations cannot be compared, or not be seen yet."""


def names_of(baseline: Run, candidate: Run) -> tuple[str, str]:
    """The names of two runs: their systems, or their tags when one system made both."""
    if baseline.system_id != candidate.system_id:
        return baseline.system.name, candidate.system.name
    return baseline.tag, candidate.tag


def order_of(evaluation: Evaluation) -> Ints:
    """Row numbers of its queries, or triples, in the order in which they joined the gold set: `joining_order`."""
    version = evaluation.version
    rows, name = (VersionTriple.objects, "label") if evaluation.hit else (VersionQuery.objects, "outside_id")
    until = rows.filter(version__gold_set=version.gold_set_id, version__number__lte=version.number)
    return joining_order(evaluation.query_ids, dict(until.values_list(name).annotate(joined=Min("version__number"))))


@dataclass
class EvaluationPair:
    """A baseline and a candidate that `rules.comparison_refusal` allows to compare."""

    baseline: Evaluation
    candidate: Evaluation
    values: tuple[Mapping[str, Floats], Mapping[str, Floats]]

    @classmethod
    def of(cls, baseline: Evaluation, candidate: Evaluation) -> Self:
        """The pair with its values, read from the database."""
        return cls(baseline, candidate, (evaluations.values_of(baseline), evaluations.values_of(candidate)))

    @cached_property
    def comparison(self) -> RunComparison:
        """By the measures of both, in the candidate's order; the threshold of drops is the project's."""
        first, second = map(RunValues, names_of(self.baseline.run, self.candidate.run), self.values)
        shared = [name for name in self.candidate.measures if name in first.values]
        (comparison,) = compare_runs(
            first,
            [second],
            shared,
            self.candidate.query_ids,
            seed=self.candidate.seed,
            originals=evaluations.originals_in(self.candidate),
            order=order_of(self.candidate),
            bar=self.bar,
            items=items_of(self.candidate.hit),
        )
        return comparison

    @property
    def bar(self) -> float:
        """The fall beyond which a drop needs an explanation in this project."""
        return float(policy(self.candidate.project, "regression_bar"))

    def notes(self, measure: str) -> dict[str, RegressionNote]:
        """The decisions, by outside id of the query."""
        return evaluations.notes_on(self.baseline, self.candidate, measure)

    def regressions(self, measure: str) -> Regressions:
        drops, notes = self.comparison.drops(measure), self.notes(measure)
        return Regressions(len(drops), sum(drop.query_id not in notes for drop in drops))

    def verdict(self, measure: MeasureComparison) -> str:
        return self.comparison.verdict(measure, self.regressions(measure.measure))
