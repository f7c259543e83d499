"""How hit rules are written and read."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.metrics.expected.rules import KINDS, HitRule, HitRuleError, parse_hit_rule


@given(
    st.sampled_from(KINDS[:3]).map(HitRule)
    | st.builds(HitRule, st.just("evidence"), st.integers(1, 10_000).map(lambda n: n / 10_000), st.booleans())
)
def test_what_is_written_is_read_back(rule):
    assert parse_hit_rule(str(rule)) == rule


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Block", HitRule("block")),
        (" evidence ( share = 0.9 ) ", HitRule("evidence", 0.9)),
        ("evidence(together=True,share=1)", HitRule("evidence", 1.0, True)),
    ],
)
def test_forms(text, rule):
    assert parse_hit_rule(text) == rule


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "not a hit rule; the rules are block, document, pages, evidence"),
        ("passage", "'passage' is not a hit rule"),
        ("block(share=0.9)", "takes no 'share'"),
        ("evidence(share=0)", "above 0 and at most 1, not '0'"),
        ("evidence(share=nan)", "above 0"),
        ("evidence(share=much)", "not 'much'"),
        ("evidence(together=perhaps)", "true or false, not 'perhaps'"),
        ("evidence(window=3)", "takes no 'window'"),
    ],
)
def test_a_wrong_rule_is_refused_with_a_sentence(text, sentence):
    with pytest.raises(HitRuleError, match=re.escape(sentence)):
        parse_hit_rule(text)


def test_every_rule_says_in_words_what_counts():
    assert len({HitRule(kind).words for kind in KINDS} | {HitRule("evidence", together=True).words}) == 5
