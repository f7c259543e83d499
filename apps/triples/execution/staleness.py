"""Marking accepted triples whose passage has another text in a newer snapshot, and notices to their authors."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.urls import reverse

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.accounts.selectors import roles_of
from apps.corpus.models import Snapshot
from apps.jobs.actions.notifications import notify
from apps.jobs.execution.context import JobContext
from apps.jobs.selectors.job_kinds import job_kind
from apps.triples.enums import State, Step
from apps.triples.models import ImportedEntry, Triple
from apps.triples.selectors.staleness import changed_ids, changed_in_window, possibly_stale, windows
from apps.triples.selectors.triples import newest_snapshot
from apps.triples.workflow import move, move_all


def page_of(triple: Triple) -> str:
    return reverse("review:triple", args=(triple.project.slug, triple.pk))


def key_of(triple: Triple, rest: str) -> str:
    """The key of a notification about this triple. All of them have the same prefix."""
    return f"triple:{triple.pk}:{rest}"


def went_stale(triples: Iterable[Triple], snapshot: Snapshot, at: datetime) -> None:
    """Notify each author once per snapshot, however many of their triples it touches and in however many chunks."""
    project = snapshot.corpus.project
    for author in User.objects.filter(pk__in={triple.author_id for triple in triples}).order_by("pk"):
        notify(
            person=author,
            project=project,
            kind="triple.stale",
            sentence=f"{snapshot} changed the text behind Q&As of yours. Pin them to the new text or retire them.",
            path=reverse("review:stale", args=(project.slug,)),
            key=f"stale:{snapshot.pk}",
            at=at,
        )


def candidate_adopted(triple: Triple, *, by: User, at: datetime) -> None:
    """Notify the lead who imported a candidate that somebody adopted it."""
    imported = ImportedEntry.objects.filter(triple=triple).select_related("imported_by").first()
    if imported is None or imported.imported_by == by:
        return
    if Role.LEAD not in roles_of(imported.imported_by, triple.project):
        return  # they see no drafts of others
    notify(
        person=imported.imported_by,
        project=triple.project,
        kind="triple.adopted",
        sentence=f"{by} adopted {triple.label}, which a machine wrote.",
        path=page_of(triple),
        key=key_of(triple, "adopted"),
        at=at,
    )


@transaction.atomic
def mark_changed(snapshot: Snapshot, triples: list[int], at: datetime) -> list[Triple]:
    """Lock `triples`, mark those that are accepted and changed, and notify their authors; return the marked ones.

    A triple that is being accepted meanwhile is waited for, so that none is missed between search and mark; one that
    got another wording meanwhile is compared again.
    """
    locked = Triple.objects.select_for_update(of=("self",)).select_related("project").filter(pk__in=triples)
    rows = [row for row in locked.order_by("pk") if row.state == State.ACCEPTED and not row.is_stale]
    changed = set(changed_ids(possibly_stale(snapshot).filter(pk__in=[row.pk for row in rows]), snapshot))
    marked = [row for row in rows if row.pk in changed]
    move_all(marked, Step.MARK_STALE, actor=None, at=at)
    went_stale(marked, snapshot, at)
    return marked


def mark_if_changed(triple: Triple, at: datetime) -> Triple:
    """Mark a locked, newly accepted triple when its text changed while it was reviewed."""
    newest = newest_snapshot(triple.project, triple.snapshot.corpus_id)
    if newest is not None and changed_ids(possibly_stale(newest).filter(pk=triple.pk), newest):
        move(triple, Step.MARK_STALE, actor=None, at=at)
        went_stale([triple], newest, at)
    return triple


MARK_STALE = "triples.mark_stale"


@job_kind(MARK_STALE, title="Compare accepted Q&As with a new snapshot")
def mark_stale_triples(ctx: JobContext) -> dict[str, Any]:
    """Mark every accepted triple whose expected text changed, or is gone, in the snapshot `snapshot_id`.

    Does nothing for a snapshot that is no longer the newest: the newest has its own job.
    """
    snapshot = Snapshot.objects.select_related("corpus__project").get(pk=ctx.params["snapshot_id"])
    if newest_snapshot(snapshot.corpus.project, snapshot.corpus_id) != snapshot:
        return {"snapshot_id": snapshot.pk, "marked": 0, "superseded": True}
    marked = 0
    ranges = list(windows(snapshot))
    for first, last in ranges:
        changed = changed_in_window(snapshot, (first, last))
        if changed:
            with ctx.chunk(f"triples:{first}") as fresh:
                marked += len(mark_changed(snapshot, changed, ctx.at)) if fresh else 0
        ctx.progress(last, ranges[-1][1], f"{marked} stale so far")
    return {"snapshot_id": snapshot.pk, "marked": marked}
