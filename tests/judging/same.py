"""A pool in which texts that are the same are judged once, its judgements, and what is carried over from them."""

from apps.judging.actions.propagation import carry_over, mark_of
from apps.judging.actions.rounds import close_round
from apps.judging.selectors.propagation import CarryRule, carry_of
from apps.retrieval.actions.pools import choose_pairs
from apps.retrieval.core.sampling import PoolPlan
from apps.retrieval.models import PoolEntry
from tests.factories import AT, lead_of, make_project
from tests.judging.factories import judge_all, make_round, people_of
from tests.retrieval.factories import import_lines, make_pool, make_queries, make_snapshot, trec

LONG = " ".join(f"word{number}" for number in range(60))
OTHER = " ".join(f"thing{number}" for number in range(60))
BLOCKS = {
    "a": LONG,
    "a-exact": LONG,
    "a-near": LONG.replace("word30", "other"),
    "b": OTHER,
    "b-exact": OTHER,
    "c": "nothing like the others",
}
GRADES = {"a": 3, "b": 1, "c": 0}


def make_same_pool():
    """Six pairs of one query: three to judge, two with an exact text of theirs, one with a near one."""
    project = make_project()
    make_queries(project, {"Q1": "first"})
    snapshot = make_snapshot(project, BLOCKS)
    rows = [("Q1", block, float(100 - at)) for at, block in enumerate(BLOCKS)]
    run = import_lines(project, snapshot, trec(rows)).run.pk
    return make_pool(project, snapshot, depth=10, run_ids=[run], plan=PoolPlan(same_once=True))


def judged(pool, grades=GRADES, *, close=True, **plan):
    """A round in which one person grades by the block's name, leaving out those without a grade."""
    round_ = make_round(pool.project, pool=pool, annotators=1, overlap=0, judge_again=True, **plan)
    judge_all(round_, people_of(round_)[0], lambda seat: grades[name_of(seat)])
    return close_round(round_id=round_.pk, actor=lead_of(pool.project), at=AT) if close else round_


def name_of(seat):
    return seat.entry.version.block.outside_id


def carry(pool, rule=CarryRule.NEAR, seen=None):
    seen = mark_of(carry_of(pool).under(rule)) if seen is None else seen
    return carry_over(pool=pool, rule=rule, seen=seen, actor=lead_of(pool.project), at=AT)


def judged_apart(pool, block, grade, **more):
    """The pair of a block judged itself, in a round on a pool of its own."""
    entry = PoolEntry.objects.get(pool=pool, version__block__outside_id=block)
    own = choose_pairs(
        project=pool.project,
        snapshot=pool.snapshot,
        name=f"Apart {block}",
        pairs=[(entry.query_id, entry.version_id)],
        origin="by hand",
        actor=lead_of(pool.project),
        at=AT,
    )
    return judged(own, {block: grade}, **more)
