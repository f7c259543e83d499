"""A project's triples as entries of a file, as far as one person may see them: streamed, page by page of numbers.

A released version has its own files. These are the triples as they are now, for use and import elsewhere.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet

from apps.accounts.models import Project
from apps.accounts.selectors import Member
from apps.common.errors import Refusal
from apps.common.text.wording import count_up_to, utc_second
from apps.queries.selectors import lost_permissions
from apps.review.models import Verdict
from apps.review.selectors.participation import REVIEWERS_PER_ROUND, blinded_among
from apps.triples.enums import ELSEWHERE, State
from apps.triples.formats.entry import ALL as ALL_NEEDED
from apps.triples.formats.entry import ANY, Entry, EntryBlock, Evidence
from apps.triples.models import CANDIDATE, ExpectedBlock, ImportedEntry, Triple
from apps.triples.rules import WRITERS
from apps.triples.selectors.draft_checks import digest_of_revision
from apps.triples.selectors.entry_comparison import OWN_ID
from apps.triples.selectors.triples import WITH_BLOCKS, visible_triples

PAGE = 500
CANDIDATES, EVERY = "candidates", "all"
STATES = {
    **{state.value: state.label for state in State},
    CANDIDATES: "Candidates",
    EVERY: "Every state",
}
CONTENT_TYPES = {"jsonl": "application/x-ndjson", "yaml": "application/yaml"}
NAMED = 12
MOST_COUNTED = 1_000


class WrongExport(Refusal):
    """An unknown format or state."""

    status = 400


class TripleCount(NamedTuple):
    """How many triples are in a file, counted up to MOST_COUNTED."""

    count: int  # type: ignore[assignment]

    @property
    def words(self) -> str:
        return count_up_to(self.count, MOST_COUNTED)


class LeftOut(NamedTuple):
    """Triples that are not in the file, and why; the first dozen by name."""

    reason: str
    count: int  # type: ignore[assignment]
    labels: list[str]

    @property
    def sentence(self) -> str:
        more = f" and {self.count - len(self.labels):,} more" if self.count > len(self.labels) else ""
        return f"{self.reason}: {', '.join(self.labels)}{more}."


class Selection:
    """The triples in one state (or CANDIDATES, or EVERY) that a member may see, without those that may not leave.

    `member` is None on the command line, which reads everything but open rounds.
    """

    def __init__(self, project: Project, state: str, *, member: Member | None, at: datetime) -> None:
        if state not in STATES:
            raise WrongExport(
                f"“{state[:40]}” is not a state. Known states are {', '.join(STATES)}.", code="unknown_state"
            )
        self.project = project
        self.member = member
        self.state = state
        self.lost = lost_permissions(project, at=at)

    def visible(self) -> QuerySet[Triple]:
        seen, may_adopt = ~CANDIDATE, True
        if self.member is not None:
            seen = Q(pk__in=visible_triples(self.member).order_by().values("pk"))
            may_adopt = self.member.holds(*WRITERS)
        if self.state == CANDIDATES:
            seen = CANDIDATE if may_adopt else Q(pk=None)
        elif self.state == EVERY:
            seen = seen | CANDIDATE if may_adopt else seen
        else:
            seen = seen & Q(state=self.state)
        return Triple.objects.filter(seen, project=self.project)

    def entries(self) -> Iterator[Entry]:
        """By number. One page of triples and their blocks is in memory at a time."""
        last = 0
        while page := self._page(last):
            yield from self._entries_of(page)
            last = page[-1].number

    def held(self) -> TripleCount:
        """How many triples are in the file."""
        return TripleCount(len(self._in_file().order_by("number").values_list("pk")[:MOST_COUNTED]))

    def _in_file(self) -> QuerySet[Triple]:
        return self.visible().exclude(self._without_permission()).filter(_is_whole())

    def _page(self, last: int) -> list[Triple]:
        triples = self._in_file().filter(number__gt=last)
        return list(
            triples.select_related("author", "adopted_by", "source", "query", "imported", "current__snapshot__corpus")
            .prefetch_related(WITH_BLOCKS)
            .order_by("number")[:PAGE]
        )

    def _entries_of(self, page: Sequence[Triple]) -> Iterator[Entry]:
        reviewers = _reviewers_of(page)
        blinded = blinded_among(page, self.member.user) if self.member else set()
        for triple in page:
            if triple.pk in blinded:
                yield entry_of_triple(triple, [], "")
            else:
                yield entry_of_triple(triple, reviewers.get(triple.pk, []), triple.resolution)

    def _without_permission(self) -> Q:
        if not self.lost:
            return Q(pk=None)
        return Q(source__in=self.lost) | Q(query__isnull=False, query__source__in=self.lost)

    def left_out(self) -> list[LeftOut]:
        """What is not in the file: first by source, then incomplete drafts."""
        groups = []
        sources = self.project.sources.in_bulk(self.lost)
        for pk, reason in self.lost.items():
            resting = self.visible().filter(Q(source=pk) | Q(query__source=pk))
            groups.append(_left_out(resting, f"{sources[pk].name} {reason}"))
        if self.state in (State.DRAFT, State.WITHDRAWN, CANDIDATES, EVERY):
            halves = self.visible().exclude(self._without_permission()).exclude(_is_whole())
            groups.append(_left_out(halves, "A question, an answer or a passage is missing"))
        return [one for one in groups if one.count]


def _is_whole() -> Q:
    has_block = Exists(ExpectedBlock.objects.filter(revision=OuterRef("current")))
    return ~Q(current__question="") & ~Q(current__answer="") & Q(has_block)


def _left_out(triples: QuerySet[Triple], reason: str) -> LeftOut:
    first = list(triples.only("number").order_by("number")[:NAMED])
    count = len(first) if len(first) < NAMED else triples.count()
    return LeftOut(reason, count, [triple.label for triple in first])


def _reviewers_of(page: Sequence[Triple]) -> dict[int, list[str]]:
    """The names of both reviewers of each triple's current revision, where its round is closed."""
    rows = (
        Verdict.objects.filter(revision__in=[triple.current_id for triple in page], superseded_by=None)
        .order_by("reviewer__name", "reviewer_id")
        .values_list("revision__triple_id", "reviewer__name")
    )
    names: dict[int, list[str]] = defaultdict(list)
    for triple, name in rows:
        names[triple].append(name)
    return {triple: reviewers for triple, reviewers in names.items() if len(reviewers) >= REVIEWERS_PER_ROUND}


# One entry ---------------------------------------------------------------------------------------------------------


def entry_of_triple(triple: Triple, reviewers: Sequence[str], resolution: str) -> Entry:
    """The triple as an entry. Until it has been reviewed here, it has the claims of its imported file."""
    revision = triple.revision
    imported: ImportedEntry | None = getattr(triple, "imported", None)
    claims = imported_claims(triple, imported)
    author = triple.adopted_by if triple.is_machine_written else triple.author
    adopter = triple.adopted_by.name if triple.adopted_by else claims.get("adopted_by", "")
    return Entry(
        question=revision.question,
        expected_answer=revision.answer,
        blocks=tuple(_block(expected) for expected in revision.blocks),
        match=ALL_NEEDED if revision.needs_all_blocks else ANY,
        id=claims.get("id") or triple.label,
        query_id=triple.query.outside_id if triple.query else "",
        domain=triple.domain,
        difficulty=triple.difficulty,
        source=triple.source.slug if triple.source else "",
        added_by=claims.get("added_by") or (author.name if author else ""),
        added_at=claims.get("added_at") or utc_second(triple.created_at),
        reviewed_by=tuple(claims.get("reviewed_by") or reviewers),
        resolution=ELSEWHERE if triple.is_from_elsewhere else claims.get("resolution") or resolution,
        is_machine_written=triple.is_machine_written,
        machine=imported.machine if imported and triple.is_machine_written else "",
        adopted_by=adopter if triple.is_machine_written else "",
        split=claims.get("split"),
        note=revision.note,
        corpus=revision.snapshot.corpus.slug,
        snapshot=revision.snapshot.digest,
    )


def imported_claims(triple: Triple, imported: ImportedEntry | None) -> dict[str, Any]:
    """The claims of its imported file, while they are valid: not reviewed here yet, and wording unchanged.

    Those of one that was reviewed elsewhere stay valid until two reviewers here have said more. An imported id stays
    the triple's id for good.
    """
    if imported is None:
        return {}
    claims = dict(imported.claims)
    if OWN_ID.match(claims.get("id", "")):
        del claims["id"]
    is_reviewed_here = triple.round > 1 or (triple.round == 1 and triple.state != State.IN_REVIEW)
    if triple.is_from_elsewhere:
        return claims
    if is_reviewed_here or imported.digest != digest_of_revision(triple.revision):
        return {name: value for name, value in claims.items() if name == "id"}
    return claims


def _block(expected: ExpectedBlock) -> EntryBlock:
    version = expected.version
    pages = None if version.page_start is None else (version.page_start, version.page_end or version.page_start)
    return EntryBlock(
        block_id=version.block.outside_id,
        document_id=version.block.document.outside_id,
        pages=pages,
        evidence=tuple(
            Evidence(version.text[start:end], start, end)
            for start, end in expected.spans
            if 0 <= start < end <= len(version.text) and version.text[start:end].strip()
        ),
    )


# The file ----------------------------------------------------------------------------------------------------------


def file_name(selection: Selection, form: str) -> str:
    """Made of a slug and known words only, so that it is safe in a header and on every file system."""
    return f"{selection.project.slug}-triples-{selection.state.replace('_', '-')}.{form}"
