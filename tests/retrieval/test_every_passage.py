"""Pools with every passage of a small snapshot: bounded, said beforehand, and known to miss nothing by counting."""

from types import SimpleNamespace

import pytest
from django.urls import reverse

from apps.corpus.models import Snapshot
from apps.evaluation.selectors import evaluations
from apps.evaluation.selectors.evaluations import EVERY_JUDGED, pooling_words
from apps.goldsets.models import Version
from apps.retrieval import rules
from apps.retrieval.actions.pools import PoolRefused, choose_pairs, grow_pool
from apps.retrieval.core.sampling import PoolPlan
from apps.retrieval.models import Pool, PoolEntry
from apps.retrieval.selectors.pools import exhaustive_queries, is_exhaustive
from tests.factories import AT, lead_of, make_project
from tests.judging.factories import make_round
from tests.retrieval.factories import make_pool, make_queries, make_run, make_snapshot

pytestmark = pytest.mark.django_db

EVERY = PoolPlan(method="every")


@pytest.fixture
def snapshot():
    project = make_project()
    make_queries(project)
    return make_snapshot(project)


def every(snapshot, *, plan=EVERY, run_ids=(), name="Every") -> Pool:
    return make_pool(snapshot.corpus.project, snapshot, name=name, plan=plan, run_ids=run_ids)


def test_it_has_every_pair_and_needs_no_run(snapshot):
    pool = every(snapshot)

    assert pool.state == "complete"
    assert pool.entry_count == 3 * snapshot.block_count
    assert pool.summary["sampled"] == {"every": pool.entry_count}
    assert is_exhaustive(pool)


def test_what_a_run_found_keeps_its_rank_and_the_others_come_beside_it(snapshot):
    run = make_run(snapshot.corpus.project, snapshot)

    pool = every(snapshot, run_ids=[run.pk])

    found = PoolEntry.objects.filter(pool=pool, sampled__isnull=True)
    assert found.exists()
    assert all(entry.found_by for entry in found)
    assert pool.entry_count == 3 * snapshot.block_count


def test_whether_it_misses_anything_is_counted_and_no_flag(snapshot):
    """A pool of chosen pairs is as good when it has them all, and not with one too few."""
    project = snapshot.corpus.project
    deep, plain = every(snapshot), make_pool(project, snapshot, name="Plain", depth=1)
    assert len(exhaustive_queries(deep)) == 3
    assert exhaustive_queries(plain) == set()

    lost, *pairs = deep.entries.order_by("pk").values_list("query", "version")
    chosen = choose_pairs(
        project=project, snapshot=snapshot, name="One too few", pairs=pairs, actor=lead_of(project), at=AT
    )

    assert exhaustive_queries(chosen) == exhaustive_queries(deep) - {lost[0]}
    assert not is_exhaustive(chosen)


def test_a_duplicate_text_is_judged_once_and_counts_as_covered():
    project = make_project()
    make_queries(project)
    snapshot = make_snapshot(project, {"A": "the red key", "B": "the red key", "C": "a green window"})

    pool = every(snapshot, plan=PoolPlan(method="every", same_once=True))

    assert pool.summary["sampled"] == {"every": 6, "same": 3}
    assert is_exhaustive(pool)


def test_too_many_pairs_are_refused_with_what_to_do_instead(snapshot, monkeypatch):
    monkeypatch.setattr(rules, "MOST_OF_EVERY", 2 * snapshot.block_count)

    with pytest.raises(PoolRefused, match="2 queries here"):
        every(snapshot)


@pytest.mark.parametrize(
    ("queries", "blocks", "is_refused"), [(100, 200, False), (100, 201, True), (0, 5, False), (1, 20_001, True)]
)
def test_the_bound_is_a_number_of_pairs(queries, blocks, is_refused):
    assert bool(rules.plan_refusal(EVERY, queries, 0, 10, blocks)) is is_refused


def test_it_has_no_samples_beside_it_and_does_not_grow(snapshot):
    with pytest.raises(PoolRefused, match="no samples beside it"):
        every(snapshot, plan=PoolPlan(method="every", random=2))
    pool = every(snapshot)
    with pytest.raises(PoolRefused, match="has every passage already"):
        grow_pool(project=pool.project, pool_id=pool.pk, depth=20, actor=lead_of(pool.project), at=AT)


def test_the_pages_say_what_it_takes_and_that_it_misses_nothing(client, snapshot):
    project = snapshot.corpus.project
    client.force_login(lead_of(project))
    form = {"snapshot": snapshot.pk, "method": "every", "depth": 10, "name": "Every"}

    size = client.get(reverse("retrieval:estimate", args=[project.slug]), form).text
    assert f"<b>{3 * snapshot.block_count}</b> pairs</p>" in size
    assert "One judgement of each takes" in size
    assert "at the usual 2 to 3 minutes a pair" in size
    assert client.post(reverse("retrieval:new-pool", args=[project.slug]), form).status_code == 302
    pool = every(snapshot, name="Built")
    shown = client.get(reverse("retrieval:pool", args=[project.slug, pool.pk])).text
    assert "Every passage of Spring" in shown
    assert "Recall needs no estimate." in shown
    answer = client.get(reverse("retrieval-api:pool", args=[project.slug, pool.pk])).json()
    assert (answer["exhaustive"], answer["plan"]["method"]) == (3, "every")


def test_a_round_judges_all_of_it(snapshot):
    pool = every(snapshot)

    round_ = make_round(pool.project, pool=pool, overlap=0.0)

    assert round_.seats.count() == pool.entry_count


@pytest.mark.parametrize(("grades", "is_said"), [(6, True), (5, False), (0, False)])
def test_scores_say_so_where_a_version_has_a_grade_for_every_passage(monkeypatch, grades, is_said):
    monkeypatch.setattr(evaluations, "grounds_of", lambda version: SimpleNamespace(has_budget=False))
    counts = {"grades": grades, "queries": 2}
    version = Version(pk=1, manifest={"counts": counts}, snapshot=Snapshot(block_count=3), gold_set_id=1)

    assert (pooling_words(version, "") == EVERY_JUDGED) is is_said
