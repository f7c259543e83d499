"""Whether a person still has pairs of a pool to judge, so that ranks stay hidden from them until then.

Pairs are assigned by apps above this one; each registers a check here.
"""

from collections.abc import Callable

from apps.accounts.models import User
from apps.retrieval.models import Pool

BlindingCheck = Callable[[User, Pool], bool]

_checks: list[BlindingCheck] = []


def add_blinding_check(check: BlindingCheck) -> BlindingCheck:
    """Register `check(user, pool)`: whether the person has a pair of the pool to judge, or may be assigned one."""
    if check not in _checks:
        _checks.append(check)
    return check


def has_pairs_to_judge(user: User, pool: Pool) -> bool:
    return any(check(user, pool) for check in _checks)
