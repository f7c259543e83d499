"""Reminders that a lead sends, and notices to leads when a triple has waited too long."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.urls import reverse

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import members_of, roles_of
from apps.common.errors import Refusal
from apps.jobs.actions.notifications import notify
from apps.jobs.enums import WebhookEvent
from apps.jobs.execution.mailing import absolute
from apps.jobs.execution.outbox import post_to_webhooks
from apps.jobs.execution.periodic import periodic_task
from apps.jobs.selectors.jobs import hidden_by_id
from apps.review import rules
from apps.review.actions import notices
from apps.review.actions.seating import free_abandoned_seats
from apps.review.models import Escalation
from apps.review.selectors.queues import escalates_at
from apps.review.selectors.seats import abandoned_rounds, live_seats
from apps.triples.enums import State
from apps.triples.execution.staleness import page_of
from apps.triples.models import Triple
from apps.triples.selectors.triples import locked_triple

MOST_SINGLE_NOTICES = 5
AT_A_TIME = 500


class ReminderRefused(Refusal):
    """Nobody can be reminded."""


class Reminded(NamedTuple):
    """`triples` whose reviewers were reminded; `left` has the others with the reason. Never who, nor how many."""

    triples: list[Triple]
    left: list[tuple[Triple, str]]


def remind_reviewers(*, project: Project, triple_ids: Iterable[int], lead: User, at: datetime) -> Reminded:
    """Remind reviewers who have not answered in the open rounds of these triples, each at most once a day.

    A lead who reviews a triple may do so too: the return value is the same whoever has answered.
    """
    is_lead = Role.LEAD in roles_of(lead, project)
    done, left = [], []
    for triple in Triple.objects.filter(project=project, pk__in=list(triple_ids)).order_by("changed_at", "pk"):
        if reason := rules.remind_refusal(triple, is_lead):
            left.append((triple, reason))
            continue
        _remind(project, triple.pk, lead, at)
        done.append(triple)
    if not done and left:
        raise ReminderRefused(left[0][1], code="nobody_to_remind")
    return Reminded(done, left)


@transaction.atomic
def _remind(project: Project, triple_id: int, lead: User, at: datetime) -> None:
    triple = locked_triple(project, triple_id)
    if triple.current is None or triple.state != State.IN_REVIEW:
        return
    seats = live_seats(triple.current).exclude(reviewer=lead).filter(answered_at=None)
    for seat in seats.select_related("reviewer", "revision__triple__project"):
        notices.remind(seat, at)


def escalate(*, project: Project, at: datetime) -> int:
    """Notify the leads once of each triple that has waited too long in review or in dispute; return how many were new.

    Leads with a part in a triple are not notified of it. Many triples at once get one notice.
    """
    late = Triple.objects.filter(
        project=project, state__in=[State.IN_REVIEW, State.DISPUTED], changed_at__lte=escalates_at(project, at)
    )
    notified = Escalation.objects.filter(triple=OuterRef("pk"), since=OuterRef("changed_at"))
    new = list(late.exclude(Exists(notified)).order_by("changed_at", "pk").values_list("pk", flat=True)[:AT_A_TIME])
    if new:
        _escalate(project, new, at)
    return len(new)


@transaction.atomic
def _escalate(project: Project, triple_ids: list[int], at: datetime) -> None:
    triples = list(
        Triple.objects.select_for_update(of=("self",))
        .filter(pk__in=triple_ids, state__in=[State.IN_REVIEW, State.DISPUTED])
        .select_related("project", "author")
        .order_by("changed_at", "pk")
    )
    rows = [Escalation(triple=triple, since=triple.changed_at, told_at=at) for triple in triples]
    told = set(Escalation.objects.filter(triple__in=triple_ids).values_list("triple", "since"))
    Escalation.objects.bulk_create(rows, ignore_conflicts=True)
    _tell_webhooks(project, [triple for triple in triples if (triple.pk, triple.changed_at) not in told], at)
    for lead in members_of(project, Role.LEAD):
        if len(triples) <= MOST_SINGLE_NOTICES:
            for triple in triples:
                notices.escalated(triple, lead, at)
        else:
            _notify_of_many(project, lead, len(triples), at)


def _tell_webhooks(project: Project, triples: list[Triple], at: datetime) -> None:
    """Only of disputes, whose round is closed: of one in review a message would be one more thing to guess from.

    Those that somebody reviews again, blindly, are left out: whoever reads the messages elsewhere may be that person.
    """
    disputes = {triple.pk: triple for triple in triples if triple.state == State.DISPUTED}
    for person in members_of(project) if disputes else []:
        for hidden in Triple.objects.filter(hidden_by_id(person, "pk"), pk__in=list(disputes)).values_list(
            "pk", flat=True
        ):
            del disputes[hidden]
    if disputes:
        facts = [{"triple": each.label, "url": absolute(page_of(each))} for each in disputes.values()]
        post_to_webhooks(project=project, event=WebhookEvent.DISPUTE, facts={"disputes": facts}, at=at)


def _notify_of_many(project: Project, lead: User, count: int, at: datetime) -> None:
    notify(
        person=lead,
        project=project,
        kind="review.escalated",
        sentence=f"{count:,} Q&As are overdue. They are marked on the board.",
        path=f"{reverse('review:board', args=[project.slug])}?show=escalated",
        key=f"project:{project.pk}:escalated:{at:%Y-%m-%dT%H}",
        at=at,
    )


SEATS_AT_A_TIME = 200


@periodic_task("review.escalate", every=timedelta(hours=1))
def escalate_long_waits(at: datetime) -> None:
    """Notify leads of triples that have waited too long, and reassign seats that nobody can answer any more."""
    for project in Project.objects.not_deleted().order_by("pk"):
        escalate(project=project, at=at)
        for triple_id in abandoned_rounds(project, escalates_at(project, at), at)[:SEATS_AT_A_TIME]:
            free_abandoned_seats(project=project, triple_id=triple_id, at=at)
