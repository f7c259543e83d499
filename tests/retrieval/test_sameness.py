"""Which texts of a query stand for which others: the best one for all that are like it, never by way of a third."""

import numpy as np
import pytest

from apps.corpus.core.near_duplicates import resemblance, signature
from apps.retrieval.core.pooling import Representative, representatives

LONG = " ".join(f"word{number}" for number in range(100))
NEARLY = LONG.replace("word50", "other")
FURTHER = NEARLY.replace("word20", "third")
ELSE = " ".join(f"thing{number}" for number in range(100))


def representatives_of(texts, new, judged=(), digests=None):
    """What stands for the new texts, by place in `texts`."""
    names = list(texts)
    return representatives(
        [names.index(each) for each in judged],
        [names.index(each) for each in new],
        digests or {place: texts[name] for place, name in enumerate(names)},
        {place: signature(texts[name]) for place, name in enumerate(names)},
        lambda one, other: resemblance(texts[names[one]], texts[names[other]]),
    )


def test_the_first_of_equal_texts_is_judged_for_all():
    texts = {"a": LONG, "b": LONG, "c": ELSE, "d": LONG}

    assert representatives_of(texts, "bacd") == {
        0: Representative(1, is_exact=True),
        3: Representative(1, is_exact=True),
    }
    assert representatives_of(texts, "dcab") == {
        0: Representative(3, is_exact=True),
        1: Representative(3, is_exact=True),
    }


def test_a_text_with_a_word_changed_is_near_and_not_exact():
    assert representatives_of({"a": LONG, "b": NEARLY}, "ab") == {1: Representative(0, is_exact=False)}


def test_the_same_text_under_another_title_is_near():
    assert representatives_of({"a": LONG, "b": LONG}, "ab", digests={0: "one title", 1: "another"}) == {
        1: Representative(0, is_exact=False)
    }


def test_likeness_does_not_carry_from_text_to_text():
    texts = {"a": LONG, "b": NEARLY, "c": FURTHER}
    assert resemblance(LONG, NEARLY) > 0.9
    assert resemblance(NEARLY, FURTHER) > 0.9 > resemblance(LONG, FURTHER)

    assert representatives_of(texts, "abc") == {1: Representative(0, is_exact=False)}


def test_a_text_may_be_near_to_two_and_goes_to_the_nearer():
    texts = {"a": LONG, "c": FURTHER, "b": FURTHER.replace("word80", "fourth").replace("word20", "third")}

    assert representatives_of(texts, "acb") == {2: Representative(1, is_exact=False)}


def test_a_judged_text_represents_new_texts_and_is_never_represented():
    texts = {"a": LONG, "b": LONG, "c": NEARLY, "d": LONG}

    assert representatives_of(texts, "d", judged="bac") == {3: Representative(1, is_exact=True)}


def test_an_estimate_that_promises_too_much_is_compared_word_by_word():
    alike = {0: np.zeros(64, dtype=np.uint32), 1: np.zeros(64, dtype=np.uint32)}

    assert representatives([], [0, 1], {0: "x", 1: "y"}, alike, lambda one, other: 0.89) == {}
    assert representatives([], [0, 1], {0: "x", 1: "y"}, alike, lambda one, other: 0.9) == {
        1: Representative(0, is_exact=False)
    }


@pytest.mark.parametrize("texts", [{}, {"a": LONG}, {"a": LONG, "b": ELSE}, {"a": "", "b": "."}])
def test_different_texts_are_all_judged(texts):
    assert representatives_of(texts, list(texts)) == {}
