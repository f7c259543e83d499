"""What blocks a freeze, each item by name."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from django.urls import reverse

from apps.common.text.wording import percent, plural
from apps.goldsets.core.splits import DEV, TEST, Leak
from apps.goldsets.enums import BlockerKind, CheckLevel, GroupBy, SplitBy
from apps.goldsets.models import VersionTriple
from apps.goldsets.selectors.assembly import Gathered, OpenPair
from apps.goldsets.selectors.freeze_policy import LeadCheck
from apps.goldsets.selectors.training import lowest_relevant, query_name, triple_name
from apps.judging.core.resolution import PairState
from apps.judging.enums import RoundState
from apps.judging.selectors.progress import planned_pairs
from apps.queries.models import Source
from apps.queries.selectors import permission_reasons
from apps.retrieval.selectors.pools import RELEVANT_FROM
from apps.review.models import Verdict
from apps.triples.enums import ENDED, State
from apps.triples.models import USABLE, Triple
from apps.triples.selectors.triples import AcceptedTriple

REVIEWERS_OF_MACHINE_WRITTEN = 2
NAMES_SHOWN = 12
OFF_TARGET = 0.05
OFF_AIM = 0.15
FEWEST_TO_SPLIT = 4
FEWEST_GRADED = 25
FEWEST_IN_TEST = 5
SEED_OR_LESS = "Try another seed in the draft, or keep less together"
TIE_WORDS = {
    "group": "the group “{}”",
    "document": "the document “{}”",
    "source": "the source “{}”",
    "query": "query {}",
    "text": "the same words",
    "near": "nearly the same words",
    "near_document": "documents that are nearly the same, {}",
}


class Blocker(NamedTuple):
    """A reason that blocks a freeze. `object_id` is the row concerned: entry, triple or source, by kind.

    A pair that is not fully judged names its round only: there is nothing to decide yet. `place` is the page of what
    a check of the project found.
    """

    kind: BlockerKind
    sentence: str
    object_id: int | None = None
    round_id: int | None = None
    place: str = ""


def find_blockers(gathered: Gathered, checks: Iterable[LeadCheck], *, at: datetime) -> list[Blocker]:
    """All blockers of the freeze, by kind. `checks` are what `find_lead_checks` found."""
    return [
        *_empty(gathered),
        *(_unresolved(open_pair) for open_pair in gathered.unresolved),
        *_not_accepted(gathered),
        *_stale(gathered),
        *_machine_written(gathered),
        *_without_permission(gathered, at),
        *(Blocker(BlockerKind.LEAK, _leak(leak)) for leak in gathered.leaks),
        *_trained(gathered),
        *(
            Blocker(BlockerKind.CHECK, check.sentence, place=check.place)
            for check in checks
            if check.answer is CheckLevel.REFUSE
        ),
    ]


def _empty(gathered: Gathered) -> Iterator[Blocker]:
    if not (gathered.pairs or gathered.unresolved or gathered.triples):
        sentence = "No grade from the chosen rounds and no accepted Q&A is on this snapshot."
        yield Blocker(BlockerKind.EMPTY, sentence)


def _unresolved(open_pair: OpenPair) -> Blocker:
    pair = open_pair.pair
    judges = plural(pair.judges, "judge has", "judges have")
    if pair.state is PairState.PARTLY:
        why = f"{judges} answered, others have not yet"
    elif pair.state is PairState.AGREED:
        why = f"{judges} answered that it can't be judged"
    else:
        why = f"{judges} answered, and they differ"
    sentence = f"{open_pair.query.outside_id} with {open_pair.block}: {why}."
    entry = None if pair.state is PairState.PARTLY else pair.entry_id
    return Blocker(BlockerKind.UNRESOLVED, sentence, entry, pair.round_id)


def _not_accepted(gathered: Gathered) -> Iterator[Blocker]:
    """Triples of the release before that are in progress: the new version would drop them silently."""
    if gathered.former is None:
        return
    gone = VersionTriple.objects.filter(version=gathered.former).exclude(triple__state__in=ENDED)
    gone = gone.exclude(triple__in=Triple.objects.filter(USABLE, project=gathered.version.gold_set.project))
    for item in gone.select_related("triple").order_by("label"):
        state = State(item.triple.state).label.lower()
        sentence = f"{item.label} was in {gathered.former.label} and is now {state}."
        yield Blocker(BlockerKind.NOT_ACCEPTED, sentence, item.triple_id)


def _stale(gathered: Gathered) -> Iterator[Blocker]:
    for triple in gathered.triples:
        if triple.is_stale:
            yield Blocker(
                BlockerKind.STALE, f"{triple.label} is stale: the text of its passage has changed.", triple.pk
            )
            continue
        for expected in gathered.expected_of(triple):
            place, block = gathered.places.get(expected.block_id), expected.block
            if place is None:
                yield Blocker(
                    BlockerKind.STALE, f"{triple.label} needs {block}, which is not in the snapshot.", triple.pk
                )
            elif place.text_digest != expected.digest:
                sentence = f"{triple.label} uses a different text of {block} than the snapshot."
                yield Blocker(BlockerKind.STALE, sentence, triple.pk)


def _machine_written(gathered: Gathered) -> Iterator[Blocker]:
    triples = [triple for triple in gathered.triples if triple.is_machine_written]
    reviewers = reviewers_of(triples)
    for triple in triples:
        people = {pk for pk, _ in reviewers[triple.pk]} - {triple.adopted_by_id}
        if triple.adopted_by_id is None:
            yield Blocker(
                BlockerKind.MACHINE, f"{triple.label} was written by a model and nobody has adopted it.", triple.pk
            )
        elif len(people) < REVIEWERS_OF_MACHINE_WRITTEN:
            sentence = f"{triple.label} was written by a model and needs two reviewers besides its author."
            yield Blocker(BlockerKind.MACHINE, sentence, triple.pk)


def reviewers_of(triples: Collection[AcceptedTriple]) -> defaultdict[int, list[tuple[int, str]]]:
    """The reviewers of the current revision of each triple with a verdict: (id, name) by triple, in order of names."""
    rows = (
        Verdict.objects.filter(revision__in=[triple.revision_id for triple in triples], superseded_by=None)
        .order_by("reviewer__name", "reviewer_id")
        .values_list("revision__triple_id", "reviewer_id", "reviewer__name")
    )
    people: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
    for triple, pk, name in rows:
        people[triple].append((pk, name))
    return people


def _without_permission(gathered: Gathered, at: datetime) -> Iterator[Blocker]:
    resting: defaultdict[int, list[str]] = defaultdict(list)
    sources: dict[int, Source] = {}
    for name, source in _sourced_items(gathered):
        resting[source.pk].append(name)
        sources[source.pk] = source
    for pk, reason in sorted(permission_reasons(sources.values(), at=at).items()):
        yield Blocker(BlockerKind.PERMISSION, f"{sources[pk].name} {reason}: {listed(resting[pk])}.", pk)


def _sourced_items(gathered: Gathered) -> Iterator[tuple[str, Source]]:
    for query in gathered.queries.values():
        if query.source is not None:
            yield query.outside_id, query.source
    for triple in gathered.triples:
        if triple.counted_source is not None:
            yield triple.label, triple.counted_source


def _leak(leak: Leak) -> str:
    tie = TIE_WORDS[leak.tie.kind].format(leak.tie.value)
    dev, test = ([name.partition(" ")[2] for name in names] for names in (leak.dev, leak.test))
    return f"{listed(dev)} in dev and {listed(test)} in test share {tie}."


def _trained(gathered: Gathered) -> Iterator[Blocker]:
    """Items of test that a system was trained on. What no version had in test is in dev already."""
    slug = gathered.version.gold_set.project.slug
    places = {query_name(query.outside_id): ("queries:query", query.pk) for query in gathered.queries.values()}
    places |= {triple_name(triple.label): ("review:triple", triple.pk) for triple in gathered.triples}
    for item, matches in gathered.known.questions.items():
        if gathered.splits[item] != TEST:
            continue
        name, found = item.partition(" ")[2], " and ".join(match.words for match in matches)
        if gathered.sides.get(item) == TEST:
            why, cure = "is in test since an earlier version", "Retire it"
        else:
            why, cure = "is in test with its group, which an earlier version had there", "Take it out of the group"
        sentence = f"{name} {why}, and in the training manifest {found}. {cure}, or retire the manifest."
        page, pk = places[item]
        yield Blocker(BlockerKind.TRAINING, sentence, pk, place=reverse(page, args=[slug, pk]))


def listed(names: Sequence[str]) -> str:
    """The names in order, at most the first dozen."""
    names = sorted(names)
    if len(names) <= NAMES_SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[:NAMES_SHOWN])} and {len(names) - NAMES_SHOWN} more"


def find_warnings(gathered: Gathered) -> list[str]:
    """What a lead should know before freezing, but may accept."""
    warnings = []
    sourceless = [query.outside_id for query in gathered.queries.values() if query.source is None]
    if sourceless:
        verb = "names" if len(sourceless) == 1 else "name"
        warnings.append(f"{listed(sourceless)} {verb} no source, so the terms of use are unknown.")
    return [
        *_few_queries(gathered),
        *_missing_grades(gathered),
        *_tiny_test(gathered),
        *warnings,
        *_open_rounds(gathered),
        *_off_target(gathered),
        *_undated(gathered),
        *_of_one_time(gathered),
        *_lopsided(gathered),
        *_on_both_sides(gathered),
    ]


def _few_queries(gathered: Gathered) -> Iterator[str]:
    graded = len(gathered.by_query)
    if 0 < graded < FEWEST_GRADED:
        rest = f"{'One query is' if graded == 1 else f'{graded} queries are'} graded"
        yield f"{rest}. With fewer than {FEWEST_GRADED}, a difference between two systems is rarely more than chance."


def _missing_grades(gathered: Gathered) -> Iterator[str]:
    """Queries of which the rounds on this snapshot have judged no pair, or not all."""
    on_snapshot = [round_ for round_ in gathered.rounds if round_.pool.snapshot_id == gathered.version.snapshot_id]
    planned = planned_pairs(on_snapshot)
    untouched = [each.outside_id for each in planned if not each.done]
    partly = [f"{each.outside_id} ({each.done:,} of {each.pairs:,})" for each in planned if 0 < each.done < each.pairs]
    if untouched:
        yield f"{len(untouched):,} of {len(planned):,} queries of the rounds have no grade: {listed(untouched)}."
    if partly:
        only = plural(len(partly), "query has", "queries have")
        yield f"{only} a grade for some pairs only, and most measures take the rest as not relevant: {listed(partly)}."


def _tiny_test(gathered: Gathered) -> Iterator[str]:
    in_test = sum(split == TEST and name.startswith("query ") for name, split in gathered.splits.items())
    if 0 < in_test < FEWEST_IN_TEST:
        has = "a single query" if in_test == 1 else f"{in_test} queries"
        yield f"The test split has {has}, so a score on it says little. Set it to 0 in the draft until there are more."


def _open_rounds(gathered: Gathered) -> Iterator[str]:
    for round_ in gathered.rounds:
        if round_.state == RoundState.CLOSED:
            continue
        yield f"{round_} is still open. Grades given after the freeze are not in this version: close the round first."


def _lopsided(gathered: Gathered) -> Iterator[str]:
    """Splits far from the intended share: whole groups are assigned, and few groups can be unbalanced."""
    counts = Counter(gathered.splits.values())
    total, aim = counts.total(), gathered.version.test_share
    if total < FEWEST_TO_SPLIT or abs(counts[TEST] / total - aim) <= OFF_AIM:
        return
    share = percent(counts[TEST] / total, 0)
    cure = "Keep less together" if gathered.version.split_by == SplitBy.TIME else SEED_OR_LESS
    yield (
        f"The split is far from its target: {counts[DEV]:,} of {total:,} items in dev and {counts[TEST]:,} in test,"
        f" {share}, where {percent(aim, 0)} was the target. {cure}."
    )


def _on_both_sides(gathered: Gathered) -> Iterator[str]:
    """Documents that are relevant in dev and in test. Measures count them, whatever the draft keeps together."""
    shared = gathered.shared.documents
    if not shared:
        return
    documents = plural(len(shared), "document is", "documents are")
    version = gathered.version
    keeps_document = GroupBy.DOCUMENT in version.group_by
    if GroupBy.RELEVANT in version.group_by or (
        keeps_document and lowest_relevant(version.gold_set.project) <= RELEVANT_FROM
    ):
        cure = "They are there since an earlier version, which did not keep them together"
    else:
        cure = f"To prevent it, keep together “{GroupBy.RELEVANT.label}” under Change; fewer groups are then free"
    yield (
        f"{documents} relevant (grade {RELEVANT_FROM} and above) for queries in dev and for others in test, so a"
        f" system tuned on dev has met what test asks for: {listed(shared)}. {cure}."
    )


def _undated(gathered: Gathered) -> Iterator[str]:
    undated = {name.partition(" ")[2]: time.written for name, time in gathered.times.items() if time.at is None}
    if undated:
        given = [f"{name} (“{written[:40]}”)" for name, written in undated.items()]
        has = plural(len(undated), "item has", "items have")
        yield (
            f"{has} a date that cannot be read: {listed(given)}. What is tied to nothing with a date goes to dev."
            " Write dates as 2026-03-14."
        )


def _of_one_time(gathered: Gathered) -> Iterator[str]:
    """A split by time that time does not decide: everything was added at once, and nothing says when it was asked."""
    times = [time.at for time in gathered.times.values()]
    if len(times) > 1 and len(set(times)) == 1 and times[0] is not None:
        yield "Every item has the same time, so the split is as by group. Say in asked_at when each query was asked."


def _off_target(gathered: Gathered) -> Iterator[str]:
    of_queries = [query.source for query in gathered.queries.values()]
    for items, sources in (("queries", of_queries), ("Q&As", [triple.counted_source for triple in gathered.triples])):
        for source, count in sorted(Counter(filter(None, sources)).items(), key=lambda item: item[0].slug):
            share = count / len(sources)
            if source.target_share is not None and abs(share - source.target_share) > OFF_TARGET:
                aim = percent(source.target_share, 0)
                yield f"{source.name} makes {percent(share, 0)} of the {items}; the target is {aim}."
