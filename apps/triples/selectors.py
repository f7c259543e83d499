"""Reads of triples. Every page, endpoint and other app finds them here."""

from collections.abc import Iterable
from typing import NamedTuple

from django.db.models import Count, F, Prefetch, Q, QuerySet
from django.http import Http404

from apps.accounts.models import Project, User
from apps.accounts.selectors import Member
from apps.corpus.models import BlockVersion, Snapshot, SnapshotBlock
from apps.triples.checks import Other
from apps.triples.enums import ENDED, State
from apps.triples.models import ExpectedBlock, Revision, Triple

WITH_BLOCKS = Prefetch(
    "current__expected_blocks",
    queryset=ExpectedBlock.objects.select_related("version__block__document").order_by("order", "pk"),
)
PRIVATE = (State.DRAFT, State.WITHDRAWN)


def triples_of(project: Project) -> QuerySet[Triple]:
    return Triple.objects.filter(project=project).select_related("project", "author", "current", "snapshot")


def visible_triples(member: Member) -> QuerySet[Triple]:
    """What a member may find: drafts and withdrawn drafts belong to their author, leads see them all."""
    found = triples_of(member.project)
    if member.is_lead:
        return found
    return found.filter(~Q(state__in=PRIVATE) | Q(author=member.user))


def triple_for(member: Member, pk: int) -> Triple:
    """One triple that the member may find, or Http404."""
    triple = visible_triples(member).filter(pk=pk).first()
    if triple is None:
        raise Http404("No such triple.")
    return triple


def triple_in(project: Project, pk: int) -> Triple:
    triple = triples_of(project).filter(pk=pk).first()
    if triple is None:
        raise Http404("No such triple.")
    return triple


def locked_triple(project: Project, pk: int) -> Triple:
    """The row, locked first of all: decisions are taken on it and never on one that was handed in."""
    triple = (
        Triple.objects.select_for_update(of=("self",)).select_related("project").filter(project=project, pk=pk).first()
    )
    if triple is None:
        raise Http404("No such triple.")
    return triple


def open_revision(triple: Triple) -> Revision | None:
    """The revision that is being written: the draft, or the answer to a dispute, or a re-pin. None: nothing is."""
    return triple.revisions.filter(submitted_at=None).order_by("-number").first()


def authors_of(triple: Triple) -> frozenset[int]:
    """Ids of everybody who wrote any revision, the author and who adopted it included."""
    written = set(triple.revisions.values_list("author", flat=True))
    if triple.adopted_by_id is not None:
        written.add(triple.adopted_by_id)
    return frozenset(written | {triple.author_id})


def expected_blocks(revision: Revision) -> list[ExpectedBlock]:
    return list(revision.expected_blocks.select_related("version__block__document").order_by("order", "pk"))


def newest_snapshot(project: Project, corpus_id: int | None = None) -> Snapshot | None:
    """The snapshot frozen last, of one corpus or of all corpora of the project."""
    found = Snapshot.objects.filter(corpus__project=project).select_related("corpus")
    if corpus_id is not None:
        found = found.filter(corpus_id=corpus_id)
    return found.order_by("-frozen_at", "-pk").first()


def entry_of_block(snapshot: Snapshot, block_id: int) -> SnapshotBlock | None:
    return (
        SnapshotBlock.objects.filter(snapshot=snapshot, block__id=block_id)
        .select_related("version__block__document", "block__document")
        .first()
    )


class Neighbours(NamedTuple):
    before: int | None
    after: int | None


def neighbours(entry: SnapshotBlock) -> Neighbours:
    """Ids of the blocks before and after in the order of the snapshot."""
    near = dict(
        SnapshotBlock.objects.filter(
            snapshot_id=entry.snapshot_id, position__in=[entry.position - 1, entry.position + 1]
        ).values_list("position", "block_id")
    )
    return Neighbours(near.get(entry.position - 1), near.get(entry.position + 1))


def other_questions(project: Project, person: User, *, apart_from: int | None) -> Iterable[Other]:
    """Questions of live triples that `person` may know of: nobody's draft but their own."""
    found = (
        Triple.objects.filter(project=project, current__isnull=False)
        .exclude(state__in=ENDED)
        .exclude(pk=apart_from or 0)
        .filter(~Q(state=State.DRAFT) | Q(author=person))
        .order_by("number")
    )
    for number, state, question in found.values_list("number", "state", "current__question"):
        yield Other(ref=f"T-{number:04d}", question=question, state=State(state).label)


def accepted_triples(project: Project, snapshot: Snapshot) -> QuerySet[Triple]:
    """Accepted triples on the corpus of `snapshot` by number, stale ones included: who freezes refuses them by name.

    `current` and its expected blocks come along, so reading the wording costs no further query.
    """
    return (
        triples_of(project)
        .filter(state=State.ACCEPTED, snapshot__corpus_id=snapshot.corpus_id)
        .select_related("query", "source", "current__author")
        .prefetch_related(WITH_BLOCKS)
        .order_by("number")
    )


def changed_blocks(project: Project, snapshot: Snapshot) -> list[tuple[int, int]]:
    """(triple id, block id) of each expected block whose text is another, or gone, in `snapshot`.

    Looks at accepted triples pinned to an earlier snapshot of the same corpus; a title or page that moved is no change.
    """
    expected = list(
        ExpectedBlock.objects.filter(
            revision__triple__project=project,
            revision__triple__state=State.ACCEPTED,
            revision__triple__snapshot__corpus_id=snapshot.corpus_id,
            revision__triple__snapshot__number__lt=snapshot.number,
            revision_id=F("revision__triple__current_id"),
        )
        .order_by("revision__triple__number", "order")
        .values_list("revision__triple_id", "version__block_id", "version__text_digest")
    )
    digests = dict(
        SnapshotBlock.objects.filter(snapshot=snapshot, block_id__in={block for _, block, _ in expected}).values_list(
            "block_id", "version__text_digest"
        )
    )
    return [(triple, block) for triple, block, digest in expected if digests.get(block) != digest]


def states_of(project: Project) -> dict[str, int]:
    """How many triples are in each state, every state named; `stale` counts the marked among the accepted."""
    counted = dict(Triple.objects.filter(project=project).values_list("state").annotate(Count("pk")))
    found = {state.value: counted.get(state.value, 0) for state in State}
    found["stale"] = Triple.objects.filter(project=project, is_stale=True).count()
    return found


class ChangedText(NamedTuple):
    """An expected block whose text another snapshot words anew; `new` is None when the block is gone there."""

    old: BlockVersion
    new: BlockVersion | None


def changed_texts(triple: Triple, snapshot: Snapshot | None) -> list[ChangedText]:
    """What of a stale triple's blocks changed in `snapshot`. Nothing for a triple without the mark."""
    if not triple.is_stale or snapshot is None or triple.current is None:
        return []
    changed = []
    for block in expected_blocks(triple.current):
        entry = entry_of_block(snapshot, block.version.block_id)
        new = entry.version if entry else None
        if new is None or new.text_digest != block.version.text_digest:
            changed.append(ChangedText(block.version, new))
    return changed
