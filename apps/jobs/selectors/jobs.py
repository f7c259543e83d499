"""Reads jobs, webhooks and their deliveries, by project, and notifications, by project and person."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet, Subquery
from django.db.models.functions import Now
from django.http import Http404
from django.shortcuts import get_object_or_404

from apps.accounts.models import Project, User
from apps.accounts.selectors import Holding
from apps.common.database.batched_reads import BatchedRead, CountOf
from apps.common.database.statements import LARGEST_KEY
from apps.common.discovery import Registered
from apps.jobs.core.progress import spoken
from apps.jobs.enums import DeliveryKind
from apps.jobs.models import Job, MailChoice, Notification, Outbox, Webhook, WorkerBeat
from apps.jobs.selectors.notification_lines import Line, lines_of, on_a_line

hidden_objects: Registered[Callable[[User], QuerySet]] = Registered()
"""Each selects the ids (`Notification.about`) that are hidden from a person right now: people who review a past triple
again, blindly, must not read its earlier verdicts in an old notification.
"""


def hidden_for(person: User) -> Q:
    """The notifications hidden from the person, as a condition to exclude. Those about no triple are never hidden."""
    return hidden_by_id(person, "about")


def hidden_by_id(person: User, column: str) -> Q:
    """The rows whose `column` is an id hidden from the person, as a condition."""
    condition = Q(pk__in=[])
    for select in hidden_objects:
        condition |= Q(**{f"{column}__in": select(person)})
    return condition


def held_notifications(user: User) -> list[Holding]:
    """How they want mail. The number of unread notifications is theirs: it tells which reviews they have answered."""
    chosen = MailChoice.objects.filter(person=user).count()
    return [Holding("choice of mail,choices of mail", chosen, "deleted; nothing is mailed any more")]


MISSING_AFTER_SECONDS = 60
MOST_COUNTED = 9
PAGE_SIZE = 50


def jobs_in(project: Project) -> QuerySet[Job]:
    return Job.objects.filter(project=project).select_related("created_by").order_by("-pk")


def job_in(project: Project, pk: int) -> Job:
    """The job, when it belongs to this project; Http404 otherwise."""
    return get_object_or_404(jobs_in(project), pk=pk)


def worker_last_seen() -> int | None:
    """Whole seconds since the last sign of life of any worker, by the database's clock; None without any."""
    row = WorkerBeat.objects.order_by("-seen_at").annotate(clock=Now()).values_list("seen_at", "clock").first()
    return None if row is None else _seconds(*row)


def worker_asked() -> BatchedRead[str]:
    """The sentence of the banner when no worker is at work, else ""."""
    last = Subquery(WorkerBeat.objects.order_by("-seen_at").values("seen_at")[:1])

    def read(found: Mapping[str, Any]) -> str:
        return _notice(None if found["seen_at"] is None else _seconds(found["seen_at"], found["clock"]))

    return BatchedRead({"seen_at": last, "clock": Now()}, read)


def _seconds(seen_at: datetime, now: datetime) -> int:
    return max(0, int((now - seen_at).total_seconds()))


def _notice(seconds: int | None) -> str:
    if seconds is None:
        return "No worker has been seen yet. Imports, pools and scores wait until one runs."
    if seconds > MISSING_AFTER_SECONDS:
        return f"No worker has been seen for {spoken(seconds)}. Imports, pools and scores wait until one runs."
    return ""


def notifications_of(person: User, project: Project) -> QuerySet[Notification]:
    """The person's notifications in this project, without those hidden for now."""
    return Notification.objects.filter(person=person, project=project).exclude(hidden_for(person))


def notification_for(person: User, project: Project, pk: int) -> Notification:
    """The person's own notification in this project; Http404 otherwise."""
    notification = notifications_of(person, project).filter(pk=pk).first() if pk <= LARGEST_KEY else None
    if notification is None:
        raise Http404("No such notification.")
    return notification


def unread_asked(person: User, project: Project) -> BatchedRead[str]:
    """ "3", or "9+" however many there are more, or "": it reads ten rows at most."""
    unread = notifications_of(person, project).filter(read_at=None).order_by().values("pk")

    def read(found: Mapping[str, Any]) -> str:
        return f"{MOST_COUNTED}+" if found["n"] > MOST_COUNTED else str(found["n"] or "")

    return BatchedRead({"n": CountOf(unread[: MOST_COUNTED + 1])}, read)


class NotificationPage(NamedTuple):
    """One page of a list with unread ones first, and newest first in both parts.

    `lines` are the unread ones of which several are of one kind. `older` is the `before` of the next page, "" on the
    last one.
    """

    unread: list[Notification]
    read: list[Notification]
    older: str
    lines: list[Line]

    @property
    def newest(self) -> int:
        """The newest unread one on the page; 0 without any."""
        return max([*(line.pk for line in self.lines), *(row.pk for row in self.unread)], default=0)


def notification_page(person: User, project: Project, before: str = "", kind: str = "") -> NotificationPage:
    """The page after `before`, the `older` of the previous page. Any other value gives the first page.

    With a `kind` those of that kind alone, each by itself.
    """
    part, _, last = before.partition("-")
    below = int(last[:18]) if last.isascii() and last.isdigit() else None
    rows = notifications_of(person, project).order_by("-pk")
    rows = rows.filter(kind=kind) if kind else rows
    waiting = rows.filter(read_at=None)
    unread: list[Notification] = []
    shown: list[Line] = []
    if part != "read":
        lines = [] if kind else lines_of(waiting)
        unread = list(_below(waiting.exclude(on_a_line(lines)), below)[: PAGE_SIZE + 1])
        shown, below = ([] if below else lines), None
    if len(unread) > PAGE_SIZE:
        return NotificationPage(unread[:PAGE_SIZE], [], f"unread-{unread[PAGE_SIZE - 1].pk}", shown)
    room = PAGE_SIZE - len(unread)
    read = list(_below(rows.exclude(read_at=None), below)[: room + 1])
    if len(read) <= room:
        return NotificationPage(unread, read, "", shown)
    last_shown = read[room - 1].pk if room else read[0].pk + 1
    return NotificationPage(unread, read[:room], f"read-{last_shown}", shown)


def _below(rows: QuerySet[Notification], pk: int | None) -> QuerySet[Notification]:
    return rows if pk is None else rows.filter(pk__lt=pk)


def mail_choice_of(person: User) -> MailChoice:
    """The person's choice, or the unsaved default."""
    return MailChoice.objects.filter(person=person).first() or MailChoice(person=person)


def webhooks_in(project: Project) -> QuerySet[Webhook]:
    """The webhooks of the project, also those that are switched off, oldest first."""
    return Webhook.objects.filter(project=project, ended_at=None).select_related("created_by").order_by("pk")


def webhook_in(project: Project, pk: int) -> Webhook:
    return get_object_or_404(webhooks_in(project).select_related("project"), pk=pk)


def deliveries_in(project: Project) -> QuerySet[Outbox]:
    """The messages to webhooks of the project, whatever became of them; newest first."""
    return Outbox.objects.filter(project=project, kind=DeliveryKind.WEBHOOK).order_by("-pk")


def delivery_in(project: Project, pk: int) -> Outbox:
    return get_object_or_404(deliveries_in(project), pk=pk)


def deliveries_to_operators() -> QuerySet[Outbox]:
    """The messages to the webhook of the server, newest first."""
    return Outbox.objects.filter(project=None, kind=DeliveryKind.WEBHOOK).order_by("-pk")


def delivery_to_operators(pk: int) -> Outbox:
    return get_object_or_404(deliveries_to_operators(), pk=pk)
