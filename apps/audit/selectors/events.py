"""Reading history, newest first, within one project."""

from typing import NamedTuple

from django.db.models import Model, QuerySet

from apps.accounts.models import Project, User
from apps.audit.models import Event

PAGE_SIZE = 50
MAX_KEY = 2**63 - 1


class EventFilters(NamedTuple):
    """What an audit page may be narrowed by; nothing else from outside reaches a query."""

    actor: int | None = None
    action: str = ""
    object_type: str = ""
    object_id: str = ""


def events_in(project: Project, filters: EventFilters | None = None) -> QuerySet[Event]:
    events = Event.objects.filter(project=project).select_related("actor").order_by("-pk")
    chosen = {name: value for name, value in (filters or EventFilters())._asdict().items() if value}
    if "actor" in chosen:
        chosen["actor_id"] = chosen.pop("actor")
    return events.filter(**chosen)


def page_of(events: QuerySet[Event], *, before: int | None) -> tuple[list[Event], int | None]:
    """One page below the key `before` (None: from the newest), and the key where the next one begins."""
    if before is not None:
        events = events.filter(pk__lt=min(before, MAX_KEY))
    rows = list(events[: PAGE_SIZE + 1])
    return rows[:PAGE_SIZE], rows[PAGE_SIZE - 1].pk if len(rows) > PAGE_SIZE else None


def actors_in(project: Project) -> QuerySet[User]:
    """Everybody who ever acted here, former members too."""
    ids = Event.objects.filter(project=project).exclude(actor=None).values("actor").distinct()
    return User.objects.filter(pk__in=ids).order_by("name", "pk")


def actions_in(project: Project) -> list[str]:
    return _values(project, "action")


def object_types_in(project: Project) -> list[str]:
    return [value for value in _values(project, "object_type") if value]


def recorded_digests(action: str, obj: Model, name: str = "digest") -> set[str]:
    """What the events of this action say of an object's digest. One event, one digest; two tell of a forger."""
    events = Event.objects.filter(action=action, object_type=obj._meta.label_lower, object_id=str(obj.pk))
    return {str(after[name]) for after in events.values_list("after", flat=True) if after and name in after}


def recorded_objects(action: str, model: type[Model]) -> set[str]:
    """Keys, as text, of the objects that this was done to."""
    events = Event.objects.filter(action=action, object_type=model._meta.label_lower)
    return set(events.values_list("object_id", flat=True))


def _values(project: Project, field: str) -> list[str]:
    rows = Event.objects.filter(project=project).order_by(field).values_list(field, flat=True)
    return list(rows.distinct())
