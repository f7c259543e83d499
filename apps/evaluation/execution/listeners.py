"""Listeners that are called when a run has been scored, or when its cost is recorded.

Apps above this one register here, so that this one need not import them.
"""

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple, Protocol

from apps.accounts.models import User
from apps.evaluation.models import Evaluation
from apps.evaluation.selectors.rankings import ScoringGround
from apps.metrics.columns import Floats, Ranked
from apps.retrieval.models import Run


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


OnScored = Callable[[Scored], Save]
"""Computes what follows from the scores, and gives back what saves it in the transaction that saves the scores."""

_on_scored: list[OnScored] = []
_on_cost: list[OnCost] = []


def on_scored(act: OnScored) -> OnScored:
    """Register what happens with every scored run."""
    if act not in _on_scored:
        _on_scored.append(act)
    return act


def on_cost(act: OnCost) -> OnCost:
    """Register what happens when the cost of a run is recorded, in the same transaction."""
    if act not in _on_cost:
        _on_cost.append(act)
    return act


def follow_scores(scored: Scored) -> list[Save]:
    """Call the listeners in the order of registration."""
    return [act(scored) for act in _on_scored]


def follow_cost(*, run: Run, actor: User, at: datetime) -> None:
    for act in _on_cost:
        act(run=run, actor=actor, at=at)
