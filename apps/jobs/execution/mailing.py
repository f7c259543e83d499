"""Mails unread notifications that were not mailed yet, at the times that each person chose."""

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from itertools import groupby
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef, QuerySet
from django.urls import reverse

from apps.accounts.models import Membership, User
from apps.common.text.wording import plural
from apps.jobs.enums import MailHow
from apps.jobs.execution.outbox import post_mail
from apps.jobs.models import MailChoice, Notification
from apps.jobs.selectors.jobs import hidden_for
from apps.jobs.selectors.notification_lines import Line, lines_of, on_a_line

MOST_IN_A_MAIL = 100
FRIDAY = 4
MADE_UP = ".example"  # a reserved domain, used by the people of the demo


def mail_what_is_due(at: datetime) -> int:
    """Queue a mail in the outbox for everybody for whom one is due; return the number of mails."""
    has_mail = _unmailed().filter(person=OuterRef("pk"))
    people = User.objects.filter(Exists(has_mail), is_active=True).select_related("mail_choice").order_by("pk")
    return sum(mail_to(person, at) for person in people if is_due(_choice(person), person, at))


def _unmailed() -> QuerySet[Notification]:
    """Unread notifications that were never mailed, in projects that their person still belongs to.

    Excludes the made-up people of the demo. People who were invited to a demo project get mail about it.
    """
    member = Membership.objects.live().filter(user=OuterRef("person"), project=OuterRef("project"))
    notifications = Notification.objects.filter(Exists(member), read_at=None, mailed_at=None)
    return notifications.exclude(project__is_demo=True, person__email__endswith=MADE_UP)


def _choice(person: User) -> MailChoice:
    return person.mail_choice if hasattr(person, "mail_choice") else MailChoice(person=person)


@transaction.atomic
def mail_to(person: User, at: datetime) -> bool:
    """Queue one mail. The person's choice is locked, so that of two workers the second has nothing left to mail."""
    MailChoice.objects.get_or_create(person=person)
    choice = MailChoice.objects.select_for_update().get(person=person)
    unread = _unmailed().filter(person=person).exclude(hidden_for(person))
    totals = unread.aggregate(count=Count("pk"), newest=Max("pk"))
    if not totals["count"] or not is_due(choice, person, at):
        return False
    unread = unread.filter(pk__lte=totals["newest"])
    post_mail(
        to=[person.email],
        subject=f"Karat: {plural(totals['count'], 'notification')}",
        body=body_of(unread, totals["count"], choice, person),
        project=None,
        at=at,
    )
    Notification.objects.filter(pk__in=unread.values("pk")).update(mailed_at=at)
    choice.digest_at = at
    choice.save(update_fields=["digest_at"])
    return True


# When --------------------------------------------------------------------------------------------------------------


def zone_of(person: User) -> tzinfo:
    """The person's own zone; UTC for one that this machine does not know."""
    try:
        return ZoneInfo(person.time_zone)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def is_due(choice: MailChoice, person: User, at: datetime) -> bool:
    """Whether a mail to the person is due at this time. A digest is sent once a day, in their time zone."""
    zone = zone_of(person)
    here = at.astimezone(zone)
    if choice.how == MailHow.NEVER or not choice.from_hour <= here.hour < choice.to_hour:
        return False
    if choice.weekdays_only and here.weekday() > FRIDAY:
        return False
    if choice.how != MailHow.DIGEST or choice.digest_at is None:
        return True
    return choice.digest_at.astimezone(zone).date() != here.date()


# What --------------------------------------------------------------------------------------------------------------


def body_of(unread: QuerySet[Notification], count: int, choice: MailChoice, person: User) -> str:
    """The sentences by project, each with its link, and how to change the choice. At most 100 sentences by themselves:
    several of one kind are one.
    """
    lines = lines_of(unread)
    single = unread.exclude(on_a_line(lines)).select_related("project").order_by("pk")[:MOST_IN_A_MAIL]
    found: list[Notification | Line] = [*lines, *single]
    rows = sorted(found, key=lambda row: (row.project.name, row.project.pk))
    parts = [_part(list(group)) for _, group in groupby(rows, key=lambda row: row.project.pk)]
    if (left := count - sum(line.count for line in lines) - len(single)) > 0:
        parts.append(f"{left:,} more are unread:\n{absolute(reverse('dashboard:projects'))}")
    return "\n\n\n".join([*parts, _footer(choice, person)]) + "\n"


def _part(rows: Sequence[Notification | Line]) -> str:
    return "\n\n".join([rows[0].project.name, *(f"{row.sentence}\n{absolute(row.path)}" for row in rows)])


def _footer(choice: MailChoice, person: User) -> str:
    often = "once a day" if choice.how == MailHow.DIGEST else "at once"
    days = "Monday to Friday" if choice.weekdays_only else "every day"
    hours = f"from {choice.from_hour}:00 to {choice.to_hour}:00 ({person.time_zone})"
    page = absolute(reverse("mail:choice"))
    return f"You get these mails {often}, {days}, {hours}. Change or stop them:\n{page}"


def absolute(path: str) -> str:
    return f"{settings.PUBLIC_URL}{path}"
