"""What is done for reviews without anybody asking: nothing waits unseen, and no seat stays with somebody who left."""

from datetime import datetime, timedelta

from apps.accounts.models import Project
from apps.jobs.execution.periodic import periodic_task
from apps.review.actions import free_abandoned_seats
from apps.review.actions.reminding import escalate
from apps.review.selectors.queues import escalates_at
from apps.review.selectors.seats import abandoned_rounds

AT_A_TIME = 200


@periodic_task("review.escalate", every=timedelta(hours=1))
def escalate_what_waits(at: datetime) -> None:
    """Tell the leads of what waits too long, and seat anew what nobody can answer any more."""
    for project in Project.objects.order_by("pk"):
        escalate(project=project, at=at)
        for triple_id in abandoned_rounds(project, escalates_at(project, at), at)[:AT_A_TIME]:
            free_abandoned_seats(project=project, triple_id=triple_id, at=at)
