"""Pairs of a pool that are not judged because another text of the query says the same."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from apps.corpus.core.near_duplicates import resemblance
from apps.corpus.models import BlockVersion, Snapshot
from apps.retrieval import selectors
from apps.retrieval.core.same_texts import Stand, stand_ins
from apps.retrieval.core.sampling import JUDGED, SAME
from apps.retrieval.execution.indexes import open_signatures
from apps.retrieval.models import PoolEntry

COMPARED = 100_000


class SameTexts:
    """What tells which texts of a snapshot say the same. For jobs: it builds signatures that are not on disk yet."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._minima = open_signatures(snapshot).minima
        versions = selectors.version_ids(snapshot)
        self._order = np.argsort(versions)
        self._sorted = versions[self._order]
        self._digests: dict[int, str] = {}
        self._alike = lru_cache(maxsize=COMPARED)(_likeness)

    def stand_ins(self, judged: Sequence[int], new: Sequence[int]) -> dict[int, Stand]:
        """`sameness.stand_ins` for block versions of the snapshot whose digests were read before."""
        named = [*judged, *new]
        places = self._order[np.searchsorted(self._sorted, named)]
        minima = dict(zip(named, np.asarray(self._minima[places]), strict=True))
        return stand_ins(judged, new, self._digests, minima, lambda one, other: self._alike(*sorted((one, other))))

    def read(self, versions: Iterable[int]) -> None:
        """Read the digests of these block versions."""
        for part in selectors.in_parts(sorted(set(versions) - self._digests.keys())):
            self._digests.update(BlockVersion.objects.filter(pk__in=part).values_list("pk", "text_digest"))


def _likeness(one: int, other: int) -> float:
    texts = dict(BlockVersion.objects.filter(pk__in=[one, other]).values_list("pk", "text"))
    return resemblance(texts[one], texts[other])


def mark_same(stored: Iterable[PoolEntry], added: Sequence[PoolEntry], same: SameTexts) -> None:
    """Say of each added pair, given best first, whether a text that is judged for its query says the same.

    What the pool has already stays as it is: it may have been judged.
    """
    judged: dict[int, list[int]] = {}
    new: dict[int, list[PoolEntry]] = {}
    for entry in sorted(stored, key=lambda entry: entry.pk):
        if entry.sampled is None or entry.sampled["how"] in JUDGED:
            judged.setdefault(entry.query_id, []).append(entry.version_id)
    for entry in added:
        new.setdefault(entry.query_id, []).append(entry)
    same.read(version for query in new for version in judged.get(query, []))
    same.read(entry.version_id for entry in added)
    for query, entries in new.items():
        found = same.stand_ins(judged.get(query, []), [entry.version_id for entry in entries])
        for entry in entries:
            if (stand := found.get(entry.version_id)) is not None:
                entry.sampled = {"how": SAME, "as": stand.text, "exact": stand.is_exact}
