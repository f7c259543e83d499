"""The sample of what was reviewed elsewhere, as one sentence for pages, cards and reports."""

from collections.abc import Mapping
from typing import Any

from apps.common.text.wording import count, percent, percent_interval, plural
from apps.metrics.estimate import Estimate


def sample_sentence(facts: Mapping[str, Any]) -> str:
    """ "120 of 1,200 reviewed, 4 wrong: 3.3 %, 1.3 to 8.3 %". `facts` are an `ElsewhereSet` as JSON."""
    rate, taken = Estimate.read(facts["error_rate"]), count(facts["taken"])
    if not facts["drawn"]:
        return f"None of {taken} reviewed here."
    if rate.value is None:
        return f"{count(facts['reviewed'])} of {count(facts['drawn'])} drawn from {taken} are decided so far."
    share = f"{percent(rate.value)}, {percent_interval(rate.interval, 1)}"
    return f"{count(facts['reviewed'])} of {taken} reviewed, {count(facts['wrong'])} wrong: {share}"


def public_sentences(elsewhere: Mapping[str, Any]) -> str:
    """What a data card says of those of a version; `elsewhere` is that of its manifest."""
    number = plural(elsewhere["triples"], "question with its answer was", "questions with their answers were")
    measured = "; ".join(sample_sentence(one) for one in elsewhere["sets"])
    found = f" Drawn at random and reviewed again by two people: {measured}." if measured else ""
    return f"{number} reviewed elsewhere and taken over by the decision of a lead (resolution: elsewhere).{found}"
