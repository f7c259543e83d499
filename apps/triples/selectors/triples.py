"""Reads of triples, for every page, endpoint and other app."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Prefetch, Q, QuerySet, Value
from django.db.models.functions import Coalesce, NullIf
from django.http import Http404

from apps.accounts.models import Project, User
from apps.accounts.selectors import Member
from apps.common.database.batched_reads import BatchedRead, CountOf, answer_to
from apps.corpus.models import Block, Snapshot, SnapshotBlock
from apps.jobs.selectors.jobs import hidden_by_id
from apps.queries.models import Query, Source
from apps.queries.selectors import StratumCount, revoked_among, stratum_count
from apps.triples.enums import ELSEWHERE, ENDED, State
from apps.triples.models import CANDIDATE, USABLE, AskedRevision, ExpectedBlock, Revision, Triple, label_of

REVOKED = "The permission of its source was revoked, so it cannot go on. Record a new permission under Sources first."


def revoked_refusal(triple: Triple, *, at: datetime) -> str | None:
    """Why nobody may submit or reopen this triple: its own source, or that of its query, may not be used any more."""
    return REVOKED if triple.pk in rests_on_revoked([triple], at=at) else None


def rests_on_revoked(triples: Iterable[Triple], *, at: datetime) -> set[int]:
    """The keys of those that nobody may submit or reopen. Their queries should be read with them."""
    rests = {each.pk: {each.source_id, each.query.source_id if each.query else None} - {None} for each in triples}
    sources = {key for keys in rests.values() for key in keys if key is not None}
    lost = revoked_among(sources, at=at) if sources else set()
    return {pk for pk, keys in rests.items() if keys & lost}


def counts_by_stratum(project: Project) -> list[StratumCount]:
    """How many triples there are of each kind: source, difficulty and domain of the triple, else those of its query.

    Those that have ended are left out.
    """
    live = Triple.objects.filter(project=project).exclude(state__in=ENDED).order_by()
    rows = live.values_list(
        Coalesce("source__slug", "query__source__slug"),
        "query__query_type",
        Coalesce(NullIf("difficulty", Value("")), "query__difficulty"),
        Coalesce(NullIf("domain", Value("")), "query__domain"),
        "query__tags",
    )
    return [stratum_count(*row) for row in rows.annotate(Count("pk"))]


class AskedQuery(NamedTuple):
    """The query that asks the question of a revision."""

    query_id: int
    outside_id: str
    text: str


def asked_queries(revision_ids: Iterable[int]) -> dict[int, AskedQuery]:
    """The asked query of each revision; a revision that was never accepted has none."""
    rows = AskedRevision.objects.filter(revision__in=[*revision_ids])
    columns = rows.values_list("revision", "query", "query__outside_id", "query__text")
    return {revision: AskedQuery(query, name, text) for revision, query, name, text in columns}


def asked_by_label(project: Project) -> dict[str, str]:
    """The outside id of the query that asks each triple, as it was accepted last, by the triple's label."""
    rows = AskedRevision.objects.filter(revision__triple__project=project).order_by("pk")
    found = rows.values_list("revision__triple__number", "query__outside_id")
    return {label_of(number): outside_id for number, outside_id in found.iterator()}


def asked_with(project: Project, text: str) -> Query | None:
    """The query that asks a triple's question in exactly these words, the newest of several."""
    return Query.everything.filter(project=project, is_asked=True, text=text).order_by("-pk").first()


WITH_BLOCKS = Prefetch(
    "current__expected_blocks",
    queryset=ExpectedBlock.objects.select_related("version__block__document").order_by("order", "pk"),
    to_attr="blocks",  # a list: a relation that is read ahead costs a query set for each revision
)
PRIVATE = (State.DRAFT, State.WITHDRAWN)


def triples_of(project: Project) -> QuerySet[Triple]:
    """Every triple of the project, candidates and private drafts included: not filtered by who may see them."""
    return Triple.objects.filter(project=project).select_related("project", "author", "current", "snapshot")


def visible_triples(member: Member) -> QuerySet[Triple]:
    """The triples that a member may see: drafts and withdrawn drafts belong to their author, leads see them all.

    Machine-written candidates are separate, see `candidates`: they have no author yet. Triples hidden from the member
    are left out unless somebody has to act on them: the state alone would reveal the verdicts to a person who reviews
    the triple blindly once more.
    """
    hidden = hidden_by_id(member.user, "pk") & ~Q(state__in=(State.IN_REVIEW, State.DISPUTED))
    triples = triples_of(member.project).exclude(CANDIDATE).exclude(hidden)
    if member.is_lead:
        return triples
    return triples.filter(~Q(state__in=PRIVATE) | Q(author=member.user))


def triple_for(member: Member, pk: int) -> Triple:
    """One triple that the member may see, or Http404."""
    triples = visible_triples(member).select_related("adopted_by", "parent", "current__author", "imported")
    triple = triples.filter(pk=pk).first()
    if triple is None:
        raise Http404("No such triple.")
    return triple


def draft_of_key(project: Project, author: User, idempotency_key: str) -> Triple | None:
    """The draft that the new bench of this key became when its author first saved it; None when it was not saved."""
    if not idempotency_key or "\0" in idempotency_key:  # PostgreSQL rejects NUL
        return None
    return triples_of(project).filter(author=author, idempotency_key=idempotency_key).first()


def locked_triple(project: Project, pk: int) -> Triple:
    """The row, locked before all else: decisions use this row, never one that was passed in."""
    triple = (
        Triple.objects.select_for_update(of=("self",)).select_related("project").filter(project=project, pk=pk).first()
    )
    if triple is None:
        raise Http404("No such triple.")
    return triple


def lock_accepted(project: Project) -> None:
    """Lock the triples of a project that a version could have until the transaction ends."""
    accepted = Triple.objects.select_for_update(no_key=True).filter(USABLE, project=project)
    list(accepted.order_by("pk").values_list("pk", flat=True))


def open_revision(triple: Triple) -> Revision | None:
    """The open revision: the draft, or the answer to a dispute, or a re-pin. None without one."""
    return open_revisions(triple).first()


def open_revisions(triple: Triple) -> QuerySet[Revision]:
    """The open revision, if there is one, as the first row."""
    return triple.revisions.filter(submitted_at=None).order_by("-number")


class AboutIt(NamedTuple):
    """Source and domain of a triple, with its number."""

    number: int
    source_id: int | None
    domain: str

    @property
    def label(self) -> str:
        return f"T-{self.number:04d}"


def last_about(project: Project, author: User) -> AboutIt | None:
    """Source and domain of the triple that the person began last, where it has any of them."""
    rows = Triple.objects.filter(project=project, author=author, is_machine_written=False).order_by("-pk")
    found = rows.values_list(*AboutIt._fields).first()
    return AboutIt(*found) if found and any(found[1:]) else None


def authors_of(triple: Triple) -> frozenset[int]:
    """Ids of everybody who wrote any revision, including the author and who adopted it."""
    return authors_by_triple([triple])[triple.pk]


def authors_by_triple(triples: Sequence[Triple]) -> dict[int, frozenset[int]]:
    """`authors_of` each of the triples."""
    written: dict[int, set[int]] = {triple.pk: {triple.author_id} for triple in triples}
    for triple in triples:
        if triple.adopted_by_id is not None:
            written[triple.pk].add(triple.adopted_by_id)
    for triple_id, author in Revision.objects.filter(triple__in=written).values_list("triple", "author"):
        written[triple_id].add(author)
    return {triple_id: frozenset(people) for triple_id, people in written.items()}


def writers_of(triple: Triple, revisions: Iterable[Revision]) -> frozenset[int]:
    """The same as `authors_of`, from all of its revisions."""
    written = {triple.author_id, triple.adopted_by_id, *(revision.author_id for revision in revisions)}
    return frozenset(person for person in written if person is not None)


def read_revisions(triple: Triple) -> list[Revision]:
    """All revisions of a triple, oldest first; the one that counts becomes its `current`."""
    revisions = list(triple.revisions.order_by("number"))
    triple.current = next((revision for revision in revisions if revision.pk == triple.current_id), None)
    return revisions


def expected_blocks(revision: Revision) -> list[ExpectedBlock]:
    """Its expected blocks as the author ordered them, with texts and documents."""
    return list(revision.expected_blocks.select_related("version__block__document").order_by("order", "pk"))


def blocks_of(revisions: Iterable[Revision]) -> dict[int, list[ExpectedBlock]]:
    """The `expected_blocks` of each of the revisions, by its key, in one statement."""
    found: dict[int, list[ExpectedBlock]] = {revision.pk: [] for revision in revisions}
    rows = ExpectedBlock.objects.filter(revision__in=found).select_related("version__block__document")
    for block in rows.order_by("order", "pk"):
        found[block.revision_id].append(block)
    return found


class ExpectedText(NamedTuple):
    """A text that a revision expects, with the names of its block and document, and the marked evidence."""

    version_id: int
    block_id: int
    block: str
    document: str
    digest: str
    page_start: int | None
    page_end: int | None
    text: str
    spans: list[list[int]]

    @property
    def evidence(self) -> list[str]:
        return [self.text[start:end] for start, end in self.spans]


def expected_texts(revisions: Iterable[int]) -> dict[int, list[ExpectedText]]:
    """The texts that each of the revisions expects, by its key, as the author ordered them."""
    found: dict[int, list[ExpectedText]] = {revision: [] for revision in revisions}
    rows = ExpectedBlock.objects.filter(revision__in=found).order_by("order", "pk")
    names = ("block_id", "block__outside_id", "block__document__outside_id")
    columns = (*names, "text_digest", "page_start", "page_end", "text")
    texts = rows.values_list("revision_id", "version_id", *(f"version__{name}" for name in columns), "spans")
    for revision, *text in texts:
        found[revision].append(ExpectedText(*text))
    return found


def newest_snapshot(project: Project, corpus_id: int | None = None) -> Snapshot | None:
    """The snapshot frozen last, of one corpus or of all corpora of the project."""
    snapshots = Snapshot.objects.filter(corpus__project=project).select_related("corpus")
    if corpus_id is not None:
        snapshots = snapshots.filter(corpus_id=corpus_id)
    return snapshots.order_by("-frozen_at", "-pk").first()


def newest_snapshots(project: Project) -> dict[int, Snapshot]:
    """The snapshot frozen last of each corpus, by the key of the corpus."""
    rows = Snapshot.objects.filter(corpus__project=project).order_by("frozen_at", "pk")
    return {snapshot.corpus_id: snapshot for snapshot in rows}


def entry_of_block(snapshot: Snapshot, block_id: int) -> SnapshotBlock | None:
    """The block's entry in the snapshot, or None where it has none."""
    return (
        SnapshotBlock.objects.filter(snapshot=snapshot, block__id=block_id)
        .select_related("version__block__document", "block__document")
        .first()
    )


def entries_of_blocks(snapshot: Snapshot, block_ids: Iterable[int]) -> dict[int, SnapshotBlock]:
    """The entries of these blocks by block id; blocks that are not in the snapshot are left out."""
    entries = SnapshotBlock.objects.filter(snapshot=snapshot, block__id__in=list(block_ids)).select_related(
        "version__block__document", "block__document"
    )
    return {entry.block_id: entry for entry in entries}


def writing_snapshot(triple: Triple) -> Snapshot:
    """The snapshot to write a triple against: the newest of its corpus."""
    return newest_snapshot(triple.project, triple.snapshot.corpus_id) or triple.snapshot


def newest_snapshot_of_block(project: Project, block_id: int) -> Snapshot | None:
    corpus = Block.objects.filter(pk=block_id, corpus__project=project).values_list("corpus", flat=True).first()
    return newest_snapshot(project, corpus) if corpus is not None else None


class TripleNeighbours(NamedTuple):
    before: int | None
    after: int | None


def neighbours(entry: SnapshotBlock) -> TripleNeighbours:
    """Ids of the blocks before and after in the order of the snapshot."""
    near = dict(
        SnapshotBlock.objects.filter(
            snapshot_id=entry.snapshot_id, position__in=[entry.position - 1, entry.position + 1]
        ).values_list("position", "block_id")
    )
    return TripleNeighbours(near.get(entry.position - 1), near.get(entry.position + 1))


def accepted_triples(project: Project, snapshot: Snapshot) -> QuerySet[Triple]:
    """Triples on the corpus of `snapshot` that count as accepted, stale ones included, which a freeze rejects by name.

    One that was reviewed elsewhere and is now reviewed blind counts until its verdicts are in.
    """
    return Triple.objects.filter(USABLE, project=project, snapshot__corpus_id=snapshot.corpus_id)


class AcceptedTriple(NamedTuple):
    """An accepted triple with its accepted wording: what a version has of it, in place of two rows with all they hold.

    `claims` is what the file that it was imported from says of it; empty for one that was written here.
    """

    pk: int
    label: str
    query: Query | None
    source: Source | None
    claims: Mapping[str, Any]
    revision_id: int
    question: str
    answer: str
    needs_all_blocks: bool
    domain: str
    difficulty: str
    is_stale: bool
    is_machine_written: bool
    resolution: str
    created_at: datetime
    author_id: int
    adopted_by_id: int | None

    @property
    def reviewed_elsewhere_by(self) -> tuple[str, ...]:
        """Who reviewed it elsewhere, in the words of its file; nobody where two reviewers here decided."""
        return tuple(self.claims.get("reviewed_by", ())) if self.resolution == ELSEWHERE else ()

    @property
    def counted_source(self) -> Source | None:
        """The one source that it counts for: its own, else that of the query it was started from."""
        return self.source or (self.query.source if self.query else None)


def read_accepted(
    triples: QuerySet[Triple], queries: Mapping[int, Query], sources: Mapping[int, Source]
) -> list[AcceptedTriple]:
    """These accepted triples by number. `queries` and `sources` are those of the project, which many triples share."""
    rows: QuerySet[Triple, tuple[Any, ...]] = triples.order_by("number").values_list(
        "pk",
        "number",
        "query",
        "source",
        "imported__claims",
        "current",
        "current__question",
        "current__answer",
        "current__needs_all_blocks",
        "domain",
        "difficulty",
        "is_stale",
        "is_machine_written",
        "resolution",
        "created_at",
        "author",
        "adopted_by",
    )
    return [
        AcceptedTriple(pk, label_of(number), queries.get(query), sources.get(source), claims or {}, *row)
        for pk, number, query, source, claims, *row in rows
    ]


def states_of(project: Project) -> dict[str, int]:
    """How many triples are in each state, every state named; `stale` counts the stale among the accepted."""
    return answer_to(project, state_counts(project))


def state_counts(project: Project) -> BatchedRead[dict[str, int]]:
    """The question behind `states_of`, for a page that asks others with it."""
    ours = Triple.objects.filter(project=project).order_by()
    asks = {state.value: CountOf(ours.filter(state=state).values("pk")) for state in State}
    return BatchedRead(asks | {"stale": CountOf(ours.filter(is_stale=True).values("pk"))}, dict)


PER_PAGE = 50
STRETCH = 10_000
STALE = "stale"


class Narrowing(NamedTuple):
    """The filters of a list; empty means any."""

    state: str = ""
    domain: str = ""
    source: Source | None = None
    author: User | None = None
    words: str = ""


class TriplePage(NamedTuple):
    """`older` is the number after which the next page begins, None on the last.

    `looked_to` is set when few rows matched because only a range was searched: the lowest number searched.
    """

    triples: list[Triple]
    older: int | None
    looked_to: int | None = None


def page_of(member: Member, narrowing: Narrowing, *, before: int | None = None) -> TriplePage:
    """The page of visible triples of `member` that begins after the number `before`, or with the newest.

    So nothing is counted, and every page costs the same. A single filter uses an index. Words, and several filters
    together, are searched in a range of numbers; after it the list offers to search further back.
    """
    triples = _narrowed(member, narrowing)
    start = _start(member, before) if _is_searched(narrowing) else before
    if start is not None:
        triples = triples.filter(number__lt=start)
    lowest = start - STRETCH if start is not None and _is_searched(narrowing) else 0
    if lowest > 0:
        triples = triples.filter(number__gte=lowest)
    if narrowing.words:
        triples = triples.filter(current__question__icontains=narrowing.words)
    rows = list(triples.order_by("-number")[: PER_PAGE + 1])
    named = _by_number(member, narrowing) if before is None else []
    shown = named + [triple for triple in rows[:PER_PAGE] if triple not in named]
    if len(rows) > PER_PAGE:
        return TriplePage(shown, rows[PER_PAGE - 1].number)
    return TriplePage(shown, lowest, lowest) if lowest > 1 else TriplePage(shown, None)


def _start(member: Member, before: int | None) -> int:
    if before is not None:
        return before
    newest = Triple.objects.filter(project=member.project).order_by("-number").values_list("number", flat=True).first()
    return (newest or 0) + 1


def _is_searched(narrowing: Narrowing) -> bool:
    filters = (narrowing.state, narrowing.domain, narrowing.source, narrowing.author)
    return bool(narrowing.words) or sum(bool(value) for value in filters) > 1


def _narrowed(member: Member, narrowing: Narrowing) -> QuerySet[Triple]:
    triples = visible_triples(member).select_related("source")
    if narrowing.state in PRIVATE and not member.is_lead:
        triples = triples.filter(author=member.user)  # the same triples, by an index
    if narrowing.state == STALE:
        triples = triples.filter(is_stale=True)
    elif narrowing.state:
        triples = triples.filter(state=narrowing.state)
    if narrowing.domain:
        triples = triples.filter(domain=narrowing.domain)
    if narrowing.source:
        triples = triples.filter(source=narrowing.source)
    if narrowing.author:
        triples = triples.filter(author=narrowing.author)
    return triples


def _by_number(member: Member, narrowing: Narrowing) -> list[Triple]:
    """The triple whose number was typed, as "T-0012" or "12"."""
    text = narrowing.words.upper().removeprefix("T-")
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        return []
    return list(_narrowed(member, narrowing).filter(number=int(text))[:1])


def states() -> list[tuple[str, str]]:
    return [*State.choices, (STALE, "Stale")]
