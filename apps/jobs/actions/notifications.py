"""Telling people what happened that concerns them."""

from datetime import datetime

from django.db import transaction

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.jobs.enums import MailHow
from apps.jobs.models import MailChoice, Notification

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
    """Tell `person` once, in the transaction of what it is about. None when a notification of this `key` was there.

    The sentence may hold what every page shows to this person at this moment, and nothing of an open round. `about` is
    the triple of whose closed rounds it tells: such a row is hidden while the verdicts of the triple are.
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
    """Mark as read what `person` was told under keys that begin with `prefix`: they have just dealt with it."""
    rows = Notification.objects.filter(person=person, project=project, read_at=None)
    rows.filter(key__startswith=prefix).update(read_at=at)


def mark_read(*, notification: Notification, at: datetime) -> None:
    """Opened for the first time; later openings change nothing."""
    Notification.objects.filter(pk=notification.pk, read_at=None).update(read_at=at)


def mark_all_read(*, person: User, project: Project, up_to: int, at: datetime) -> int:
    """Mark as read what stood on the page, whose newest row was `up_to`; what came in since stays unread."""
    rows = Notification.objects.filter(person=person, project=project, read_at=None, pk__lte=up_to)
    return rows.update(read_at=at)


@transaction.atomic
def choose_mail(
    *, person: User, how: MailHow, from_hour: int, to_hour: int, weekdays_only: bool, at: datetime
) -> MailChoice:
    """Keep how a person wants to be told. What is unread and was never mailed follows the new choice."""
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
