"""Where what a run returned is in its snapshot, by its words, and what of the snapshot it covers."""

from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from apps.corpus.models import Snapshot
from apps.metrics.by_text.coverage import Evidence, ReturnedTexts, covering
from apps.metrics.by_text.index import Located, TextIndex, TextIndexer, joined
from apps.metrics.columns import Covering, Ints
from apps.metrics.expected.rules import USUAL_SHARE
from apps.retrieval.core import pooling, ranking
from apps.retrieval.core.engines.store import open_index
from apps.retrieval.execution.indexes import Shared, digest_of_texts, folder
from apps.retrieval.models import Ranking, Run
from apps.retrieval.selectors.runs import returned_of
from apps.retrieval.selectors.snapshots import block_order, texts_by_document

TEXTS_AT_ONCE = 5_000


def open_texts(snapshot: Snapshot) -> TextIndex:
    """The words of the snapshot, blocks by position; built when they are not on disk."""
    digest = digest_of_texts(snapshot)
    indexer = TextIndexer(partial(block_order, snapshot))
    index: TextIndex = open_index(folder(), digest, Shared(indexer, digest), partial(texts_by_document, snapshot))
    return index


class LocatedRun(NamedTuple):
    """What a run returned for some queries, and where it is. `sizes` are the words of each block by position."""

    returned: ReturnedTexts
    located: Located
    sizes: Ints
    queries: int

    def covering(self, share: float = USUAL_SHARE, evidence: Evidence | None = None) -> Covering:
        return covering(self.returned, self.located, self.sizes, self.queries, share=share, evidence=evidence)


def locate_run(run: Run, numbers: Mapping[int, int], *, depth: int | None = None) -> LocatedRun:
    """Locate what a run returned, at most `depth` results a query. `numbers` has the row of each query by its key.

    Each text is located once, however often it was returned, and only some thousand are held at a time.
    """
    index = open_texts(run.snapshot)
    texts = _DistinctTexts(index)
    rows = []
    for query_id, passages in returned_of(run, list(numbers), with_text=True, depth=depth):
        rows += [(numbers[query_id], rank, texts.number_of(one.text)) for rank, one in enumerate(passages)]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return LocatedRun(ReturnedTexts(*columns.T), texts.located(), index.block_sizes, len(numbers))


def locate_texts(snapshot: Snapshot, texts: Sequence[str]) -> LocatedRun:
    """The same of a few texts that were returned for one query, best first."""
    index = open_texts(snapshot)
    ranks = np.arange(len(texts))
    returned = ReturnedTexts(np.zeros(len(texts), dtype=np.int64), ranks, ranks)
    return LocatedRun(returned, index.locate(texts), index.block_sizes, 1)


def found_blocks(runs: Sequence[Run], query_ids: Sequence[int], depth: int | None) -> pooling.Rankings:
    """The blocks that runs found for the queries down to `depth` (None: all), with the rank at which each did.

    Of a run that returns passages of its own they are those that it covers, at the rank at which it does: several
    blocks can have one rank. For jobs only: it builds the index of texts when it is not on disk.
    """
    own = [run for run in runs if run.returns_passages]
    rows = Ranking.objects.filter(run__in=[run for run in runs if not run.returns_passages], query__in=query_ids)
    packed = rows.values_list("run_id", "query_id", "packed").iterator()
    tops = pooling.columns((run, query, ranking.unpack(bytes(top))[0][:depth]) for run, query, top in packed)
    return pooling.together([tops, *(_covered_blocks(run, query_ids, depth) for run in own)])


def _covered_blocks(run: Run, query_ids: Sequence[int], depth: int | None) -> pooling.Rankings:
    covered = locate_run(run, {query: row for row, query in enumerate(query_ids)}, depth=depth).covering()
    queries = np.array(query_ids, dtype=np.int64)[covered.query]
    return pooling.Rankings(np.full(len(queries), run.pk), queries, covered.block, covered.rank + 1)


class _DistinctTexts:
    """Numbers texts in the order in which they come, and locates each once."""

    def __init__(self, index: TextIndex) -> None:
        self._index = index
        self._numbers: dict[bytes, int] = {}
        self._waiting: list[str] = []
        self._parts: list[Located] = []

    def number_of(self, text: str) -> int:
        digest = blake2b(text.encode(), digest_size=16).digest()
        if digest not in self._numbers:
            self._numbers[digest] = len(self._numbers)
            self._waiting.append(text)
            if len(self._waiting) == TEXTS_AT_ONCE:
                self._locate()
        return self._numbers[digest]

    def _locate(self) -> None:
        self._parts.append(self._index.locate(self._waiting))
        self._waiting = []

    def located(self) -> Located:
        self._locate()
        return joined(self._parts)
