from datetime import datetime

from django.db import transaction

from apps.corpus.models import Snapshot
from apps.triples.enums import State, Step
from apps.triples.execution.notices import went_stale
from apps.triples.models import Triple
from apps.triples.selectors.staleness import changed_ids, in_question
from apps.triples.selectors.triples import newest_snapshot
from apps.triples.workflow import move, move_all


@transaction.atomic
def mark_changed(snapshot: Snapshot, triples: list[int], at: datetime) -> list[Triple]:
    """Mark those of `triples` that are accepted once their rows are held, and tell their authors; returns them.

    A triple that is being accepted meanwhile is waited for, so that none slips between the search and the mark; one
    that got another wording meanwhile is looked at again.
    """
    held = Triple.objects.select_for_update(of=("self",)).select_related("project").filter(pk__in=triples)
    rows = [row for row in held.order_by("pk") if row.state == State.ACCEPTED and not row.is_stale]
    changed = set(changed_ids(in_question(snapshot).filter(pk__in=[row.pk for row in rows]), snapshot))
    marked = [row for row in rows if row.pk in changed]
    move_all(marked, Step.MARK_STALE, actor=None, at=at)
    went_stale(marked, snapshot, at)
    return marked


def mark_if_changed(triple: Triple, at: datetime) -> Triple:
    """Mark a locked triple that was accepted just now, when its text changed while it was reviewed."""
    newest = newest_snapshot(triple.project, triple.snapshot.corpus_id)
    if newest is not None and changed_ids(in_question(newest).filter(pk=triple.pk), newest):
        move(triple, Step.MARK_STALE, actor=None, at=at)
        went_stale([triple], newest, at)
    return triple
