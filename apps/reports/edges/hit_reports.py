"""The reports of scores by triples, without what is hidden from the reader. They use stored values only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from apps.evaluation.core.question_kinds import FIELDS
from apps.evaluation.edges.hit_comparison import HitComparison
from apps.evaluation.edges.hit_sheets import HitSheet, kind_rows
from apps.metrics.measures.entries import Measure
from apps.metrics.measures.registry import parse_measure
from apps.metrics.scorecard import Scorecard, ScoredRun, StratumScores
from apps.metrics.scoring import RunScores
from apps.metrics.statistics.significance import DEFAULT_CONFIDENCE
from apps.metrics.statistics.strata import FEWEST_IN_STRATUM
from apps.reports.core.document import Document
from apps.reports.core.score_document import scored_document
from apps.reports.edges.score_reports import basis_of, ground_of


def hit_evaluation_report(sheet: HitSheet) -> Document:
    """One run on the triples of one split of a version: means, kinds of questions, and every question to be seen."""
    evaluation = sheet.evaluation
    measures = {name: parse_measure(name) for name in evaluation.measures}
    card = _card([sheet], [evaluation.run.tag], measures)._replace(with_queries=True)
    title = f"{evaluation.run.system.name}, {evaluation.run.tag}, on the Q&As of {ground_of(evaluation)}"
    return scored_document(card, title=title, about=sheet.withheld, basis=basis_of([evaluation]))


def hit_comparison_report(sheet: HitComparison) -> Document:
    """Two runs on the same triples: the finding, differences with the exact test, kinds of questions."""
    sides, compared = [sheet.baseline, sheet.candidate], sheet.pair.comparison
    first = [one for one in compared.measures if one.measure == sheet.measure]
    others = [one for one in compared.measures if one.measure != sheet.measure]
    names = [one.measure for one in (*first, *others)]
    card = _card(sides, list(sheet.names), {name: parse_measure(name) for name in names})
    card = card._replace(comparisons=[replace(compared, measures=[*first, *others])])
    title = f"{sheet.names[1]} against {sheet.names[0]} on the Q&As of {ground_of(sheet.candidate.evaluation)}"
    about = [sheet.finding, sheet.lead, sheet.method, *sheet.candidate.withheld]
    return scored_document(card, title=title, about=about, basis=basis_of([side.evaluation for side in sides]))


def _card(sheets: Sequence[HitSheet], tags: Sequence[str], measures: dict[str, Measure]) -> Scorecard:
    evaluation = sheets[-1].evaluation
    return Scorecard(
        measures=measures,
        queries=tuple(evaluation.query_ids),
        with_relevant=len(evaluation.query_ids),
        runs=[_scored(tag, sheet, list(measures)) for tag, sheet in zip(tags, sheets, strict=True)],
        confidence=DEFAULT_CONFIDENCE,
        seed=evaluation.seed,
        strata=list(_strata(sheets, list(measures))),
        visible=sheets[-1].visible,
        fewest=FEWEST_IN_STRATUM,
        hit=sheets[-1].rule,
        undefined=evaluation.counts["undefined"],
        unreadable=sum(sheet.evaluation.counts["unreadable"] for sheet in sheets),
    )


def _scored(tag: str, sheet: HitSheet, names: Sequence[str]) -> ScoredRun:
    counts = sheet.evaluation.counts
    values = RunScores(
        values=np.column_stack([sheet.values[name] for name in names]),
        summaries=[sheet.scores[name].summary for name in names],
        judged_at_10=None,
        answered=counts["questions"] - counts["missing"],
        missing=counts["missing"],
    )
    return ScoredRun(tag, values)


def _strata(sheets: Sequence[HitSheet], names: Sequence[str]) -> Iterator[StratumScores]:
    """Every kind of question with enough of them, by field."""
    by_measure = [kind_rows(sheets, name)[1:] for name in names]
    for rows in zip(*by_measure, strict=True):
        one = rows[0]
        summaries = tuple([row.summaries[place] for row in rows] for place in range(len(sheets)))
        yield StratumScores(FIELDS[one.field].lower(), one.name, one.n, summaries)
