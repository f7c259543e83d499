"""Listeners that are called when a run has been scored, or when its cost is recorded.

Apps above this one register here, so that this one need not import them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple, Protocol

from apps.accounts.models import User
from apps.common.discovery import Registered
from apps.evaluation.models import Evaluation
from apps.evaluation.selectors.expected import HitTable
from apps.evaluation.selectors.rankings import ScoringGround
from apps.metrics.columns import Floats, Result
from apps.retrieval.models import Run


class Scored(NamedTuple):
    """A run just scored, before anything is saved: a value for each query, by measure name."""

    evaluation: Evaluation
    ground: ScoringGround
    ranked: Result
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

on_scored: Registered[OnScored] = Registered()
"""What happens with every run scored by grades."""

on_scored_by_hits: Registered[OnScoredByHits] = Registered()
"""The same for every run scored on triples."""

on_cost: Registered[OnCost] = Registered()
"""What happens when the cost of a run is recorded, in the same transaction."""
