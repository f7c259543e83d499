"""The values of runs on the triples of one split of a version, each measure of a run computed once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from apps.evaluation.selectors.expected import ExpectedGround, expected_of, returned_for
from apps.goldsets.models import Version, VersionTriple
from apps.metrics.columns import Floats
from apps.metrics.expected.hits import Hits, find_hits
from apps.metrics.expected.measures import measure_hits
from apps.metrics.expected.rules import HitRule
from apps.metrics.measures.entries import Measure
from apps.retrieval.models import Run


@dataclass
class HitTable:
    """Values by measure for the triples that the rule says something about, in the order of `labels`.

    With `only` no others than the triples with these labels.
    """

    version: Version
    split: str
    rule: HitRule
    only: Collection[str] | None = None
    _hits: dict[int, Hits] = field(default_factory=dict)
    _values: dict[tuple[int, Measure], Floats] = field(default_factory=dict)

    @cached_property
    def ground(self) -> ExpectedGround:
        return expected_of(self.version, self.split, self.only)

    @cached_property
    def _is_defined(self) -> np.ndarray:
        return find_hits(self.ground.questions, {}, self.rule).is_defined

    @property
    def triples(self) -> list[VersionTriple]:
        return [row for row, known in zip(self.ground.triples, self._is_defined, strict=True) if known]

    @property
    def labels(self) -> list[str]:
        return [row.label for row in self.triples]

    def hits_of(self, run: Run) -> Hits:
        if run.pk not in self._hits:
            returned = returned_for(run, self.ground, self.rule)
            self._hits[run.pk] = find_hits(self.ground.questions, returned, self.rule)
        return self._hits[run.pk]

    def values_of(self, run: Run, measures: Sequence[Measure]) -> Floats:
        """Shape (triples, measures)."""
        hits = self.hits_of(run)
        for measure in measures:
            if (run.pk, measure) not in self._values:
                self._values[run.pk, measure] = measure_hits([measure], hits)[hits.is_defined, 0]
        columns = [self._values[run.pk, measure] for measure in measures]
        return np.column_stack(columns) if columns else np.empty((len(self.labels), 0))
