"""The events of one project, newest first, and the kinds of records that are sealed."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Max, Model, QuerySet

from apps.accounts.models import ApiToken, Project, User
from apps.audit.models import Event
from apps.common.database.batched_reads import BatchedRead, ListOf
from apps.common.database.statements import LARGEST_KEY
from apps.common.digests import utc_text
from apps.common.web.logs import agent_in

Payload = Callable[[Any], dict]
Check = Callable[[Any], Iterable[str]]


@dataclass(frozen=True)
class SealedKind:
    """`project_path` is the lookup from the record to its project's key, such as "round__project"."""

    name: str
    model: type[Model]
    project_path: str
    payload: Payload


_kinds: dict[str, SealedKind] = {}


def sealed_kind(name: str, model: type[Model], *, project_path: str, payload: Payload) -> None:
    """Seal the rows of `model` as `name`. Apps above register their append-only rows, from `AppConfig.ready`.

    `payload` returns the plain values that must never change, without anything that redaction may remove. It is given a
    record or the record's own columns by name, so it reads nothing of another table.
    """
    _kinds[name] = SealedKind(name, model, project_path, payload)


_checks: dict[str, Check] = {}


def digest_check(name: str, check: Check) -> None:
    """Register a check for `verify-audit`, which recomputes the digests of a project's frozen objects.

    It yields a sentence for each object that differs from what the sealed events recorded.
    """
    _checks[name] = check


def digest_checks() -> list[Check]:
    return [_checks[name] for name in sorted(_checks)]


def kinds() -> list[SealedKind]:
    return [_kinds[name] for name in sorted(_kinds)]


def kind_named(name: str) -> SealedKind | None:
    return _kinds.get(name)


def event_payload(event: Any) -> dict:
    return {
        "project": event.project_id,
        "actor": event.actor_id,
        "action": event.action,
        "object_type": event.object_type,
        "object_id": event.object_id,
        "object_label": event.object_label,
        "before": event.before,
        "after": event.after,
        "at": utc_text(event.at),
        "request_id": event.request_id,
    }


PAGE_SIZE = 50


class EventFilters(NamedTuple):
    """The filters of an audit page; no other user input reaches a query."""

    actor: int | None = None
    action: str = ""
    object_type: str = ""
    object_id: str = ""


def events_in(project: Project, filters: EventFilters) -> QuerySet[Event]:
    events = Event.objects.filter(project=project).select_related("actor").order_by("-pk")
    return events.filter(**{name: value for name, value in filters._asdict().items() if value})


def latest_key() -> int:
    """The key of the latest event of all; 0 for none."""
    return Event.objects.aggregate(last=Max("pk"))["last"] or 0


def newest_event_at() -> datetime | None:
    """The time of the latest event of all; None where there is none."""
    return Event.objects.order_by("-pk").values_list("at", flat=True).first()


def page_of(events: QuerySet[Event], *, before: int | None) -> tuple[list[Event], int | None]:
    """One page of events with keys below `before` (None: the newest), and the `before` of the next page."""
    if before is not None:
        events = events.filter(pk__lt=min(before, LARGEST_KEY))
    rows = list(events[: PAGE_SIZE + 1])
    return rows[:PAGE_SIZE], rows[PAGE_SIZE - 1].pk if len(rows) > PAGE_SIZE else None


class AgentBehind(NamedTuple):
    """The agent that did something: the name of its token, and its tool."""

    token: str
    tool: str

    def __str__(self) -> str:
        return f"agent {self.token}, {self.tool}"


def agents_behind(events: Sequence[Event]) -> dict[int, AgentBehind]:
    """Of those events that an agent caused, by key of the event; in two statements. An agent's job is its doing too."""
    asked = {event.pk: event.request_id for event in events}
    jobs = {pk: match[1] for pk, request_id in asked.items() if (match := _OF_A_JOB.fullmatch(request_id))}
    queued = Event.objects.filter(action="job.queued", object_type="jobs.job", object_id__in=set(jobs.values()))
    askers = dict(queued.filter(request_id__startswith="agent.").values_list("object_id", "request_id"))
    asked |= {pk: askers.get(job, "") for pk, job in jobs.items()}
    found = {pk: agent for pk, request_id in asked.items() if (agent := agent_in(request_id))}
    names = ApiToken.objects.in_bulk({token for token, _ in found.values()})
    return {
        pk: AgentBehind(names[token].name if token in names else "without a name", tool)
        for pk, (token, tool) in found.items()
    }


_OF_A_JOB = re.compile(r"job-(\d+)-\d+")


def actors_in(project: Project) -> QuerySet[User]:
    """Everybody who ever acted here, former members too."""
    ids = Event.objects.filter(project=project).exclude(actor=None).values("actor").distinct()
    return User.objects.filter(pk__in=ids).order_by("name", "pk")


def actions_in(project: Project) -> list[str]:
    return _values(project, "action")


def object_types_in(project: Project) -> list[str]:
    return [value for value in _values(project, "object_type") if value]


def recorded_digests(action: str, obj: Model) -> set[str]:
    """The digests of an object in the events of this action. One event has one digest; two reveal a forgery."""
    return values_recorded(events_of(action, obj).values_list("after", flat=True), "digest")


def recorded_objects(action: str, model: type[Model]) -> set[str]:
    """The keys, as text, of the objects of these events."""
    return set(_events_on(action, model).values_list("object_id", flat=True))


def recorded_question(action: str, obj: Model) -> BatchedRead[list[Any]]:
    """What the events of this action recorded of the object, for `values_recorded`, with more in one statement."""
    rows = ListOf(events_of(action, obj).values_list("after"), json=["after"])
    return BatchedRead({"after": rows}, lambda found: [after for (after,) in found["after"]])


def recorded_objects_question(action: str, model: type[Model]) -> BatchedRead[set[str]]:
    """As `recorded_objects`, with more in one statement."""
    rows = ListOf(_events_on(action, model).values_list("object_id"))
    return BatchedRead({"objects": rows}, lambda found: {pk for (pk,) in found["objects"]})


def values_recorded(recorded: Iterable[Any], name: str) -> set[str]:
    """The values of one name in what events recorded."""
    return {str(after[name]) for after in recorded if after and name in after}


def events_of(action: str, obj: Model) -> QuerySet[Event]:
    """The events of this action on an object."""
    return _events_on(action, type(obj)).filter(object_id=str(obj.pk))


def _events_on(action: str, model: type[Model]) -> QuerySet[Event]:
    return Event.objects.filter(action=action, object_type=model._meta.label_lower)


def _values(project: Project, field: str) -> list[str]:
    rows = Event.objects.filter(project=project).order_by(field).values_list(field, flat=True)
    return list(rows.distinct())
