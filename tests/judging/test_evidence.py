import pytest

from apps.judging.core.resolution import parse_spans, spans_refusal, stored

TEXT = "Archives leave encrypted."


@pytest.mark.parametrize("spans", [[], [{"start": 0, "end": 8}], [[0, 8], [9, 14]], [[0, 8], [8, 25]]])
def test_spans_inside_the_text_are_evidence(spans):
    assert spans_refusal(spans, TEXT) is None


@pytest.mark.parametrize(
    "spans",
    [
        None,
        "0-8",
        3,
        [3],
        [[1]],
        [[1, 2, 3]],
        [{"start": 0}],
        [["0", "8"]],
        [[0.0, 8.0]],
        [[True, 8]],
        {"a": 1},
    ],
)
def test_anything_else_is_not_a_list_of_spans(spans):
    assert spans_refusal(spans, TEXT) == "Evidence is a list of spans, each with a start and an end."


@pytest.mark.parametrize(
    ("spans", "reason"),
    [
        ([[0, 26]], "is outside the text"),
        ([[-1, 4]], "is outside the text"),
        ([[4, 4]], "is outside the text"),
        ([[9, 14], [0, 8]], "in order"),
        ([[0, 8], [7, 14]], "do not overlap"),
        ([[8, 9]], "blank"),
        ([[0, 1]] * 21, "At most 20"),
    ],
)
def test_a_span_outside_its_text_is_refused_with_a_reason(spans, reason):
    assert reason in spans_refusal(spans, TEXT)


def test_spans_are_stored_as_they_are_sent():
    assert stored(parse_spans([[0, 8], {"start": 9, "end": 14}])) == [[0, 8], [9, 14]]
