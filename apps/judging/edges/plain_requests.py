"""Middleware that answers the two requests of the judging screen with as little as they need.

`GET …/pairs/` and `POST …/judgements/` come thousands of times a day. Here they pass the same doors as everywhere
(host, session, CSRF, membership, an open project) with one read and one action each. Whatever is not the plain case (a
token, a body of another form, a planned round, a refusal, an outage) goes on to the view, which answers it in full. A
test compares status, headers and bodies of both.
"""

import json
import re
from collections.abc import Callable
from datetime import tzinfo
from functools import lru_cache
from typing import Any, NamedTuple

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from rest_framework.authentication import CSRFCheck
from rest_framework.fields import DateTimeField
from rest_framework.renderers import JSONRenderer

from apps.accounts.edges.sessions import note_visit, signed_in, zone_of
from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.common.database.statements import prepared_cursor
from apps.common.errors import Refusal
from apps.common.web.request_counts import count_as
from apps.judging.actions.plain_rounds import give_plainly
from apps.judging.actions.seats import MOST_SEATS, lease_seats
from apps.judging.core.answer import MOST_TIME_MS, Answer
from apps.judging.enums import CantJudgeReason
from apps.judging.models import Guideline, Round
from apps.judging.rules import USUAL_PAIRS
from apps.judging.selectors.offers import leased_pairs
from apps.judging.selectors.plans import plan_of

PATH = re.compile(r"/api/v1/projects/([-a-zA-Z0-9_]+)/judging/rounds/([0-9]{1,18})/(pairs|judgements)/")
JSON = re.compile(r"application/json(; ?charset=utf-8)?", re.IGNORECASE)
ACCEPTED = ("", "*/*", "application/json")
MOST_BYTES = 16_000
FIELDS = {"seat", "grade", "cant_judge", "note", "spans", "active_ms", "away_ms", "again", "idempotency_key"}
MOST_HINTS = 10_000
MOST_GRADE, MOST_NOTE, MOST_KEY = 100, 10_000, 64
CANT_JUDGE = ("", *CantJudgeReason.values)
# Who asks, in which project and round; no row for a session that has ended, a stranger, or somebody without the role.
HAND = """
SELECT t.session_data, u.password, u.time_zone, p.id, p.scale, p.archived_at,
       r.pool_id, r.guideline_id, r.number, r.name, r.state, r.overlap_share, r.judges, r.seed, r.plan,
       r.lease_minutes, g.number
  FROM django_session t, accounts_user u, accounts_project p, judging_round r
  LEFT JOIN judging_guideline g ON g.id = r.guideline_id
 WHERE t.session_key = %s AND t.expire_date > %s AND u.id = %s AND u.is_active
   AND p.slug = %s AND r.id = %s AND r.project_id = p.id
   AND EXISTS (SELECT 1 FROM accounts_membership m
                WHERE m.project_id = p.id AND m.user_id = u.id AND m.role = %s AND m.ended_at IS NULL)
   AND EXISTS (SELECT 1 FROM judging_roundannotator a WHERE a.round_id = r.id AND a.annotator_id = u.id)
"""

SESSION = "SELECT session_data FROM django_session WHERE session_key = %s"

_people: dict[str, int] = {}
"""Whose session each is, as far as this process has seen. Only a hint: each request reads and checks its session."""


def answer_plainly(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    def middleware(request: HttpRequest) -> HttpResponse:
        answer = None
        if match := PATH.fullmatch(request.path_info):
            slug, pk, name = match.groups()
            answer = _plain_answer(request, slug, int(pk), name)
            count_as(request, f"judging-api:{name}")
        return get_response(request) if answer is None else answer

    return middleware


def _plain_answer(request: HttpRequest, slug: str, pk: int, name: str) -> HttpResponse | None:
    """The answer, or None for whatever is for the view to answer."""
    answer, method = (_pairs, "GET") if name == "pairs" else (_judgement, "POST")
    if request.method != method or not _is_plain(request):
        return None
    try:
        request.get_host()
        session_key = request.COOKIES[settings.SESSION_COOKIE_NAME]
        hand = _hand(session_key, slug, pk)
        note_visit(request, session_key, hand.person.pk, timezone.now())
        return answer(request, hand)
    except (NotPlain, DisallowedHost, Refusal, DatabaseError):
        return None


class NotPlain(Exception):
    """The request is for the view."""


class Hand(NamedTuple):
    """An annotator at work, and the round with its project and guideline. Nobody changes them."""

    person: User
    round_: Round


def _is_plain(request: HttpRequest) -> bool:
    headers = request.META
    return (
        settings.SESSION_COOKIE_NAME in request.COOKIES
        and "HTTP_AUTHORIZATION" not in headers
        and "HTTP_IDEMPOTENCY_KEY" not in headers
        and "HTTP_CONTENT_ENCODING" not in headers
        and headers.get("HTTP_ACCEPT", "") in ACCEPTED
    )


def _hand(session_key: str, slug: str, pk: int) -> Hand:
    """Who asks, as the database says now. Raises NotPlain for whoever is for the view to answer."""
    with prepared_cursor() as cursor:
        if session_key not in _people:
            cursor.execute(SESSION, [session_key])
            _remember(session_key, cursor.fetchone())
        person = _people[session_key]
        now = connection.ops.adapt_datetimefield_value(timezone.now())
        cursor.execute(HAND, [session_key, now, person, slug, pk, Role.ANNOTATOR.value])
        row = cursor.fetchone()
    hand = _read(person, slug, pk, row) if row else None
    if hand is None:
        _people.pop(session_key, None)
        raise NotPlain
    return hand


@lru_cache(maxsize=1024)
def _read(person: int, slug: str, pk: int, row: tuple[Any, ...]) -> Hand | None:
    """What a row of HAND says, remembered as long as the row says the same.

    None where the session is somebody else's or older than the password, and for an archived project or a round that is
    not plain.
    """
    session, password, time_zone, project_id, scale, archived_at, pool_id, guideline_id, number, name, *rest = row
    state, overlap, judges, seed, plan, lease_minutes, guideline = rest
    user = User(pk=person, password=password, time_zone=time_zone)
    login = signed_in(session)
    if login is None or login.user_id != person or archived_at is not None:
        return None
    if not constant_time_compare(login.auth_hash, user.get_session_auth_hash()):
        return None
    project = Project(pk=project_id, slug=slug, scale=json.loads(scale))
    round_ = Round(
        pk=pk, project=project, pool_id=pool_id, number=number, name=name, state=state, overlap_share=overlap,
        judges=judges, seed=seed, plan=plan and json.loads(plan), lease_minutes=lease_minutes,
        guideline=guideline_id and Guideline(pk=guideline_id, number=guideline),
    )  # fmt: skip
    return Hand(user, round_) if plan_of(round_).is_plain else None


def _remember(session_key: str, row: tuple[str] | None) -> None:
    login = signed_in(row[0]) if row else None
    if login is None:
        raise NotPlain
    if len(_people) >= MOST_HINTS:
        _people.clear()
    _people[session_key] = login.user_id


def _pairs(request: HttpRequest, hand: Hand) -> HttpResponse:
    person, round_ = hand
    reached = lease_seats(round_=round_, annotator=person, n=_wanted(request), at=timezone.now())
    pairs = leased_pairs(round_, person.pk, reached=reached)
    return _answer(200, {"round": _round_json(round_), "pairs": pairs}, allow="GET, HEAD, OPTIONS")


def _wanted(request: HttpRequest) -> int:
    text = request.META.get("QUERY_STRING", "")
    if not text:
        return USUAL_PAIRS
    number = text.removeprefix("n=")
    if number == text or not number.isascii() or not number.isdigit() or not 1 <= int(number[:3]) <= MOST_SEATS:
        raise NotPlain
    return int(number)


def _round_json(round_: Round) -> dict[str, Any]:
    number = round_.guideline.number if round_.guideline else None
    return {
        "id": round_.pk, "number": round_.number, "name": round_.name, "state": round_.state, "guideline": number,
    }  # fmt: skip


def _judgement(request: HttpRequest, hand: Hand) -> HttpResponse | None:
    person, round_ = hand
    check = CSRFCheck(_no_view)
    check.process_request(request)
    if check.process_view(request, _no_view, (), {}) is not None:
        return None
    seat, answer, key = _given(request)
    at = timezone.now()
    given = give_plainly(round_=round_, seat_id=seat, annotator_id=person.pk, answer=answer, idempotency_key=key, at=at)
    if given is None:
        return None
    given_at = _times_in(zone_of(person.time_zone) or timezone.get_default_timezone()).to_representation(at)
    stored: dict[str, Any] = {
        "id": given, "seat": seat, "grade": answer.grade, "cant_judge": answer.cant_judge, "note": answer.note.strip(),
        "spans": [], "supersedes": None, "given_at": given_at,
    }  # fmt: skip
    return _answer(201, stored, allow="POST, OPTIONS")


@lru_cache(maxsize=64)
def _times_in(zone: tzinfo) -> DateTimeField:
    return DateTimeField(default_timezone=zone)


def _given(request: HttpRequest) -> tuple[int, Answer, str]:
    """Seat, answer and key of a body in which every field is what `JudgementInput` makes of it. Raises NotPlain."""
    length = request.META.get("CONTENT_LENGTH") or ""
    if not JSON.fullmatch(request.META.get("CONTENT_TYPE", "")) or not length.isdigit() or int(length) > MOST_BYTES:
        raise NotPlain
    try:
        body = json.loads(request.body.decode())
    except (ValueError, RecursionError):
        raise NotPlain from None
    if not isinstance(body, dict) or not FIELDS.issuperset(body) or body.get("spans"):
        raise NotPlain
    grade, cant_judge, note = body.get("grade"), body.get("cant_judge", ""), body.get("note", "")
    times = body.get("active_ms"), body.get("away_ms")
    is_again, key = body.get("again", True), body.get("idempotency_key")
    is_plain = (
        _is_whole(body.get("seat"), 1, 2**63 - 1)
        and (grade is None or _is_whole(grade, 0, MOST_GRADE))
        and cant_judge in CANT_JUDGE
        and all(time is None or _is_whole(time, 0, MOST_TIME_MS) for time in times)
        and isinstance(is_again, bool)
        and _is_text(note, 0, MOST_NOTE)
        and _is_text(key, 1, MOST_KEY)
    )
    if not is_plain:
        raise NotPlain
    return int(body["seat"]), Answer(grade, cant_judge, note, [], *times, is_again), str(key)


def _no_view(_request: HttpRequest) -> HttpResponse:
    """The check of CSRF wants a view; nothing calls it."""
    return HttpResponse()


def _is_whole(value: object, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def _is_text(value: object, least: int, most: int) -> bool:
    """Without what a text field trims or refuses: outer space, NUL, and halves of surrogate pairs."""
    if not isinstance(value, str) or not least <= len(value) <= most or value != value.strip() or "\0" in value:
        return False
    return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)


def _answer(status: int, value: dict[str, Any], *, allow: str) -> HttpResponse:
    """The value in JSON, with the headers that the view and the middleware after this one would set."""
    body = JSONRenderer().render(value)
    answer = HttpResponse(body, status=status, content_type="application/json")
    answer.headers["Allow"] = allow
    answer.headers["Vary"] = "Cookie"
    answer.headers["X-Frame-Options"] = settings.X_FRAME_OPTIONS
    answer.headers["Content-Length"] = str(len(body))
    return answer
