"""Whether a person still has pairs of a pool to judge.

Rooms above this one hand out pairs; each registers here how to ask it, so that ranks stay hidden until then.
"""

from collections.abc import Callable

from apps.accounts.models import User
from apps.retrieval.models import Pool

Asked = Callable[[User, Pool], bool]

_asked: list[Asked] = []


def ask(question: Asked) -> Asked:
    """Register `question(user, pool)`: whether the person holds or may be given a pair of the pool."""
    if question not in _asked:
        _asked.append(question)
    return question


def has_pairs_to_judge(user: User, pool: Pool) -> bool:
    return any(question(user, pool) for question in _asked)
