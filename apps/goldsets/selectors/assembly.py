"""What a version would contain if it were frozen now, read from the apps below."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from apps.audit.selectors.events import recorded_objects
from apps.common.database.bulk import chunks
from apps.corpus.models import Snapshot, SnapshotBlock
from apps.corpus.selectors.corpora import TextKey, block_names, replaced_in, texts_of
from apps.goldsets.core.near_questions import with_near
from apps.goldsets.core.splits import (
    ItemTime,
    Leak,
    SplitItem,
    held_by_training,
    leaks,
    near_documents,
    query_time,
    split,
    split_by_time,
    triple_time,
)
from apps.goldsets.core.training import Known
from apps.goldsets.enums import GroupBy, LossReason, Split, SplitBy, VersionState
from apps.goldsets.models import TrainingManifest, Version, VersionQuery, VersionTriple
from apps.goldsets.selectors.exclusions import (
    FormerPair,
    JudgedIn,
    Loss,
    Losses,
    MissablePair,
    SnapshotPlace,
    Ways,
    kept_elsewhere,
    missable,
    pairs_before,
)
from apps.goldsets.selectors.training import (
    NOTHING,
    known_in_draft,
    live_manifests,
    lowest_relevant,
    query_name,
    triple_name,
)
from apps.judging.core.resolution import PairState
from apps.judging.models import Round
from apps.judging.selectors.pairs import PairKey, ResolvedPair, resolved_grades, settled_texts
from apps.judging.selectors.pending_work import pairs_of_editions, waiting_pairs
from apps.judging.selectors.unanswerable import confirmed_on
from apps.queries.core.naming import VARIANT_OF, VARIANT_SEED
from apps.queries.models import Query, Source
from apps.retrieval.selectors.pools import RELEVANT_FROM
from apps.triples.selectors.triples import (
    AcceptedTriple,
    ExpectedText,
    accepted_triples,
    expected_texts,
    read_accepted,
)

AT_ONCE = 5_000


def times_of(queries: Iterable[Query], triples: Iterable[AcceptedTriple]) -> dict[str, ItemTime]:
    """The time of each item. A triple that came from a query is as old as that."""
    times = {query_name(q.outside_id): query_time(q.metadata, q.created_at) for q in queries}
    for triple in triples:
        if query := triple.query:
            time = query_time(query.metadata, query.created_at)
        else:
            time = triple_time(triple.claims, triple.created_at)
        times[triple_name(triple.label)] = time
    return times


def documents_of(snapshot: Snapshot, blocks: Iterable[int]) -> dict[int, tuple[int, str]]:
    """For each of the blocks in the snapshot the key and the outside id of its document."""
    documents: dict[int, tuple[int, str]] = {}
    for some in chunks(sorted(set(blocks)), AT_ONCE):
        rows = SnapshotBlock.objects.filter(snapshot=snapshot, block__in=some)
        named = rows.values_list("block_id", "block__document_id", "block__document__outside_id")
        documents |= {block: (document, name) for block, document, name in named}
    return documents


def document_keys(snapshot: Snapshot, documents: Mapping[int, tuple[int, str]]) -> dict[int, list[tuple[str, str]]]:
    """For each block its document, and a key for each other document of these with nearly its text."""
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for some in chunks(sorted({document for document, _ in documents.values()}), AT_ONCE):
        rows = SnapshotBlock.objects.filter(snapshot=snapshot, block__document__in=some)
        for name, text in rows.order_by("position").values_list("block__document__outside_id", "version__text"):
            texts[name].append(text)
    near = near_documents({name: "\n".join(parts) for name, parts in texts.items()})
    return {
        block: [("document", name), *(("near_document", pair) for pair in near.get(name, ()))]
        for block, (_, name) in documents.items()
    }


def query_keys(query: Query, group_by: set[str]) -> Iterable[tuple[str, str]]:
    """The keys that tie a query to others: a variant is always tied to its original, whatever the grouping."""
    yield "query", query.outside_id
    if original := query.metadata.get(VARIANT_OF):
        yield "query", str(original)
    if GroupBy.GROUP in group_by:
        yield "group", query.group_key
    if GroupBy.SOURCE in group_by and query.source:
        yield "source", query.source.slug


def triple_keys(triple: AcceptedTriple, group_by: set[str]) -> Iterable[tuple[str, str]]:
    if triple.query:
        yield from query_keys(triple.query, group_by)
    if GroupBy.SOURCE in group_by and triple.source:
        yield "source", triple.source.slug


OF_ORIGINAL = "original"
"""The resolution of a grade that a variant has from its original."""
EDITION_TAKEN = "edition.taken"


class JudgedPair(NamedTuple):
    """A resolved grade of a text in the snapshot."""

    query: Query
    place: SnapshotPlace
    grade: int
    resolution: str
    judges: int
    key: PairKey
    facets: list[str] | None = None

    @property
    def text(self) -> TextKey:
        return self.key[1]


class EarlierItem(NamedTuple):
    """A query or triple of an earlier version of the gold set: its row there, its own key, its name and its split."""

    version_id: int
    row_id: int
    key: int
    name: str
    split: str


class OpenPair(NamedTuple):
    """A pair with answers and without a grade."""

    query: Query
    block: str
    pair: ResolvedPair
    text: TextKey


class Shared(NamedTuple):
    """What has a grade of `RELEVANT_FROM` or more, or is expected, in both splits: documents by id, and passages."""

    documents: list[str]
    passages: int


@dataclass
class Gathered:
    """The items of a version, their splits, and what is left out.

    `shared` is what is relevant in both splits, whatever is kept together.

    `expected` are the texts that Q&As expect, by the key of their accepted revision. `times` are those of the items by
    name, and `boundary` is the time that divides dev and test; both only where the version is split by time. `known` is
    what the training `manifests` in use have of it, `held` are the items that are dev for that, and `sides` are the
    splits of earlier versions, by name. `earlier_queries` and `earlier_triples` are the items of all earlier versions,
    oldest first, and `pairs_before` the judged pairs of the `former` one, the last. `unanswerable` has, by its key, how
    far people looked for an answer to each query that nothing answers.
    """

    version: Version
    rounds: list[Round]
    places: dict[int, SnapshotPlace]
    pairs: list[JudgedPair] = field(default_factory=list)
    unresolved: list[OpenPair] = field(default_factory=list)
    triples: list[AcceptedTriple] = field(default_factory=list)
    expected: dict[int, list[ExpectedText]] = field(default_factory=dict)
    queries: dict[int, Query] = field(default_factory=dict)
    splits: dict[str, str] = field(default_factory=dict)
    times: dict[str, ItemTime] = field(default_factory=dict)
    boundary: datetime | None = None
    manifests: list[TrainingManifest] = field(default_factory=list)
    known: Known = NOTHING
    held: list[str] = field(default_factory=list)
    sides: dict[str, str] = field(default_factory=dict)
    leaks: list[Leak] = field(default_factory=list)
    shared: Shared = field(default_factory=lambda: Shared([], 0))
    former: Version | None = None
    earlier_queries: list[EarlierItem] = field(default_factory=list)
    earlier_triples: list[EarlierItem] = field(default_factory=list)
    pairs_before: dict[PairKey, FormerPair] = field(default_factory=dict)
    losses: list[Loss] = field(default_factory=list)
    unanswerable: dict[int, dict[str, Any]] = field(default_factory=dict)

    @cached_property
    def by_query(self) -> dict[int, list[JudgedPair]]:
        """The pairs of each query that has any, by its key."""
        of_queries: defaultdict[int, list[JudgedPair]] = defaultdict(list)
        for pair in self.pairs:
            of_queries[pair.key[0]].append(pair)
        return dict(of_queries)

    def split_of_query(self, query: Query) -> str:
        return self.splits[query_name(query.outside_id)]

    def split_of_triple(self, triple: AcceptedTriple) -> str:
        return self.splits[triple_name(triple.label)]

    def expected_of(self, triple: AcceptedTriple) -> list[ExpectedText]:
        return self.expected[triple.revision_id]

    @property
    def queries_before(self) -> list[EarlierItem]:
        """The queries of the `former` version."""
        return [item for item in self.earlier_queries if self.former and item.version_id == self.former.pk]

    @property
    def triples_before(self) -> list[EarlierItem]:
        return [item for item in self.earlier_triples if self.former and item.version_id == self.former.pk]


def gather(version: Version) -> Gathered:
    """Read everything a freeze needs. Nothing is written."""
    project = version.gold_set.project
    former = former_of(version)
    rounds = list(version.rounds.select_related("pool").order_by("number"))
    gathered = Gathered(version, rounds, places_of(version.snapshot), former=former)
    _read_earlier(gathered)
    sources = Source.objects.filter(project=project).in_bulk()
    queries = Query.objects.filter(project=project).in_bulk()
    for query in queries.values():
        query.source = sources[query.source_id] if query.source_id else None
    losses = Losses(gathered.places, queries)
    _gather_pairs(gathered, queries, losses)
    gathered.triples = read_accepted(accepted_triples(project, version.snapshot), queries, sources)
    gathered.expected = expected_texts(triple.revision_id for triple in gathered.triples)
    for triple in gathered.triples:
        if triple.query and triple.query.retired_at is None:
            gathered.queries[triple.query.pk] = triple.query
    if texts := losses.missed_texts:
        losses.show_ways(_ways(version, texts))
    included = [(pair.query.pk, pair.text.block_id) for pair in gathered.unresolved]
    included += [(query, pair.text.block_id) for query in losses.queries for pair in gathered.by_query.get(query, ())]
    gathered.losses = losses.listed(included, gathered.queries, (item.key for item in gathered.queries_before))
    gathered.unanswerable = _unanswerable(gathered)
    _split(gathered)
    return gathered


def _unanswerable(gathered: Gathered) -> dict[int, dict[str, Any]]:
    """The confirmed ones whose grades here leave no doubt, with the variants that have their grades."""
    doubtful = {pair.query.pk for pair in gathered.unresolved}
    doubtful |= {pair.query.pk for pair in gathered.pairs if pair.grade >= RELEVANT_FROM}
    confirmed = confirmed_on(gathered.version.snapshot)
    known = {gathered.queries[pk].outside_id: facts for pk, facts in confirmed.items() if pk in gathered.queries}
    found = {}
    for pk, query in gathered.queries.items():
        derived = any(pair.resolution == OF_ORIGINAL for pair in gathered.by_query.get(pk, ()))
        name = query.metadata.get(VARIANT_OF) if derived else query.outside_id
        if name in known and pk not in doubtful and pk in gathered.by_query:
            found[pk] = known[name]
    return found


def _ways(version: Version, texts: Iterable[TextKey]) -> Ways:
    snapshot = version.snapshot
    rounds = dict(Round.objects.filter(pool__snapshot__corpus=snapshot.corpus_id).values_list("pk", "name"))
    judged = {pair: JudgedIn(grade, rounds[of]) for pair, grade, of in _grades_on(snapshot)}
    return Ways(
        judged=judged,
        waiting=waiting_pairs(snapshot.corpus),
        pooled=pairs_of_editions(snapshot.corpus),
        editions=replaced_in(snapshot, texts),
        latest=snapshot,
        taken=frozenset(map(int, recorded_objects(EDITION_TAKEN, Snapshot))),
    )


def _grades_on(snapshot: Snapshot) -> Iterator[tuple[tuple[int, TextKey], int | None, int]]:
    """The pairs that any round of the corpus settled on texts of the snapshot, with the grade and the round."""
    settled = [pair for pair in resolved_grades(snapshot) if pair.state is not PairState.PARTLY]
    texts = texts_of(pair.version_id for pair in settled)
    return (((pair.query_id, texts[pair.version_id]), pair.grade, pair.round_id) for pair in settled)


def places_of(snapshot: Snapshot) -> dict[int, SnapshotPlace]:
    """Every block of the snapshot by its key."""
    rows = SnapshotBlock.objects.filter(snapshot=snapshot).values_list(
        "block_id", "position", "version_id", "version__text_digest", "block__outside_id"
    )
    return {
        block: SnapshotPlace(position, version, digest, outside_id)
        for block, position, version, digest, outside_id in rows.iterator(chunk_size=5_000)
    }


def former_of(version: Version) -> Version | None:
    """The version of the set that was frozen last before this one."""
    earlier = version.gold_set.versions.filter(number__lt=version.number).exclude(state=VersionState.DRAFT)
    return earlier.order_by("-number").first()


def _read_earlier(gathered: Gathered) -> None:
    earlier = gathered.version.gold_set.versions.filter(number__lt=gathered.version.number)
    frozen = {"version__in": earlier.exclude(state=VersionState.DRAFT)}
    queries = VersionQuery.objects.filter(**frozen).values_list("version_id", "pk", "query_id", "outside_id", "split")
    triples = VersionTriple.objects.filter(**frozen).values_list("version_id", "pk", "triple_id", "label", "split")
    gathered.earlier_queries = [EarlierItem(*row) for row in queries.order_by("version__number")]
    gathered.earlier_triples = [EarlierItem(*row) for row in triples.order_by("version__number")]


def _gather_pairs(gathered: Gathered, queries: Mapping[int, Query], losses: Losses) -> None:
    places, pairs, rounds = gathered.places, gathered.pairs, gathered.rounds
    texts = {place.version_id: TextKey(block, place.text_digest) for block, place in places.items()}
    queries_before = {item.row_id: item.key for item in gathered.queries_before}
    gathered.pairs_before = pairs_before(gathered.former, queries_before, texts)
    settled, ruled_out, missed = settled_texts(rounds, texts), set(), []
    for key, pair in settled.items():
        text = key[1]
        if pair.is_ruled_out:
            ruled_out.add(key)
            continue
        if reason := losses.reason(*key):
            missed.append((pair, text, reason))
            continue
        query, place = queries[pair.query_id], places[text.block_id]
        gathered.queries[pair.query_id] = query
        if pair.grade is None:
            gathered.unresolved.append(OpenPair(query, place.outside_id, pair, text))
        else:
            facets = pair.facets if query.facets else None
            pairs.append(JudgedPair(query, place, pair.grade, pair.resolution.value, pair.judges, key, facets))
    derived = _give_to_variants(gathered, queries)
    for key in ruled_out:
        del settled[key]
    names = block_names(pair.version_id for pair, _, _ in missed)
    for pair, text, reason in missed:
        block = names[pair.version_id]
        losses.miss(MissablePair(pair.query_id, text, block, pair.grade, version_id=pair.version_id), reason)
    for judged in chain(kept_elsewhere(rounds), missable(gathered.pairs_before, but=settled.keys() | derived)):
        if judged.key in ruled_out:
            losses.miss(judged, LossReason.RULED_OUT)
        elif judged.key not in settled:
            losses.miss(judged, losses.reason(*judged.key) or LossReason.NOT_CHOSEN)


def _give_to_variants(gathered: Gathered, queries: Mapping[int, Query]) -> set[PairKey]:
    """Give variants that were made here the grades of their originals; the keys of these pairs.

    They say "original" as their resolution: nobody judged the variant. A pair of it that somebody judged stays.
    """
    by_name = {query.outside_id: query for query in gathered.queries.values()}
    own, derived = {pair.key for pair in gathered.pairs}, set()
    originals: defaultdict[int, list[JudgedPair]] = defaultdict(list)
    for pair in gathered.pairs:
        originals[pair.query.pk].append(pair)
    for query in queries.values():
        original = by_name.get(query.metadata.get(VARIANT_OF, ""))
        if original is None or query.retired_at is not None or VARIANT_SEED not in query.metadata:
            continue
        for pair in originals.get(original.pk, ()):
            if (key := (query.pk, pair.text)) not in own:
                gathered.queries[query.pk] = query
                gathered.pairs.append(pair._replace(query=query, resolution=OF_ORIGINAL, key=key))
                derived.add(key)
    return derived


def _split(gathered: Gathered) -> None:
    """Find the split of each item, and what leaks."""
    version = gathered.version
    _find_trained(gathered)
    items = _items(gathered)
    gathered.held = held_by_training(items) if gathered.known.questions else []
    gathered.sides = {item.name: item.former for item in items if item.former}
    share, seed = version.test_share, version.seed
    if version.split_by == SplitBy.TIME:
        gathered.times = times_of(gathered.queries.values(), gathered.triples)
        items = [item._replace(at=gathered.times[item.name].at) for item in items]
        gathered.splits, gathered.boundary = split_by_time(items, test_share=share, seed=seed)
    else:
        gathered.splits = split(items, test_share=share, seed=seed)
    gathered.leaks = leaks(items, gathered.splits)
    gathered.shared = _shared(gathered)


def _shared(gathered: Gathered) -> Shared:
    """Measures count these as relevant, so a system that was tuned on dev has met them before test asks for them."""
    of_block: defaultdict[int, set[str]] = defaultdict(set)
    for name, blocks in _answers(gathered, RELEVANT_FROM).items():
        for block in blocks:
            of_block[block].add(gathered.splits[name])
    of_document: defaultdict[str, set[str]] = defaultdict(set)
    for block, (_, document) in documents_of(gathered.version.snapshot, of_block).items():
        of_document[document] |= of_block[block]
    both = len(Split.values)
    documents = sorted(name for name, sides in of_document.items() if len(sides) == both)
    return Shared(documents, sum(len(sides) == both for sides in of_block.values()))


def _find_trained(gathered: Gathered) -> None:
    project = gathered.version.gold_set.project
    lowest = lowest_relevant(project)
    gathered.manifests = live_manifests(project)
    gathered.known = known_in_draft(
        gathered.manifests,
        queries=gathered.queries.values(),
        triples=gathered.triples,
        expected=gathered.expected,
        pairs=((p.query.outside_id, p.place.version_id) for p in gathered.pairs if p.grade >= lowest),
    )


def _answers(gathered: Gathered, lowest: int) -> dict[str, set[int]]:
    """For each item the blocks that answer it: those that have this grade or more, or those that it expects."""
    answers: defaultdict[str, set[int]] = defaultdict(set)
    for pair in gathered.pairs:
        if pair.grade >= lowest:
            answers[query_name(pair.query.outside_id)].add(pair.text.block_id)
    for triple in gathered.triples:
        answers[triple_name(triple.label)].update(each.block_id for each in gathered.expected_of(triple))
    return answers


def _document_keys(gathered: Gathered, group_by: set[str]) -> dict[str, list[tuple[str, str]]]:
    """For each item the documents that answer it, or all that are relevant for it, as the draft keeps together."""
    if not group_by & {GroupBy.DOCUMENT, GroupBy.RELEVANT}:
        return {}
    lowest = RELEVANT_FROM if GroupBy.RELEVANT in group_by else lowest_relevant(gathered.version.gold_set.project)
    answers, snapshot = _answers(gathered, lowest), gathered.version.snapshot
    keys = document_keys(snapshot, documents_of(snapshot, (block for blocks in answers.values() for block in blocks)))
    return {name: sorted({key for block in blocks for key in keys.get(block, ())}) for name, blocks in answers.items()}


def _items(gathered: Gathered) -> list[SplitItem]:
    earlier = gathered.earlier_queries, gathered.earlier_triples
    former_queries, former_triples = ({item.key: item.split for item in items} for items in earlier)
    group_by = set(gathered.version.group_by)
    documents = _document_keys(gathered, group_by)
    items = [
        SplitItem(
            name=query_name(query.outside_id),
            text=query.text,
            keys=(*query_keys(query, group_by), *documents.get(query_name(query.outside_id), ())),
            former=former_queries.get(query.pk, ""),
            stratum=query.query_type,
        )
        for query in gathered.queries.values()
    ]
    for triple in gathered.triples:
        item = SplitItem(
            name=triple_name(triple.label),
            text=triple.question,
            keys=(*triple_keys(triple, group_by), *documents.get(triple_name(triple.label), ())),
            former=former_triples.get(triple.pk, ""),
            stratum=triple.query.query_type if triple.query else "",
        )
        items.append(item)
    trained = gathered.known.questions
    return with_near([item._replace(is_trained=item.name in trained) for item in items])
