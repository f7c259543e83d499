from collections.abc import Sequence
from typing import NamedTuple

from apps.corpus.selectors.corpora import TextKey, texts_of
from apps.evaluation.selectors.rankings import AT_ONCE, versions_at
from apps.goldsets.models import Version
from apps.reports.models import BiasReport
from apps.retrieval.models import PoolEntry


class UnjudgedPair(NamedTuple):
    """A pair to be judged, by its keys."""

    query_id: int
    version_id: int


def asked_already(version: Version, pairs: Sequence[UnjudgedPair]) -> set[UnjudgedPair]:
    """Those of the pairs that some round asks for, or has asked for, on this snapshot or on another with that text."""
    found: set[UnjudgedPair] = set()
    for start in range(0, len(pairs), AT_ONCE):
        part = pairs[start : start + AT_ONCE]
        texts = texts_of(pair.version_id for pair in part)
        rows = PoolEntry.objects.filter(
            pool__snapshot__corpus=version.snapshot.corpus_id,
            pool__rounds__isnull=False,
            query__in={pair.query_id for pair in part},
            version__block__in={text.block_id for text in texts.values()},
        )
        named = rows.values_list("query_id", "version__block_id", "version__text_digest").distinct()
        asked = {(query, TextKey(block, digest)) for query, block, digest in named}
        found |= {pair for pair in part if (pair.query_id, texts[pair.version_id]) in asked}
    return found


def pairs_first(report: BiasReport) -> list[UnjudgedPair]:
    """What a report says to judge first, in its order, as pairs of the version's snapshot."""
    listed = report.result["first"]["pairs"]
    queries = dict(report.version.queries.values_list("outside_id", "query_id"))
    versions = versions_at(report.version, [position for _, position, _ in listed])
    return [UnjudgedPair(queries[query], versions[position]) for query, position, _ in listed]
