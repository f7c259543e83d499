import numpy as np
import pytest
from scipy.stats import kendalltau

from apps.metrics.measures.registry import parse_measure
from apps.metrics.statistics.significance import summaries
from apps.reports.core import stability
from apps.reports.core.stability import HIGHER, LOWER, PERSON, RELEASED, PersonOrder, grounds_of, order_under, verdict
from tests.evaluation.test_annotator_grades import ANNA, BERT, CAROL, given, judged

NDCG = parse_measure("nDCG@10")


def values(*means, queries=12) -> np.ndarray:
    """Values of some runs that vary a little from query to query, alike for all runs, with these means."""
    wobble = np.resize([-0.05, 0.05], queries)[:, None]
    return np.array(means) + wobble


def test_the_grounds_are_the_released_grades_each_persons_and_both_ends_of_a_pair():
    released = judged(1, 0, 2, 1)
    found = given(released, [(ANNA, 0, 0, 1), (ANNA, 0, 1, 2), (BERT, 0, 0, 3), (BERT, 0, 1, 0), (BERT, 1, 0, 2)])

    grounds = grounds_of(released, found)

    told = [(ground.kind, ground.people, ground.grade.tolist(), ground.graded, ground.changed) for ground in grounds]
    assert told == [
        (RELEASED, (), [], 0, 0),
        (PERSON, (0,), [1, 2], 2, 1),
        (PERSON, (1,), [3, 0, 2], 3, 1),
        (HIGHER, (0, 1), [3, 2], 2, 2),
        (LOWER, (0, 1), [1, 0], 2, 0),
    ]


def test_people_who_share_no_pair_have_no_ends():
    released = judged(1, 0, 2, 1)

    grounds = grounds_of(released, given(released, [(ANNA, 0, 0, 3), (BERT, 0, 1, 2)]))

    assert [ground.kind for ground in grounds] == [RELEASED, PERSON, PERSON]


def test_of_many_people_those_who_share_most_are_included(monkeypatch):
    monkeypatch.setattr(stability, "MOST_PEOPLE", 2)
    released = judged(1, 0, 2, 1)
    rows = [(ANNA, 0, 0, 1), (BERT, 0, 1, 1), (BERT, 1, 0, 1), (CAROL, 0, 1, 1), (CAROL, 1, 0, 2)]

    grounds = grounds_of(released, given(released, rows))

    assert [ground.people for ground in grounds] == [(), (1,), (2,), (1, 2), (1, 2)]


@pytest.mark.parametrize("seed", range(8))
def test_tau_is_that_of_scipy_ties_included(seed):
    chance = np.random.default_rng(seed)
    before = chance.integers(0, 3, size=(5, 7)) / 2
    after = chance.integers(0, 3, size=(5, 7)) / 2

    found = order_under(NDCG, before, after, resamples=20)

    assert found.tau == pytest.approx(kendalltau(before.mean(axis=0), after.mean(axis=0)).statistic, abs=1e-12)


def test_a_stable_order_has_tau_one_and_no_swap():
    found = order_under(NDCG, values(0.6, 0.4, 0.2), values(0.5, 0.3, 0.1))

    assert (found.tau, found.interval, found.swaps, found.n) == (1.0, (1.0, 1.0), [], 12)
    assert [mean for mean, _ in found.means] == pytest.approx([0.5, 0.3, 0.1])


def test_runs_that_change_places_are_named_with_the_gap_under_both():
    """Of three pairs two stay and one turns: τ is (2 − 1) / 3. It turns at the top, so τ_AP is 2 · (0 + 1) / 2 − 1. The
    wobble is the same in all runs: gaps are sure.
    """
    found = order_under(NDCG, values(0.6, 0.5, 0.2), values(0.4, 0.5, 0.2))

    (swap,) = found.swaps
    assert (found.tau, found.tau_ap) == pytest.approx((1 / 3, 0.0))
    assert (swap.ahead, swap.behind) == (0, 1)
    assert swap.before.mean == pytest.approx(0.1)
    assert swap.before.interval[0] < 0.1 < swap.before.interval[1]
    assert swap.after.mean == pytest.approx(-0.1)
    assert swap.before.is_settled
    assert swap.after.is_settled


def test_who_only_becomes_equal_has_not_changed_places():
    found = order_under(NDCG, values(0.6, 0.5, 0.2), values(0.5, 0.5, 0.2))

    assert found.swaps == []
    assert found.tau == pytest.approx(2 / np.sqrt(3 * 2))


def test_tau_has_an_interval_where_queries_disagree():
    chance = np.random.default_rng(3)
    before, after = chance.random((40, 5)), chance.random((40, 5))

    found = order_under(NDCG, before, after)

    low, high = found.interval
    assert -1 <= low < found.tau < high <= 1


def test_the_interval_contains_tau_where_close_runs_make_resamples_one_sided():
    """Runs 0 and 1 are a hair apart, the other way round under other grades; most draws order them alike in both."""
    chance = np.random.default_rng(1)
    before = chance.random((40, 4)) + np.array([0.0, 0.0, 0.5, 1.0])
    before[:, 1] += before[:, 0].mean() - before[:, 1].mean() - 1e-6
    after = before.copy()
    after[:, 1] += 2e-6

    found = order_under(NDCG, before, after)

    assert found.tau == pytest.approx(2 / 3)
    assert found.interval == pytest.approx((2 / 3, 1.0))


def test_an_interval_of_one_sided_resamples_does_not_shrink_to_tau():
    """As above with three such pairs: the order seen is one of the rarest, which is no reason to be sure of it."""
    chance = np.random.default_rng(2)
    before = chance.random((40, 6)) + np.array([0.0, 0.0, 0.5, 0.5, 1.0, 1.0])
    for run in (1, 3, 5):
        before[:, run] += before[:, run - 1].mean() - before[:, run].mean() - 1e-6
    after = before.copy()
    after[:, [1, 3, 5]] += 2e-6

    found = order_under(NDCG, before, after)

    assert found.tau == pytest.approx(9 / 15)
    assert found.interval == pytest.approx((9 / 15, 1.0))


def test_the_same_seed_gives_the_same_answer():
    chance = np.random.default_rng(5)
    before, after = chance.random((30, 4)), chance.random((30, 4))

    assert order_under(NDCG, before, after, seed=4) == order_under(NDCG, before, after, seed=4)


def test_a_mean_has_the_interval_that_its_score_has():
    chance = np.random.default_rng(6)
    values_of_runs = chance.random((25, 3))

    found = order_under(NDCG, values_of_runs, values_of_runs)

    told = summaries([NDCG] * 3, values_of_runs)
    assert [mean for mean, _ in found.means] == [one.mean for one in told]
    np.testing.assert_allclose([ends for _, ends in found.means], [one.interval for one in told], atol=1e-11)


def test_one_run_or_all_ties_have_no_tau():
    assert order_under(NDCG, values(0.5), values(0.4)).tau is None
    assert order_under(NDCG, values(0.5, 0.5), values(0.4, 0.3)).tau is None


def test_one_query_has_no_interval():
    found = order_under(NDCG, values(0.6, 0.5, queries=1), values(0.5, 0.6, queries=1))

    assert found.interval is None
    assert found.means[0][1] is None
    assert found.swaps[0].before.interval is None
    assert not found.swaps[0].before.is_settled


def test_queries_without_a_value_are_left_out_and_none_is_no_order():
    before, after = values(0.6, 0.5), values(0.5, 0.4)
    after[0, 0] = np.nan

    assert order_under(NDCG, before, after).n == 11
    assert order_under(NDCG, before[:0], after[:0]).n == 0


def named(words, before, after) -> PersonOrder:
    return PersonOrder(words, order_under(NDCG, before, after))


def test_the_verdict_says_that_an_order_is_stable():
    under = [named(words, values(0.6, 0.4), values(0.5, 0.4)) for words in ("Anna", "Bert")]

    assert verdict(["a", "b"], under, "AP") == (
        "The order of 2 runs by AP is the same under the grades of each of 2 people."
    )


def test_the_verdict_names_whose_grades_swap_two_runs_and_whether_they_differed_clearly():
    holds = named("Anna", values(0.6, 0.4), values(0.5, 0.4))
    turns = named("Bert", values(0.6, 0.4), values(0.3, 0.4))

    assert verdict(["a", "b"], [holds, turns], "AP") == (
        "a is ahead of b by AP, and behind it under the grades of Bert; "
        "the released grades show a clear difference between the two."
    )


def test_the_verdict_counts_where_there_are_many():
    turns = named("Bert", values(0.6, 0.5, 0.4), values(0.1, 0.2, 0.3))

    assert verdict(["a", "b", "c"], [turns, turns], "AP") == (
        "3 pairs of runs swap ranks by AP under somebody’s grades; "
        "the released grades show a clear difference in 3 of them."
    )


def test_the_verdict_says_what_is_missing():
    alone = named("Bert", values(0.6), values(0.1))

    assert verdict(["a"], [alone], "AP").startswith("One run has nothing")
    assert verdict(["a", "b"], [], "AP").startswith("No grade of this version has an annotator’s name")
