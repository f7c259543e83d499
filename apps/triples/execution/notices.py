"""Notifications about a triple outside of its reviews. Called in the transaction of the event."""

from collections.abc import Iterable
from datetime import datetime

from django.urls import reverse

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.accounts.selectors import roles_of
from apps.corpus.models import Snapshot
from apps.jobs.actions.notifications import notify
from apps.triples.models import ImportedEntry, Triple


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
