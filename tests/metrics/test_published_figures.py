"""Worked examples from the literature, to the digits in which they were printed."""

import json

import numpy as np
import pytest

from apps.metrics.measures.graded import FORMS, Gains, dcg
from tests.conftest import SHARED_DATA
from tests.metrics.oracle import values

FILE = SHARED_DATA / "retrieval_reference.json"
pytestmark = pytest.mark.skipif(not FILE.is_file(), reason="the published figures are not there")


def case(name):
    return next(case for case in json.loads(FILE.read_text())["cases"] if case["id"] == name)


def gained(grades, cutoff, discount):
    """The discounted gains of one ranking."""
    rows = Gains(np.zeros(len(grades), dtype=np.int64), np.arange(len(grades)), np.array(grades, dtype=np.float64))
    return float(dcg(rows, 1, cutoff, discount)[0])


def collection(run_grades, outside):
    """Judgements and a run of one query: the run finds the first grades in their order and none of the others."""
    qrels = {"q": {f"d{place}": grade for place, grade in enumerate([*run_grades, *outside])}}
    return qrels, {"q": {f"d{place}": float(-place) for place in range(len(run_grades))}}


def test_every_case_of_the_file_has_its_test():
    assert {each["id"] for each in json.loads(FILE.read_text())["cases"]} == {
        "jarvelin_kekalainen_2002",
        "wikipedia_dcg",
    }


@pytest.mark.parametrize(("gains", "plain", "discounted"), [("G", "CG", "DCG"), ("ideal_G", "ideal_CG", "ideal_DCG")])
def test_cumulated_gains_equal_jarvelin_and_kekalainen(gains, plain, discounted):
    """The paper cuts or rounds at two decimals, so one unit of the last may be off."""
    paper = case("jarvelin_kekalainen_2002")
    ranks = range(1, len(paper[gains]) + 1)

    undiscounted = [gained(paper[gains], rank, lambda rank: np.ones(len(rank))) for rank in ranks]

    assert undiscounted == paper[plain]
    assert [gained(paper[gains], rank, FORMS["jk"].discount) for rank in ranks] == pytest.approx(
        paper[discounted], abs=0.0101
    )


def test_ndcg_in_its_first_form_equals_jarvelin_and_kekalainen():
    paper = case("jarvelin_kekalainen_2002")
    outside = list(paper["ideal_G"])
    for grade in paper["G"]:
        if grade in outside:
            outside.remove(grade)
    names = [f"nDCG(dcg='jk')@{rank}" for rank in range(1, len(paper["G"]) + 1)]

    row = values(" ".join(names), *collection(paper["G"], outside))["q"]

    assert [row[name] for name in names] == pytest.approx(paper["nDCG"], abs=0.0101)


def test_the_dcg_of_wikipedia_is_ours():
    example = case("wikipedia_dcg")
    qrels, run = collection(example["run_grades"], example["judged_outside_run"])
    best = sorted(qrels["q"].values(), reverse=True)

    found = {
        "DCG@6": gained(example["run_grades"], 6, FORMS["log2"].discount),
        "IDCG@6 (judged also 3 and 2 outside the run)": gained(best, 6, FORMS["log2"].discount),
        "nDCG@6": values("nDCG@6", qrels, run)["q"]["nDCG@6"],
    }

    assert {name: round(value, example["digits"]) for name, value in found.items()} == example["expected"]
