"""What a report of scores and of comparisons says."""

from dataclasses import replace

import numpy as np
import pytest

from apps.metrics.measures.registry import parse_measure
from apps.metrics.scorecard import Input, Scorecard, ScoredRun
from apps.metrics.scoring import RunScores
from apps.metrics.statistics.significance import summaries
from apps.metrics.statistics.strata import Division
from apps.reports.core.document import ReportChart, ReportSection, Table
from apps.reports.core.score_document import scored_document
from apps.reports.formats.html import as_html

NAMES = ("nDCG@10", "RR")
MEASURES = {name: parse_measure(name) for name in NAMES}
QUERIES = tuple(f"Q{n:02}" for n in range(20))
LOW = np.column_stack([np.linspace(0.0, 0.6, 20), np.linspace(0.1, 0.5, 20)])


def run_of(tag: str, values: np.ndarray) -> ScoredRun:
    return ScoredRun(tag, RunScores(values, summaries(list(MEASURES.values()), values), 0.9, len(values), 0), ())


def card_of(*runs: ScoredRun, **fields) -> Scorecard:
    return Scorecard(MEASURES, QUERIES, 19, runs, confidence=0.95, seed=20, **fields)


def compared(candidate: np.ndarray, **fields) -> Scorecard:
    return card_of(run_of("base", LOW), run_of("new", candidate), **fields).compared()


def part(card: Scorecard, title: str) -> ReportSection:
    return next(one for one in scored_document(card).parts if one.title == title)


def rows_of(part: ReportSection) -> list:
    tables = [block.figures if isinstance(block, ReportChart) else block for block in part.blocks]
    return [list(row) for table in tables if isinstance(table, Table) for row in table.rows]


def test_the_lead_of_one_run_is_its_first_measure_with_interval_and_n():
    lead = scored_document(card_of(run_of("base", LOW))).lead

    assert lead.startswith("base has nDCG@10 0.3000, 95 % [0.")
    assert lead.endswith("], n 20.")


def test_the_lead_of_several_runs_names_the_highest_and_who_may_be_as_good():
    near = LOW + 0.3 + np.tile([[0.2], [-0.2]], (10, 1))

    lead = scored_document(card_of(run_of("base", LOW), run_of("far", LOW + 0.35), run_of("near", near))).lead

    assert lead.startswith("Of 3 runs far has the highest nDCG@10, 0.6500")
    assert lead.endswith("; not told apart from near.")


def test_the_lead_of_a_comparison_is_its_verdict():
    lead = scored_document(compared(LOW + 0.05)).lead

    assert lead.startswith("new is better than base by 0.050 nDCG@10; the difference could be +")
    assert "after Holm over 2; no drop." in lead


def test_a_comparison_says_how_far_its_evidence_is_and_what_one_look_is_good_for():
    card = compared(LOW + 0.05)

    page = as_html(scored_document(card))
    (row, _) = card.comparisons[0].measures

    assert f"nDCG@10: {row.decides_words(2)}" in page
    assert "the evidence after Holm over 2 is 0.60, and 20 is needed" in page
    assert "Interval and p are right for one look" in page
    assert row.anytime.strongest_words in [cell for cells in rows_of(part(card, "new against base")) for cell in cells]


def test_every_value_has_its_interval_its_n_and_the_share_judged():
    rows = rows_of(part(card_of(run_of("base", LOW)), "Measures"))

    assert [row[0] for row in rows] == ["nDCG@10", "RR", "judged@10"]
    assert rows[0][2] == "0.3000"
    assert " to " in rows[0][3]
    assert rows[0][4] == "20"


def test_what_has_no_value_says_so():
    nothing = np.full((20, 2), np.nan)
    scores = RunScores(nothing, summaries(list(MEASURES.values()), nothing), None, 0, 20)
    empty = ScoredRun("base", scores, ())

    rows = rows_of(part(card_of(empty), "Measures"))

    assert {row[2] for row in rows} == {"not defined"}
    assert scored_document(card_of(empty)).lead == "nDCG@10 is not defined for any query."


def test_definitions_denominators_seed_and_digests_are_there():
    card = card_of(run_of("base", LOW), inputs=[Input("judgements", "qrels.txt", "f" * 64)])

    written = as_html(scored_document(card))

    assert MEASURES["nDCG@10"].entry.source.split(",")[0] in written
    assert "20 queries judged, 19 with a relevant block." in written
    assert "scaled by the scatter over queries" in written
    assert "f" * 64 in written


def test_without_intervals_none_is_shown():
    card = compared(LOW + 0.05, with_intervals=False)

    document = scored_document(card)

    assert document.lead.startswith("new minus base on nDCG@10 is +0.050, p")
    assert "scatter" not in as_html(document)


def test_drops_are_shown_with_their_decisions():
    candidate = LOW.copy()
    candidate[10:12, 0] = 0.0
    card = compared(candidate, decisions={("nDCG@10", "Q10"): "accept: a rare word"})

    rows = rows_of(part(card, "Drops of new"))

    assert [(row[1], row[-1]) for row in rows] == [("Q11", "not explained yet"), ("Q10", "accept: a rare word")]
    assert scored_document(card).lead.endswith("2 drops, 1 unexplained.")


def test_sealed_queries_are_in_no_table():
    candidate = LOW.copy()
    candidate[10:12, 0] = 0.0
    visible = [query != "Q11" for query in QUERIES]
    card = compared(candidate, visible=visible, with_queries=True)

    written = as_html(scored_document(card))

    assert "Q10" in written
    assert "Q11" not in written
    assert "1 query not shown here, but counted in the means" in written


def test_strata_are_drawn_side_by_side_on_one_scale():
    runs = [run_of("base", LOW), run_of("new", LOW + 0.1)]
    division = Division("domain", tuple("tax" if n < 8 else "visa" if n < 18 else "" for n in range(20)))

    found = part(card_of(*runs).by_strata([division]), "By domain")

    legend, *drawings = found.blocks[0].drawings
    assert 'aria-label="From the top: base, new"' in legend
    assert [("visa" in one, "tax" in one) for one in drawings] == [(True, False), (False, True)]
    assert [row[0] for row in rows_of(found)[:1]] == ["visa"]
    assert found.blocks[-1].text == "2 of 20 queries are in no domain."


def test_small_strata_are_counted_and_a_known_field_has_its_word():
    division = Division("query_type", tuple("lookup" if n < 3 else "how-to" for n in range(20)))

    found = part(card_of(run_of("base", LOW), fewest=5).by_strata([division]), "By type")

    assert len(found.blocks[0].drawings) == 1, "one run needs no legend"
    assert {row[0] for row in rows_of(found)} == {"how-to"}
    assert [block.text for block in found.blocks[1:]] == ["1 stratum of fewer than 5 queries is left out."]


def test_queries_needed_are_rounded_for_planning():
    card = compared(LOW + np.linspace(-0.05, 0.1, 20)[:, None])
    (found,) = card.comparisons
    needed = {"nDCG@10": 711_818, "RR": 1_201}
    planned = [one._replace(supplement=one.supplement._replace(needed=needed[one.measure])) for one in found.measures]

    shown = part(card._replace(comparisons=[replace(found, measures=planned)]), "new against base")

    assert [row[-1] for row in rows_of(shown)[-2:]] == ["720,000", "1,300"]


@pytest.mark.parametrize("count", [1, 3])
def test_every_candidate_has_a_part_of_its_own(count):
    runs = [run_of("base", LOW), *(run_of(f"new{n}", LOW + 0.01 * n) for n in range(count))]

    document = scored_document(card_of(*runs).compared())

    assert sum(one.title.endswith("against base") for one in document.parts) == count
