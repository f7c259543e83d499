import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.judging.order import seeded_number, shuffled
from apps.judging.plan import Plan, Preview

PAIRS = [(f"Q{q:02}", f"block-{b}") for q in range(10) for b in range(10)]


def test_the_usual_plan_judges_a_fifth_twice():
    assert Plan(seed=7).preview(100) == Preview(pairs=100, repeated=20, judgements=120)


def test_seats_add_up_to_the_preview():
    seats = Plan(seed=7).seats(PAIRS)

    assert sorted(seats) == [1] * 80 + [2] * 20


def test_full_overlap_or_k_for_all_gives_every_pair_all_judges():
    assert Plan(overlap=1, judges=3).seats(PAIRS) == [3] * 100


def test_one_judge_makes_overlap_mean_nothing():
    assert Plan(overlap=1, judges=1).preview(100) == Preview(100, 0, 100)
    assert Plan(overlap=0.5, judges=3).preview(10) == Preview(10, 5, 20)


def test_no_pairs_need_no_seats():
    assert Plan().seats([]) == []
    assert Plan().preview(0) == Preview(0, 0, 0)


def test_another_seed_chooses_other_pairs():
    assert Plan(seed=1).seats(PAIRS) != Plan(seed=2).seats(PAIRS)


def test_the_choice_is_the_same_on_every_machine():
    doubled = [pair for pair, seats in zip(PAIRS[:8], Plan(seed=3).seats(PAIRS[:8]), strict=True) if seats == 2]

    assert doubled == [("Q00", "block-0"), ("Q00", "block-7")]


def test_a_pair_listed_twice_is_refused():
    with pytest.raises(ValueError, match="listed twice"):
        Plan().seats([("Q1", "a"), ("Q1", "a")])


@pytest.mark.parametrize("bad", [{"overlap": -0.1}, {"overlap": 1.2}, {"judges": 0}])
def test_an_impossible_plan_is_refused(bad):
    with pytest.raises(ValueError):
        Plan(**bad)


@given(
    st.sets(st.tuples(st.text(max_size=4), st.text(max_size=4)), max_size=30),
    st.floats(0, 1),
    st.integers(1, 4),
    st.integers(),
    st.randoms(),
)
def test_a_plan_depends_on_ids_and_seed_not_on_their_order(pairs, overlap, judges, seed, random):
    plan = Plan(overlap, judges, seed)
    ordered = sorted(pairs)
    mixed = random.sample(ordered, len(ordered))

    by_pair = dict(zip(ordered, plan.seats(ordered), strict=True))

    assert dict(zip(mixed, plan.seats(mixed), strict=True)) == by_pair
    assert sum(by_pair.values()) == plan.preview(len(pairs)).judgements


def test_parts_of_a_seeded_number_do_not_run_together():
    assert seeded_number(1, "ab", "c") != seeded_number(1, "a", "bc")
    assert 0 <= seeded_number(-5, "x", 3) < 2**63


def test_everyone_sees_their_own_order_and_the_same_one_each_time():
    items = list(range(20))

    mine = shuffled(items, seed=4, who="mara", key=int)

    assert mine == shuffled(reversed(items), seed=4, who="mara", key=int)
    assert mine != shuffled(items, seed=4, who="sef", key=int)
    assert sorted(mine) == items
