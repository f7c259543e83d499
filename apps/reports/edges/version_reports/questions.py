"""The questions of a version with the strata that each is in, read once for a report."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from apps.evaluation.core.question_kinds import FIELDS, KIND, kinds_of
from apps.evaluation.edges.hit_sheets import source_of
from apps.evaluation.edges.sheets import SPLIT, fields_of, stratum_of
from apps.evaluation.selectors.expected import version_triples
from apps.goldsets.enums import Split
from apps.goldsets.models import Version, VersionQuery, VersionTriple
from apps.metrics.columns import Floats, Ints
from apps.metrics.statistics.strata import open_strata
from apps.reports.core.stratum_parts import SmallStratum
from apps.reports.selectors.version_facts import counted_queries

Kinds = list[tuple[str, str]]


@dataclass(frozen=True)
class VersionQuestions:
    """The queries, as `counted_queries` has them, and the Q&As of both splits.

    Where a split is not asked for, it is one of the strata. `flags` are the categories of each triple's flags before
    the freeze, by its key.
    """

    version: Version
    flags: Mapping[int, Collection[str]]

    @cached_property
    def queries(self) -> list[VersionQuery]:
        return counted_queries(self.version)

    @cached_property
    def triples(self) -> list[VersionTriple]:
        return version_triples(self.version, "")

    def kinds(self, split: str, *, by_triples: bool) -> dict[str, Kinds]:
        """Field, as pages call it, and stratum of each question of a split, by the name that scores have of it."""
        return self._of_triples(split) if by_triples else self._of_queries(split)

    @cached_property
    def in_test(self) -> set[str]:
        """The names of all questions in test; queries and triples have no name in common."""
        queries = {query.outside_id for query in self.queries if query.split == Split.TEST}
        return queries | {row.label for row in self.triples if row.split == Split.TEST}

    def _of_queries(self, split: str) -> dict[str, Kinds]:
        queries = [query for query in self.queries if split in ("", query.split)]
        fields = fields_of(queries)
        if SPLIT in fields:
            fields = {SPLIT: fields[SPLIT], **fields}
        return {
            query.outside_id: [(word, name) for field, word in fields.items() if (name := stratum_of(query, field))]
            for query in queries
        }

    def _of_triples(self, split: str) -> dict[str, Kinds]:
        """Without a field that has one value for all: it divides nothing."""
        words = {SPLIT: SPLIT.capitalize(), **FIELDS}
        kinds = {row.label: self._own_kinds[row.label] for row in self.triples if split in ("", row.split)}
        values = {field: {name for own in kinds.values() for of, name in own if of == field} for field in words}
        divides = {field for field in words if field == KIND or len(values[field]) > 1}
        return {label: [(words[of], name) for of, name in own if of in divides] for label, own in kinds.items()}

    @cached_property
    def _own_kinds(self) -> dict[str, Kinds]:
        """Field and stratum of each Q&A. A report asks for them once for each board."""
        return {
            row.label: [(SPLIT, row.split), *kinds_of(row.content, source_of(row), self.flags.get(row.triple_id, ()))]
            for row in self.triples
        }


def divided(
    names: Sequence[str], kinds: Mapping[str, Kinds], test: Collection[str] = ()
) -> tuple[dict[tuple[str, str], Ints], list[SmallStratum]]:
    """The places among `names` of each stratum, by field and largest first; and the strata too small to score.

    Too small is also what would tell of single questions of `test`: a report is read by people for whom it is sealed.
    """
    places: dict[tuple[str, str], list[int]] = {}
    for place, name in enumerate(names):
        for kind in kinds.get(name, []):
            places.setdefault(kind, []).append(place)
    fields = list(dict.fromkeys(field for field, _ in places))
    ordered = sorted(places, key=lambda kind: (fields.index(kind[0]), -len(places[kind]), kind[1]))
    shown = set(open_strata([kinds.get(name, []) for name in names], [name in test for name in names]))
    large = {kind: np.array(places[kind]) for kind in ordered if kind in shown}
    return large, [SmallStratum(*kind, len(places[kind])) for kind in ordered if kind not in large]


def small_by_field(names: Sequence[str], kinds: Mapping[str, Kinds]) -> list[tuple[str, list[SmallStratum]]]:
    _, small = divided(names, kinds)
    return [(field, list(strata)) for field, strata in groupby(small, key=lambda stratum: stratum.field)]


def in_order(values: Floats, ids: Sequence[str], names: Sequence[str]) -> Floats:
    """Values of the questions `ids` in the order of `names`; NaN for those without."""
    found = dict(zip(ids, values.tolist(), strict=True))
    return np.array([found.get(name, np.nan) for name in names], dtype=np.float64)
