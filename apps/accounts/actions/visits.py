"""Sessions of people: noted when they begin and are used, ended one by one or all."""

from datetime import datetime

from django.contrib.sessions.models import Session
from django.db import IntegrityError, transaction

from apps.accounts.models import User, Visit
from apps.accounts.selectors import own_visit
from apps.common.trail import record


@transaction.atomic
def begin_visit(*, session_key: str, user: User, address: str | None, browser: str, at: datetime) -> None:
    """Note a session that has just begun, and delete those of the person that have expired."""
    Session.objects.filter(visit__user=user, expire_date__lte=at).delete()
    facts = {"user": user, "began_at": at, "last_used_at": at, "address": address, "browser": browser}
    Visit.objects.update_or_create(session_id=session_key, defaults=facts)


def note_use(*, session_key: str, user_id: int, address: str | None, browser: str, at: datetime) -> None:
    """Note that a session is used now. One that nobody noted, begun under an older version, counts from now on."""
    if Visit.objects.filter(session=session_key).update(last_used_at=at):
        return
    try:
        with transaction.atomic():
            Visit.objects.create(
                session_id=session_key, user_id=user_id, began_at=at, last_used_at=at, address=address, browser=browser
            )
    except IntegrityError:
        return  # noted by another request, or ended by now


@transaction.atomic
def end_visit(*, visit_id: int, user: User, at: datetime) -> Visit:
    """End a session of one's own: its next request is that of a stranger. Raises Http404 for what is no such one."""
    visit = own_visit(user, visit_id)
    Session.objects.filter(pk=visit.session_id).delete()
    record(project=None, actor=user, action="session.ended", obj=user, before={"sessions": 1}, at=at)
    return visit


@transaction.atomic
def end_visits(*, user: User, at: datetime, actor: User | None, keep: str | None = None) -> int:
    """End all sessions of a person, but for the one with the key `keep`. Returns how many had not expired."""
    sessions = Session.objects.filter(visit__user=user).exclude(pk=keep or "")
    live = sessions.filter(expire_date__gt=at).count()
    sessions.delete()
    if live:
        record(project=None, actor=actor, action="session.ended", obj=user, before={"sessions": live}, at=at)
    return live
