"""What gates say of a run. Plain values, no database."""

import itertools

import numpy as np
import pytest

from apps.gates import enums
from apps.gates.core.decisions import GAPS, GateVerdict, RunEvidence, decide, worst_state
from apps.gates.core.rule import FAILED, NOTHING, PASSED, STATES, TIERS, UNKNOWN, GateRule, rule_of, rules_in, sample
from apps.metrics.statistics.significance import summaries

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
    low, high = summaries(VALUES[:, None])[0].interval

    verdict = decide(threshold(at_least=0.5), evidence())

    assert verdict == GateVerdict(
        PASSED,
        0.5,
        0.5,
        f"nDCG@10 is 0.5000, 95 % interval {low:.4f} to {high:.4f}, n = 8; the gate requires at least 0.5.",
        (low, high),
        8,
    )


def test_the_lower_end_may_be_required_where_the_mean_would_pass():
    assert decide(threshold(), evidence()).state == PASSED

    verdict = decide(threshold(on="interval"), evidence())

    assert verdict.state == FAILED
    assert verdict.words.endswith("the gate requires at least 0.4 at the lower end of the interval.")


def test_the_upper_end_is_the_hard_one_of_an_upper_bound():
    rule = threshold(at_least=None, at_most=0.55, on="interval")

    assert decide(rule, evidence()).state == FAILED
    assert decide(rule._replace(on="mean"), evidence()).state == PASSED


def test_a_value_that_misses_by_little_never_looks_like_its_bound():
    verdict = decide(threshold(at_least=0.50001), evidence())

    assert verdict.state == FAILED
    assert verdict.words.startswith("nDCG@10 is 0.50000,")


def test_queries_without_a_value_are_left_out_and_the_n_says_so():
    values = {"Judged@10": np.where(np.arange(8) < 3, np.nan, 0.9)}

    verdict = decide(threshold(figure="Judged@10", at_least=0.8), evidence(values=values))

    assert (verdict.state, verdict.n) == (PASSED, 5)


@pytest.mark.parametrize(
    ("rule", "changes", "gap", "says"),
    [
        (threshold(), {"values": {}}, "no_values", "nDCG@10 was not computed."),
        (threshold(), {"query_ids": [], "values": {"nDCG@10": np.empty(0)}}, "no_queries", "there is no query."),
        (threshold(), {"values": {"nDCG@10": np.full(8, np.nan)}}, "no_values", "nDCG@10 has no value for any query."),
        (
            threshold(on="interval"),
            {"query_ids": ["Q"], "values": {"nDCG@10": np.ones(1)}},
            "few_queries",
            "too few for an interval",
        ),
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
        (against_baseline(), {"baseline": {"nDCG@10": np.full(8, np.nan)}}, "few_queries", "fewer than two queries"),
        (threshold(figure="cost", at_least=None, at_most=1), {}, "no_cost", "1,000 queries is missing"),
        (threshold(figure="latency_p95", at_least=None, at_most=1), {}, "no_times", "has no times."),
    ],
)
def test_what_cannot_be_decided_is_not_known_or_not_checked_and_says_why(rule, changes, gap, says):
    verdict = decide(rule, evidence(**changes))

    state, outcome = (NOTHING, "Nothing checked") if gap == "no_queries" else (UNKNOWN, "Not known")
    assert (verdict.state, verdict.value, verdict.gap) == (state, None, gap)
    assert gap in GAPS
    assert verdict.words.startswith(f"{outcome}: ")
    assert says in verdict.words


def test_a_slice_is_checked_on_its_own_queries():
    strata = {"domain": ["tax", "tax", "law", "law", "tax", "tax", "law", "law"]}

    tax = decide(threshold(slice={"field": "domain", "value": "tax"}), evidence(strata=strata))
    law = decide(threshold(slice={"field": "domain", "value": "law"}), evidence(strata=strata))

    assert (tax.state, tax.n, round(tax.value, 9)) == (FAILED, 4, 0.3)
    assert (law.state, law.n, round(law.value, 9)) == (PASSED, 4, 0.7)
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
        (ONE_QUERY, {"margin": 0.01}, FAILED, "beyond a drop of 0.01"),
        (ONE_QUERY, {"margin": 0.07}, PASSED, "beyond a drop of 0.07"),
        (0, {"margin": 0.0}, PASSED, "beyond a drop of 0"),
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
