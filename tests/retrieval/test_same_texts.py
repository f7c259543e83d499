"""Pools in which texts that are the same are judged once: one stands for the others, and what is there stays."""

import pytest
from django.urls import reverse

from apps.corpus.models import BlockVersion
from apps.retrieval.actions.pools import grow_pool
from apps.retrieval.core.sampling import PoolPlan, plan_of
from apps.retrieval.models import Pool, PoolEntry
from tests.factories import AT, lead_of
from tests.retrieval.factories import import_lines, make_pool, make_queries, make_snapshot, trec
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db

LONG = " ".join(f"word{number}" for number in range(60))
BLOCKS = {
    "a": LONG,
    "b": "something else entirely",
    "c": LONG,
    "d": LONG.replace("word30", "other"),
    "e": "a third thing",
    "f": LONG,
}
ONCE = PoolPlan(same_once=True)


@pytest.fixture
def snapshot(project):
    make_queries(project, {"Q1": "first", "Q2": "second"})
    return make_snapshot(project, BLOCKS)


def run_of(project, snapshot, blocks, tag="one", query="Q1"):
    rows = [(query, block, float(100 - at)) for at, block in enumerate(blocks)]
    return import_lines(project, snapshot, trec(rows, tag), system=tag).run.pk


def marks(pool, query="Q1"):
    """By block: the block that stands for it and whether the texts are equal; None for what is judged itself."""
    names = dict(BlockVersion.objects.values_list("pk", "block__outside_id"))
    entries = PoolEntry.objects.filter(pool=pool, query__outside_id=query)
    return {
        names[entry.version_id]: (names[entry.sampled["as"]], entry.sampled["exact"])
        if entry.sampled and entry.sampled["how"] == "same"
        else None
        for entry in entries
    }


def grow(pool, **sources):
    more = sources.pop("more", PoolPlan())
    grow_pool(project=pool.project, pool_id=pool.pk, more=more, actor=lead_of(pool.project), at=AT, **sources)
    run_jobs()
    pool.refresh_from_db()
    return pool


def test_the_text_that_runs_rank_best_represents_the_others(project, snapshot):
    runs = [run_of(project, snapshot, "abcd"), run_of(project, snapshot, "cdb", "two")]

    pool = make_pool(project, snapshot, depth=10, run_ids=runs, plan=ONCE)

    assert marks(pool) == {"a": ("c", True), "b": None, "c": None, "d": ("c", False)}
    assert pool.state == "complete"


def test_the_provenance_of_a_pair_is_stored_and_counted(project, snapshot):
    runs = [run_of(project, snapshot, "abcd"), run_of(project, snapshot, "cdb", "two")]

    pool = make_pool(project, snapshot, depth=10, run_ids=runs, plan=ONCE)

    entry = PoolEntry.objects.get(pool=pool, version__block__outside_id="d")
    assert entry.found_by == [[runs[0], 4], [runs[1], 2]]
    assert (pool.entry_count, pool.summary["pairs"], pool.summary["sampled"]) == (4, 4, {"same": 2})
    assert pool.summary["found_by"] == [0, 1, 3]


def test_each_query_has_its_own(project, snapshot):
    runs = [run_of(project, snapshot, "ab"), run_of(project, snapshot, "cf", "two", query="Q2")]

    pool = make_pool(project, snapshot, depth=10, run_ids=runs, plan=ONCE)

    assert marks(pool) == {"a": None, "b": None}
    assert marks(pool, "Q2") == {"c": None, "f": ("c", True)}


def test_without_the_option_every_pair_is_judged(project, snapshot):
    pool = make_pool(project, snapshot, depth=10, run_ids=[run_of(project, snapshot, "abcd")])

    assert set(marks(pool).values()) == {None}
    assert pool.plan is None
    assert "sampled" not in pool.summary


def test_growing_never_takes_a_pair_away_from_the_judges(project, snapshot):
    pool = make_pool(project, snapshot, depth=10, run_ids=[run_of(project, snapshot, "df")], plan=ONCE)
    assert marks(pool) == {"d": None, "f": ("d", False)}

    grow(pool, run_ids=[run_of(project, snapshot, "cafd", "two")])

    assert marks(pool) == {"d": None, "f": ("d", False), "c": ("d", False), "a": ("d", False)}
    assert len(PoolEntry.objects.get(pool=pool, version__block__outside_id="f").found_by) == 2


def test_a_budget_counts_what_is_the_same(project, snapshot):
    run = run_of(project, snapshot, "abcde")
    plan = PoolPlan(method="rrf", pairs=3, same_once=True)

    pool = make_pool(project, snapshot, depth=10, run_ids=[run], plan=plan)
    assert marks(pool) == {"a": None, "b": None, "c": ("a", True)}

    grow(pool, more=PoolPlan(pairs=1))
    assert marks(pool) == {"a": None, "b": None, "c": ("a", True), "d": ("a", False)}


def test_what_chance_brought_in_is_judged_itself(project, snapshot):
    plan = PoolPlan(random=4, same_once=True)
    pool = make_pool(project, snapshot, depth=10, run_ids=[run_of(project, snapshot, "ab")], plan=plan)
    assert marks(pool) == dict.fromkeys("abcdef")

    grow(pool, run_ids=[run_of(project, snapshot, "cf", "two")])

    assert marks(pool) == dict.fromkeys("abcdef")


def test_the_form_offers_it(client, project, snapshot):
    client.force_login(lead_of(project))
    run = run_of(project, snapshot, "ab")
    fields = {"name": "Mine", "snapshot": snapshot.pk, "runs": [run], "depth": "5", "same_once": "on"}

    client.post(reverse("retrieval:new-pool", kwargs={"slug": project.slug}), fields)

    assert plan_of(Pool.objects.get().plan) == ONCE


def test_a_plan_from_before_has_no_such_option():
    kept = {**PoolPlan(random=2).as_json()}
    del kept["same_once"]

    assert plan_of(kept) == PoolPlan(random=2)
