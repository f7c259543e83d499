import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np

from apps.evaluation.presenters import score_charts as charts
from apps.metrics.comparison import changes
from apps.metrics.estimate import QUERIES, QUESTIONS
from apps.metrics.statistics.families import Plan, standings
from apps.metrics.statistics.significance import Summary
from apps.metrics.statistics.strata import ComparedStratum
from tests.metrics.compared import compare

NASTY = '<script>"&'


def parsed(drawing: str) -> ElementTree.Element:
    return ElementTree.fromstring(str(drawing))


def classes(drawing: str, name: str) -> int:
    return sum(name in (element.get("class") or "").split() for element in parsed(drawing).iter())


def some_changes(count: int, *, id_of=lambda n: f"Q{n:03}", most=0.5, **options):
    baseline = np.full(count, 0.5)
    values = np.linspace(0.5 - most, 0.5 + most, count)
    return changes([id_of(n) for n in range(count)], baseline, values, **options)


def test_every_query_has_a_bar_and_the_worst_is_named():
    drawing = charts.deltas("nDCG@10", some_changes(41))

    assert classes(drawing, "down") == 20
    assert classes(drawing, "even") == 1
    assert classes(drawing, "up") == 20
    assert "Q000" in re.findall(r'class="flagtext halo"[^>]*>([^<]+)<', drawing)


def test_the_bar_is_drawn_where_the_project_has_set_it():
    drawing = charts.deltas("AP", some_changes(9, bar=0.25))

    assert "a drop below −0.25 needs an explanation" in drawing


def test_small_differences_have_numbers_of_their_own_beside_the_axis():
    drawing = charts.deltas("AP", some_changes(9, most=0.02))

    beside = re.findall(r'text-anchor="end"[^>]*>([+−]?[\d.]+)<', drawing)
    assert len(beside) == len(set(beside)) > 2


def test_one_query_and_two_thousand_can_be_drawn():
    for count in (1, 2_000):
        assert parsed(charts.deltas("AP", some_changes(count))) is not None


def test_a_rank_change_is_worded_from_either_side():
    stays, sinks, leaves = (
        charts.QueryMove("a", 2, 2, 1),
        charts.QueryMove("b", 1, 12, 3),
        charts.QueryMove("c", 3, None, 0),
    )

    assert [move.words(of_right=False) for move in (stays, sinks, leaves)] == ["stays", "to 12", "gone"]
    assert [move.words(of_right=True) for move in (stays, sinks, charts.QueryMove("d", None, 1, 0))] == [
        "stays",
        "from 1",
        "new",
    ]


def test_ids_and_names_from_files_are_escaped():
    rows = some_changes(5, id_of=lambda n: f"{NASTY}{n}")
    stratum = ComparedStratum(NASTY, 5, (Summary(0.5, (0.4, 0.6), 5),))

    for drawing in (
        charts.deltas(NASTY, rows),
        charts.delta_figures(rows, (NASTY, NASTY)),
        charts.stratum(stratum, [NASTY], charts.Bounds(0, 1)),
        charts.judged_curve({NASTY: [1.0, 0.5]}),
        charts.recall_curve({NASTY: [0.5] * 11}),
        charts.recall_figures({NASTY: [0.5] * 11}),
        charts.moves([charts.QueryMove(NASTY, 1, 2, 3)], 10),
    ):
        assert "<script" not in drawing


def test_no_chart_contains_a_style_attribute():
    rows = compare(["AP"], {"AP": np.array([0.1, 0.3])}, {"AP": np.array([0.2, 0.1])})
    bounds = charts.difference_bounds(rows)

    for drawing in (
        charts.deltas("AP", some_changes(12)),
        charts.difference_cell("AP", rows[0].difference, bounds),
        charts.head_cell(bounds, signs=True),
        charts.moves([charts.QueryMove("a", 1, 12, None), charts.QueryMove("b", None, 3, 1)], 10),
        charts.judged_curve({"a": [1.0, None], "b": []}),
        charts.recall_curve({"a": [0.5] * 11, "b": [1.0] * 11}),
    ):
        assert "style=" not in drawing


def test_a_settled_difference_is_filled_and_an_open_one_hollow():
    clear = compare(["AP"], {"AP": np.zeros(8)}, {"AP": np.full(8, 0.2)})[0].difference
    unclear = compare(["AP"], {"AP": np.array([0.0, 0.4])}, {"AP": np.array([0.4, 0.0])})[0].difference

    assert classes(charts.difference_cell("AP", clear, charts.Bounds(-1, 1)), "point") == 1
    assert classes(charts.difference_cell("AP", unclear, charts.Bounds(-1, 1)), "open") == 1


def test_a_block_in_both_lists_is_a_line_and_others_are_stubs():
    drawing = charts.moves(
        [
            charts.QueryMove("both", 1, 2, 3),
            charts.QueryMove("to", 3, 14, 0),
            charts.QueryMove("gone", 4, None, None),
            charts.QueryMove("from", 17, 1, 1),
            charts.QueryMove("new", None, 5, None),
        ],
        10,
    )

    assert classes(drawing, "strand") == 1
    words = [element.text for element in parsed(drawing).iter("text")]
    assert sorted(words) == ["from 17", "gone", "new", "to 14"]


def test_labels_of_curves_that_end_close_together_do_not_overlap():
    drawing = charts.judged_curve({"one": [1.0, 0.90], "two": [1.0, 0.91]})

    places = [float(element.get("y")) for element in parsed(drawing).iter("text") if element.get("class") == "strong"]
    assert abs(places[0] - places[1]) >= 15


def test_the_line_of_evidence_marks_where_it_was_settled_and_lists_what_it_draws():
    values = {"AP": np.full(900, 0.9)}
    (row,) = compare(["AP"], {"AP": np.zeros(900)}, values)

    (standing,) = standings(np.zeros((900, 1)), values["AP"][:, None])
    drawing = charts.evidence("AP", standing, QUERIES)
    listed = str(charts.evidence_figures(standing, QUERIES))

    assert "settled after 7 queries" not in drawing
    assert f"settled after {row.anytime.settled_after} queries" in drawing
    assert "over a million strongest" in drawing
    assert listed.count("<tr>") == 1 + 180
    assert '<td class="num">900</td>' in listed


def test_evidence_of_one_question_and_of_many_comparisons_can_be_drawn_with_the_number_that_is_planned():
    for count, family, plan in ((1, 1, None), (5, 60, Plan(40, 5, is_first=False))):
        standing = standings(np.zeros((count, family)), np.zeros((count, family)))[0]
        drawing = charts.evidence("AP", replace(standing, plan=plan), QUESTIONS)
        assert classes(drawing, "limit") == 1 + (plan is not None)
        assert ("strongest, corrected" in drawing) is (family > 1)
        assert ("planned: 40 questions" in drawing) is (plan is not None)
