"""The rules of gates: read, refused, decided. Plain values, no database."""

import numpy as np
import pytest

from apps.common.errors import InputError
from apps.evaluation import enums
from apps.evaluation.gating import (
    FAILED,
    PASSED,
    STATES,
    TIERS,
    UNKNOWN,
    Evidence,
    Rule,
    RuleError,
    Slice,
    Verdict,
    as_facts,
    asks,
    decide,
    measures_of,
    read_rules,
    rule_of,
    rules_in,
    sample,
    worst,
)
from apps.evaluation.measures import Measure
from apps.evaluation.significance import summaries

IDS = [f"Q{number:02d}" for number in range(1, 9)]
VALUES = np.array([0.2, 0.4, 0.6, 0.8, 0.2, 0.4, 0.6, 0.8])
FILE = """
[[gate]]
name = "Good enough"
figure = "ndcg@10"
at_least = 0.45
on = "interval"

[[gate]]
name = "No regression"
figure = "nDCG@10"
no_worse_than = "baseline"
margin = 0.02
slice = { field = "domain", value = "tax" }
tier = "deep"

[[gate]]
name = "Fast"
figure = "latency_p95"
at_most = 300
tier = "smoke"
"""


def evidence(**changes) -> Evidence:
    return Evidence(query_ids=IDS, values={"nDCG@10": VALUES})._replace(**changes)


def threshold(**changes) -> Rule:
    return rule_of({"name": "Good enough", "figure": "nDCG@10", "at_least": 0.4, **changes})


def against_baseline(**changes) -> Rule:
    return rule_of({"name": "No regression", "figure": "nDCG@10", "no_worse_than": "baseline", **changes})


def written(tmp_path, text: str):
    path = tmp_path / "gates.toml"
    path.write_text(text)
    return path


def test_states_and_tiers_are_those_of_the_tables():
    assert set(TIERS) == set(enums.Tier.values)
    assert set(STATES) == set(enums.GateState.values)


# Reading -----------------------------------------------------------------------------------------------------------


def test_rules_are_read_in_the_order_of_the_file(tmp_path):
    path = written(tmp_path, FILE.replace("ndcg@10", "NDCG@10"))

    rules = read_rules(path)

    assert rules == [
        Rule("Good enough", "nDCG@10", at_least=0.45, on="interval"),
        Rule(
            "No regression",
            "nDCG@10",
            is_against_baseline=True,
            margin=0.02,
            slice=Slice("domain", "tax"),
            tier="deep",
        ),
        Rule("Fast", "latency_p95", at_most=300.0, tier="smoke"),
    ]
    assert measures_of(rules) == [Measure("nDCG", 10)]


def test_facts_read_back_to_the_same_rule(tmp_path):
    for rule in read_rules(written(tmp_path, FILE.replace("ndcg@10", "nDCG@10"))):
        assert rule_of(as_facts(rule)) == rule


@pytest.mark.parametrize(
    ("change", "key", "says"),
    [
        ({"name": "  "}, "name", "needs a name"),
        ({"name": "x" * 121}, "name", "at most 120"),
        ({"figure": None}, "figure", "needs a figure"),
        ({"figure": "nDGC@10"}, "figure", "nDCG"),
        ({"figure": "P"}, "figure", "cutoff"),
        ({"atleast": 0.5}, "atleast", "did you mean at_least?"),
        ({"at_least": "0.5"}, "at_least", "is a number, not '0.5'"),
        ({"at_least": True}, "at_least", "is a number, not True"),
        ({"at_least": float("nan")}, "at_least", "is a number, not nan"),
        ({"at_least": None}, "figure", "here: none"),
        ({"at_most": 0.9}, "figure", "here: at_least and at_most"),
        ({"on": "median"}, "on", "mean, interval"),
        ({"tier": "quick"}, "tier", "smoke, full, deep"),
        ({"margin": 0.1}, "margin", "beside no_worse_than"),
        ({"slice": "domain=tax"}, "slice", "is written as"),
        ({"slice": {"field": "domain", "value": 3}}, "slice.value", "is a text, not 3"),
        ({"at_least": None, "no_worse_than": "main"}, "no_worse_than", "is \"baseline\", not 'main'"),
        ({"at_least": None, "no_worse_than": "baseline", "margin": -0.1}, "margin", "a number from 0"),
        ({"at_least": None, "no_worse_than": "baseline", "on": "interval"}, "on", "leave out on"),
        ({"figure": "cost"}, "at_least", "give it at_most"),
        ({"figure": "latency_p50", "at_least": None, "no_worse_than": "baseline"}, "no_worse_than", "give it at_most"),
        ({"figure": "cost", "at_least": None, "at_most": 1, "on": "interval"}, "on", "one number of a run"),
    ],
)
def test_a_rule_that_cannot_be_decided_is_refused_by_its_key(change, key, says):
    with pytest.raises(RuleError) as caught:
        threshold(**change)

    assert caught.value.key == key
    assert says in str(caught.value)


def test_a_fault_in_a_file_names_file_gate_key_and_value(tmp_path):
    path = written(tmp_path, '[[gate]]\nname = "Fast"\nfigure = "latency_p95"\nat_most = "300 ms"\n')

    with pytest.raises(InputError) as caught:
        read_rules(path)

    fault = f"{path}, gate 1 (Fast), at_most = '300 ms': at_most is a number, not '300 ms'."
    assert str(caught.value) == fault


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "has no gate"),
        ("gate = 3", "has no gate"),
        ("[[gates]]\nname = 'a'", "not gates"),
        ("[[gate]]\nname = \n", "line 2: The file is not TOML"),
        (
            "[[gate]]\nname = 'a'\nfigure = 'cost'\nat_most = 1\n[[gate]]\nname = 'a'\nfigure = 'cost'\nat_most = 2",
            "Two gates are called a.",
        ),
    ],
)
def test_a_file_that_holds_no_gates_is_refused(tmp_path, text, says):
    with pytest.raises(InputError, match=says):
        read_rules(written(tmp_path, text))


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "latin").write_bytes(b"name = '\xe9'")

    with pytest.raises(InputError, match="No such file"):
        read_rules(tmp_path / "none.toml")
    with pytest.raises(InputError, match="not UTF-8"):
        read_rules(tmp_path / "latin")


# Thresholds --------------------------------------------------------------------------------------------------------


def test_a_mean_at_the_threshold_passes():
    low, high = summaries(VALUES[:, None])[0].interval

    verdict = decide(threshold(at_least=0.5), evidence())

    assert verdict == Verdict(
        PASSED,
        0.5,
        0.5,
        f"nDCG@10 is 0.5000, 95 % interval {low:.4f} to {high:.4f}, n = 8; the gate asks for at least 0.5.",
        (low, high),
        8,
    )


def test_the_lower_end_may_be_asked_for_where_the_mean_would_do():
    assert decide(threshold(), evidence()).state == PASSED

    verdict = decide(threshold(on="interval"), evidence())

    assert verdict.state == FAILED
    assert verdict.words.endswith("the gate asks for at least 0.4 at the lower end of the interval.")


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
    ("rule", "changes", "says"),
    [
        (threshold(), {"values": {}}, "nDCG@10 was not computed."),
        (threshold(), {"query_ids": [], "values": {"nDCG@10": np.empty(0)}}, "there is no query."),
        (threshold(), {"values": {"nDCG@10": np.full(8, np.nan)}}, "nDCG@10 has no value for any query."),
        (threshold(on="interval"), {"query_ids": ["Q"], "values": {"nDCG@10": np.ones(1)}}, "too few for an interval"),
        (threshold(slice={"field": "domain", "value": "tax"}), {}, "no query carries domain; here there is no field."),
        (
            threshold(slice={"field": "domain", "value": "tax"}),
            {"strata": {"domain": ["law"] * 8}},
            "there is no query where domain = tax.",
        ),
        (against_baseline(), {}, "there is no baseline"),
        (against_baseline(), {"baseline": {}}, "nDCG@10 of the baseline was not computed."),
        (against_baseline(), {"baseline": {"nDCG@10": np.full(8, np.nan)}}, "fewer than two queries"),
        (threshold(figure="cost", at_least=None, at_most=1), {}, "nobody has said"),
        (threshold(figure="latency_p95", at_least=None, at_most=1), {}, "carries no times."),
    ],
)
def test_what_cannot_be_decided_is_not_known_and_says_why(rule, changes, says):
    verdict = decide(rule, evidence(**changes))

    assert (verdict.state, verdict.value) == (UNKNOWN, None)
    assert verdict.words.startswith("Not known: ")
    assert says in verdict.words


def test_a_slice_is_held_on_its_own_queries():
    strata = {"domain": ["tax", "tax", "law", "law", "tax", "tax", "law", "law"]}

    tax = decide(threshold(slice={"field": "domain", "value": "tax"}), evidence(strata=strata))
    law = decide(threshold(slice={"field": "domain", "value": "law"}), evidence(strata=strata))

    assert (tax.state, tax.n, round(tax.value, 9)) == (FAILED, 4, 0.3)
    assert (law.state, law.n, round(law.value, 9)) == (PASSED, 4, 0.7)
    assert tax.words.startswith("nDCG@10 where domain = tax is 0.3000,")


# Against a baseline ------------------------------------------------------------------------------------------------


def test_a_drop_within_noise_is_not_worse():
    noisy = VALUES + np.array([0.1, -0.1, 0.1, -0.1, 0.1, -0.1, -0.1, 0.05])

    verdict = decide(against_baseline(), evidence(baseline={"nDCG@10": noisy}))

    assert verdict.state == PASSED
    assert verdict.interval[0] < 0 < verdict.interval[1]
    assert "differs from the baseline by +0.0062, 95 % interval −" in verdict.words


def test_a_drop_beyond_noise_is_worse():
    verdict = decide(against_baseline(), evidence(baseline={"nDCG@10": VALUES + 0.05}))

    assert (verdict.state, verdict.bound, round(verdict.value, 9)) == (FAILED, 0.0, -0.05)
    assert verdict.words.endswith("the gate asks for no worse than the baseline beyond noise.")


def test_a_margin_wants_the_whole_interval_above_it():
    few = VALUES + np.array([0.1, 0, 0, 0, 0, 0, 0, 0])

    assert decide(against_baseline(), evidence(baseline={"nDCG@10": few})).state == PASSED
    assert decide(against_baseline(margin=0.01), evidence(baseline={"nDCG@10": few})).state == FAILED
    assert decide(against_baseline(margin=0.05), evidence(baseline={"nDCG@10": few})).state == PASSED


def test_equal_runs_are_never_worse():
    assert decide(against_baseline(margin=0.0), evidence(baseline={"nDCG@10": VALUES})).state == PASSED


# Guard-rails -------------------------------------------------------------------------------------------------------


def test_latency_is_a_percentile_over_queries_with_its_interval():
    times = np.array([10.0, 20, 30, 40, 50, 60, 70, np.nan])
    rule = threshold(figure="latency_p50", at_least=None, at_most=45)

    verdict = decide(rule, evidence(latencies=times))

    assert (verdict.state, verdict.value, verdict.n) == (PASSED, 40.0, 7)
    assert verdict.interval[0] < 40 < verdict.interval[1]
    assert verdict.words.startswith("The 50th percentile of latency is 40 ms, 95 % interval ")
    assert decide(rule._replace(at_most=39.0), evidence(latencies=times)).state == FAILED


def test_latency_of_many_queries_is_resampled_in_parts_with_the_same_result():
    times = np.random.Generator(np.random.PCG64(1)).exponential(100, 3_000)
    many = Evidence([str(number) for number in range(3_000)], {}, latencies=times)
    rule = threshold(figure="latency_p95", at_least=None, at_most=1)

    low, high = decide(rule, many).interval

    assert low < np.percentile(times, 95) < high
    assert decide(rule, many).interval == (low, high)


def test_cost_is_one_number():
    rule = threshold(figure="cost", at_least=None, at_most=2.5)

    verdict = decide(rule, evidence(cost=2.75))

    assert verdict.words == "The cost of 1,000 queries is 2.75; the gate asks for at most 2.5."
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
    held = Evidence(ids, {"nDCG@10": values})

    assert decide(threshold(tier="smoke"), held).n == 50
    assert decide(threshold(tier="smoke"), held).state == PASSED
    assert decide(threshold(tier="full"), held).state == FAILED


def test_a_tier_holds_the_rules_of_the_lighter_ones_too():
    rules = [threshold(name=tier, tier=tier) for tier in TIERS]

    assert [[rule.name for rule in rules_in(rules, tier)] for tier in TIERS] == [
        ["smoke"],
        ["smoke", "full"],
        ["smoke", "full", "deep"],
    ]


def test_several_gates_are_as_good_as_the_worst():
    passed, failed, unknown = (Verdict(state, None, None, "") for state in STATES)

    assert worst([passed, passed]) == PASSED
    assert worst([passed, unknown]) == UNKNOWN
    assert worst([passed, unknown, failed]) == FAILED
    assert worst([]) == UNKNOWN


def test_what_a_rule_asks_for_reads_as_words():
    assert asks(threshold()) == "at least 0.4"
    assert asks(threshold(figure="latency_p95", at_least=None, at_most=400)) == "at most 400 ms"
    assert asks(against_baseline(margin=0.02)) == "no worse than the baseline beyond a drop of 0.02"
