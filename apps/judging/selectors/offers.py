"""What a new round can be made of."""

from typing import NamedTuple

from django.db.models import F, QuerySet, Value

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import members_of
from apps.judging.core.plan import PROPERTIES
from apps.queries.models import Query
from apps.retrieval.enums import PoolKind, PoolState
from apps.retrieval.models import Pool


class RoundOffer(NamedTuple):
    """Annotators by name, pools newest first, and properties as key and words."""

    people: list[User]
    pools: list[Pool]
    properties: list[tuple[str, str]]


def round_offer(project: Project) -> RoundOffer:
    return RoundOffer(list(annotators_of(project)), list(pools_to_judge(project)), properties_in(project))


def annotators_of(project: Project) -> QuerySet[User]:
    """The people who may be asked to judge, by name."""
    return members_of(project, Role.ANNOTATOR)


def pools_to_judge(project: Project) -> QuerySet[Pool]:
    """The pools with pairs that a round can judge, newest first."""
    pools = Pool.objects.filter(project=project, state=PoolState.COMPLETE, entry_count__gt=0)
    return pools.exclude(kind=PoolKind.IMPORTED).select_related("snapshot").order_by("-pk")


def properties_in(project: Project) -> list[tuple[str, str]]:
    """The values that a remit can name in this project, "domain:security" and the like."""
    first, *others = [_values_of(project, place, name) for place, name in enumerate(PROPERTIES)]
    rows = first.union(*others).order_by("place", "value")
    named = [(PROPERTIES[place], value) for place, value in rows]
    return [(f"{name}:{value}", f"{name.replace('_', ' ')} {value}") for name, value in named]


def _values_of(project: Project, place: int, name: str) -> QuerySet:
    field = "source__slug" if name == "source" else name
    live = Query.objects.filter(project=project, retired_at=None).exclude(**{field: ""}).exclude(**{field: None})
    return live.order_by().annotate(place=Value(place), value=F(field)).values_list("place", "value")
