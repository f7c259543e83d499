"""Writing notifications and marking them as read; a person's choice of mail, and the server's try of a mail."""

from datetime import datetime

from django.db import transaction
from django.db.models import Q

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.errors import Forbidden
from apps.jobs.enums import DeliveryKind, DeliveryState, MailHow
from apps.jobs.models import MailChoice, Notification, Outbox
from apps.jobs.selectors.watching import LATELY

MOST_AT_ONCE = 1_000


@transaction.atomic
def send_mail_again(*, actor: User, at: datetime) -> int:
    """Retry at once the mails that failed, those given up of late included; return how many.

    A mail that was given up with a secret link in it is left alone: its text is erased.
    """
    if not actor.is_operator:
        raise Forbidden("Only an operator can do this: mail is that of every project.")
    failing = Q(state=DeliveryState.WAITING) & ~Q(error="")
    given_up = Q(state=DeliveryState.FAILED, created_at__gt=at - LATELY)
    rows = Outbox.objects.select_for_update().filter(failing | given_up, kind=DeliveryKind.MAIL).order_by("pk")
    again = [
        row for row in rows[:MOST_AT_ONCE] if row.state == DeliveryState.WAITING or not row.payload.get("is_secret")
    ]
    for row in again:
        if row.state == DeliveryState.FAILED:
            row.state, row.attempts = DeliveryState.WAITING, 0
        row.next_at = at
    Outbox.objects.bulk_update(again, ["state", "attempts", "next_at"], batch_size=500)
    if again:
        record(project=None, actor=actor, action="mail.sent_again", after={"messages": len(again)}, at=at)
    return len(again)


SENTENCE_LENGTH = 300


def notify(
    *,
    person: User,
    project: Project,
    kind: str,
    sentence: str,
    path: str,
    key: str,
    at: datetime,
    about: int | None = None,
) -> Notification | None:
    """Notify `person` once, in the transaction of the event. None when a notification with this `key` exists.

    The sentence may contain what every page shows to this person at this moment, and of an open round only what they
    are asked. `about` is the triple whose closed rounds it mentions: the row is hidden while the triple's verdicts are.
    """
    row, is_new = Notification.objects.get_or_create(
        person=person,
        key=key,
        defaults={
            "project": project,
            "kind": kind,
            "sentence": _one_line(sentence),
            "path": path,
            "about": about,
            "created_at": at,
        },
    )
    return row if is_new else None


def _one_line(sentence: str) -> str:
    line = " ".join(sentence.split())
    return line if len(line) <= SENTENCE_LENGTH else f"{line[: SENTENCE_LENGTH - 1]}…"


def read_about(*, person: User, project: Project, prefix: str, at: datetime) -> None:
    """Mark as read the notifications whose keys begin with `prefix`: the person has just dealt with them."""
    rows = Notification.objects.filter(person=person, project=project, read_at=None)
    rows.filter(key__startswith=prefix).update(read_at=at)


def mark_read(*, notification: Notification, at: datetime) -> None:
    """Mark one notification as read; a second time changes nothing."""
    Notification.objects.filter(pk=notification.pk, read_at=None).update(read_at=at)


def mark_all_read(*, person: User, project: Project, up_to: int, at: datetime, kind: str = "") -> int:
    """Mark as read all notifications, or those of a kind, up to `up_to`, the newest on the page; later ones stay
    unread.
    """
    rows = Notification.objects.filter(person=person, project=project, read_at=None, pk__lte=up_to)
    return (rows.filter(kind=kind) if kind else rows).update(read_at=at)


@transaction.atomic
def choose_mail(
    *, person: User, how: MailHow, from_hour: int, to_hour: int, weekdays_only: bool, at: datetime
) -> MailChoice:
    """Store when a person wants mail. Unread notifications that were never mailed follow the new choice."""
    choice, _ = MailChoice.objects.select_for_update().get_or_create(person=person)
    choice.how, choice.from_hour, choice.to_hour, choice.weekdays_only = how, from_hour, to_hour, weekdays_only
    choice.save(update_fields=["how", "from_hour", "to_hour", "weekdays_only"])
    record(
        project=None,
        actor=person,
        action="user.mail_chosen",
        obj=person,
        after={"how": choice.how, "from_hour": from_hour, "to_hour": to_hour, "weekdays_only": weekdays_only},
        at=at,
    )
    return choice


@transaction.atomic
def end_notifications(*, user: User, actor: User | None, at: datetime) -> None:
    """Somebody leaves: nothing waits to be mailed to them, and how they wanted mail is forgotten."""
    Notification.objects.filter(person=user, read_at=None).update(read_at=at)
    if MailChoice.objects.filter(person=user).delete()[0]:
        record(project=None, actor=actor, action="user.mail_choice_deleted", obj=user, at=at)
