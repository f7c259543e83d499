"""Tiers of gates: a sample of a minute, every query, or every query of every split."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from apps.gates.core.rule import TIERS, GateRule
from apps.metrics.statistics.significance import DEFAULT_SEED

SMOKE_QUERIES = 50


def sample(query_ids: Sequence[str], *, seed: int = DEFAULT_SEED, most: int = SMOKE_QUERIES) -> list[int]:
    """Row numbers of the queries in the smoke tier, ascending: those with the lowest hashes under the seed.

    The hash of a query does not depend on the other queries, so a new version changes the sample as little as possible,
    and a sample of a sample is itself. All of them when there are no more than `most`. The default is fifty, so that a
    system that needs a second for each query is done within a minute.
    """
    drawn = sorted(range(len(query_ids)), key=lambda place: _hash(query_ids[place], seed))
    return sorted(drawn[:most])


def rules_in(rules: Iterable[GateRule], tier: str) -> list[GateRule]:
    """The rules checked in a tier: its own and those of lighter tiers. Raises ValueError for an unknown tier."""
    included = TIERS[: TIERS.index(tier) + 1]
    return [rule for rule in rules if rule.tier in included]


def _hash(query_id: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}:{query_id}".encode()).digest()
