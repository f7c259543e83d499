import pytest

from apps.metrics.measures.registry import parse_measures
from apps.metrics.scoring import conventions

START = "Equal scores rank by id, descending. Judged queries missing from a run count as zero"


@pytest.mark.parametrize(
    ("measures", "said"),
    [
        (
            "nDCG@10 P@5",
            f"{START}. Gain linear, relevant from grade 1, unjudged counts as not relevant.",
        ),
        (
            "nDCG(dcg='exp-log2') nDCG nDCG(dcg='jk') AP(rel=2) RR",
            f"{START}. Gain linear or exponential or linear with the discount of 2002, relevant from grade 1 or 2, "
            "unjudged counts as not relevant.",
        ),
        ("P(judged_only=True)@5", f"{START}. Relevant from grade 1, unjudged blocks are left out."),
        (
            "P(judged_only=True)@5 P@5",
            f"{START}. Relevant from grade 1, unjudged counts as not relevant, and is left out where judged_only is "
            "named.",
        ),
        (
            "FailureRate@5 AP",
            f"{START}, in FailureRate as one. Relevant from grade 1, unjudged counts as not relevant.",
        ),
        (
            "FailureRate@5 Leaks(role='guest')@5",
            f"{START}, in FailureRate as one. Relevant from grade 1, unjudged counts as not relevant.",
        ),
        ("AbstentionRate FalseAnswerRate", f"{START}, in AbstentionRate as one. Unjudged counts as not relevant."),
        ("Judged@10", f"{START}. Unjudged counts as not relevant."),
    ],
)
def test_the_conventions_are_those_of_the_measures(measures, said):
    assert conventions(parse_measures(measures)) == said
