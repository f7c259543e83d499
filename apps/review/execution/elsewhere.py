"""What was reviewed elsewhere: taking it as accepted, and drawing some of it at random for a blind review here.

A lead decides that the drafts of an import whose file says who reviewed them count as accepted, and says where and how
they were reviewed. The database holds that lead and reason on every one of them, and what a machine wrote is never
among them. Nobody has given a verdict here, so no rate of a reviewer counts them.

How good the reviews elsewhere were is measured: some of the Q&As, drawn at random, are reviewed by two people here as
any Q&A is. One that is drawn is in review, with seats, reminders and disputes as ever, and keeps its resolution while
it is: until both verdicts are in it counts as accepted (`triples.models.USABLE`), so that a version can be cut
meanwhile. Two confirmations make it a consensus, a flag a dispute, and two flags drop it. The review is a full blind
one: its screen is that of any Q&A, and nothing tells one verdict before the other.

Both steps take whole imports: some statements for every few hundred Q&As.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import OuterRef, Subquery
from django.urls import reverse

from apps.accounts.models import User
from apps.audit.actions import record
from apps.common.database.bulk import chunks
from apps.common.errors import Refusal
from apps.common.text.wording import plural
from apps.corpus.models import Import
from apps.jobs.actions.notifications import notify
from apps.jobs.execution.context import JobContext
from apps.jobs.selectors.job_kinds import job_kind
from apps.queries.selectors import lost_permissions
from apps.review import rules
from apps.review.enums import ResolutionKind
from apps.review.models import Resolution, ReviewSeat
from apps.review.selectors.elsewhere import drawing_order
from apps.review.selectors.participation import REVIEWERS_PER_ROUND
from apps.review.selectors.seats import able_in, choose, is_pulled, newcomers_in, open_load
from apps.triples.enums import ELSEWHERE, Step
from apps.triples.models import Revision, Triple
from apps.triples.selectors.draft_checks import text_stops
from apps.triples.selectors.imported import reviewed_elsewhere
from apps.triples.selectors.staleness import changed_ids
from apps.triples.selectors.triples import WITH_BLOCKS, authors_by_triple, newest_snapshot
from apps.triples.workflow import move_all

AT_ONCE = 500
MOST_LISTED = 50


class ElsewhereRefused(Refusal):
    """Nothing of an import can be taken as accepted, or drawn for a review."""


class Taken(NamedTuple):
    """How many drafts of an import were taken as accepted, and why others were not, by their labels."""

    accepted: int
    kept: dict[str, str]

    @property
    def as_json(self) -> dict[str, Any]:
        listed = [{"label": label, "why": why} for label, why in self.kept.items()]
        return {"accepted": self.accepted, "kept": len(self.kept), "listed": listed[:MOST_LISTED]}


# Taking ------------------------------------------------------------------------------------------------------------


def take(item: Import, *, lead: User, reason: str, at: datetime) -> Taken:
    """Take the untouched drafts of an import that say who reviewed them as accepted, in the caller's transaction.

    One that could not be accepted here by its own texts, its passages or its source stays a draft, with the reason.
    Raises ElsewhereRefused when there is nothing to take.
    """
    keys = list(reviewed_elsewhere(item).select_for_update(of=("self",)).order_by("pk").values_list("pk", flat=True))
    ElsewhereRefused.raise_for(rules.take_elsewhere_refusal(len(keys), reason), code="not_taken")
    lost = lost_permissions(item.project, at=at)
    accepted, kept = 0, dict[str, str]()
    for part in chunks(keys, AT_ONCE):
        drafts = list(
            Triple.objects.filter(pk__in=part)
            .select_related("project", "author", "query", "imported", "current__snapshot")
            .prefetch_related(WITH_BLOCKS)
            .order_by("pk")
        )
        changed = _changed(drafts)
        whys = {draft.pk: _why_not(draft, lost, changed) for draft in drafts}
        kept |= {draft.label: why for draft in drafts if (why := whys[draft.pk])}
        taken = [draft for draft in drafts if not whys[draft.pk]]
        _accept(taken, lead, reason.strip(), at)
        accepted += len(taken)
    result = Taken(accepted, kept)
    _note(item, "taken", result.as_json, lead, at, reason=reason.strip())
    return result


def _changed(drafts: Sequence[Triple]) -> set[int]:
    """Those whose passage has another text, or is gone, in the newest snapshot of its corpus."""
    changed: set[int] = set()
    for corpus in {draft.current.snapshot.corpus_id for draft in drafts if draft.current}:
        newest = newest_snapshot(drafts[0].project, corpus)
        ours = Triple.objects.filter(pk__in=[draft.pk for draft in drafts], snapshot__corpus=corpus)
        changed |= set(changed_ids(ours.exclude(snapshot=newest), newest)) if newest else set()
    return changed


def _why_not(draft: Triple, lost: Mapping[int, str], changed: set[int]) -> str | None:
    """Why this draft cannot be taken as accepted: what would keep it from a review here, and who reviewed it."""
    sources = (draft.source_id, draft.query.source_id if draft.query else None)
    if gone := next((lost[source] for source in sources if source is not None and source in lost), None):
        return f"Its source {gone}."
    if draft.pk in changed:
        return "Its passage has another text in the newest snapshot."
    names = {draft.author.name.casefold(), draft.author.email.casefold()}
    if all(name.casefold() in names for name in draft.imported.claims["reviewed_by"]):
        return "Its author alone reviewed it."
    stops = text_stops(draft)
    return f"{stops[0].sentence} {stops[0].detail}".strip() if stops else None


def _accept(drafts: Sequence[Triple], lead: User, reason: str, at: datetime) -> None:
    """The wording becomes that of its author: nobody here has written on it."""
    wrote = Triple.objects.filter(pk=OuterRef("triple")).values("author")[:1]
    revisions = Revision.objects.filter(pk__in=[draft.current_id for draft in drafts])
    revisions.update(author=Subquery(wrote), round=1, submitted_at=at)
    Resolution.objects.bulk_create(
        Resolution(
            triple=draft,
            revision=draft.revision,
            round=1,
            kind=ResolutionKind.ELSEWHERE,
            decided_by=lead,
            reason=reason,
            resolved_at=at,
        )
        for draft in drafts
    )
    said = {draft.pk: draft.imported.claims for draft in drafts}
    about = {
        pk: {"reviewed_by": claims["reviewed_by"], "resolution_there": claims.get("resolution", "")}
        for pk, claims in said.items()
    }
    move_all(
        drafts,
        Step.TAKE,
        actor=lead,
        at=at,
        reason=reason,
        about=about,
        round=1,
        resolution=ELSEWHERE,
        resolved_at=at,
    )


# Drawing -----------------------------------------------------------------------------------------------------------


def draw(item: Import, *, size: int, lead: User, at: datetime) -> int:
    """Draw so many of the accepted ones, those drawn before included, for a blind review; returns how many are new.

    In the caller's transaction. The order of drawing follows from the file alone, so that anybody can draw it again,
    and a larger sample contains the smaller one. Raises ElsewhereRefused.
    """
    order = drawing_order(item)
    ElsewhereRefused.raise_for(rules.draw_refusal(len(order.left), len(order.drawn), size), code="not_drawn")
    keys = order.left[: size - len(order.drawn)]
    seats: Counter[User] = Counter()
    for part in chunks(keys, AT_ONCE):
        rows = Triple.objects.select_for_update(of=("self",)).filter(pk__in=part)
        triples = list(rows.select_related("project", "author", "current").order_by("pk"))
        seats.update(_seat(triples, at))
        move_all(triples, Step.SAMPLE, actor=lead, at=at, sampled_at=at)
    _note(item, "drawn", {"size": size, "new": len(keys), "seed": order.seed}, lead, at)
    for reviewer, number in seats.items():
        notify(
            person=reviewer,
            project=item.project,
            kind="review.seat",
            sentence=f"{plural(number, 'Q&A is', 'Q&As are')} ready for your review.",
            path=reverse("review:queue", args=[item.project.slug]),
            key=f"import:{item.pk}:drawn:{at.isoformat()}",
            at=at,
        )
    return len(keys)


def _seat(triples: Sequence[Triple], at: datetime) -> list[User]:
    """Open two seats for each where they are given by load; returns whose seats they are.

    Raises ElsewhereRefused where fewer than two could review one of them.
    """
    project = triples[0].project
    people, writers = list(able_in(project)), authors_by_triple(triples)
    load, newcomers = open_load(project), newcomers_in(project)
    seats: list[ReviewSeat] = []
    for triple in triples:
        chosen = choose(triple, people, load, (), writers[triple.pk], newcomers)
        if len(chosen) < REVIEWERS_PER_ROUND:
            raise ElsewhereRefused(rules.too_few_to_review(triple), code="too_few_reviewers")
        for number, reviewer in enumerate(chosen, start=1):
            load[reviewer.pk] = load.get(reviewer.pk, 0) + 1
            seats.append(ReviewSeat(revision=triple.revision, number=number, reviewer=reviewer, opened_at=at))
    if is_pulled(project):
        return []
    ReviewSeat.objects.bulk_create(seats)
    return [seat.reviewer for seat in seats]


# Both --------------------------------------------------------------------------------------------------------------


def _note(item: Import, word: str, facts: Mapping[str, Any], lead: User, at: datetime, **more: Any) -> None:
    """Keep what was done in the result of the import, for its page, and in the audit."""
    item.result = item.result | {word: {**facts, **more, "by": lead.name, "at": at.isoformat()}}
    item.save(update_fields=["result"])
    after = {name: value for name, value in facts.items() if name != "listed"} | more
    record(project=item.project, actor=lead, action=f"import.{word}", obj=item, after=after, at=at)


TAKE, DRAW = "review.take_elsewhere", "review.draw_elsewhere"
PAGE = ("corpus:import", "import_id")


def locked_import(project_id: int, import_id: int) -> Import:
    """The import, locked before its Q&As, as undoing it locks them."""
    found = Import.objects.select_for_update(of=("self",)).select_related("project", "upload")
    return found.get(project=project_id, pk=import_id)


@job_kind(TAKE, title="Take Q&As as accepted that were reviewed elsewhere", page=PAGE)
def take_in_job(ctx: JobContext) -> None:
    assert ctx.actor is not None  # a lead decided it
    with ctx.finish() as result:
        item = locked_import(ctx.params["project_id"], ctx.params["import_id"])
        done = take(item, lead=ctx.actor, reason=ctx.params["reason"], at=ctx.at)
        result.update(accepted=done.accepted, kept=len(done.kept))


@job_kind(DRAW, title="Draw Q&As that were reviewed elsewhere for a review", page=PAGE)
def draw_in_job(ctx: JobContext) -> None:
    assert ctx.actor is not None  # a lead asked for it
    with ctx.finish() as result:
        item = locked_import(ctx.params["project_id"], ctx.params["import_id"])
        result.update(drawn=draw(item, size=ctx.params["size"], lead=ctx.actor, at=ctx.at))
