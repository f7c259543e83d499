"""Listeners that are called when a run has been scored, or when its cost is recorded.

Apps above this one register here, so that this one need not import them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol

from apps.accounts.models import User
from apps.evaluation.models import Evaluation
from apps.evaluation.selectors.rankings import ScoringGround
from apps.metrics.columns import Floats, Ranked
from apps.retrieval.models import Run

if TYPE_CHECKING:
    from apps.evaluation.execution.hit_values import HitTable


class Scored(NamedTuple):
    """A run just scored, before anything is saved: a value for each query, by measure name."""

    evaluation: Evaluation
    ground: ScoringGround
    ranked: Ranked
    values: dict[str, Floats]


class Save(Protocol):
    def __call__(self, *, actor: User | None, at: datetime) -> None: ...


class OnCost(Protocol):
    def __call__(self, *, run: Run, actor: User, at: datetime) -> object: ...


class ScoredByHits(NamedTuple):
    """A run just scored on triples, before anything is saved; `table` has its values, and those of other runs."""

    evaluation: Evaluation
    table: HitTable


OnScoredByHits = Callable[[ScoredByHits], Save]
OnScored = Callable[[Scored], Save]
"""Computes what follows from the scores, and gives back what saves it in the transaction that saves the scores."""

_on_scored: list[OnScored] = []
_on_scored_by_hits: list[OnScoredByHits] = []
_on_cost: list[OnCost] = []


def on_scored(act: OnScored) -> OnScored:
    """Register what happens with every scored run."""
    if act not in _on_scored:
        _on_scored.append(act)
    return act


def on_scored_by_hits(act: OnScoredByHits) -> OnScoredByHits:
    """The same for every run scored on triples."""
    if act not in _on_scored_by_hits:
        _on_scored_by_hits.append(act)
    return act


def on_cost(act: OnCost) -> OnCost:
    """Register what happens when the cost of a run is recorded, in the same transaction."""
    if act not in _on_cost:
        _on_cost.append(act)
    return act


def follow_scores(scored: Scored) -> list[Save]:
    """Call the listeners in the order of registration."""
    return [act(scored) for act in _on_scored]


def follow_hits(scored: ScoredByHits) -> list[Save]:
    return [act(scored) for act in _on_scored_by_hits]


def follow_cost(*, run: Run, actor: User, at: datetime) -> None:
    for act in _on_cost:
        act(run=run, actor=actor, at=at)
