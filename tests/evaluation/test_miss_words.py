"""What a missed question and a returned passage have in common: plain functions."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.evaluation.core.misses import held_of, ladder, likeness, shared_spans, telling_words

TEXT = "Audit records of the console are kept 400 days; the first 90 days can be searched."


def lit(text, words):
    return [text[start:end] for start, end in shared_spans(text, words)]


def test_words_that_are_shared_are_lit_and_neighbours_are_one_span():
    assert lit(TEXT, telling_words("How long are audit records kept? 400 days.")) == [
        "Audit records",
        "kept 400 days",
        "days",
    ]


def test_short_words_without_a_digit_tell_nothing():
    assert telling_words("Is it up to 9 of us? It is.") == ["9"]


@given(st.text(max_size=200), st.lists(st.text(min_size=1, max_size=8), max_size=5))
def test_spans_lie_in_the_text_in_order_and_apart(text, words):
    spans = shared_spans(text, words)

    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(one[1] < other[0] for one, other in itertools.pairwise(spans))


@given(st.text(max_size=200))
def test_every_telling_word_of_a_text_is_lit_in_it(text):
    found = shared_spans(text, telling_words(text))

    assert bool(found) == bool(telling_words(text))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("400 days, the first 90 of them", "has both figures of the expected answer"),
        ("400 days, the first 30 of them", "has 1 of the 2 figures of the expected answer"),
        ("500 days", "has no figure of the expected answer"),
        ("Audit records", "has both words of the expected answer"),
        ("No.", ""),
    ],
)
def test_figures_decide_where_the_answer_has_any(answer, words):
    assert likeness(answer, TEXT).words == words


def test_the_evidence_that_is_held_most_is_counted():
    evidences = [("nothing of this is there",), ("records of the console are kept 400 weeks",)]

    assert held_of(evidences, TEXT, 0.8) == (7, 8, 7)
    assert held_of([("…",)], TEXT, 0.8) is None


@pytest.mark.parametrize(
    ("returned", "cutoff", "expected", "read", "written"),
    [
        (20, 5, 14, 1, "1 2 3 4 5 | 6 7-13 14"),
        (20, 5, 14, 8, "1 2 3 4 5 | 6 7 8 9-13 14"),
        (3, 5, 0, 1, "1 2 3"),
        (20, 5, 8, 1, "1 2 3 4 5 | 6 7 8"),
        (7, 1, 7, 7, "1 | 2 3-6 7"),
        (0, 5, 0, 1, ""),
    ],
)
def test_the_ladder_keeps_the_first_the_cutoff_and_the_expected(returned, cutoff, expected, read, written):
    steps = ladder(returned, cutoff, expected, read)

    marks = ["|" if s.is_cutoff else f"{s.first}-{s.last}" if s.is_gap else str(s.first) for s in steps]
    assert " ".join(marks) == written


@given(st.integers(0, 60), st.integers(1, 20), st.integers(0, 60), st.integers(1, 60))
def test_every_rank_is_on_the_ladder_once(returned, cutoff, expected, read):
    steps = [
        step for step in ladder(returned, cutoff, min(expected, returned), min(read, returned)) if not step.is_cutoff
    ]

    ranks = [rank for step in steps for rank in range(step.first, step.last + 1)]
    last = max([min(cutoff + 1, returned), min(expected, returned), min(read, returned)])
    assert ranks == list(range(1, last + 1))
