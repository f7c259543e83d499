"""Marking pairs of a pool that are not judged because the same text is judged for their query."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from apps.corpus.core.near_duplicates import resemblance
from apps.corpus.models import BlockVersion, Snapshot
from apps.retrieval.core.same_texts import Representative, representatives
from apps.retrieval.core.sampling import JUDGED, SAME
from apps.retrieval.execution.indexes import open_signatures
from apps.retrieval.models import PoolEntry
from apps.retrieval.selectors.finding import in_parts
from apps.retrieval.selectors.snapshots import version_ids

COMPARED = 100_000


class SameTexts:
    """Finds the same texts in a snapshot. For jobs only: it builds the signatures when they are not on disk."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._minima = open_signatures(snapshot).minima
        versions = version_ids(snapshot)
        self._order = np.argsort(versions)
        self._sorted = versions[self._order]
        self._digests: dict[int, str] = {}
        self._resemblance = lru_cache(maxsize=COMPARED)(_resemblance)

    def representatives(self, judged: Sequence[int], new: Sequence[int]) -> dict[int, Representative]:
        """`core.same_texts.representatives` for block versions of the snapshot. Call `read` with them first."""
        versions = [*judged, *new]
        positions = self._order[np.searchsorted(self._sorted, versions)]
        minima = dict(zip(versions, np.asarray(self._minima[positions]), strict=True))

        def alike(one: int, other: int) -> float:
            return self._resemblance(*sorted((one, other)))

        return representatives(judged, new, self._digests, minima, alike)

    def read(self, versions: Iterable[int]) -> None:
        """Read the digests of these block versions."""
        for part in in_parts(sorted(set(versions) - self._digests.keys())):
            self._digests.update(BlockVersion.objects.filter(pk__in=part).values_list("pk", "text_digest"))


def _resemblance(one: int, other: int) -> float:
    texts = dict(BlockVersion.objects.filter(pk__in=[one, other]).values_list("pk", "text"))
    return resemblance(texts[one], texts[other])


def mark_same(stored: Iterable[PoolEntry], added: Sequence[PoolEntry], same: SameTexts) -> None:
    """Mark each added pair (given best first) when the same text is judged for its query.

    The stored pairs are not changed, since they may have been judged.
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
        duplicates = same.representatives(judged.get(query, []), [entry.version_id for entry in entries])
        for entry in entries:
            if (original := duplicates.get(entry.version_id)) is not None:
                entry.sampled = {"how": SAME, "as": original.text, "exact": original.is_exact}
