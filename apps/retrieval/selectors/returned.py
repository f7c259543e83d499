"""What a run returned for its queries, the same for blocks of the snapshot and for passages of the system's own."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from apps.corpus.models import SnapshotBlock
from apps.metrics.expected.questions import Returned
from apps.retrieval.core import ranking
from apps.retrieval.core.passages import from_stored
from apps.retrieval.models import Ranking, Run
from apps.retrieval.selectors.finding import in_parts

RANKINGS_AT_ONCE = 500


def returned_of(
    run: Run, query_ids: Sequence[int], *, with_text: bool = False, depth: int | None = None
) -> Iterator[tuple[int, list[Returned]]]:
    """Those of the queries that have a ranking, in their order, with what was returned, best first, at most `depth`.

    Documents and pages of blocks are those of the run's snapshot. Texts are "" unless `with_text`: they are read
    anew for every few hundred queries, everything else once.
    """
    known: dict[int, Returned] = {}
    for part in in_parts(query_ids, RANKINGS_AT_ONCE):
        rankings = Ranking.objects.filter(run=run, query__in=part)
        if run.returns_passages:
            passages = dict(rankings.values_list("query_id", "passages"))
            own = ((query_id, passages[query_id] or []) for query_id in part if query_id in passages)
            yield from ((query_id, _own(stored[:depth], with_text)) for query_id, stored in own)
            continue
        packed = dict(rankings.values_list("query_id", "packed"))
        ranked = [query_id for query_id in part if query_id in packed]
        tops = {query_id: ranking.unpack(bytes(packed[query_id]))[0][:depth].tolist() for query_id in ranked}
        known = {} if with_text else known
        known |= _blocks(run.snapshot_id, {place for top in tops.values() for place in top} - known.keys(), with_text)
        yield from ((query_id, [known[place] for place in top]) for query_id, top in tops.items())


def _own(stored: list[dict[str, Any]], with_text: bool) -> list[Returned]:
    passages = from_stored(stored)
    return passages if with_text else [one._replace(text="") for one in passages]


def _blocks(snapshot_id: int, positions: Iterable[int], with_text: bool) -> dict[int, Returned]:
    """The blocks at these positions of the snapshot."""
    columns = ["position", "block__outside_id", "block__document__outside_id", "version__page_start"]
    columns += ["version__page_end", *(["version__text"] if with_text else [])]
    found = {}
    for part in in_parts(sorted(positions)):
        rows = SnapshotBlock.objects.filter(snapshot=snapshot_id, position__in=part).values_list(*columns)
        for position, block, document, first, last, *text in rows:
            found[position] = Returned(block, document, _pages(first, last), *text)
    return found


def _pages(first: int | None, last: int | None) -> tuple[int, int] | None:
    """The range of pages; of one end where only that is known."""
    start, end = (first if first is not None else last), (last if last is not None else first)
    return None if start is None or end is None else (start, end)
