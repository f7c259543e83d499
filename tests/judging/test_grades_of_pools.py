"""Pools and the grades of their pairs: adaptive budgets, what a pool misses, and growth beside a running round."""

import pytest

from apps.judging.models import Judgement, Seat
from apps.retrieval.actions.pools import PoolRefused, grow_pool, request_missing
from apps.retrieval.core.sampling import PoolPlan
from apps.retrieval.models import PoolEntry
from apps.retrieval.selectors.pools import grades_of
from tests.factories import AT, lead_of, make_project
from tests.judging.factories import judge_all, make_round, people_of
from tests.module_rows import rows_of_module
from tests.retrieval.factories import import_lines, make_pool, make_queries, make_snapshot, trec
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db

BLOCKS = {f"b{number:02}": f"text {number}" for number in range(40)}
QUESTIONS = {"Q1": "first", "Q2": "second"}


@rows_of_module
def project():
    return make_project()


@pytest.fixture
def snapshot(project):
    make_queries(project, QUESTIONS)
    return make_snapshot(project, BLOCKS)


def run_from(project, snapshot, first, size=10):
    rows = [(query, f"b{first + at:02}", float(size - at)) for query in QUESTIONS for at in range(size)]
    return import_lines(project, snapshot, trec(rows, f"from{first}"), system=f"from{first}").run.pk


def judged(pool, grade_of):
    """A closed circle: one person judges every pair of the pool, by the block's outside id."""
    round_ = make_round(pool.project, pool=pool, annotators=1, overlap=0)
    judge_all(round_, people_of(round_)[0], lambda seat: grade_of(seat.entry.version.block.outside_id))
    return round_


def missing_of(pool):
    request_missing(project=pool.project, pool_id=pool.pk, actor=lead_of(pool.project), at=AT)
    run_jobs()
    pool.refresh_from_db()
    return pool.summary["missing"]


def test_settled_grades_reach_the_pools_of_their_snapshot(project, snapshot):
    runs = [run_from(project, snapshot, 0)]
    judged(make_pool(project, snapshot, depth=2, run_ids=runs), lambda block: 3 if block == "b00" else 0)

    grades = grades_of(make_pool(project, snapshot, name="Another", depth=5, run_ids=runs))

    assert sorted(grades.values()) == [0, 0, 3, 3]


def test_what_a_pool_misses_is_estimated_from_the_judged_random_blocks(project, snapshot):
    runs = [run_from(project, snapshot, 0)]
    pool = make_pool(project, snapshot, depth=10, run_ids=runs, plan=PoolPlan(random=15, seed=2))
    judged(pool, lambda block: 2 if block < "b05" or block > "b29" else 0)

    missing = missing_of(pool)

    drawn = PoolEntry.objects.filter(pool=pool, sampled__isnull=False)
    hits = drawn.filter(version__block__outside_id__gt="b29").count()
    assert (missing["sampled"], missing["judged"], missing["relevant"], missing["found"]) == (30, 30, hits, 10)
    value, low, high = missing["missing"]
    assert value == pytest.approx(hits * 30 / 15)
    assert low <= 20 <= high
    assert missing["share"][0] == pytest.approx(10 / (10 + value))


def test_the_edge_and_the_rest_are_estimated_apart(project, snapshot):
    runs = [run_from(project, snapshot, 0, size=20)]
    pool = make_pool(project, snapshot, depth=10, run_ids=runs, plan=PoolPlan(random=20, edge=5, seed=2))
    judged(pool, lambda block: 1 if block < "b20" else 0)

    missing = missing_of(pool)

    assert missing["missing"][0] == pytest.approx(20), "ten at the edge of each query; the rest was judged to its end"


def test_random_blocks_that_a_run_brings_in_later_leave_the_sample(project, snapshot):
    pool = make_pool(
        project, snapshot, depth=10, run_ids=[run_from(project, snapshot, 0)], plan=PoolPlan(random=30, seed=2)
    )
    judged(pool, lambda block: 1 if block < "b20" else 0)
    assert missing_of(pool)["missing"] == [20, 20, 20]

    more = [run_from(project, snapshot, 10)]
    grow_pool(project=project, pool_id=pool.pk, run_ids=more, actor=lead_of(project), at=AT)
    run_jobs()
    pool.refresh_from_db()
    assert "missing" not in pool.summary

    missing = missing_of(pool)
    assert (missing["sampled"], missing["found"], missing["missing"]) == (40, 40, [0, 0, 0])


def test_before_anybody_judged_there_is_no_estimate(project, snapshot):
    pool = make_pool(project, snapshot, run_ids=[run_from(project, snapshot, 0)], plan=PoolPlan(random=3))

    missing = missing_of(pool)

    assert (missing["judged"], missing["sampled"]) == (0, 6)
    assert "missing" not in missing


def test_a_pool_without_random_blocks_cannot_tell(project, snapshot):
    pool = make_pool(project, snapshot, run_ids=[run_from(project, snapshot, 0)])

    with pytest.raises(PoolRefused, match="This pool has no random passages"):
        request_missing(project=project, pool_id=pool.pk, actor=lead_of(project), at=AT)


@pytest.mark.parametrize(
    "plan",
    [PoolPlan(), PoolPlan(random=3), PoolPlan(method="bandit", pairs=4), PoolPlan(method="move_to_front", pairs=4)],
    ids=["depth", "random", "bandit", "front"],
)
def test_growing_a_pool_leaves_what_is_judged_and_its_round_alone(project, snapshot, plan):
    pool = make_pool(project, snapshot, depth=6, run_ids=[run_from(project, snapshot, 0)], plan=plan)
    round_ = make_round(project, pool=pool, annotators=2, overlap=0.5)
    judge_all(round_, people_of(round_)[0])
    before = rows_of(pool, round_)

    more = PoolPlan(pairs=3 if plan.has_budget else 0, random=2, easy=1)
    sources = {"run_ids": [run_from(project, snapshot, 15)], "depth": 9}
    grow_pool(project=project, pool_id=pool.pk, more=more, actor=lead_of(project), at=AT, **sources)
    run_jobs()

    pool.refresh_from_db()
    pairs, seats, judgements = rows_of(pool, round_)
    assert pool.state == "complete"
    assert pool.entry_count == len(pairs) > len(before[0])
    assert (pairs[: len(before[0])], seats, judgements) == before
    assert len(judgements) > 0


def rows_of(pool, round_):
    """What must not change: the pool's pairs, the seats of its round, and what was said."""
    pairs = PoolEntry.objects.filter(pool=pool).order_by("pk").values_list("pk", "query", "version", "sampled")
    seats = Seat.objects.filter(round=round_).order_by("pk").values_list("pk", "entry", "state", "annotator")
    said = Judgement.objects.filter(round=round_).order_by("pk").values_list("pk", "entry", "grade", "annotator")
    return list(pairs), list(seats), list(said)
