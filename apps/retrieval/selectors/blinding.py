"""The pools of which a person still has pairs to judge, so that ranks stay hidden from them until then.

Pairs are assigned by apps above this one; each registers a check here.
"""

from collections.abc import Callable, Iterable

from apps.accounts.models import User
from apps.common.database.bulk import chunks
from apps.corpus.models import Snapshot
from apps.retrieval.models import Pool, PoolQuery
from apps.retrieval.selectors.finding import IDS_AT_ONCE

BlindingCheck = Callable[[User], set[int]]

_checks: list[BlindingCheck] = []


def add_blinding_check(check: BlindingCheck) -> BlindingCheck:
    """Register `check(user)`: keys of the pools of which the person has a pair to judge, or may be assigned one."""
    if check not in _checks:
        _checks.append(check)
    return check


def pools_to_judge(user: User) -> set[int]:
    """Keys of the pools, of any project, of which the person may still judge pairs."""
    return {pool for check in _checks for pool in check(user)}


def queries_to_judge(user: User, snapshot: Snapshot, query_ids: Iterable[int]) -> set[int]:
    """Those of the queries that are in a pool on the snapshot of which the person may still judge pairs."""
    pools = PoolQuery.objects.filter(pool__in=pools_to_judge(user), pool__snapshot=snapshot)
    return {
        query
        for part in chunks(query_ids, IDS_AT_ONCE)
        for query in pools.filter(query__in=part).values_list("query", flat=True)
    }


def has_pairs_to_judge(user: User, pool: Pool) -> bool:
    return pool.pk in pools_to_judge(user)
