"""Variants made here: never judged, ranked by the runs of pools, in versions with the grades of their originals."""

import pytest

from apps.goldsets.enums import VersionState
from apps.goldsets.models import VersionGrade, VersionQuery
from apps.queries.actions.queries import add_variants, retire_query
from apps.queries.models import Query
from apps.retrieval.actions.pools import request_pool
from apps.retrieval.models import Pool, Ranking
from tests.factories import AT
from tests.goldsets.factories import make_bench, make_version
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db


def add(bench, *queries, kinds=("lower", "typo")):
    return add_variants(
        project=bench.project, query_ids=[q.pk for q in queries], kinds=kinds, seed=1, actor=bench.lead, at=AT
    )


def grades_of(version, query):
    return sorted(VersionGrade.objects.filter(version=version, query__query=query).values_list("block_id", "grade"))


def test_a_version_has_them_with_the_grades_of_their_originals_and_on_the_same_side():
    bench = make_bench(queries=4)
    first, second = Query.objects.filter(project=bench.project).order_by("pk")[:2]
    variants = add(bench, first)

    version = make_version(VersionState.FROZEN, bench, test_share=0.5)

    for variant in variants:
        assert grades_of(version, variant) == grades_of(version, first) != []
        stored = VersionQuery.objects.filter(version=version)
        assert stored.get(query=variant).split == stored.get(query=first).split
    given = VersionGrade.objects.filter(version=version, query__query__in=variants)
    assert set(given.values_list("resolution", flat=True)) == {"original"}
    assert version.manifest["counts"]["by_resolution"]["original"] == given.count()

    later = [*add(bench, second, kinds=["lower"])]
    retire_query(query_id=variants[0].pk, reason="Unreadable", actor=bench.lead, at=AT)
    again = make_version(VersionState.FROZEN, bench, test_share=0.5)

    assert grades_of(again, later[0]) == grades_of(again, second)
    assert grades_of(again, variants[0]) == []
    assert grades_of(again, variants[1]) == grades_of(again, first)


def test_no_pool_covers_them_and_the_runs_that_it_makes_rank_them():
    bench = make_bench(queries=2, judge=False)
    originals = list(Query.objects.filter(project=bench.project).order_by("pk"))
    variants = add(bench, originals[0])
    asked = {"project": bench.project, "snapshot_id": bench.snapshot.pk, "with_built_in": True, "depth": 5}

    pool = request_pool(**asked, name="Built in", actor=bench.lead, at=AT)
    run_jobs()

    pool = Pool.objects.get(pk=pool.pk)
    assert pool.state == "complete"
    assert set(pool.pool_queries.values_list("query_id", flat=True)) == {query.pk for query in originals}
    assert not pool.entries.filter(query__in=variants).exists()
    for run in pool.pool_runs.values_list("run_id", flat=True):
        ranked = set(Ranking.objects.filter(run=run).values_list("query_id", flat=True))
        assert ranked == {query.pk for query in [*originals, *variants]}
