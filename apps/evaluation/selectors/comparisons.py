"""Two evaluations of one side of a version as a pair: values, differences, what fell; for pages, API and actions."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from apps.accounts.selectors import policy
from apps.common.errors import Refusal
from apps.evaluation.models import Evaluation, RegressionNote
from apps.evaluation.selectors import evaluations
from apps.metrics import comparison
from apps.metrics.columns import Floats
from apps.metrics.comparison import Change, Regressions, Row
from apps.metrics.scorecard import Beside
from apps.metrics.statistics.paired_tests import Paired, paired_tests
from apps.metrics.statistics.power import detectable_difference, queries_needed
from apps.metrics.statistics.significance import change_of
from apps.retrieval.models import Run

NO_MEASURE = "These two share no measure. Score both with the same list."


class ComparisonRefused(Refusal):
    """Two evaluations cannot be compared, or not be seen yet."""


def names_of(baseline: Run, candidate: Run) -> tuple[str, str]:
    """What two runs are called: by their systems, or by their tags when one system made both."""
    if baseline.system_id != candidate.system_id:
        return baseline.system.name, candidate.system.name
    return baseline.tag, candidate.tag


@dataclass
class Pairing:
    """A baseline and a candidate that may be compared: `rules.comparison_refusal` has nothing against it."""

    baseline: Evaluation
    candidate: Evaluation
    values: tuple[Mapping[str, Floats], Mapping[str, Floats]]

    @classmethod
    def of(cls, baseline: Evaluation, candidate: Evaluation) -> Self:
        """The pair with its values, read from the database."""
        return cls(baseline, candidate, (evaluations.values_of(baseline), evaluations.values_of(candidate)))

    @property
    def names(self) -> tuple[str, str]:
        return names_of(self.baseline.run, self.candidate.run)

    @cached_property
    def rows(self) -> list[Row]:
        """The measures of both, in the candidate's order."""
        return comparison.compare(self.candidate.measures, *self.values, seed=self.candidate.seed)

    @property
    def bar(self) -> float:
        """The fall beyond which the project wants a drop explained."""
        return float(policy(self.candidate.project, "regression_bar"))

    def row_of(self, measure: str) -> Row | None:
        return next((row for row in self.rows if row.measure == measure), None)

    def changes(self, measure: str) -> list[Change]:
        """Every query, worst first."""
        left, right = (values[measure] for values in self.values)
        turned = comparison.is_lower_better(measure)
        return comparison.changes(self.candidate.query_ids, left, right, is_lower_better=turned, bar=self.bar)

    def drops(self, measure: str) -> list[Change]:
        """The queries that got worse by more than the bar, worst first."""
        return [change for change in self.changes(measure) if change.is_drop]

    def notes(self, measure: str) -> dict[str, RegressionNote]:
        """What was decided, by outside id of the query."""
        return evaluations.notes_on(self.baseline, self.candidate, measure)

    @cached_property
    def beside(self) -> dict[str, Beside]:
        """Other tests and what the number of queries can show, by measure."""
        left, right = self.values
        if not self.rows:
            return {}
        change = np.column_stack([change_of(left[row.measure], right[row.measure]) for row in self.rows])
        found = paired_tests(change, seed=self.candidate.seed)
        return {row.measure: _beside(row, tests) for row, tests in zip(self.rows, found, strict=True)}

    def regressions(self, measure: str) -> Regressions:
        drops, notes = self.drops(measure), self.notes(measure)
        return Regressions(len(drops), sum(drop.query_id not in notes for drop in drops))

    def verdict(self, row: Row) -> str:
        return comparison.verdict(*self.names, row, len(self.rows), self.regressions(row.measure))


def _beside(row: Row, tests: Paired) -> Beside:
    spread = tests.spread or 0.0
    return Beside(tests, detectable_difference(spread, tests.n), queries_needed(row.difference.mean, spread))
