"""The kinds of questions that scores by triples are broken down by, and when one goes against the rest."""

import numpy as np
import pytest

from apps.evaluation.core.question_kinds import kinds_of
from apps.evaluation.edges.hit_sheets import KindRow
from apps.metrics.statistics.significance import differences

PLAIN = {
    "expected_answer": "Every account.",
    "match": "any",
    "resolution": "consensus",
    "is_machine_written": False,
    "domain": "",
    "difficulty": "",
}


def kind(better: int, worse: int, n: int) -> KindRow:
    left = np.zeros(n)
    left[better : better + worse] = 1.0
    right = np.zeros(n)
    right[:better] = 1.0
    return KindRow("kind", "Numeric", n, (), difference_of(left, right))


def difference_of(left, right):
    return differences(left[:, None], right[:, None])[0]


@pytest.mark.parametrize(
    ("content", "source", "kinds"),
    [
        ({}, "", []),
        ({"expected_answer": "Within 30 days."}, "", [("kind", "Numeric")]),
        ({"match": "all"}, "", [("kind", "Compound")]),
        ({"is_machine_written": True}, "", [("kind", "Written by machine")]),
        ({"resolution": "revised"}, "", [("kind", "Once disputed")]),
        (
            {"resolution": "policy:numeric_precision"},
            "",
            [("kind", "Once disputed"), ("kind", "Once disputed: numeric precision")],
        ),
        (
            {"domain": "access", "difficulty": "standard"},
            "Query log",
            [("domain", "access"), ("difficulty", "standard"), ("source", "Query log")],
        ),
    ],
)
def test_a_question_is_of_every_kind_that_its_triple_says(content, source, kinds):
    assert kinds_of(PLAIN | content, source) == kinds


@pytest.mark.parametrize(
    ("better", "worse", "goes_against"),
    [(0, 6, True), (2, 5, True), (0, 5, False), (3, 3, False), (6, 0, False)],
)
def test_a_kind_goes_against_the_rest_only_where_enough_of_its_questions_differ(better, worse, goes_against):
    overall = difference_of(np.zeros(20), np.ones(20))

    assert (kind(better, worse, 12).against(overall) is not None) == goes_against
