"""Pools with a budget, and blocks drawn beside pools, built and grown by their jobs."""

import pytest

from apps.retrieval.actions.pools import PoolRefused, grow_pool
from apps.retrieval.core.sampling import PoolPlan
from apps.retrieval.models import PoolEntry
from apps.retrieval.selectors import pools
from tests.factories import AT, lead_of
from tests.retrieval.factories import import_lines, make_pool, make_queries, make_snapshot, trec
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db

BLOCKS = {f"b{number:03}": f"text {number}" for number in range(120)}
QUESTIONS = {"Q1": "first", "Q2": "second", "Q3": "third"}


@pytest.fixture
def snapshot(project):
    make_queries(project, QUESTIONS)
    return make_snapshot(project, BLOCKS)


@pytest.fixture
def runs(project, snapshot):
    """Two runs of 30 blocks a query: one finds b000 and on, the other b050 and on; they share none."""
    return [made_run(project, snapshot, "low", 0).pk, made_run(project, snapshot, "high", 50).pk]


def made_run(project, snapshot, tag, first, size=30):
    rows = [(query, f"b{first + at:03}", float(size - at)) for query in QUESTIONS for at in range(size)]
    return import_lines(project, snapshot, trec(rows, tag), system=tag).run


@pytest.fixture
def grades(monkeypatch):
    """What judges said so far, by (query id, block version id); stands in for the room that keeps grades."""
    kept = {}
    monkeypatch.setattr(pools, "grade_sources", [lambda pool: kept])
    return kept


def grow(pool, **more):
    sources = {key: more.pop(key) for key in ("run_ids", "depth") if key in more}
    grow_pool(
        project=pool.project, pool_id=pool.pk, more=PoolPlan(**more), actor=lead_of(pool.project), at=AT, **sources
    )
    run_jobs()
    pool.refresh_from_db()
    return pool


def entries(pool, **which):
    return PoolEntry.objects.filter(pool=pool, **which)


def names(rows):
    return set(rows.values_list("query__outside_id", "version__block__outside_id"))


@pytest.mark.parametrize("method", ["rrf", "move_to_front", "bandit"])
def test_a_budget_for_each_query_is_respected(project, snapshot, runs, method, grades):
    pool = make_pool(project, snapshot, depth=20, run_ids=runs, plan=PoolPlan(method=method, pairs=7))

    assert pool.state == "complete"
    assert (pool.entry_count, pool.summary["sizes"]) == (21, [0] * 7 + [3])
    assert all(found_by for found_by in entries(pool).values_list("found_by", flat=True))
    assert sum(pool.summary["alone"]) == 21


@pytest.mark.parametrize("method", ["rrf", "move_to_front", "bandit"])
def test_a_budget_in_all_grows_batch_by_batch(project, snapshot, runs, method, grades):
    pool = make_pool(project, snapshot, depth=20, run_ids=runs, plan=PoolPlan(method=method, pairs=10, each=False))
    first = set(entries(pool).values_list("pk", "query", "version", "found_by__0__1"))

    grow(pool, pairs=8)

    assert pool.entry_count == entries(pool).count() == 18
    assert first <= set(entries(pool).values_list("pk", "query", "version", "found_by__0__1"))


@pytest.mark.parametrize("method", ["move_to_front", "bandit"])
def test_the_next_batch_goes_where_the_grades_point(project, snapshot, runs, method, grades):
    pool = make_pool(project, snapshot, depth=30, run_ids=runs, plan=PoolPlan(method=method, pairs=30, each=False))
    had = names(entries(pool))
    for query, version, block in entries(pool).values_list("query", "version", "version__block__outside_id"):
        grades[query, version] = 2 if block < "b050" else 0

    grow(pool, pairs=30)

    added = names(entries(pool)) - had
    assert len(added) == 30
    assert sum(block < "b050" for _, block in added) > 18


def test_a_job_that_starts_again_spends_no_budget_twice(project, snapshot, runs, grades, monkeypatch):
    from apps.retrieval.execution import pool_building

    made = []

    def dies_once(*args):
        made.append(args)
        if len(made) == 1:
            raise RuntimeError("gone")
        return plain(*args)

    plain = pool_building.add_samples
    monkeypatch.setattr(pool_building, "add_samples", dies_once)

    plan = PoolPlan(method="bandit", pairs=10, each=False, random=2)
    pool = make_pool(project, snapshot, depth=20, run_ids=runs, plan=plan)

    assert pool.state == "complete"
    assert len(made) == 2
    assert entries(pool, sampled__isnull=True).count() == 10
    assert pool.entry_count == entries(pool).count() == 16


def test_random_blocks_come_from_outside_with_their_probability(project, snapshot, runs):
    pool = make_pool(project, snapshot, depth=10, run_ids=runs, plan=PoolPlan(random=5, seed=3))

    drawn = entries(pool, sampled__how="random")
    assert (drawn.count(), pool.entry_count) == (15, 3 * 20 + 15)
    assert all(entry.sampled == {"how": "random", "stratum": "all", "p": 0.05} for entry in drawn)
    assert all(entry.found_by == [] for entry in drawn)
    assert pool.summary["sampled"] == {"random": 15}


def test_the_same_seed_draws_the_same_blocks(project, snapshot, runs):
    first, again, other = (
        make_pool(project, snapshot, name=f"Pool {at}", depth=10, run_ids=runs, plan=PoolPlan(random=5, seed=seed))
        for at, seed in enumerate((3, 3, 4))
    )

    assert names(entries(first)) == names(entries(again)) != names(entries(other))


def test_the_edge_is_what_runs_returned_below_the_pool(project, snapshot, runs):
    pool = make_pool(project, snapshot, depth=10, run_ids=runs, plan=PoolPlan(random=4, edge=3, seed=1))

    edge = {block for _, block in names(entries(pool, sampled__stratum="edge"))}
    rest = {block for _, block in names(entries(pool, sampled__stratum="rest"))}
    found_below = {f"b{at:03}" for at in [*range(10, 30), *range(60, 80)]}
    assert edge <= found_below
    assert not rest & {f"b{at:03}" for at in [*range(30), *range(50, 80)]}
    assert set(entries(pool, sampled__stratum="edge").values_list("sampled__p", flat=True)) == {3 / 40}
    assert set(entries(pool, sampled__stratum="rest").values_list("sampled__p", flat=True)) == {4 / 60}


def test_easy_blocks_are_far_from_what_any_run_returned(project, snapshot, runs):
    pool = make_pool(project, snapshot, depth=10, run_ids=runs, plan=PoolPlan(easy=4))

    blocks = {block for _, block in names(entries(pool, sampled__how="easy"))}
    assert entries(pool, sampled={"how": "easy"}).count() == 12
    assert not blocks & {f"b{at:03}" for at in [*range(30), *range(50, 80)]}


def test_growing_draws_further_blocks_and_leaves_those_there(project, snapshot, runs):
    pool = make_pool(project, snapshot, depth=5, run_ids=runs[:1], plan=PoolPlan(random=3))
    before = set(entries(pool).values_list("pk", "query", "version"))

    grow(pool, random=2, run_ids=runs[1:], depth=10)

    assert before <= set(entries(pool).values_list("pk", "query", "version"))
    assert entries(pool, sampled__how="random").count() == 15
    assert pool.entry_count == entries(pool).count()


def test_a_sampled_block_that_a_run_returns_later_is_still_marked_as_sampled(project, snapshot, runs):
    pool = make_pool(project, snapshot, depth=5, run_ids=runs[:1], plan=PoolPlan(random=1_000))
    everything = PoolEntry.objects.get(
        pool=pool, query__outside_id="Q1", version__block__outside_id="b050", sampled__how="random"
    )
    assert everything.found_by == []

    grow(pool, run_ids=runs[1:])

    everything.refresh_from_db()
    assert everything.found_by == [[runs[1], 1]]
    assert everything.sampled["how"] == "random"


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        (PoolPlan(method="rrf"), "at least one pair"),
        (PoolPlan(method="bandit", pairs=200_000, each=False), "at most 100,000"),
        (PoolPlan(method="bandit", pairs=40_000), "budget is 120,000 pairs"),
        (PoolPlan(random=1_001), "At most 1,000 passages"),
        (PoolPlan(edge=5), "shows nothing about the other passages"),
    ],
)
def test_plans_that_cannot_be_followed_are_refused(project, snapshot, runs, plan, sentence):
    with pytest.raises(PoolRefused, match=sentence):
        make_pool(project, snapshot, run_ids=runs, plan=plan)


def test_growth_that_does_not_fit_the_plan_is_refused(project, snapshot, runs):
    pool = make_pool(project, snapshot, depth=5, run_ids=runs, plan=PoolPlan(random=3))

    with pytest.raises(PoolRefused, match="has no budget"):
        grow(pool, pairs=5)
    with pytest.raises(PoolRefused, match="cannot get random passages from"):
        grow(pool, edge=5)
    with pytest.raises(PoolRefused, match="already includes"):
        grow(pool)


def test_a_plain_pool_has_no_plan(project, snapshot, runs):
    pool = make_pool(project, snapshot, depth=5, run_ids=runs)

    assert pool.plan is None
    assert "sampled" not in pool.summary


def test_a_random_sample_has_pairs_of_every_query_with_their_probability_and_cannot_grow(project, snapshot, runs):
    plan = PoolPlan(method="sample", pairs=21, each=False, seed=4)
    pool = make_pool(project, snapshot, depth=20, run_ids=runs, plan=plan)

    assert (pool.state, pool.entry_count) == ("complete", 21)
    assert all(how == {"how": "pairs", "p": 21 / 120} for how in entries(pool).values_list("sampled", flat=True))
    assert pool.summary["sizes"] == [0] * 7 + [3]
    assert all(rank <= 20 for found_by in entries(pool).values_list("found_by", flat=True) for _, rank in found_by)
    again = make_pool(project, snapshot, name="Again", depth=20, run_ids=runs, plan=plan)
    assert names(entries(again)) == names(entries(pool))
    seeded = PoolPlan("sample", 21, False, seed=5)
    other = make_pool(project, snapshot, name="Other", depth=20, run_ids=runs, plan=seeded)
    assert names(entries(other)) != names(entries(pool))
    with pytest.raises(PoolRefused, match="one random sample, which cannot grow"):
        grow(pool, pairs=5)
    with pytest.raises(PoolRefused, match="has no other samples beside it"):
        make_pool(project, snapshot, name="Both", depth=20, run_ids=runs, plan=PoolPlan("sample", 21, False, random=2))
