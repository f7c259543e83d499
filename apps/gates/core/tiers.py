"""How much of a gold set a gate looks at: a sample in a minute, every query, or every query of every side."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from apps.gates.core.rule import TIERS, GateRule
from apps.metrics.statistics.significance import DEFAULT_SEED

SMOKE_QUERIES = 50


def sample(query_ids: Sequence[str], *, seed: int = DEFAULT_SEED, most: int = SMOKE_QUERIES) -> list[int]:
    """Places of the queries of the smoke tier, ascending: those whose hash under the seed is lowest.

    A query keeps its place in the order of hashes whatever else is in the set, so a new version changes the sample as
    little as it can, and a sample of a sample is itself. All of them when there are no more than `most`. Fifty, so
    that a system that takes a second a query is through within a minute.
    """
    drawn = sorted(range(len(query_ids)), key=lambda place: _hash(query_ids[place], seed))
    return sorted(drawn[:most])


def rules_in(rules: Iterable[GateRule], tier: str) -> list[GateRule]:
    """The rules that are held in a tier: its own and those of the lighter ones. Raises ValueError for no tier."""
    held = TIERS[: TIERS.index(tier) + 1]
    return [rule for rule in rules if rule.tier in held]


def _hash(query_id: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}:{query_id}".encode()).digest()
