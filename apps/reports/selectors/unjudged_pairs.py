"""The pairs that a bias report ranks first for judging, and which of them are already in a round."""

from collections.abc import Sequence
from typing import NamedTuple

from apps.corpus.selectors.corpora import TextKey, texts_of
from apps.evaluation.selectors.rankings import AT_ONCE, names_at, versions_at
from apps.goldsets.models import Version
from apps.judging.models import Round
from apps.reports.models import BiasReport
from apps.retrieval.models import PoolEntry


class UnjudgedPair(NamedTuple):
    """A pair to be judged, by its keys."""

    query_id: int
    version_id: int


class NamedPair(NamedTuple):
    """A pair to be judged, by the names that files use. `swing` is how far its grade could move two runs apart."""

    query_id: str
    block_id: str
    swing: float
    is_planned: bool


def already_planned(version: Version, pairs: Sequence[UnjudgedPair]) -> set[UnjudgedPair]:
    """The pairs that are or were in a round, on any snapshot of the corpus with the same text of the block."""
    planned: set[UnjudgedPair] = set()
    for start in range(0, len(pairs), AT_ONCE):
        part = pairs[start : start + AT_ONCE]
        texts = texts_of(pair.version_id for pair in part)
        rows = PoolEntry.objects.filter(
            pool__snapshot__corpus=version.snapshot.corpus_id,
            pool__in=Round.objects.in_force().values("pool"),
            query__in={pair.query_id for pair in part},
            version__block__in={text.block_id for text in texts.values()},
        )
        columns = rows.values_list("query_id", "version__block_id", "version__text_digest").distinct()
        in_rounds = {(query, TextKey(block, digest)) for query, block, digest in columns}
        planned |= {pair for pair in part if (pair.query_id, texts[pair.version_id]) in in_rounds}
    return planned


def pairs_first(report: BiasReport) -> list[UnjudgedPair]:
    """The pairs to judge first, in the order of the report."""
    return _keys_of(report, report.result["first"]["pairs"])


def named(report: BiasReport, listed: Sequence[tuple[str, int, float]]) -> list[NamedPair]:
    """These pairs of the report by name, and whether they are in a round already."""
    names = names_at(report.version, [position for _, position, _ in listed])
    keys = _keys_of(report, listed)
    planned = already_planned(report.version, keys)
    return [
        NamedPair(query, names[position], swing, key in planned)
        for (query, position, swing), key in zip(listed, keys, strict=True)
    ]


def _keys_of(report: BiasReport, listed: Sequence[tuple[str, int, float]]) -> list[UnjudgedPair]:
    queries = dict(report.version.queries.values_list("outside_id", "query_id"))
    versions = versions_at(report.version, [position for _, position, _ in listed])
    return [UnjudgedPair(queries[query], versions[position]) for query, position, _ in listed]
