"""Which questions are in the training manifests of a project: of a draft, of a frozen version, and of all there are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from django.db.models import CharField, F, JSONField, QuerySet, Value
from django.shortcuts import get_object_or_404

from apps.accounts.models import Project
from apps.common.database.batched_reads import BatchedRead, ListOf, answer_to
from apps.common.database.bulk import chunks
from apps.common.text.wording import plural
from apps.corpus.models import BlockVersion
from apps.goldsets.core.training import Entry, Known, Lookup, Match, Traceable, TrainingPassage, find_known
from apps.goldsets.enums import EntryKind, Split
from apps.goldsets.models import TrainingEntry, TrainingManifest, Version, VersionGrade, VersionQuery, VersionTriple
from apps.queries.models import Query
from apps.triples.models import USABLE, ExpectedBlock, Triple, label_of
from apps.triples.selectors.triples import AcceptedTriple, ExpectedText, expected_texts, read_accepted

LOOKED_UP = 5_000
RELEVANT_FROM = 2
NOTHING = Known({}, {})
Listed: TypeAlias = "TrainingManifest | LiveManifest"


def manifests_of(project: Project) -> QuerySet[TrainingManifest]:
    """Every training manifest of a project, those in use first, then newest first."""
    found = TrainingManifest.objects.filter(project=project).select_related("added_by", "retired_by")
    return found.order_by(F("retired_at").desc(nulls_first=True), "-added_at", "-pk")


def manifest_in(project: Project, pk: int) -> TrainingManifest:
    return get_object_or_404(manifests_of(project), pk=pk)


def live_manifests(project: Project) -> list[TrainingManifest]:
    return list(_live(project))


def _live(project: Project) -> QuerySet[TrainingManifest]:
    return TrainingManifest.objects.filter(project=project, retired_at=None).order_by("name")


def lowest_relevant(project: Project) -> int:
    """The lowest relevant grade: 2, which answers at least a part; 1 on a scale of no and yes."""
    return min(RELEVANT_FROM, max(project.grades))


def query_name(outside_id: str) -> str:
    return f"query {outside_id}"


def triple_name(label: str) -> str:
    return f"triple {label}"


def known_in_draft(
    manifests: Collection[TrainingManifest],
    *,
    queries: Iterable[Query],
    triples: Iterable[AcceptedTriple],
    expected: Mapping[int, list[ExpectedText]],
    pairs: Iterable[tuple[str, int]],
) -> Known:
    """What of a draft is in the manifests. `expected` are the texts that revisions expect, by their keys.

    `pairs` are the relevant ones: the id of the query, the block version.
    """
    if not manifests:
        return NOTHING
    by_questions = _kinds(manifests) <= {EntryKind.QUESTION}
    passages = {} if by_questions else _passages_of(manifests, pairs)
    items = [_query(query.outside_id, query.text, passages) for query in queries]
    items += [_triple(triple, () if by_questions else expected[triple.revision_id]) for triple in triples]
    return _known(manifests, items)


class FoundItem(NamedTuple):
    """A query or triple of a frozen version that is in a training manifest."""

    name: str
    kind: str
    split: str
    matches: tuple[Match, ...]


class TrainingLeaks(NamedTuple):
    """The items of a frozen version that are in training manifests in use now, those of test first."""

    items: list[FoundItem]

    @property
    def in_test(self) -> list[FoundItem]:
        return [item for item in self.items if item.split == Split.TEST]

    @property
    def in_dev(self) -> list[FoundItem]:
        return [item for item in self.items if item.split == Split.DEV]

    @property
    def sentence(self) -> str:
        """One sentence for whoever reads scores on test; "" where no item of test is concerned."""
        if not (found := self.in_test):
            return ""
        counted = plural(len(found), "item of test is", "items of test are")
        named = ", ".join(f"“{name}”" for name in sorted({match.manifest for item in found for match in item.matches}))
        return f"{counted} known from training ({named}), so scores on test may be too high for what was trained on it."


class LiveManifest(NamedTuple):
    """A manifest in use: as much of it as finding its entries takes."""

    pk: int
    name: str
    counts: dict[str, int]


def live_manifests_question(project: Project) -> BatchedRead[list[LiveManifest]]:
    """The manifests in use, by name, for pages that ask for more in the same statement."""
    rows = _live(project).values_list("pk", "name", "counts")
    return BatchedRead(
        {"manifests": ListOf(rows, json=["counts"])},
        lambda found: [LiveManifest(*row) for row in found["manifests"]],
    )


def training_leaks(version: Version, *, is_blind: bool) -> TrainingLeaks:
    """The items of a frozen version that are in a manifest in use now, be it from after the freeze.

    `is_blind`: for somebody who still judges. No query is then known with a passage, which would tell its relevance.
    """
    project = version.gold_set.project
    manifests = answer_to(project, live_manifests_question(project))
    return leaks_in(version, manifests, is_blind=is_blind)


def leaks_in(version: Version, manifests: Collection[LiveManifest], *, is_blind: bool) -> TrainingLeaks:
    """As `training_leaks`, in manifests that were read already."""
    if not manifests:
        return TrainingLeaks([])
    queries = VersionQuery.objects.filter(version=version).only("outside_id", "text", "split")
    triples = VersionTriple.objects.filter(version=version).select_related("triple__query", "triple__imported")
    return leaks_among(version, list(queries), list(triples), manifests, is_blind=is_blind)


def leaks_among(
    version: Version,
    queries: Sequence[VersionQuery],
    triples: Sequence[VersionTriple],
    manifests: Collection[LiveManifest],
    *,
    is_blind: bool,
) -> TrainingLeaks:
    """As `leaks_in`, of queries and triples of the version that were read already."""
    if not manifests:
        return TrainingLeaks([])
    of_queries, of_triples = _frozen_passages(version, manifests, is_blind=is_blind)
    items = [_query(row.outside_id, row.text, of_queries) for row in queries]
    items += [_frozen_triple(row, of_triples) for row in triples]
    known = _known(manifests, items).questions
    kinds = {query_name(row.outside_id): (row.outside_id, "query", row.split) for row in queries}
    kinds |= {triple_name(row.label): (row.label, "triple", row.split) for row in triples}
    found = [FoundItem(*kinds[name], matches) for name, matches in known.items()]
    return TrainingLeaks(sorted(found, key=lambda item: (item.split != Split.TEST, item.kind, item.name)))


class KnownQuestion(NamedTuple):
    """A question of the project that a list has, by what, and the versions that have it in test."""

    name: str
    text: str
    words: str
    in_test_of: tuple[str, ...]


def questions_in(project: Project, entries: Collection[Entry]) -> list[KnownQuestion]:
    """The queries and accepted triples that a list has, for its preview: those in test of a version first."""
    queries = Query.objects.filter(project=project).in_bulk()
    triples = read_accepted(Triple.objects.filter(USABLE, project=project), queries, {})
    expected = expected_texts(triple.revision_id for triple in triples)
    items = [_query(query.outside_id, query.text, {}) for query in queries.values() if query.retired_at is None]
    items += [_triple(triple, expected[triple.revision_id]) for triple in triples]
    listed = set(entries)
    known = find_known(items, lambda asked: ((entry, "") for entry in asked if entry in listed)).questions
    tested = _versions_with_in_test(project)
    texts = {item.name: item.texts[0] for item in items}
    found = [
        KnownQuestion(name.partition(" ")[2], texts[name], matches[0].by.label, tuple(tested.get(name, ())))
        for name, matches in known.items()
    ]
    return sorted(found, key=lambda each: (not each.in_test_of, each.name))


def _versions_with_in_test(project: Project) -> dict[str, list[str]]:
    """By item the frozen versions that have it in test."""
    tested: defaultdict[str, list[str]] = defaultdict(list)
    columns = ("version__gold_set__name", "version__number")
    in_test = {"version__gold_set__project": project, "split": Split.TEST}
    for name, gold_set, number in VersionQuery.objects.filter(**in_test).values_list("outside_id", *columns):
        tested[query_name(name)].append(f"{gold_set} v{number}")
    for name, gold_set, number in VersionTriple.objects.filter(**in_test).values_list("label", *columns):
        tested[triple_name(name)].append(f"{gold_set} v{number}")
    return tested


def _known(manifests: Collection[Listed], items: Iterable[Traceable]) -> Known:
    return find_known(items, _lookup_in(manifests), with_hashes=EntryKind.TEXT in _kinds(manifests))


def _kinds(manifests: Iterable[Listed]) -> set[str]:
    """The kinds of entries that some manifest has."""
    return {kind for manifest in manifests for kind, number in manifest.counts.items() if number}


def _lookup_in(manifests: Collection[Listed]) -> Lookup:
    names = {manifest.pk: manifest.name for manifest in manifests}
    listed = TrainingEntry.objects.filter(manifest__in=names)
    held = sum(number for manifest in manifests for number in manifest.counts.values())

    def found(entries: Collection[Entry]) -> Iterator[tuple[Entry, str]]:
        """Whichever are fewer are gone through: all that the manifests have, or the entries that are looked up."""
        looked_up = chunks(sorted({entry.value for entry in entries}), LOOKED_UP) if len(entries) < held else ()
        for rows in [listed.filter(value__in=values) for values in looked_up] or [listed]:
            for kind, value, manifest in rows.values_list("kind", "value", "manifest_id"):
                yield Entry(kind, value), names[manifest]

    return found


def _passages_of(
    manifests: Collection[TrainingManifest], pairs: Iterable[tuple[str, int]]
) -> dict[str, list[TrainingPassage]]:
    """The relevant passages of each query; their texts only where a manifest has hashes."""
    listed = list(pairs)
    columns = ["pk", "block__outside_id", "block__document__outside_id"]
    columns += ["text"] if EntryKind.TEXT in _kinds(manifests) else []
    passages: dict[int, TrainingPassage] = {}
    for ids in chunks(sorted({version for _, version in listed}), LOOKED_UP):
        for pk, block, document, *texts in BlockVersion.objects.filter(pk__in=ids).values_list(*columns):
            passages[pk] = TrainingPassage(block, document, tuple(texts))
    found: defaultdict[str, list[TrainingPassage]] = defaultdict(list)
    for query, version in listed:
        found[query].append(passages[version])
    return found


def _frozen_passages(
    version: Version, manifests: Collection[LiveManifest], *, is_blind: bool
) -> tuple[dict[str, list[TrainingPassage]], dict[str, list[TrainingPassage]]]:
    """The passages beside which a manifest may know the questions, by id of the query and by label of the triple.

    Those are the relevant ones of each query and the expected ones of each triple. Only hashes know a question so.
    """
    of_queries: defaultdict[str, list[TrainingPassage]] = defaultdict(list)
    of_triples: defaultdict[str, list[TrainingPassage]] = defaultdict(list)
    if EntryKind.TEXT not in _kinds(manifests):
        return of_queries, of_triples
    relevant = VersionGrade.objects.filter(version=version, grade__gte=lowest_relevant(version.gold_set.project))
    relevant = relevant.none() if is_blind else relevant
    expected = ExpectedBlock.objects.filter(revision__in=version.triples.values("revision"))
    pinned = relevant.values("block_version").union(expected.values("version"))
    columns = ("pk", "block__outside_id", "block__document__outside_id", "text")
    texts = {pk: row for pk, *row in BlockVersion.objects.filter(pk__in=pinned).values_list(*columns)}
    graded = relevant.values_list("query__outside_id", Value(0), "block_version", Value([], JSONField()))
    named = expected.values_list(Value("", CharField()), "revision__triple__number", "version", "spans")
    for query, triple, pk, spans in graded.union(named, all=True):
        block, document, text = texts[pk]
        passage = _expected_passage(block, document, text, spans)
        (of_queries[query] if query else of_triples[label_of(triple)]).append(passage)
    return of_queries, of_triples


def _query(outside_id: str, text: str, passages: dict[str, list[TrainingPassage]]) -> Traceable:
    return Traceable(query_name(outside_id), (outside_id,), (text,), tuple(passages.get(outside_id, ())))


def _triple(triple: AcceptedTriple, expected: Iterable[ExpectedText]) -> Traceable:
    passages = [_expected_passage(each.block, each.document, each.text, each.spans) for each in expected]
    ids = _ids_of(triple.label, triple.claims, triple.query)
    return Traceable(triple_name(triple.label), ids, (triple.question,), tuple(passages))


def _frozen_triple(row: VersionTriple, passages: Mapping[str, list[TrainingPassage]]) -> Traceable:
    entry: Any = getattr(row.triple, "imported", None)
    ids = _ids_of(row.label, entry.claims if entry else {}, row.triple.query)
    return Traceable(triple_name(row.label), ids, (row.content["question"],), tuple(passages.get(row.label, ())))


def _ids_of(label: str, claims: Mapping[str, Any], query: Query | None) -> tuple[str, ...]:
    """A triple is known by its label, by the id in the file it came from, and by the query that it came from."""
    ids = [label, str(claims.get("id") or ""), query.outside_id if query else ""]
    return tuple(dict.fromkeys(filter(None, ids)))


def _expected_passage(block: str, document: str, text: str, spans: Iterable[Sequence[int]]) -> TrainingPassage:
    texts = [text, *(text[start:end] for start, end in spans)]
    return TrainingPassage(block, document, tuple(dict.fromkeys(texts)))
