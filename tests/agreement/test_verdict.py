"""Is agreement good enough, in one sentence with its figure."""

import pytest

from apps.agreement.core.attention import tightening_of, verdict_of
from apps.metrics.estimate import Estimate


@pytest.mark.parametrize(
    ("value", "ends", "begins"),
    [
        (0.58, (0.52, 0.64), "Not yet: annotators agree at 0.58, 0.52 to 0.64. The bar is 0.6."),
        (0.66, (0.55, 0.74), "Perhaps: annotators agree at 0.66, 0.55 to 0.74."),
        (0.60, (0.60, 0.61), "Yes: annotators agree at 0.60, 0.60 to 0.61."),
        (0.81, (0.75, 0.86), "Yes: annotators agree at 0.81, 0.75 to 0.86."),
        (0.71, None, "Not known yet: 40 pairs are too few to tell how far annotators agree; so far it is 0.71."),
    ],
)
def test_the_answer_comes_first_and_the_figure_with_it(value, ends, begins):
    assert verdict_of(Estimate.of(value, ends, 40)).startswith(begins)


def test_below_fifteen_queries_the_interval_is_called_a_rough_guide():
    figure = Estimate.of(0.66, (0.55, 0.74), 40)

    assert verdict_of(figure, queries=14).endswith(
        "The bar of 0.6 lies inside, so more queries judged twice would settle it. The interval comes from 14 queries"
        " only; with fewer than 15 it is a rough guide."
    )
    assert "rough" not in verdict_of(figure, queries=15) + verdict_of(figure, "reviewers", "Q&As")
    assert "so more Q&As judged twice" in verdict_of(figure, "reviewers", "Q&As")
    few = verdict_of(Estimate.of(0.66, None, 40), queries=1)
    assert few == "Not known yet: 40 pairs of 1 query are too few to tell how far annotators agree; so far it is 0.66."


def test_an_undefined_figure_gives_its_reason():
    assert verdict_of(Estimate.of(None, None, 4, reason="Only one category.")) == "Not known yet: only one category."
    assert verdict_of(Estimate.of(None, None, 0)) == "Not known yet: no pair has two grades."


@pytest.mark.parametrize(("share", "is_asked"), [(None, False), (0.0, True), (0.69, True), (0.7, False), (1.0, False)])
def test_below_seventy_percent_of_equal_grades_the_definitions_need_tightening(share, is_asked):
    asked = tightening_of(Estimate.of(share, None, 40))

    assert bool(asked) == is_asked
    assert ("definitions of the grades need to be tightened" in asked) == is_asked
