"""What a run used, which of its requests failed, and what 1,000 queries cost."""

from decimal import Decimal

import pytest

from apps.metrics.statistics.usage import (
    UsageError,
    added,
    checked_usage,
    cost_of_thousand,
    failure_rates,
    usage_in_words,
    usage_of_words,
)


def test_a_usage_is_written_in_words_and_adds_up_over_the_parts_of_a_run():
    usage = usage_of_words("requests=1200, errors=3 input_tokens=51200 seconds=34.5")

    assert usage == {"requests": 1200, "errors": 3, "input_tokens": 51200, "seconds": 34.5}
    assert usage_of_words("  ") == {}
    assert added(None, {"requests": 2, "errors": 1}) == {"requests": 2, "errors": 1}
    assert added(usage, {"requests": 1, "timeouts": 1}) == {**usage, "requests": 1201, "timeouts": 1}
    assert usage_in_words(usage) == "1,200 requests, 51,200 input tokens, 34.5 seconds"
    assert usage_in_words(None) == ""


@pytest.mark.parametrize(
    ("text", "field", "words"),
    [
        ("requests", "requests", "'requests' is not name=value"),
        ("requests=1 requests=2", "requests", "is there twice"),
        ("calls=3", "calls", "'calls' is not known; give requests, errors, timeouts"),
        ("requests=-1", "requests", "must be a whole number from 0 on"),
        ("requests=many", "requests", "must be a whole number from 0 on"),
        ("seconds=nan", "seconds", "must be a number from 0 on"),
        ("errors=3", "errors", "give requests too"),
        ("requests=5 errors=3 timeouts=3", "errors", "errors and timeouts are 6 in all, of 5 requests"),
    ],
)
def test_a_usage_that_cannot_be_is_refused_with_its_field(text, field, words):
    with pytest.raises(UsageError, match=words) as refused:
        usage_of_words(text)
    assert refused.value.field == field


@pytest.mark.parametrize("value", [True, "3", 1.0, None])
def test_only_a_whole_number_is_a_count(value):
    with pytest.raises(UsageError):
        checked_usage({"requests": value})


def test_failure_rates_have_wilsons_interval_over_all_requests():
    """15 of 148 is (0.0624, 0.1605) in Newcombe, Statistics in Medicine 17 (1998), method 3."""
    rates = failure_rates({"requests": 148, "errors": 15})

    assert rates is not None
    assert (round(rates.errors.low, 4), round(rates.errors.high, 4), rates.errors.n) == (0.0624, 0.1605, 148)
    assert (rates.timeouts.value, rates.timeouts.low) == (0, 0)
    assert failure_rates({"requests": 0}) is None
    assert failure_rates({"seconds": 3}) is None
    assert failure_rates(None) is None


def test_cost_by_prices_is_what_a_hand_works_out():
    """500 queries: 800 requests at 2 a thousand, 100,000 and 20,000 tokens at 0.5 and 1.5, half an hour at 4."""
    usage = {"requests": 800, "input_tokens": 100_000, "output_tokens": 20_000, "seconds": 1_800}
    prices = {"requests": "2", "input_tokens": "0.5", "output_tokens": "1.5", "hour": "4"}

    cost = cost_of_thousand({name: Decimal(price) for name, price in prices.items()}, usage, 500, None)

    assert cost == Decimal("167.2000")  # (1.6 + 50 + 30 + 2) for 500 queries, so twice that
    assert cost_of_thousand({"hour": Decimal(36)}, None, 500, 50.0) == Decimal("0.5000")  # 1,000 × 50 ms are 50 s


@pytest.mark.parametrize(
    ("name", "words"),
    [("hour", "no times"), ("input_tokens", "does not say how many input tokens")],
)
def test_a_price_of_what_the_run_does_not_tell_is_refused(name, words):
    with pytest.raises(UsageError, match=words):
        cost_of_thousand({name: Decimal(1)}, {"requests": 3}, 3, None)
