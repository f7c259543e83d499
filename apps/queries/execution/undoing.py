"""Undoing an import of queries: what it added is removed, while nothing rests on it."""

from django.db.models import QuerySet, Subquery

from apps.accounts.models import Project
from apps.audit.models import Event
from apps.corpus.execution.import_reading import ImportRefused
from apps.corpus.models import Import
from apps.queries import rules
from apps.queries.models import Query


def added_by(item: Import) -> QuerySet[Query]:
    """The queries that an applied import has added; it gave them its own time and person."""
    assert item.applied_at is not None
    return Query.objects.filter(project=item.project, created_by=item.applied_by, created_at=item.applied_at)


def undo_refusal(item: Import) -> str | None:
    """Why what an applied import has added cannot be removed."""
    assert item.applied_at is not None
    added = added_by(item)
    ids = {str(pk) for pk in added.values_list("pk", flat=True)}
    # By number and not by time: the clocks of two servers differ, and an edit would be lost.
    applied = Event.objects.filter(
        project=item.project, action="import.applied", object_type="corpus.import", object_id=item.pk
    )
    later = Event.objects.filter(
        project=item.project, object_type="queries.query", pk__gt=Subquery(applied.values("pk")[:1])
    )
    return rules.undo_refusal(
        changed=item.result.get("counts", {}).get("changed", 0),
        used=added.filter(locked_at__isnull=False).count(),
        asked=added.filter(triples__isnull=False).distinct().count(),
        edited=len(ids & set(later.values_list("object_id", flat=True))),
    )


def remove_added(item: Import) -> None:
    """Remove what an import has added, in the caller's transaction. Raises ImportRefused.

    Who used one meanwhile is seen only with the locks: of the project for Q&As and imports, of the query for the rest.
    """
    Project.objects.select_for_update(no_key=True).get(pk=item.project_id)
    list(added_by(item).select_for_update().order_by("pk").values_list("pk"))
    if reason := undo_refusal(item):
        raise ImportRefused(reason, code="import_not_undone")
    added_by(item).delete()
