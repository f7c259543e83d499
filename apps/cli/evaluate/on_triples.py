"""Scores an outside system on the triples of a release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from apps.cli.evaluate.evidence import divisions_of
from apps.cli.evaluate.released import ReleaseSplit
from apps.cli.score.measuring import TripleGround, card_of
from apps.cli.score.triple_files import kind_divisions
from apps.metrics.expected.rules import HitRule, Returned
from apps.metrics.measures.entries import Measure
from apps.metrics.scorecard import Scorecard
from apps.metrics.statistics.strata import FEWEST_IN_STRATUM


class HasReturned(Protocol):
    """A system with the passages that it returned for each triple."""

    @property
    def name(self) -> str: ...

    @property
    def returned(self) -> Mapping[str, Sequence[Returned]]: ...


def measured_on_triples(
    release: ReleaseSplit,
    answered: Iterable[HasReturned],
    rule: HitRule,
    measures: dict[str, Measure],
    *,
    seed: int,
    confidence: float,
) -> Scorecard:
    """The scores of the runs by this rule, also by stratum; of two runs the first is the baseline."""
    ground = TripleGround(release.questions, rule, measures)
    measured = [ground.measured(one.name, one.returned, confidence=confidence) for one in answered]
    return card_of(
        ground,
        [run for run, _ in measured],
        ground.divided(
            [
                *divisions_of([one.fields for one in release.triples]),
                *kind_divisions([one.kinds for one in release.triples]),
            ]
        ),
        confidence=confidence,
        seed=seed,
        is_compared=len(measured) > 1,
        unreadable=sum(number for _, number in measured),
        fewest=FEWEST_IN_STRATUM,
    )
