import pytest

from apps.evaluation.actions.scoring import EvaluationRefused
from apps.evaluation.rules import grades_refusal, names_for_versions, version_measures
from apps.metrics.measures.notation import MeasureError
from apps.metrics.measures.registry import parse_measures
from tests.evaluation.factories import ask, make_scene


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("TokenRecall@5", "TokenRecall@5 needs the words of returned passages: it measures runs by text"),
        ("infAP", "infAP needs marks of what was in the pool and not judged"),
    ],
)
def test_a_version_is_not_scored_with_measures_of_what_it_does_not_contain(text, said):
    there = "A version contains grades, subtopics, unanswerable queries and the metadata of passages; `karat score`"
    with pytest.raises(MeasureError, match=f"{said}.*{there}"):
        version_measures(text)


def test_the_measures_of_versions_are_those_that_read_grades_alone():
    names = names_for_versions()

    assert {"nDCG", "ERR", "RBP", "FailureRate", "Judged"} <= set(names)
    assert not {"alpha_nDCG", "STREC", "ILD", "CorpusCoverage", "Coverage", "TD_nDCG"} & set(names)


def test_a_measure_that_is_too_long_to_be_stored_is_rejected():
    gains = ",".join(f"{grade}:{grade}.5" for grade in range(20))

    with pytest.raises(MeasureError, match="is longer than 80 characters"):
        version_measures(f"nDCG(gains={{{gains}}})@10")


def test_measures_that_read_grades_alone_are_taken():
    assert version_measures("nDCG@10 ERR@10 RBP Bpref FailureRate@5") == parse_measures(
        "nDCG@10 ERR(max_rel=4)@10 RBP(p=0.8) Bpref FailureRate@5"
    )


def test_inferred_ap_is_not_offered_where_nothing_marks_what_was_pooled():
    with pytest.raises(MeasureError, match="infAP needs marks of what was in the pool and not judged: grades below 0"):
        version_measures("infAP")


@pytest.mark.django_db
def test_a_scale_below_the_highest_grade_is_rejected_when_scores_are_requested():
    scene = make_scene(qrels={"Q01": {"a": 3, "b": 0}})

    assert grades_refusal(parse_measures("ERR(max_rel=3)@10 nDCG@10"), scene.version) is None
    with pytest.raises(EvaluationRefused, match=r"grades up to 2, and there are grades up to 3.*ERR\(max_rel=3\)@10"):
        ask(scene, next(iter(scene.runs)), measures="ERR(max_rel=2)@10")
