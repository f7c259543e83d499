"""The rules of gates: read from a file or from facts, refused by key. Plain values, no database."""

import pytest

from apps.common.errors import InputError, InputErrors
from apps.gates.core.rule import GateRule, RuleError, Slice, as_facts, measures_of, requirement, rule_of, stored_rule
from apps.gates.formats import read_rules
from apps.goldsets.core.slice_sampling import SLICE_NAMES
from apps.goldsets.enums import SliceKind
from apps.metrics.measures.entries import Measure

FILE = """
[[gate]]
name = "Good enough"
figure = "NDCG@10"
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


def threshold(**changes) -> GateRule:
    return rule_of({"name": "Good enough", "figure": "nDCG@10", "at_least": 0.4, **changes})


def written(tmp_path, text: str):
    path = tmp_path / "gates.toml"
    path.write_text(text)
    return path


def test_rules_are_read_in_the_order_of_the_file(tmp_path):
    path = written(tmp_path, FILE)

    rules = read_rules(path)

    assert rules == [
        GateRule("Good enough", "nDCG@10", at_least=0.45, on="interval"),
        GateRule(
            "No regression",
            "nDCG@10",
            is_against_baseline=True,
            margin=0.02,
            slice=Slice("domain", "tax"),
            tier="deep",
        ),
        GateRule("Fast", "latency_p95", at_most=300.0, tier="smoke"),
    ]
    assert measures_of(rules) == [Measure("nDCG", 10)]


def test_facts_read_back_to_the_same_rule(tmp_path):
    for rule in read_rules(written(tmp_path, FILE.replace("NDCG@10", "nDCG@10"))):
        assert rule_of(as_facts(rule)) == rule


def test_a_slice_of_the_version_is_written_by_its_name(tmp_path):
    (rule,) = read_rules(written(tmp_path, FILE.split("[[gate]]")[1].join(["[[gate]]", 'slice = "canary"\n'])))

    assert rule.slice == Slice("slice", "canary")
    assert as_facts(rule)["slice"] == "canary"
    assert rule_of({**as_facts(rule), "slice": {"field": "slice", "value": "canary"}}) == rule


def test_gates_know_the_slices_that_there_are():
    assert list(SLICE_NAMES) == SliceKind.values


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
        ({"margin": 0.1}, "margin", "together with no_worse_than"),
        ({"slice": "domain=tax"}, "slice", "is one of rotating, challenge, regression, canary, or is written as"),
        ({"slice": {"field": "slice", "value": "gold"}}, "slice.value", "is one of rotating"),
        ({"slice": {"field": "domain", "value": 3}}, "slice.value", "is a text, not 3"),
        ({"at_least": None, "no_worse_than": "main"}, "no_worse_than", "is \"baseline\", not 'main'"),
        ({"at_least": None, "no_worse_than": "baseline", "margin": -0.1}, "margin", "a number from 0"),
        ({"at_least": None, "no_worse_than": "baseline", "on": "interval"}, "on", "leave out on"),
        ({"figure": "cost"}, "at_least", "give it at_most"),
        ({"figure": "latency_p50", "at_least": None, "no_worse_than": "baseline"}, "no_worse_than", "give it at_most"),
        ({"figure": "cost", "at_least": None, "at_most": 1, "on": "interval"}, "on", "one number of a run"),
        ({"at_least": 70}, "at_least", "nDCG@10 is between 0 and 1; 70 is not. For 70 % write 0.70."),
        ({"at_least": 99.95}, "at_least", "For 99.95 % write 0.9995."),
        ({"at_least": 700}, "at_least", "nDCG@10 is between 0 and 1; 700 is not."),
        ({"at_least": -0.1}, "at_least", "nDCG@10 is between 0 and 1; -0.1 is not."),
        (
            {"figure": "FailureRate@5", "at_least": None, "at_most": 5},
            "at_most",
            "FailureRate@5 is between 0 and 1; 5 is not. For 5 % write 0.05.",
        ),
        (
            {"at_least": None, "no_worse_than": "baseline", "margin": 2},
            "margin",
            "A drop in nDCG@10 is between 0 and 1; 2 is not. For 2 % write 0.02.",
        ),
        ({"figure": "latency_p95", "at_least": None, "at_most": -5}, "at_most", "never below 0; -5 is too low."),
        ({"figure": "cost", "at_least": None, "at_most": -1}, "at_most", "never below 0; -1 is too low."),
    ],
)
def test_a_rule_that_cannot_be_decided_is_refused_by_its_key(change, key, says):
    with pytest.raises(RuleError) as caught:
        threshold(**change)

    assert caught.value.key == key
    assert says in str(caught.value)


@pytest.mark.parametrize("bound", [0, 0.7, 1])
def test_both_ends_of_the_range_are_bounds(bound):
    assert threshold(at_least=bound).at_least == bound


def test_a_rule_stored_before_bounds_were_checked_is_still_read():
    facts = {**as_facts(threshold()), "at_least": 70.0}

    assert stored_rule(facts).at_least == 70


@pytest.mark.parametrize(
    ("figure", "bound", "fault"),
    [
        ("nDCG@10", "at_least = 70", "at_least = 70.0: nDCG@10 is between 0 and 1; 70 is not. For 70 % write 0.70."),
        ("latency_p95", 'at_most = "300 ms"', "at_most = '300 ms': at_most is a number, not '300 ms'."),
    ],
)
def test_a_fault_in_a_file_names_file_line_gate_key_and_value(tmp_path, figure, bound, fault):
    path = written(tmp_path, f'[[gate]]\nname = "Good"\nfigure = "{figure}"\n{bound}\n')

    with pytest.raises(InputErrors) as caught:
        read_rules(path)

    assert str(caught.value) == f"{path}, line 4, gate 1 (Good), {fault}"


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
def test_a_file_without_gates_is_rejected(tmp_path, text, says):
    with pytest.raises((InputError, InputErrors), match=says):
        read_rules(written(tmp_path, text))


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "latin").write_bytes(b"name = '\xe9'")

    with pytest.raises(InputError, match="No such file"):
        read_rules(tmp_path / "none.toml")
    with pytest.raises(InputError, match="not UTF-8"):
        read_rules(tmp_path / "latin")


def test_the_requirement_of_a_rule_is_in_words():
    assert requirement(threshold()) == "at least 0.4"
    assert requirement(threshold(figure="latency_p95", at_least=None, at_most=400)) == "at most 400 ms"
    assert (
        requirement(threshold(at_least=None, no_worse_than="baseline", margin=0.02))
        == "no worse than the baseline beyond a drop of 0.02"
    )
