import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.judging.core.plan import Plan, Preview, fits, own_order, remit_from, seat_number, seeded_number, shuffled
from apps.queries.core.stratified import Candidate

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


@pytest.mark.parametrize(
    "bad", [{"overlap": -0.1}, {"overlap": 1.2}, {"judges": 0}, {"again": 2}, {"pilot": -1}, {"extra_bar": 3}]
)
def test_an_impossible_plan_is_refused(bad):
    with pytest.raises(ValueError):
        Plan(**bad)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
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


FULL = Plan(
    overlap=0.3, judges=2, seed=4, again=0.1, pilot=2, pilot_bar=0.7, extra_bar=0.5, most_judges=4, checks=6,
    only_new=True, judge_again=True, rule="lower",
)  # fmt: skip


def test_a_plan_is_read_back_as_it_was_written():
    read = Plan.from_json(json.loads(json.dumps(FULL.to_json())), overlap=0.3, judges=2, seed=4)

    assert read == FULL


def test_a_plan_from_before_grades_were_reused_judges_everything_again():
    old = Plan(0.3, 2, 4, judge_again=True)

    assert Plan.from_json(None, overlap=0.3, judges=2, seed=4) == old
    assert Plan.from_json({"last_entry": 7}, overlap=0.3, judges=2, seed=4) == old


def test_the_preview_of_everything_at_once():
    found = FULL.preview(100, people=5, pilot_pairs=20, pilot_seats=100)

    # 80 pairs beside the pilot, 24 of them twice: 104 and 100, a tenth comes back, and six checks for five people.
    assert found == Preview(pairs=100, repeated=24, judgements=204 + 20 + 30, pilot=20, again=20, checks=30, extra=48)


def test_pairs_of_the_pilot_get_everybody_and_leave_the_overlap_to_the_rest():
    plan = Plan(overlap=0.25, judges=2, seed=7, pilot=2)
    pilot = dict.fromkeys(plan.pilot_of(Candidate(query, ()) for query in {query for query, _ in PAIRS}), 5)

    seats = dict(zip(PAIRS, plan.seats(PAIRS, pilot), strict=True))

    assert [seats[pair] for pair in PAIRS if pair[0] in pilot] == [5] * 20
    assert sorted(seats[pair] for pair in PAIRS if pair[0] not in pilot) == [1] * 60 + [2] * 20


def test_the_pilot_is_a_sample_by_stratum_of_the_seed_alone():
    queries = [Candidate(f"Q{n:02}", ("log", "easy") if n < 15 else ("talk", "hard")) for n in range(20)]
    plan = Plan(seed=3, pilot=4)
    drawn = plan.pilot_of(queries)

    assert drawn == plan.pilot_of(reversed(queries))
    assert sum(name < "Q15" for name in drawn) == 3
    assert drawn != Plan(seed=4, pilot=4).pilot_of(queries)


def test_about_the_planned_share_is_repeated_with_different_pairs_for_each_person():
    plan = Plan(seed=1, again=0.1)

    mine, theirs = ({entry for entry in range(5_000) if plan.is_repeated(person, entry)} for person in (1, 2))

    assert 400 < len(mine) < 600
    assert len(mine & theirs) < 150
    assert not any(Plan(seed=1).is_repeated(1, entry) for entry in range(100))
    assert all(Plan(seed=1, again=1).is_repeated(1, entry) for entry in range(100))


@given(st.integers(0, 10_000), st.integers(0, 50), st.integers(0, 50))
def test_a_pair_comes_back_twenty_to_thirty_nine_pairs_later(judged, person, entry):
    assert 20 <= Plan(seed=9, again=1).repeated_after(judged, person, entry) - judged < 40


@given(st.sets(st.integers(0, 999), min_size=1, max_size=8), st.integers(0, 9), st.integers(0, 500))
def test_checks_are_spread_over_a_persons_work(entries, person, share):
    due = Plan(seed=2).checks_after(sorted(entries), person, share)

    assert set(due) == entries
    parts = sorted(due.values())
    assert all(place * share // len(parts) <= at <= (place + 1) * share / len(parts) for place, at in enumerate(parts))


@pytest.mark.parametrize(
    ("alpha", "judges", "wanted"),
    [(0.4, 2, True), (0.4, 3, True), (0.4, 4, False), (0.5, 2, False), (None, 2, False)],
)
def test_one_more_judge_only_under_the_bar_and_up_to_the_most(alpha, judges, wanted):
    assert FULL.wants_extra(alpha, judges) is wanted
    assert not Plan().wants_extra(alpha, judges)


@pytest.mark.parametrize(("alpha", "opens"), [(0.7, True), (0.69, False), (None, False)])
def test_a_pilot_opens_the_rest_at_its_bar(alpha, opens):
    assert FULL.passes(alpha) is opens


def test_numbers_of_different_passes_never_meet():
    numbers = [seat_number(number, place) for number in (0, 1, 2) for place in range(1, 10_000)]

    assert len(set(numbers)) == len(numbers)
    assert max(numbers) < 2**15


def test_an_own_order_is_a_permutation_by_person():
    orders = [sorted(range(30), key=own_order(5, who).rank) for who in range(20)]

    assert len({tuple(order) for order in orders}) == 20
    assert all(own_order(5, 1).rank(2**40 + entry) < 2**31 for entry in range(50))
    firsts = [order[0] for order in orders]
    assert len(set(firsts)) > 10


def test_a_remit_names_values_of_properties():
    remit = remit_from(["domain:law", "domain:tax", "difficulty:hard"])

    assert remit == {"domain": ["law", "tax"], "difficulty": ["hard"]}
    assert fits(remit, {"domain": "tax", "difficulty": "hard"})
    assert not fits(remit, {"domain": "tax", "difficulty": "easy"})
    assert not fits(remit, {"domain": "", "difficulty": "hard"})
    assert fits(remit_from([]), {})
    with pytest.raises(ValueError, match="no property"):
        remit_from(["height:2"])
