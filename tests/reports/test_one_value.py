"""A comparison says the same wherever it is shown: in its sentence, tables, charts, the API and reports.

Each surface is read back as text, and what it prints is held against the one value that all of them were given.
"""

import html
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from django.template.loader import render_to_string
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.cli import scorecards
from apps.common.text.wording import interval, number, p_value, signed
from apps.evaluation.core.charts import delta_bars
from apps.evaluation.presenters import score_charts
from apps.evaluation.serializers.evaluations import MeasureComparisonSerializer
from apps.metrics.comparison import MeasureComparison, Regressions, RunComparison
from apps.metrics.measures.registry import parse_measure
from apps.metrics.scorecard import Scorecard, ScoredRun
from apps.metrics.scoring import RunScores
from apps.metrics.statistics.significance import EQUAL, FEWEST_FOR_A_VERDICT, LEVEL, summaries
from apps.reports.core.document import ReportChart, Table
from apps.reports.core.score_document import scored_document

MEASURES = {name: parse_measure(name) for name in ("nDCG@10", "FailureRate@10")}
"""One where more is better and one where less is."""
VALUES = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))
TAG = re.compile(r"<[^>]+>")


@st.composite
def comparisons(draw) -> Scorecard:
    """Two runs on one to nine queries, by both measures."""
    n = draw(st.integers(1, 9))
    column = st.lists(VALUES, min_size=n, max_size=n)
    runs = [run_of(tag, np.array([draw(column) for _ in MEASURES]).T) for tag in ("bm25", "dense")]
    queries = tuple(f"Q{place}" for place in range(1, n + 1))
    return Scorecard(MEASURES, queries, n, runs, confidence=0.95, seed=20).compared()


def run_of(tag: str, values: np.ndarray) -> ScoredRun:
    return ScoredRun(tag, RunScores(values, summaries(list(MEASURES.values()), values), 0.9, len(values), 0), ())


every_comparison = pytest.mark.parametrize("measure", MEASURES)


def checked(test):
    return settings(max_examples=25, deadline=None)(given(card=comparisons())(test))


def of(card: Scorecard, measure: str) -> tuple[RunComparison, MeasureComparison]:
    (compared,) = card.comparisons
    found = compared.measure(measure)
    assert found is not None
    return compared, found


def plain(markup: str) -> str:
    return " ".join(html.unescape(TAG.sub(" ", markup)).split())


def cells_of(table: str, measure: str) -> list[str]:
    """The cells of the table's row of this measure, as text."""
    row = next(row for row in re.findall(r"<tr>.*?</tr>", table, re.S) if f"<code>{measure}</code>" in row)
    return [plain(cell) for cell in re.findall(r"<t[dh][ >].*?</t[dh]>", row, re.S)]


@every_comparison
@checked
def test_the_sentence_says_what_the_api_says(measure, card):
    compared, found = of(card, measure)
    fell = Regressions(len(compared.drops(measure)), 0)
    sentence, method = compared.verdict_lines(found, fell)
    more = {"regressions": 0, "unexplained": 0, "p_corrected": found.corrected}
    told = json.loads(json.dumps(MeasureComparisonSerializer({**found.as_json, **more}).data))
    figure = told["difference"]

    if figure["low"] is None:
        assert (figure["n"], figure["reason"]) == (1, "One value is too few for an interval.")
        assert sentence == "One query is too few to compare dense with bm25."
        return
    if figure["n"] < FEWEST_FOR_A_VERDICT:
        assert sentence.startswith(f"{figure['n']} queries are too few to tell dense and bm25 apart on {measure}")
        assert told["verdict"] == "not settled"
        return
    assert f"could be {signed(figure['low'])} to {signed(figure['high'])}." in sentence
    assert f"p = {number(told['p_holm'], 4 if told['p_holm'] < 0.01 else 3)} after Holm over 2" in method.replace(
        "\xa0", " "
    )
    is_open = figure["low"] <= 0 <= figure["high"] or told["p_holm"] >= LEVEL
    assert sentence.startswith("Cannot tell yet") is is_open
    assert (told["verdict"] == "not settled") is (figure["low"] <= 0 <= figure["high"] or told["p"] >= LEVEL)
    if is_open:
        among = ", among 2 differences," if told["verdict"].endswith("not after Holm") else ""
        assert sentence.startswith(f"Cannot tell yet{among} whether dense is better or worse than bm25: {measure} ")
    else:
        side = told["verdict"]
        assert sentence.startswith(f"dense is {side} than bm25 by {number(abs(figure['value']))} {measure}")
        assert (side == "better") is ((figure["value"] > 0) is (measure == "nDCG@10"))
    assert fell.words in method
    assert (told["rests_on"] is not None) is ("differ" in method)


@every_comparison
@checked
def test_the_table_of_the_page_and_its_chart_say_what_the_api_says(measure, card):
    compared, found = of(card, measure)
    told, figure = found.as_json, found.as_json["difference"]
    bounds = score_charts.difference_bounds(compared.measures)
    drawn = [(one, score_charts.difference_cell(one.measure, one.difference, bounds)) for one in compared.measures]
    shown = SimpleNamespace(names=compared.names, measure=measure, drawn=drawn, head="", correction="holm")

    cells = cells_of(render_to_string("evaluation/_measure_comparisons.html", {"comparison": shown}), measure)

    ends = None if figure["low"] is None else (figure["low"], figure["high"])
    assert cells[:4] == [measure, number(told["baseline"]), number(told["candidate"]), signed(figure["value"])]
    assert cells[5:8] == [interval(ends, 3, differences=True), str(figure["n"]), number(told["p_holm"], 4)]
    assert cells[8].startswith(told["verdict"])
    (chart,) = (str(drawing) for one, drawing in drawn if one.measure == measure)
    assert f"difference {signed(figure['value'])}, {interval(ends, 3, differences=True)}" in html.unescape(chart)
    assert ('class="open"' in chart) is (told["verdict"] == "not settled")


@every_comparison
@checked
def test_the_report_says_what_the_api_says(measure, card):
    compared, found = of(card, measure)
    told, figure = found.as_json, found.as_json["difference"]
    document = scored_document(card)
    part = next(one for one in document.parts if one.title == "dense against bm25")
    chart = next(block for block in part.blocks if isinstance(block, ReportChart))
    assert isinstance(chart.figures, Table)

    row = next(list(row) for row in chart.figures.rows if row[0] == measure)

    ends = None if figure["low"] is None else (figure["low"], figure["high"])
    assert row[1:4] == [number(told["baseline"], 4), number(told["candidate"], 4), signed(figure["value"], 4)]
    assert row[4:7] == [interval(ends, 4, differences=True), p_value(told["p"]), p_value(told["p_holm"])]
    counts = [told["better"], told["equal"], told["worse"], len(compared.drops(measure)), figure["n"]]
    assert row[7:] == [str(one) for one in counts]
    if measure == "nDCG@10":
        assert document.lead.startswith(compared.verdict_lines(found)[0].removesuffix("."))


@every_comparison
@checked
def test_the_command_line_says_what_the_api_says(measure, card):
    compared, found = of(card, measure)
    written = json.loads(scorecards.as_json(card))["comparisons"][0]["measures"][measure]
    table = scorecards.as_table(card)
    figure = found.as_json["difference"]

    block = next(part for part in table.split("\n\n") if part.startswith("dense against bm25"))
    line = next(line for line in block.splitlines() if line.startswith(measure))

    assert {key: written[key] for key in found.as_json} == json.loads(json.dumps(found.as_json))
    assert written["regressions"] == len(written["regressed"]) == len(compared.drops(measure))
    ends = [] if figure["low"] is None else [signed(figure["low"], 4), "to", signed(figure["high"], 4)]
    counts = [found.difference.better, found.difference.equal, found.difference.worse, written["regressions"]]
    p_values = [f"{written['p']:.4f}", f"{written['p_holm']:.4f}"]
    assert line.split() == [measure, signed(figure["value"], 4), *ends, *p_values, *map(str, counts), str(figure["n"])]


@every_comparison
@checked
def test_the_bars_of_the_queries_are_those_that_got_better_and_worse(measure, card):
    compared, found = of(card, measure)
    changes = compared.changes(measure)
    drawn = html.unescape(delta_bars(measure, changes))

    better = sum(change.gain > EQUAL for change in changes)
    worse = sum(change.gain < -EQUAL for change in changes)

    assert (better, worse) == (found.difference.better, found.difference.worse)
    assert all(f"<title>{change.query_id} {signed(change.change)}</title>" in drawn for change in changes)
    assert set(re.findall(r"\d+ better|\d+ worse", drawn)) <= {f"{better} better", f"{worse} worse"}
    assert [change.is_drop for change in changes] == sorted((change.is_drop for change in changes), reverse=True)
