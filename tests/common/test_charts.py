from xml.etree import ElementTree

import pytest

from apps.common.drawing.charts import (
    Bar,
    BarPart,
    DrawnEstimate,
    Period,
    control_chart,
    estimate_figures,
    estimates,
    figures,
    meter,
    parts_bar,
    plot,
    target_bars,
    ticks,
    two_lines,
    undefined_note,
)


def titles(svg):
    return [node.text for node in ElementTree.fromstring(svg).iter("title")]


@pytest.mark.parametrize(
    ("low", "high", "values"),
    [(0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1.0]), (0, 50, [0, 10, 20, 30, 40, 50]), (-0.2, 0.35, [-0.2, 0, 0.2])],
)
def test_ticks_are_round_and_few(low, high, values):
    assert ticks(low, high) == values


def test_an_estimate_shows_value_interval_and_n():
    svg = estimates("Agreement", [DrawnEstimate("All judges", 0.71, 0.66, 0.76, 412, "α ordinal")])

    assert titles(svg) == ["Agreement", "All judges, α ordinal: 0.71, 0.66 to 0.76, n 412"]


def test_an_undefined_estimate_is_two_words_with_the_reason_as_title():
    svg = estimates("Agreement", [DrawnEstimate("A and B", None, why="One grade only.")])

    assert titles(svg) == ["Agreement", "A and B: not defined. One grade only."]
    assert ">not defined</text>" in svg
    assert "<circle" not in svg


def test_an_estimate_without_an_interval_says_why_in_chart_and_figures():
    row = DrawnEstimate("The question", -0.01, n=4, why="interval too wide", open=True)

    assert titles(estimates("Agreement", [row]))[1] == "The question: −0.01, interval too wide, n 4"
    assert "whisker" not in estimates("Agreement", [row])
    assert '<td class="num">interval too wide</td>' in estimate_figures([row])


def test_the_note_of_undefined_estimates_has_each_reason_once():
    rows = [
        DrawnEstimate("A", None, why="One grade only."),
        DrawnEstimate("B", 0.5, 0.4, 0.6, 9),
        DrawnEstimate("C", None, why="One grade only."),
        DrawnEstimate("D", None),
    ]

    assert undefined_note(rows) == "Not defined for A, C: one grade only. Not defined for D: too few items."
    assert undefined_note(rows[1:2]) == ""


def test_the_axis_reaches_below_zero_when_a_coefficient_does():
    svg = estimates("Agreement", [DrawnEstimate("Reviewers", -0.12, -0.3, 0.05, 9)])

    assert ">−0.5</text>" in svg


def test_labels_are_escaped():
    svg = estimates("<script>", [DrawnEstimate('"><script>alert(1)</script>', 0.5, n=3)])

    assert "<script>" not in svg
    ElementTree.fromstring(svg)


def test_a_bar_of_parts_leaves_out_what_is_empty():
    svg = parts_bar("535 triples", [BarPart("accepted", 412, "part-accepted"), BarPart("draft", 0, "part-draft")])

    assert titles(svg) == ["535 triples", "accepted: 412"]


def test_a_bar_of_nothing_is_a_track():
    assert "track" in parts_bar("no triples", [])


def test_small_parts_stay_visible_and_the_bar_keeps_its_width():
    svg = parts_bar("n", [BarPart("many", 100_000, "a"), BarPart("one", 1, "b")], width=100)
    widths = [float(node.get("width")) for node in ElementTree.fromstring(svg).iter("rect")]

    assert widths[1] > 2.5
    assert sum(widths) + 2 == pytest.approx(100, abs=0.2)


def test_a_period_outside_its_limit_is_named():
    svg = control_chart("Flag rate", [Period("42", 6, 55, 0.28), Period("43", 14, 46, 0.279)], mean=0.13)

    assert "week 43: 14 of 46 flagged, 30 %, outside the limit" in titles(svg)


def test_bars_state_their_target():
    assert titles(target_bars("Mix", [Bar("Interview", 203, 0.38, 0.4)]))[1] == "Interview: 203, 38 %, target 40 %"


def test_every_chart_is_well_formed_for_no_data_too():
    for svg in (
        estimates("n", []),
        parts_bar("n", []),
        meter("n", 0, 0),
        target_bars("n", []),
        control_chart("n", [], mean=0),
    ):
        ElementTree.fromstring(svg)


def test_figures_contain_the_same_numbers_as_the_chart():
    table = estimate_figures([DrawnEstimate("All", 0.71, 0.66, 0.76, 412, "α"), DrawnEstimate("B", None)])

    assert '<td class="num">not defined</td>' in table

    assert '<td class="num">0.66 to 0.76</td><td class="num">412</td>' in table
    assert "<td>&lt;b&gt;</td>" in figures(["a"], [["<b>"]])


def test_what_scrolls_is_reached_by_keyboard_and_named():
    chart = plot(estimates('Agreement of "A" & B', [DrawnEstimate("All", 0.71)]), caption="Red: below 0.4")
    table = figures(["a"], [["1"]])

    figure = ElementTree.fromstring(chart)
    assert (figure.get("tabindex"), figure.get("role"), figure.get("aria-label")) == (
        "0",
        "group",
        'Agreement of "A" & B',
    )
    assert '<div class="scroll" tabindex="0" role="group" aria-label="Figures">' in table


def test_a_long_label_is_divided_at_a_space_before_it_is_cut():
    assert two_lines("Public tenders", 22) == ["Public tenders"]
    assert two_lines("Search log of the help centre", 22) == ["Search log of the help", "centre"]
    assert two_lines("Answers that were wrong and what people then asked", 22) == [
        "Answers that were",
        "wrong and what people…",
    ]
    assert two_lines("a" * 30, 22) == ["a" * 22, "a" * 8]


def test_values_end_below_each_other_with_their_unit():
    svg = estimates(
        "Rates", [DrawnEstimate("A", 14.7), DrawnEstimate("B", 6.7)], high=20, bands=False, places=1, unit=" %"
    )

    values = [node for node in ElementTree.fromstring(svg).iter("text") if node.text in {"14.7 %", "6.7 %"}]
    assert [(node.get("text-anchor"), node.get("x")) for node in values] == [("end", "590")] * 2


def test_charts_of_estimates_have_separate_layers_so_that_a_phone_can_fold_them():
    root = ElementTree.fromstring(
        estimates("Agreement", [DrawnEstimate("All judges", 0.71, 0.66, 0.76, 412, "α ordinal")])
    )

    layers = {layer.get("class"): [node.text for node in layer.iter("text")] for layer in root.iterfind("g")}
    assert layers["names"] == ["All judges", "α ordinal"]
    assert layers["values"] == ["0.71", "n 412"]
    assert (root.get("class"), root.get("preserveAspectRatio")) == ("chart folds", "xMinYMin slice")
