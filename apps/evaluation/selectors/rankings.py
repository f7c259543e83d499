"""Grades and rankings in the form that runs are scored in, with blocks by their position in the snapshot."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Exists, Max, OuterRef
from django.http import Http404

from apps.common.database.bulk import chunks
from apps.corpus.core.block_fields import days_of, text_of
from apps.corpus.enums import BlockField
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import field_names
from apps.evaluation.models import Evaluation
from apps.goldsets.core.splits import originals_of
from apps.goldsets.models import Version, VersionGrade, VersionQuery
from apps.metrics.columns import (
    NO_FACETS,
    UNKNOWN,
    Attribute,
    Attributes,
    BlockAttributes,
    Bools,
    Facets,
    Floats,
    Ints,
    Judged,
    QueryAttributes,
    Ranked,
    facets_in,
)
from apps.metrics.estimate import Estimate
from apps.metrics.scoring import JUDGED_AT_10
from apps.metrics.statistics.pair_samples import SampledPairs, hajek
from apps.metrics.statistics.rank_similarity import PERSISTENCE, rank_overlaps
from apps.metrics.statistics.strata import FEWEST_IN_STRATUM
from apps.retrieval.core import ranking
from apps.retrieval.enums import PoolMethod
from apps.retrieval.models import Pool, PoolEntry, PoolQuery, Ranking, Run
from apps.retrieval.selectors.pools import RELEVANT_FROM

AT_ONCE = 2_000
UNJUDGED_AT = (5, 10, 20)
"""The depths at which unjudged results are counted."""


def versions_at(version: Version, positions: Sequence[int]) -> dict[int, int]:
    return _at(version, positions, "version_id")


def names_at(version: Version, positions: Sequence[int]) -> dict[int, str]:
    """The outside id of the block at each of the positions."""
    return _at(version, positions, "block__outside_id")


def _at(version: Version, positions: Sequence[int], column: str) -> dict[int, Any]:
    by_position: dict[int, Any] = {}
    for part in chunks(sorted(set(positions)), AT_ONCE):
        rows = version.snapshot.entries.filter(position__in=part)
        by_position.update(rows.values_list("position", column))
    return by_position


JUDGED_NAME = str(JUDGED_AT_10)


def version_queries(version: Version, split: str) -> list[VersionQuery]:
    """The queries of one split of a version (empty: both) by outside id."""
    rows = VersionQuery.objects.filter(version=version).select_related("query")
    rows = rows.filter(split=split) if split else rows
    return sorted(rows, key=lambda row: row.outside_id.encode())


def without_relevant(version: Version) -> set[int]:
    """Keys of the version's queries without a block graded 1 or more."""
    relevant = VersionGrade.objects.filter(query=OuterRef("pk"), grade__gte=1)
    return set(VersionQuery.objects.filter(~Exists(relevant), version=version).values_list("pk", flat=True))


def deepest_of(run: Run) -> int:
    """The length of the run's longest ranking."""
    return Ranking.objects.filter(run=run).aggregate(most=Max("length"))["most"] or 0


def version_query_in(version: Version, pk: int) -> VersionQuery:
    query = VersionQuery.objects.filter(version=version, pk=pk).select_related("query").first()
    if query is None:
        raise Http404("No such query in this version.")
    return query


OWN_FIELDS = DOCUMENT, TEXT = "document", "text"
"""What measures read of every block by these names, whatever its metadata."""


class SnapshotFields(Mapping[str, Attribute]):
    """The attributes of a snapshot's blocks by name, blocks by their position; each is read when it is asked for.

    They are the document and the text of a block, the fields that the project names, and any other metadata by the name
    that it has. Where no block has the name, no value is known.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._read: dict[str, Attribute] = {}

    @cached_property
    def _names(self) -> dict[str, str]:
        return field_names(self._snapshot.corpus.project)

    def __iter__(self) -> Iterator[str]:
        return iter((DOCUMENT, TEXT, *self._names))

    def __len__(self) -> int:
        return len(self._names) + 2

    def __getitem__(self, name: str) -> Attribute:
        if name not in self._read:
            self._read[name] = self._attribute(name)
        return self._read[name]

    def _attribute(self, name: str) -> Attribute:
        if name == TEXT:
            return BlockTexts(self._snapshot)
        values: dict[str, int] = {}
        codes = np.full(self._snapshot.block_count, UNKNOWN)
        for position, text in self._documents() if name == DOCUMENT else self._metadata(name):
            if text:
                codes[position] = values.setdefault(text, len(values))
        return Attribute(codes, list(values))

    def _documents(self) -> Iterator[tuple[int, str]]:
        rows = self._snapshot.entries.values_list("position", "block__document__outside_id")
        return rows.iterator(chunk_size=AT_ONCE)

    def _metadata(self, name: str) -> Iterator[tuple[int, str]]:
        return ((position, text_of(value)) for position, value in self._values(self._names.get(name, name)))

    def _values(self, name: str) -> Iterator[tuple[int, Any]]:
        """Read whole, since databases differ in what a part of JSON is: a text like 1.10 is no number."""
        rows = self._snapshot.entries.exclude(version__metadata={}).values_list("position", "version__metadata")
        return ((position, metadata.get(name)) for position, metadata in rows.iterator(chunk_size=AT_ONCE))

    def times(self) -> Floats:
        """The date of each block in days since 1970; NaN where it is not known."""
        found = np.full(self._snapshot.block_count, np.nan)
        for position, value in self._values(self._names[BlockField.DATE]):
            found[position] = days_of(value)
        return found


class BlockTexts(Attribute):
    """The texts of a snapshot's blocks, of which only those are read that are asked for."""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__(np.arange(snapshot.block_count), range(snapshot.block_count))  # type: ignore[arg-type]
        self._snapshot = snapshot

    def texts(self, codes: Ints) -> dict[int, str]:
        found: dict[int, str] = {}
        for part in chunks(codes.tolist(), AT_ONCE):
            rows = self._snapshot.entries.filter(position__in=part)
            found.update(rows.values_list("position", "version__text"))
        return found


def attributes_of(version: Version, queries: Sequence[VersionQuery]) -> Attributes:
    """What measures read of the blocks and queries of a version besides grades.

    The age of a block counts to the day that its query is of, or where that is not known to the freezing of the
    snapshot.
    """
    fields, frozen = SnapshotFields(version.snapshot), days_of(version.snapshot.frozen_at.isoformat())
    asked = np.array([days_of(query.fields.get("asked_on")) for query in queries], dtype=np.float64)
    domains = tuple(str(query.fields.get("domain") or "") for query in queries)
    return Attributes(
        BlockAttributes(fields, fields.times), QueryAttributes(np.where(np.isnan(asked), frozen, asked), domains)
    )


def audiences_at(version: Version, positions: Sequence[int]) -> dict[int, str]:
    """The audience of the block at each of the positions; "" for everybody."""
    name = field_names(version.snapshot.corpus.project)[BlockField.AUDIENCE]
    return {at: text_of(metadata.get(name)) for at, metadata in _at(version, positions, "version__metadata").items()}


class ScoringGround(NamedTuple):
    """The grades of one split of a version to score against. `numbers` maps the key of a query to its row."""

    judged: Judged
    numbers: dict[int, int]


def judged_of(version: Version, split: str, only: Collection[str] | None = None) -> ScoringGround:
    """The grades of one split of a version as columns, blocks by their position in its snapshot.

    Only queries with a grade, as in a qrels file; where `only` names some by outside id, no others. Where none of them
    has subtopics, none has a value by them, and measures of others go on.
    """
    grades = VersionGrade.objects.filter(version=version)
    grades = grades.filter(query__split=split) if split else grades
    rows = list(grades.values_list("query_id", "position", "grade").iterator(chunk_size=AT_ONCE))
    graded = {row[0] for row in rows}
    known = [query for query in version_queries(version, split) if query.pk in graded]
    queries = known if only is None else [query for query in known if query.outside_id in only]
    place = {query.pk: number for number, query in enumerate(queries)}
    columns = np.array(
        [(place[query], position, grade) for query, position, grade in rows if query in place], dtype=np.int64
    )
    columns = columns.reshape(-1, 3)
    facets = _facets_of(version, [query for query in queries if query.fields.get("facets")], place) or NO_FACETS
    judged = Judged(
        tuple(query.outside_id for query in queries),
        columns[:, 0].copy(),
        columns[:, 1].copy(),
        columns[:, 2].copy(),
        facets,
        originals=originals_of({query.outside_id: query.fields.get("metadata") or {} for query in queries}),
        attributes=attributes_of(version, queries),
    )
    if unanswerable := [query.outside_id for query in queries if "unanswerable" in query.fields]:
        judged = judged.with_unanswerable(unanswerable)
    return ScoringGround(judged, {query.query_id: number for number, query in enumerate(queries)})


def _facets_of(version: Version, queries: Sequence[VersionQuery], place: Mapping[int, int]) -> Facets | None:
    """The subtopics of the pairs of these queries whose judges were asked for them; `place` are their rows."""
    if not queries:
        return None
    known = {query.pk: [facet["id"] for facet in query.fields["facets"]] for query in queries}
    asked = VersionGrade.objects.filter(version=version, query__in=known, facets__isnull=False)
    rows = asked.order_by("query", "position").values_list("query_id", "facets", "position", "grade")
    return facets_in(
        (place[query], known[query], answered or (), position, grade)
        for query, answered, position, grade in rows.iterator()
    )


def abstained_in(run: Run, numbers: Mapping[int, int]) -> Bools | None:
    """For which of these queries a run has no score from the one on that it states; None where it states none."""
    if run.abstains_below is None or run.returns_passages:
        return None
    best = np.full(max(numbers.values(), default=-1) + 1, -np.inf)
    for query_id, packed in Ranking.objects.filter(run=run).values_list("query_id", "packed").iterator():
        if query_id in numbers:
            best[numbers[query_id]] = ranking.unpack(bytes(packed))[1].max(initial=-np.inf)
    return best < run.abstains_below


def ranked_of(run: Run, numbers: dict[int, int]) -> Ranked:
    """The rankings of a run as columns, for the queries in `numbers`, with those for which it has no answer."""
    parts = []
    rows = Ranking.objects.filter(run=run).values_list("query_id", "packed")
    for query_id, packed in rows.iterator(chunk_size=AT_ONCE):
        if query_id in numbers:
            parts.append(_unpacked(numbers[query_id], packed))
    return _joined(parts)._replace(abstained=abstained_in(run, numbers))


def _unpacked(number: int, packed: bytes | memoryview, depth: int | None = None) -> Ranked:
    """The ranking of the query with this number, or its first results."""
    positions, scores = ranking.unpack(bytes(packed))
    blocks = positions[:depth].astype(np.int64)
    return Ranked(np.full(len(blocks), number, dtype=np.int64), blocks, scores[:depth])


def _joined(parts: Sequence[Ranked]) -> Ranked:
    if not parts:
        return Ranked(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))
    queries, blocks, scores = (np.concatenate(columns) for columns in zip(*(part[:3] for part in parts), strict=True))
    return Ranked(queries, blocks, scores)


OVERLAP_DEPTH = 100
"""How many results of each ranking RBO compares; with its persistence, those below have a weight of 0.00003."""


class MeanOverlap(NamedTuple):
    """Rank-biased overlap of two runs, by means over the `n` queries that either answers; see `RankOverlap`."""

    value: float
    low: float
    high: float
    n: int
    p: float = PERSISTENCE
    depth: int = OVERLAP_DEPTH


def overlap_of(baseline: Run, candidate: Run, queries: Sequence[VersionQuery]) -> MeanOverlap | None:
    """How alike two runs rank; None where neither has a result for any of the queries."""
    numbers = {query.query_id: number for number, query in enumerate(queries)}
    tops: dict[int, dict[int, Ranked]] = {baseline.pk: {}, candidate.pk: {}}
    rows = Ranking.objects.filter(run__in=tops).values_list("run_id", "query_id", "packed")
    for run_id, query_id, packed in rows.iterator(chunk_size=AT_ONCE):
        if query_id in numbers:
            tops[run_id][numbers[query_id]] = _unpacked(numbers[query_id], packed, OVERLAP_DEPTH)
    first, second = ([tops[run.pk][number] for number in sorted(tops[run.pk])] for run in (baseline, candidate))
    overlap = rank_overlaps(_joined(first), _joined(second), len(queries))
    value, low, high = (ends[~np.isnan(ends)] for ends in overlap)
    return MeanOverlap(float(value.mean()), float(low.mean()), float(high.mean()), len(value)) if len(value) else None


def top_positions(run_ids: Sequence[int], queries: Sequence[VersionQuery], depth: int) -> list[tuple[int, int]]:
    """The blocks at ranks 1 to `depth` of any of the runs, as (query key, position), each once, ascending."""
    rows = Ranking.objects.filter(run__in=run_ids, query__in=[query.query_id for query in queries])
    positions = {
        (query_id, int(position))
        for query_id, packed in rows.values_list("query_id", "packed")
        for position in ranking.unpack(bytes(packed))[0][:depth]
    }
    return sorted(positions)


def first_results(run: Run, queries: Sequence[VersionQuery], depth: int) -> list[tuple[VersionQuery, int, int]]:
    """The first results of a run, as (query, rank from 1, position), by the order of the queries and rank."""
    rows = Ranking.objects.filter(run=run, query__in=[query.query_id for query in queries])
    packed = dict(rows.values_list("query_id", "packed"))
    return [
        (query, rank, position)
        for query in queries
        if query.query_id in packed
        for rank, position in enumerate(ranking.unpack(bytes(packed[query.query_id]))[0][:depth].tolist(), 1)
    ]


def graded_positions(queries: Sequence[VersionQuery]) -> set[tuple[int, int]]:
    """The judged pairs of some queries, as (query key, position)."""
    graded = VersionGrade.objects.filter(query__in=[query.pk for query in queries])
    return set(graded.values_list("query__query_id", "position"))


class PlacedBlock(NamedTuple):
    """A block in a ranking: its position in the snapshot, rank from 1, score. What is covered by text has no score."""

    position: int
    rank: int
    score: float | None


def rankings_of(run_ids: Sequence[int], query_id: int) -> dict[int, list[PlacedBlock]]:
    """Each run's results for the query, best first; empty without results."""
    rows = Ranking.objects.filter(run__in=run_ids, query=query_id).values_list("run_id", "packed")
    return {run: [] for run in run_ids} | {run: _placed(bytes(packed)) for run, packed in rows}


def _placed(packed: bytes) -> list[PlacedBlock]:
    positions, scores = ranking.unpack(packed)
    return [
        PlacedBlock(position, rank, score)
        for rank, (position, score) in enumerate(zip(positions.tolist(), scores.tolist(), strict=True), 1)
    ]


def grades_of(query: VersionQuery) -> dict[int, int]:
    """The released grades of a query by position."""
    return dict(VersionGrade.objects.filter(query=query).values_list("position", "grade"))


class SampledPrecision(NamedTuple):
    """P@`depth` of a run, estimated from the judged pairs of a random sample of the results of its pool."""

    depth: int
    estimate: Estimate

    @property
    def measure(self) -> str:
        return f"P@{self.depth}"


def sampled_precision(evaluation: Evaluation) -> SampledPrecision | None:
    """The estimate from the newest pool of the version that is such a sample with this run; None without one.

    Of the queries of the evaluation's split that have a grade from it, if they are so many that no single one shows.
    How many places have a result is known of every query of the pool, also of those without a sampled pair.
    """
    version, run = evaluation.version, evaluation.run_id
    if evaluation.hit or evaluation.slice_id is not None:
        return None
    pools = Pool.objects.filter(pk__in=version.rounds.values("pool"), plan__method=PoolMethod.SAMPLE)
    pool = pools.filter(pool_runs__run=run).order_by("-pk").first()
    if pool is None:
        return None
    rows = VersionGrade.objects.filter(query__version=version)
    rows = rows.filter(query__split=evaluation.split) if evaluation.split else rows
    grades = {(query, text): grade for query, text, grade in rows.values_list("query__query", "block_version", "grade")}
    entries = PoolEntry.objects.filter(pool=pool).values_list("query_id", "version_id", "found_by", "sampled__p")
    judged = [(*entry, grades[entry[:2]]) for entry in entries.iterator() if entry[:2] in grades]
    if len({query for query, *_ in judged}) < FEWEST_IN_STRATUM:
        return None
    covered = PoolQuery.objects.filter(pool=pool).order_by("query").values_list("query_id", flat=True)
    lengths = dict.fromkeys(covered, 0)
    places = {query: place for place, query in enumerate(lengths)}
    found = Ranking.objects.filter(run=run, query__in=lengths).values_list("query_id", "length")
    lengths |= {query: min(length, pool.depth) for query, length in found}
    own = [
        (grade >= RELEVANT_FROM, p, places[query])
        for query, _, found_by, p, grade in judged
        if run in {finder for finder, _ in found_by}
    ]
    relevant, probability, query = np.array(own, dtype=np.float64).reshape(-1, 3).T
    columns = (relevant, probability, query.astype(np.int64), np.array(list(lengths.values()), dtype=np.int64))
    return SampledPrecision(pool.depth, hajek(SampledPairs(*columns, pool.depth)).estimate)
