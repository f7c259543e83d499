"""The pools whose grades were withdrawn. Grades are stored by apps above this one; each registers a check here."""

from collections.abc import Callable

from django.db.models import QuerySet

from apps.accounts.models import Project
from apps.retrieval.enums import PoolKind
from apps.retrieval.models import Pool

WithdrawnCheck = Callable[[Project], QuerySet[Pool]]

_checks: list[WithdrawnCheck] = []


def add_withdrawn_check(check: WithdrawnCheck) -> WithdrawnCheck:
    """Register `check(project)`: the pools that came with grades whose import was undone."""
    if check not in _checks:
        _checks.append(check)
    return check


def without_withdrawn(pools: QuerySet[Pool], project: Project) -> QuerySet[Pool]:
    """Those of the project's pools that count: withdrawn ones keep their page and are in no list."""
    for check in _checks:
        pools = pools.exclude(pk__in=check(project).order_by().values("pk"))
    return pools


def is_withdrawn(pool: Pool) -> bool:
    """Whether it came with grades whose import was undone."""
    return pool.kind == PoolKind.IMPORTED and any(check(pool.project).filter(pk=pool.pk).exists() for check in _checks)
