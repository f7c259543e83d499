"""What stops a freeze, each item by name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from apps.goldsets.enums import StopKind
from apps.goldsets.gathering import Gathered, OpenPair
from apps.goldsets.models import VersionTriple
from apps.goldsets.splits import Leak
from apps.judging.resolution import PairState
from apps.queries.models import Permission, Source
from apps.review.models import Verdict
from apps.triples.enums import ENDED, State
from apps.triples.models import Triple

REVIEWERS_OF_MACHINE_WRITTEN = 2
NAMES_SHOWN = 12
TIE_WORDS = {
    "group": "the group “{}”",
    "document": "the document “{}”",
    "source": "the source “{}”",
    "query": "query {}",
    "text": "the same words",
}


class Stop(NamedTuple):
    """One thing that stops a freeze. `object_id` is the row to look at: entry, triple or source, by kind."""

    kind: StopKind
    sentence: str
    object_id: int | None = None
    round_id: int | None = None


def find_stops(found: Gathered, *, at: datetime) -> list[Stop]:
    """Everything that stops the freeze, in the order of kinds."""
    return [
        *_empty(found),
        *(_unresolved(open_pair) for open_pair in found.unresolved),
        *_not_accepted(found),
        *_stale(found),
        *_machine_written(found),
        *_without_permission(found, at),
        *(Stop(StopKind.LEAK, _leak(leak)) for leak in found.leaks),
    ]


def _empty(found: Gathered) -> Iterator[Stop]:
    if not (found.pairs or found.unresolved or found.triples):
        sentence = "Neither a grade from the chosen rounds nor an accepted triple lies on this snapshot."
        yield Stop(StopKind.EMPTY, sentence)


def _unresolved(open_pair: OpenPair) -> Stop:
    pair = open_pair.pair
    judges = "1 judge has" if pair.judges == 1 else f"{pair.judges} judges have"
    if pair.state is PairState.PARTLY:
        why = f"{judges} answered, more are to come"
    elif pair.state is PairState.AGREED:
        why = f"{judges} answered that it can't be judged"
    else:
        why = f"{judges} answered, and they differ"
    sentence = f"{open_pair.query.outside_id} with {open_pair.block}: {why}."
    return Stop(StopKind.UNRESOLVED, sentence, pair.entry_id, pair.round_id)


def _not_accepted(found: Gathered) -> Iterator[Stop]:
    """Triples of the release before that are on their way: they would vanish without a word."""
    if found.former is None:
        return
    gone = VersionTriple.objects.filter(version=found.former).exclude(triple__state__in=[State.ACCEPTED, *ENDED])
    for item in gone.select_related("triple").order_by("label"):
        state = State(item.triple.state).label.lower()
        sentence = f"{item.label} was in {found.former.label} and is now {state}."
        yield Stop(StopKind.NOT_ACCEPTED, sentence, item.triple_id)


def _stale(found: Gathered) -> Iterator[Stop]:
    for triple in found.triples:
        if triple.is_stale:
            yield Stop(StopKind.STALE, f"{triple.label} is stale: its block has another text now.", triple.pk)
            continue
        for expected in triple.current.expected_blocks.all():
            place = found.places.get(expected.version.block_id)
            block = expected.version.block.outside_id
            if place is None:
                yield Stop(StopKind.STALE, f"{triple.label} rests on {block}, which is not in the snapshot.", triple.pk)
            elif place.text_digest != expected.version.text_digest:
                sentence = f"{triple.label} rests on another text of {block} than the snapshot's."
                yield Stop(StopKind.STALE, sentence, triple.pk)


def _machine_written(found: Gathered) -> Iterator[Stop]:
    triples = [triple for triple in found.triples if triple.is_machine_written]
    reviewers = reviewers_of(triples)
    for triple in triples:
        people = {pk for pk, _ in reviewers[triple.pk]} - {triple.adopted_by_id}
        if triple.adopted_by_id is None:
            yield Stop(StopKind.MACHINE, f"{triple.label} was written by a model and nobody adopted it.", triple.pk)
        elif len(people) < REVIEWERS_OF_MACHINE_WRITTEN:
            sentence = f"{triple.label} was written by a model and needs two reviewers beside its author."
            yield Stop(StopKind.MACHINE, sentence, triple.pk)


def reviewers_of(triples: list[Triple]) -> defaultdict[int, list[tuple[int, str]]]:
    """Who answered the current revision of each triple: (id, name) by triple, in the order of names."""
    rows = (
        Verdict.objects.filter(revision__in=[triple.current_id for triple in triples], superseded_by=None)
        .order_by("reviewer__name", "reviewer_id")
        .values_list("revision__triple_id", "reviewer_id", "reviewer__name")
    )
    people: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
    for triple, pk, name in rows:
        people[triple].append((pk, name))
    return people


def _without_permission(found: Gathered, at: datetime) -> Iterator[Stop]:
    resting: defaultdict[int | None, list[str]] = defaultdict(list)
    sources: dict[int, Source] = {}
    for query in found.queries.values():
        resting[query.source_id].append(query.outside_id)
        if query.source is not None:
            sources[query.source.pk] = query.source
    for triple in found.triples:
        source = triple.source or (triple.query.source if triple.query else None)
        if source is not None:
            resting[source.pk].append(triple.label)
            sources[source.pk] = source
    reasons = permission_reasons(sources.values(), at=at)
    for pk, names in sorted(resting.items(), key=lambda item: min(item[1])):
        if pk is None:
            sentence = f"{_listed(names)} {'names' if len(names) == 1 else 'name'} no source that permits the use."
            yield Stop(StopKind.PERMISSION, sentence)
        elif pk in reasons:
            yield Stop(StopKind.PERMISSION, f"{sources[pk].name} {reasons[pk]}: {_listed(names)}.", pk)


def permission_reasons(sources: Iterable[Source], *, at: datetime) -> dict[int, str]:
    """Why a source may not be used, by its key; sources with a permission in force are left out.

    A source rests on its latest permission that is not revoked.
    """
    wanted = [source.pk for source in sources]
    reasons = dict.fromkeys(wanted, "has no permission")
    for permission in Permission.objects.filter(source__in=wanted).order_by("granted_at", "pk"):
        if permission.revoked_at is None:
            expired = permission.expires_at is not None and permission.expires_at <= at
            reasons[permission.source_id] = "rests on a permission that has expired" if expired else ""
        elif reasons[permission.source_id] == "has no permission":
            reasons[permission.source_id] = "rests on a permission that was revoked"
    return {pk: reason for pk, reason in reasons.items() if reason}


def _leak(leak: Leak) -> str:
    tie = TIE_WORDS[leak.tie.kind].format(leak.tie.value)
    dev, test = ([name.partition(" ")[2] for name in side] for side in (leak.dev, leak.test))
    return f"{_listed(dev)} in dev and {_listed(test)} in test share {tie}."


def _listed(names: Sequence[str]) -> str:
    """The names in order, the first dozen of them when they are many."""
    names = sorted(names)
    if len(names) <= NAMES_SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[:NAMES_SHOWN])} and {len(names) - NAMES_SHOWN} more"
