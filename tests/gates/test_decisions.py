"""What gates say of a run. Plain values, no database."""

import itertools

import numpy as np
import pytest

from apps.gates import enums
from apps.gates.core.decisions import (
    GAPS,
    GateVerdict,
    RunEvidence,
    decide,
    joint_confidence,
    state_that_counts,
    worst_state,
)
from apps.gates.core.rule import FAILED, NOTHING, PASSED, STATES, TIERS, UNKNOWN, GateRule, rule_of, rules_in, sample
from apps.metrics.estimate import SCALED_WILSON
from apps.metrics.statistics.intervals import mean_interval

IDS = [f"Q{number:02d}" for number in range(1, 9)]
VALUES = np.array([0.2, 0.4, 0.6, 0.8, 0.2, 0.4, 0.6, 0.8])


def evidence(**changes) -> RunEvidence:
    return RunEvidence(query_ids=IDS, values={"nDCG@10": VALUES})._replace(**changes)


def threshold(**changes) -> GateRule:
    return rule_of({"name": "Good enough", "figure": "nDCG@10", "at_least": 0.4, **changes})


def against_baseline(**changes) -> GateRule:
    return rule_of({"name": "No regression", "figure": "nDCG@10", "no_worse_than": "baseline", **changes})


def test_states_and_tiers_are_those_of_the_tables():
    assert set(TIERS) == set(enums.Tier.values)
    assert set(STATES) == set(enums.GateState.values)


# Thresholds --------------------------------------------------------------------------------------------------------


def test_a_mean_at_the_threshold_passes():
    low, high = mean_interval(VALUES, 0.95)

    verdict = decide(threshold(at_least=0.5), evidence())

    assert verdict == GateVerdict(
        PASSED,
        0.5,
        0.5,
        f"nDCG@10 is 0.5000, 95 % interval {low:.4f} to {high:.4f}, n = 8; the gate requires at least 0.5.",
        (low, high),
        8,
        method=SCALED_WILSON,
    )


@pytest.mark.parametrize(
    ("bound", "state"),
    [
        ({"at_least": 0.25}, PASSED),
        ({"at_least": 0.4}, UNKNOWN),
        ({"at_least": 0.6}, UNKNOWN),
        ({"at_least": 0.75}, FAILED),
        ({"at_most": 0.25}, FAILED),
        ({"at_most": 0.4}, UNKNOWN),
        ({"at_most": 0.75}, PASSED),
    ],
)
def test_by_its_interval_a_gate_is_decided_where_all_of_it_is_on_one_side(bound, state):
    """The mean is 0.5, its interval 0.31 to 0.69."""
    rule = threshold(**{"at_least": None, "on": "interval", **bound})

    verdict = decide(rule, evidence())

    assert (verdict.state, verdict.gap) == (state, "undecided" if state == UNKNOWN else "")
    assert verdict.value == 0.5
    assert decide(rule._replace(on="mean"), evidence()).state in (PASSED, FAILED)
    side = "at most" if "at_most" in bound else "at least"
    assert f"the gate requires {side} {next(iter(bound.values()))} with its whole interval." in verdict.words


def test_what_is_not_known_yet_says_how_many_more_queries_decide_it():
    """17 of 20 with 0.7: even odds at 38 queries, nine in ten at 101, by the deviation at 0.7."""
    values = {"Success@5": np.repeat([1.0, 0.0], [17, 3])}

    verdict = decide(
        threshold(figure="Success@5", at_least=0.7, on="interval"), evidence(query_ids=list("q" * 20), values=values)
    )

    assert verdict.state == UNKNOWN
    assert verdict.words.startswith("Not known yet: Success@5 is 0.8500, 95 % interval 0.6396 to 0.9476, n = 20; ")
    assert verdict.words.endswith(
        " If the true figure is this one, about 18 to 81 more queries decide it (half of all cases, nine in ten)."
    )


def test_a_figure_within_a_standard_error_of_its_bound_promises_no_number_of_queries():
    verdict = decide(threshold(at_least=0.49, on="interval"), evidence())

    assert verdict.words.endswith(" It is too close to say how many more queries would decide it.")


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize(
    "rule",
    [
        threshold(),
        threshold(at_least=1.0),
        threshold(on="interval"),
        threshold(figure="latency_p95", at_least=None, at_most=5),
        against_baseline(),
        against_baseline(margin=0.02),
    ],
)
def test_fewer_than_six_queries_decide_nothing_and_their_figure_is_shown(rule, n):
    few = RunEvidence(IDS[:n], {"nDCG@10": np.ones(n)}, {"nDCG@10": np.zeros(n)}, latencies=np.full(n, 4.0))

    verdict = decide(rule, few)

    assert (verdict.state, verdict.gap, verdict.n) == (UNKNOWN, "few_queries", n)
    assert verdict.value is not None
    queries = "1 query" if n == 1 else f"{n} queries"
    assert verdict.words.endswith(f" {queries} cannot decide it: 6 or more can.")


def test_many_wordings_of_five_questions_decide_nothing():
    worded = RunEvidence(list("q" * 20), {"nDCG@10": np.ones(20)}, originals=np.arange(20) // 4)

    verdict = decide(threshold(), worded)

    assert (verdict.state, verdict.gap, verdict.n) == (UNKNOWN, "few_queries", 20)
    assert verdict.words.endswith(" 5 queries cannot decide it: 6 or more can.")


def test_a_figure_without_any_width_is_not_known_yet():
    times = evidence(latencies=np.full(8, 20.0))

    verdict = decide(threshold(figure="latency_p95", at_least=None, at_most=50, on="interval"), times)

    assert (verdict.state, verdict.value) == (UNKNOWN, 20.0)


def test_a_gate_that_only_warns_stops_nothing_while_it_is_not_known():
    stops, warns = threshold(), threshold(not_known="warn")

    assert [state_that_counts(stops, state) for state in STATES] == list(STATES)
    assert [state_that_counts(warns, state) for state in STATES] == [PASSED, FAILED, PASSED, NOTHING]


def test_a_value_that_misses_by_little_never_looks_like_its_bound():
    verdict = decide(threshold(at_least=0.50001), evidence())

    assert verdict.state == FAILED
    assert verdict.words.startswith("nDCG@10 is 0.50000,")


def test_queries_without_a_value_are_left_out_and_the_n_says_so():
    values = {"Judged@10": np.where(np.arange(8) < 2, np.nan, 0.9)}

    verdict = decide(threshold(figure="Judged@10", at_least=0.8), evidence(values=values))

    assert (verdict.state, verdict.n) == (PASSED, 6)


@pytest.mark.parametrize(
    ("rule", "changes", "gap", "says"),
    [
        (threshold(), {"values": {}}, "no_values", "nDCG@10 was not computed."),
        (threshold(), {"query_ids": [], "values": {"nDCG@10": np.empty(0)}}, "no_queries", "there is no query."),
        (threshold(), {"values": {"nDCG@10": np.full(8, np.nan)}}, "no_values", "nDCG@10 has no value for any query."),
        (
            threshold(slice={"field": "domain", "value": "tax"}),
            {},
            "no_queries",
            "no query carries domain; here there is no field.",
        ),
        (
            threshold(slice={"field": "domain", "value": "tax"}),
            {"strata": {"domain": ["law"] * 8}},
            "no_queries",
            "there is no query where domain = tax.",
        ),
        (threshold(slice="canary"), {}, "no_queries", "there is no canary slice yet."),
        (
            threshold(slice="canary"),
            {"slices": {"canary": {"Q99"}}},
            "no_queries",
            "there is no query in the canary slice.",
        ),
        (against_baseline(), {}, "no_baseline", "there is no baseline"),
        (against_baseline(), {"baseline": {}}, "no_baseline", "nDCG@10 of the baseline was not computed."),
        (
            against_baseline(),
            {"baseline": {"nDCG@10": np.full(8, np.nan)}},
            "no_values",
            "no query has nDCG@10 in both runs.",
        ),
        (threshold(figure="cost", at_least=None, at_most=1), {}, "no_cost", "1,000 queries is missing"),
        (threshold(figure="latency_p95", at_least=None, at_most=1), {}, "no_times", "has no times."),
    ],
)
def test_what_cannot_be_decided_is_not_known_or_not_checked_and_says_why(rule, changes, gap, says):
    verdict = decide(rule, evidence(**changes))

    state, outcome = (NOTHING, "Nothing checked") if gap == "no_queries" else (UNKNOWN, "Not known yet")
    assert (verdict.state, verdict.value, verdict.gap) == (state, None, gap)
    assert gap in GAPS
    assert verdict.words.startswith(f"{outcome}: ")
    assert says in verdict.words


def test_a_slice_is_checked_on_its_own_queries():
    strata = {"domain": ["tax", "tax", "law", "law"] * 4}
    both = evidence(query_ids=IDS * 2, values={"nDCG@10": np.tile(VALUES, 2)}, strata=strata)

    tax = decide(threshold(slice={"field": "domain", "value": "tax"}), both)
    law = decide(threshold(slice={"field": "domain", "value": "law"}), both)

    assert (tax.state, tax.n, round(tax.value, 9)) == (FAILED, 8, 0.3)
    assert (law.state, law.n, round(law.value, 9)) == (PASSED, 8, 0.7)
    assert tax.words.startswith("nDCG@10 where domain = tax is 0.3000,")


def test_a_slice_of_the_version_is_checked_on_its_queries_and_is_not_sampled():
    ids = [f"Q{number:03}" for number in range(200)]
    canary = set(ids[:60])
    values = {"nDCG@10": np.array([1.0 if one in canary else 0.0 for one in ids])}

    verdict = decide(
        threshold(slice="canary", tier="smoke"), evidence(query_ids=ids, values=values, slices={"canary": canary})
    )

    assert (verdict.state, verdict.n, verdict.value) == (PASSED, 60, 1.0)
    assert verdict.words.startswith("nDCG@10 in the canary slice is 1.0000,")


# Against a baseline ------------------------------------------------------------------------------------------------


NOISE = np.array([0.1, -0.1, 0.1, -0.1, 0.1, -0.1, -0.1, 0.05])
ONE_QUERY = np.array([0.1, 0, 0, 0, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("lead", "rule", "state", "says"),
    [
        (NOISE, {}, PASSED, "differs from the baseline by +0.0062, 95 % interval −"),
        (0.05, {}, FAILED, "the gate requires no worse than the baseline beyond noise."),
        (ONE_QUERY, {}, PASSED, "only 1 of 8 queries differs (exact sign test p"),
        (ONE_QUERY, {"margin": 0.01}, UNKNOWN, "beyond a drop of 0.01"),
        (ONE_QUERY, {"margin": 0.07}, PASSED, "beyond a drop of 0.07"),
        (0.3, {"margin": 0.05}, FAILED, "beyond a drop of 0.05"),
        (0, {"margin": 0.2}, UNKNOWN, "beyond a drop of 0.2"),
        (0, {}, PASSED, "beyond noise"),
    ],
)
def test_a_run_is_worse_than_its_baseline_where_the_interval_of_the_difference_says_so(lead, rule, state, says):
    verdict = decide(against_baseline(**rule), evidence(baseline={"nDCG@10": VALUES + lead}))

    assert verdict.state == state
    assert verdict.value == pytest.approx(-np.mean(lead))
    assert (verdict.bound, says in verdict.words) == (-rule.get("margin", 0), True)


# Guard-rails -------------------------------------------------------------------------------------------------------


def test_latency_is_a_percentile_over_queries_with_its_interval():
    times = np.array([10.0, 20, 30, 40, 50, 60, 70, np.nan])
    rule = threshold(figure="latency_p50", at_least=None, at_most=45)

    verdict = decide(rule, evidence(latencies=times))

    assert (verdict.state, verdict.value, verdict.n) == (PASSED, 40.0, 7)
    assert verdict.interval[0] < 40 < verdict.interval[1]
    assert verdict.words.startswith("The 50th percentile of latency is 40 ms, 95 % interval ")
    assert decide(rule._replace(at_most=39.0), evidence(latencies=times)).state == FAILED


def test_a_latency_below_a_millisecond_is_not_shown_as_zero():
    verdict = decide(
        threshold(figure="latency_p95", at_least=None, at_most=100), evidence(latencies=np.full(8, 0.2173))
    )

    assert verdict.words.startswith("The 95th percentile of latency is 0.2 ms, 95 % interval 0.2 to 0.2 ms, n = 8;")


def test_latency_of_many_queries_is_resampled_in_parts_with_the_same_result():
    times = np.random.Generator(np.random.PCG64(1)).exponential(100, 3_000)
    many = RunEvidence([str(number) for number in range(3_000)], {}, latencies=times)
    rule = threshold(figure="latency_p95", at_least=None, at_most=1)

    low, high = decide(rule, many).interval

    assert low < np.percentile(times, 95) < high
    assert decide(rule, many).interval == (low, high)


def test_cost_is_one_number():
    rule = threshold(figure="cost", at_least=None, at_most=2.5)

    verdict = decide(rule, evidence(cost=2.75))

    assert verdict.words == "The cost of 1,000 queries is 2.75; the gate requires at most 2.5."
    assert (verdict.state, verdict.interval) == (FAILED, None)


# Several gates of one decision ---------------------------------------------------------------------------------------


def test_gates_that_share_the_chance_of_an_error_have_wider_intervals():
    whole = threshold(on="interval")
    rules = [whole, against_baseline(margin=0.1), threshold(), against_baseline(), whole]

    confidence = joint_confidence(rules)
    verdict = decide(rules[0], evidence(confidence=confidence))

    assert confidence == pytest.approx(1 - 0.05 / 4)
    assert verdict.interval == mean_interval(VALUES, confidence)
    assert ", 98.8 % interval " in verdict.words
    assert joint_confidence([threshold()]) == 0.95


# Tiers -------------------------------------------------------------------------------------------------------------


def test_a_sample_is_fifty_queries_and_stays_when_others_come():
    ids = [f"Q{number:03d}" for number in range(400)]

    drawn = sample(ids)
    longer = sample([*ids, "new"])

    assert (len(drawn), drawn) == (50, sorted(drawn))
    assert len(set(drawn) & set(longer)) >= 49
    assert sample([ids[place] for place in drawn]) == list(range(50))
    assert sample(ids, seed=1) != drawn


def test_a_smoke_rule_looks_at_the_sample_alone():
    ids = [f"Q{number:03d}" for number in range(200)]
    values = np.zeros(200)
    values[sample(ids)] = 1.0
    held = RunEvidence(ids, {"nDCG@10": values})

    assert decide(threshold(tier="smoke"), held).n == 50
    assert decide(threshold(tier="smoke"), held).state == PASSED
    assert decide(threshold(tier="full"), held).state == FAILED


def test_a_tier_includes_the_rules_of_the_lighter_ones():
    rules = [threshold(name=tier, tier=tier) for tier in TIERS]

    assert [[rule.name for rule in rules_in(rules, tier)] for tier in TIERS] == [
        ["smoke"],
        ["smoke", "full"],
        ["smoke", "full", "deep"],
    ]


def test_several_gates_are_as_good_as_the_worst():
    ranked = [FAILED, UNKNOWN, NOTHING, PASSED]

    assert sorted(STATES) == sorted(ranked)
    for size in range(1, 5):
        for some in itertools.product(ranked, repeat=size):
            assert worst_state(some) == min(some, key=ranked.index)
    assert worst_state([]) == NOTHING
