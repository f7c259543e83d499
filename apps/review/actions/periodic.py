"""Periodic tasks of reviewing: escalation, and new seats for those of people who left."""

from datetime import datetime, timedelta

from apps.accounts.models import Project
from apps.jobs.execution.periodic import periodic_task
from apps.review.actions.reminding import escalate
from apps.review.actions.seating import free_abandoned_seats
from apps.review.selectors.queues import escalates_at
from apps.review.selectors.seats import abandoned_rounds

AT_A_TIME = 200


@periodic_task("review.escalate", every=timedelta(hours=1))
def escalate_long_waits(at: datetime) -> None:
    """Notify leads of triples that have waited too long, and reassign seats that nobody can answer any more."""
    for project in Project.objects.standing().order_by("pk"):
        escalate(project=project, at=at)
        for triple_id in abandoned_rounds(project, escalates_at(project, at), at)[:AT_A_TIME]:
            free_abandoned_seats(project=project, triple_id=triple_id, at=at)
