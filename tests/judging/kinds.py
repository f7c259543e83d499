"""A small round of every kind: what its plan asks for beside the first grades, and who may judge what."""

from typing import Any

from apps.accounts.enums import Role
from apps.judging.models import Round
from apps.judging.selectors.rejudging import KnownGrade
from apps.queries.models import Query
from tests.factories import AT, make_member, make_project
from tests.judging.factories import make_pool, make_round

PEOPLE = 3
LAW = {"domain": ["law"]}
KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "repeats": {"again": 0.5},
    "pilot": {"pilot": 1, "pilot_bar": 0.2},
    "checks": {"checks": 2},
    "extra judges": {"extra_bar": 0.9, "most_judges": 3},
    "remits": {"remits": True},
    "everything": {
        "again": 0.5, "pilot": 1, "pilot_bar": 0.2, "checks": 1, "extra_bar": 0.9, "most_judges": 3, "remits": True,
    },
}  # fmt: skip


def round_of_kind(kind: str, *, at=AT, seed: int = 7, overlap: float = 0.4) -> Round:
    """An open round of three people on three queries of three blocks. With remits, one person judges two queries."""
    project = make_project()
    pool = make_pool(project, queries=3, blocks=3)
    people = [make_member(project, Role.ANNOTATOR, name=f"Judge {n}") for n in range(PEOPLE)]
    plan = dict(KINDS[kind])
    known = pool.entries.order_by("pk")[: plan.pop("checks", 0)]
    remits = None
    if plan.pop("remits", False):
        first, second, _ = pool.pool_queries.order_by("query").values_list("query", flat=True)
        Query.objects.filter(pk__in=[first, second]).update(domain="law")
        remits = {people[0].pk: LAW}
    return make_round(
        project, pool=pool, annotators=people, remits=remits, seed=seed, overlap=overlap, at=at,
        known=[KnownGrade(entry.query_id, entry.version_id, 2, "named") for entry in known], **plan,
    )  # fmt: skip
