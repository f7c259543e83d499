"""Which questions of a release are asked."""

from __future__ import annotations

from collections.abc import Sequence

from apps.cli.evaluate.released import ReleaseSplit
from apps.gates.core.rule import GateRule, sample


def asked_of(release: ReleaseSplit, rules: Sequence[GateRule], *, part: str, tier: str, seed: int) -> ReleaseSplit:
    """The release with the queries to ask: of the slice `part`, or in the smoke tier a sample and the slices that gates
    name. Raises NotAnExport where the release has no such slice.
    """
    if part:
        return release.in_slice(part)
    if tier != "smoke":
        return release
    queries = [query.query_id for query in release.queries]
    triples = [one.id for one in release.questions]
    named = (rule.slice.value for rule in rules if rule.slice is not None and rule.slice.is_named)
    in_slices = set().union(*(release.slices.get(name, ()) for name in named))
    return release.only(
        in_slices.union(queries[place] for place in sample(queries, seed=seed)),
        in_slices.union(triples[place] for place in sample(triples, seed=seed)),
    )
