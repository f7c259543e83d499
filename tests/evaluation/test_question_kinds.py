"""The kinds of questions that scores by triples are broken down by, and when one goes against the rest."""

import numpy as np
import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.evaluation.core.question_kinds import kinds_of
from apps.evaluation.presenters.hit_score_tables import KindRow
from apps.goldsets.enums import VersionState
from apps.metrics.statistics.significance import differences
from apps.review.enums import Category, Decision, Reason
from tests.evaluation.hits import places, run_that, score
from tests.factories import make_member
from tests.goldsets.factories import make_bench, make_version
from tests.review.factories import decide, make_disputed

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


@pytest.mark.django_db
def test_a_question_that_was_flagged_is_of_the_kind_of_its_flag_however_the_dispute_ended(client):
    bench = make_bench(triples=1)
    flag = {"reasons": [Reason.OVERSTATED], "category": Category.NUMERIC}
    other_lead = make_member(bench.project, Role.LEAD)
    for _ in range(5):
        decide(make_disputed(bench.project, snapshot=bench.snapshot, flag=flag), other_lead, Decision.ACCEPT)
    version = make_version(VersionState.RELEASED, bench, test_share=0.0)
    evaluation = score(version, run_that(version, "ours", places(version, 1, 2, 2, 2, 2, 2)), measures="Success@1 RR")
    client.force_login(bench.lead)

    found = client.get(f"/api/v1/projects/{bench.project.slug}/evaluation/{evaluation.pk}/").json()["kinds"]

    by_name = {(one["field"], one["name"]): one for one in found}
    assert by_name["kind", "Once disputed"]["n"] == by_name["kind", "Once disputed: numeric"]["n"] == 5
    scores = {one["measure"]: (one["value"], one["n"]) for one in by_name["kind", "Once disputed: numeric"]["scores"]}
    assert scores == {"Success@1": (0.0, 5), "RR": (0.5, 5)}
    page = client.get(reverse("evaluation:evaluation", args=[bench.project.slug, evaluation.pk])).content.decode()
    report = client.get(reverse("reports:evaluation", args=[bench.project.slug, evaluation.pk])).content.decode()
    assert ("Once disputed: numeric" in page, "Once disputed: numeric" in report) == (True, True)
