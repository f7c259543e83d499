"""What a version would hold if it were frozen now, read from the rooms below."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from apps.corpus.models import BlockVersion, Snapshot, SnapshotBlock
from apps.goldsets.enums import GroupBy, VersionState
from apps.goldsets.models import Version, VersionQuery, VersionTriple
from apps.goldsets.splits import VARIANT_OF, Item, Leak, leaks, split
from apps.judging.models import Round
from apps.judging.selectors import ResolvedPair, resolved_grades
from apps.queries.models import Query
from apps.retrieval.models import PoolEntry
from apps.triples.models import Revision, Triple
from apps.triples.selectors import accepted_triples


class Place(NamedTuple):
    """A block in the version's snapshot."""

    position: int
    version_id: int
    text_digest: str
    outside_id: str


class JudgedPair(NamedTuple):
    """A resolved grade of a text that the snapshot holds."""

    query: Query
    place: Place
    grade: int
    resolution: str
    judges: int


class OpenPair(NamedTuple):
    """A pair that people answered and that has no grade yet."""

    query: Query
    block: str
    pair: ResolvedPair


@dataclass
class Gathered:
    """The items of a version, their sides, and what had to stay out."""

    version: Version
    places: dict[int, Place]
    pairs: list[JudgedPair] = field(default_factory=list)
    unresolved: list[OpenPair] = field(default_factory=list)
    triples: list[Triple] = field(default_factory=list)
    queries: dict[int, Query] = field(default_factory=dict)
    sides: dict[str, str] = field(default_factory=dict)
    leaks: list[Leak] = field(default_factory=list)
    former: Version | None = None
    on_other_text: int = 0
    of_retired_queries: int = 0

    def side_of_query(self, query: Query) -> str:
        return self.sides[query_name(query.outside_id)]

    def side_of_triple(self, triple: Triple) -> str:
        return self.sides[triple_name(triple.label)]


def wording_of(triple: Triple) -> Revision:
    """The revision that was accepted: an accepted triple has one."""
    assert triple.current is not None
    return triple.current


def query_name(outside_id: str) -> str:
    return f"query {outside_id}"


def triple_name(label: str) -> str:
    return f"triple {label}"


def gather(version: Version) -> Gathered:
    """Read everything a freeze needs. Nothing is written."""
    project = version.gold_set.project
    found = Gathered(version=version, places=places_of(version.snapshot), former=former_of(version))
    queries = {q.pk: q for q in Query.objects.filter(project=project).select_related("source")}
    _gather_pairs(found, list(version.rounds.all()), queries)
    found.triples = list(accepted_triples(project, version.snapshot).select_related("source", "query__source"))
    for triple in found.triples:
        if triple.query_id and queries[triple.query_id].retired_at is None:
            found.queries[triple.query_id] = queries[triple.query_id]
    items = _items(found)
    found.sides = split(items, test_share=version.test_share, seed=version.seed)
    found.leaks = leaks(items, found.sides)
    return found


def places_of(snapshot: Snapshot) -> dict[int, Place]:
    """Every block of the snapshot by its key."""
    rows = SnapshotBlock.objects.filter(snapshot=snapshot).values_list(
        "block_id", "position", "version_id", "version__text_digest", "block__outside_id"
    )
    return {
        block: Place(position, version, digest, outside_id)
        for block, position, version, digest, outside_id in rows.iterator(chunk_size=5_000)
    }


def former_of(version: Version) -> Version | None:
    """The last version of the set that was frozen before this one."""
    earlier = version.gold_set.versions.filter(number__lt=version.number).exclude(state=VersionState.DRAFT)
    return earlier.order_by("-number").first()


def _gather_pairs(found: Gathered, rounds: list[Round], queries: Mapping[int, Query]) -> None:
    pools = {round_.pool_id for round_ in rounds}
    judged = PoolEntry.objects.filter(pool__in=pools).values("version")
    texts = {
        pk: (block, digest, outside_id)
        for pk, block, digest, outside_id in BlockVersion.objects.filter(pk__in=judged).values_list(
            "pk", "block_id", "text_digest", "block__outside_id"
        )
    }
    for pair in resolved_grades(rounds):
        query = queries[pair.query_id]
        block, digest, outside_id = texts[pair.version_id]
        place = found.places.get(block)
        if query.retired_at is not None:
            found.of_retired_queries += 1
        elif place is None or place.text_digest != digest:
            found.on_other_text += 1
        elif pair.grade is None:
            found.queries[query.pk] = query
            found.unresolved.append(OpenPair(query, outside_id, pair))
        else:
            found.queries[query.pk] = query
            found.pairs.append(JudgedPair(query, place, pair.grade, str(pair.resolution), pair.judges))


def _items(found: Gathered) -> list[Item]:
    former_queries, former_triples = _former_sides(found.former)
    group_by = set(found.version.group_by)
    items = [
        Item(
            name=query_name(query.outside_id),
            text=query.text,
            keys=tuple(_query_keys(query, group_by)),
            former=former_queries.get(query.pk, ""),
        )
        for query in found.queries.values()
    ]
    for triple in found.triples:
        item = Item(
            name=triple_name(triple.label),
            text=wording_of(triple).question,
            keys=tuple(_triple_keys(triple, group_by)),
            former=former_triples.get(triple.pk, ""),
        )
        items.append(item)
    return items


def _former_sides(former: Version | None) -> tuple[dict[int, str], dict[int, str]]:
    if former is None:
        return {}, {}
    queries = VersionQuery.objects.filter(version=former).values_list("query_id", "split")
    triples = VersionTriple.objects.filter(version=former).values_list("triple_id", "split")
    return dict(queries), dict(triples)


def _query_keys(query: Query, group_by: set[str]) -> Iterable[tuple[str, str]]:
    """What keeps a query on one side: a variant goes with the query that it words anew, whatever is grouped by."""
    yield "query", query.outside_id
    if original := query.metadata.get(VARIANT_OF):
        yield "query", str(original)
    if GroupBy.GROUP in group_by:
        yield "group", query.group_key
    if GroupBy.SOURCE in group_by and query.source:
        yield "source", query.source.slug


def _triple_keys(triple: Triple, group_by: set[str]) -> Iterable[tuple[str, str]]:
    if triple.query:
        yield from _query_keys(triple.query, group_by)
    if GroupBy.SOURCE in group_by and triple.source:
        yield "source", triple.source.slug
    if GroupBy.DOCUMENT in group_by:
        for expected in wording_of(triple).expected_blocks.all():
            yield "document", expected.version.block.document.outside_id
