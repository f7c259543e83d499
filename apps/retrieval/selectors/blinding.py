"""The pools and queries of which a person still has something to judge, so that ranks stay hidden from them until then.

Work is given to people by apps above this one; each registers a check here.
"""

from collections.abc import Callable, Iterable

from apps.accounts.models import Project, User
from apps.common.database.bulk import chunks
from apps.corpus.models import Snapshot
from apps.retrieval.models import Pool, PoolQuery
from apps.retrieval.selectors.finding import IDS_AT_ONCE

PoolCheck = Callable[[User], set[int]]
QueryCheck = Callable[[User, Project], dict[int, str]]

OPEN_ROUND = (
    "You are a judge in a round that is still open, so the ranks of all its queries are hidden from you, graded or "
    "not. They are shown once the round is closed; a lead closes it on its page."
)

_pool_checks: list[PoolCheck] = []
_query_checks: list[QueryCheck] = []


def add_pool_check(check: PoolCheck) -> PoolCheck:
    """Register `check(user)`: keys of the pools of which the person has a pair to judge, or may be assigned one."""
    if check not in _pool_checks:
        _pool_checks.append(check)
    return check


def add_query_check(check: QueryCheck) -> QueryCheck:
    """Register `check(user, project)`: the queries whose results the person may not see, by key, and why."""
    if check not in _query_checks:
        _query_checks.append(check)
    return check


def pools_to_judge(user: User) -> set[int]:
    """Keys of the pools, of any project, of which the person may still judge pairs."""
    return {pool for check in _pool_checks for pool in check(user)}


def hidden_queries(user: User, snapshot: Snapshot, query_ids: Iterable[int]) -> dict[int, str]:
    """Those of the queries of which the person may see no ranks on the snapshot for now, each with the reason."""
    asked = set(query_ids)
    pools = PoolQuery.objects.filter(pool__in=pools_to_judge(user), pool__snapshot=snapshot)
    hidden = {
        query: OPEN_ROUND
        for part in chunks(sorted(asked), IDS_AT_ONCE)
        for query in pools.filter(query__in=part).values_list("query", flat=True)
    }
    for check in _query_checks:
        hidden |= {query: why for query, why in check(user, snapshot.corpus.project).items() if query in asked}
    return hidden


def has_pairs_to_judge(user: User, pool: Pool) -> bool:
    return pool.pk in pools_to_judge(user)
