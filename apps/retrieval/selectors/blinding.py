"""The pools and queries of which a person still has something to judge, so that ranks stay hidden from them until then.

Work is given to people by apps above this one; each registers a check here.
"""

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import NamedTuple

from django.db.models import Q, QuerySet, Value

from apps.accounts.models import Project, User
from apps.common.database.bulk import chunks
from apps.common.discovery import Registered
from apps.corpus.models import Snapshot
from apps.retrieval.models import Pool, PoolQuery
from apps.retrieval.selectors.question_sets import IDS_AT_ONCE

OPEN_ROUND = (
    "You are a judge in a round that is still open, so the ranks of all its queries are hidden from you, graded or "
    "not. They are shown once the round is closed; a lead closes it on its page."
)


class Hidden(NamedTuple):
    """The queries that `rows` lead to by `column`, null for none, and why their results are hidden from a person."""

    rows: QuerySet
    column: str
    why: str


PoolCheck = Callable[[User], QuerySet]
QueryCheck = Callable[[User, Project], list[Hidden]]


pool_checks: Registered[PoolCheck] = Registered()
"""Each selects the keys of the pools of which the person has, or may be assigned, a pair."""

query_checks: Registered[QueryCheck] = Registered()
"""Each gives the queries whose results the person may not see, and why."""


def hidden_queries(user: User, snapshot: Snapshot, query_ids: Iterable[int]) -> dict[int, str]:
    """Those of the queries of which the person may see no ranks on the snapshot for now, each with the reason."""
    asked = set(query_ids)
    to_judge = PoolQuery.objects.filter(_to_judge(user, "pool"), pool__snapshot=snapshot)
    others = [hidden for check in query_checks for hidden in check(user, snapshot.corpus.project)]
    found: dict[int, str] = {}
    for part in chunks(sorted(asked), IDS_AT_ONCE):
        found |= _reasons([Hidden(to_judge.filter(query__in=part), "query", OPEN_ROUND), *others])
    return {query: why for query, why in found.items() if query in asked}


def _reasons(hidden: Sequence[Hidden]) -> dict[int, str]:
    """Every query that these hide, with the reason named last; read in one statement."""
    first, *more = [
        one.rows.order_by().filter(**{f"{one.column}__isnull": False}).values_list(one.column, Value(place))
        for place, one in enumerate(hidden)
    ]
    rows = sorted(first.union(*more, all=True), key=itemgetter(1))
    return {query: hidden[place].why for query, place in rows}


def has_pairs_to_judge(user: User, pool: Pool) -> bool:
    return Pool.objects.filter(_to_judge(user, "pk"), pk=pool.pk).exists()


def _to_judge(user: User, column: str) -> Q:
    """The rows whose `column` is the key of a pool, of any project, of which the person may still judge pairs."""
    condition = Q(pk__in=[])
    for check in pool_checks:
        condition |= Q(**{f"{column}__in": check(user)})
    return condition
