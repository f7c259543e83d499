"""What an operator does on the page of the server: measure and clear what is stored, try the mail."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from apps.accounts.models import User
from apps.audit.actions import record
from apps.common.errors import Forbidden, Refusal
from apps.common.web.post import has_mail_server
from apps.dashboard.core.storage import CLEARABLE
from apps.dashboard.enums import CLEAR_STORAGE, MEASURE_SERVER
from apps.dashboard.selectors.server import measuring_now
from apps.jobs.actions.jobs import enqueue
from apps.jobs.execution.outbox import post_mail
from apps.jobs.execution.periodic import periodic_task
from apps.jobs.models import Job, Outbox

ONLY_OPERATORS = "Only an operator can do this: it concerns every project of the server."


@periodic_task("dashboard.measure", every=timedelta(days=1))
def measure_daily(at: datetime) -> None:
    request_measurement(actor=None, at=at)


@transaction.atomic
def request_measurement(*, actor: User | None, at: datetime) -> Job:
    """Queue the job that measures what is stored, unless one waits or runs. Without an actor Karat itself asks."""
    _check(actor)
    return measuring_now() or enqueue(kind=MEASURE_SERVER, params={}, project=None, actor=actor, at=at)


@transaction.atomic
def request_clearing(*, kind: str, actor: User, at: datetime) -> Job:
    """Queue the job that removes what can be cleared of this kind, on the machine of a worker."""
    _check(actor)
    if kind not in CLEARABLE:
        raise Refusal("That is needed, so it cannot be cleared.", code="not_clearable")
    return enqueue(kind=CLEAR_STORAGE, params={"kind": kind}, project=None, actor=actor, at=at)


@transaction.atomic
def send_test_mail(*, actor: User, at: datetime) -> Outbox:
    """Send a mail to the operator who asks, by the way that every mail goes."""
    _check(actor)
    if not has_mail_server():
        raise Refusal("No mail server is set. Set EMAIL_HOST and start Karat again.", code="no_mail_server")
    body = f"This is a test, asked for by {actor} at {settings.PUBLIC_URL}. Mail of Karat goes out.\n"
    mail = post_mail(to=[actor.email], subject="Karat: a test", body=body, project=None, at=at)
    record(project=None, actor=actor, action="mail.tested", obj=mail, at=at)
    return mail


def _check(actor: User | None) -> None:
    if actor is not None and not actor.is_operator:
        raise Forbidden(ONLY_OPERATORS)
