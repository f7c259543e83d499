"""The reports of an evaluation and of a comparison, without what is hidden from the reader.

They use stored values only, so that the same rows give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from apps.evaluation import rules
from apps.evaluation.models import Evaluation, RegressionNote
from apps.evaluation.presenters.comparison import ComparisonSheet
from apps.evaluation.presenters.score_tables import EvaluationSheet, fields_of, open_labels
from apps.gates.models import GateResult
from apps.gates.selectors import gates
from apps.metrics.measures.entries import Measure
from apps.metrics.measures.registry import parse_measure
from apps.metrics.scorecard import Scorecard, ScoredRun, StratumScores, stratum_scores
from apps.metrics.scoring import RunScores
from apps.metrics.statistics.significance import DEFAULT_CONFIDENCE
from apps.metrics.statistics.strata import FEWEST_IN_STRATUM, Division
from apps.reports.core.document import Document
from apps.reports.core.score_document import scored_document
from apps.reports.core.version_document import ReportedGate, gates_parts

Facts = list[tuple[str, str]]


def evaluation_report(sheet: EvaluationSheet) -> Document:
    """One run on one split of a version: means, strata, and every query that the reader may see."""
    evaluation = sheet.evaluation
    measures = _measures(evaluation.measures)
    run = _scored(evaluation.run.tag, sheet, list(measures))
    card = _card(sheet, measures, [run])._replace(strata=list(_strata(sheet, [run])), with_queries=True)
    title = f"{evaluation.run.system.name}, {evaluation.run.tag}, on {ground_of(evaluation)}"
    document = scored_document(card, title=title, about=sheet.withheld, basis=basis_of([evaluation]))
    results = map(_gate_result, gates.results_on(evaluation))
    return document._replace(parts=[*gates_parts(results), *document.parts])


def _gate_result(result: GateResult) -> ReportedGate:
    rule, estimate = gates.rule_of(result.gate), result.estimate
    return ReportedGate(rule, result.get_state_display(), result.words, estimate.value, estimate.interval, result.n)


def comparison_report(sheet: ComparisonSheet) -> Document:
    """A candidate against a baseline: verdict, differences, the queries that fell and the decisions on them."""
    sides = (sheet.baseline, sheet.candidate)
    names = [sheet.measure, *(row.measure for row in sheet.rows if row.measure != sheet.measure)]
    measures = _measures(names)
    runs = [_scored(name, side, names) for name, side in zip(sheet.names, sides, strict=True)]
    card = _card(sheet.candidate, measures, runs)
    compared = sheet.pair.comparison
    first = [one for one in compared.measures if one.measure == sheet.measure]
    others = [one for one in compared.measures if one.measure != sheet.measure]
    card = card._replace(
        comparisons=[replace(compared, measures=[*first, *others])],
        decisions=_decisions(sheet),
        strata=list(_strata(sheet.candidate, runs)),
    )
    title = f"{sheet.names[1]} against {sheet.names[0]} on {ground_of(sheet.candidate.evaluation)}"
    about = _closing(sheet) + sheet.candidate.withheld
    return scored_document(card, title=title, about=about, basis=basis_of([side.evaluation for side in sides]))


def _closing(sheet: ComparisonSheet) -> list[str]:
    """By which measure and when it was closed, with the verdict of that day if it is another today."""
    if sheet.closed is None:
        return []
    words = f"Closed by {sheet.closed.measure} on {sheet.closed.closed_at:%Y-%m-%d}"
    return [f"{words}." if sheet.closed.verdict == sheet.verdict else f"{words}: {sheet.closed.verdict}"]


def _measures(names: Sequence[str]) -> dict[str, Measure]:
    return {name: parse_measure(name) for name in names}


def _scored(tag: str, sheet: EvaluationSheet, names: Sequence[str]) -> ScoredRun:
    counts, scores = sheet.evaluation.counts, [sheet.scores[name] for name in names]
    values = RunScores(
        values=np.column_stack([sheet.values[name] for name in names]),
        summaries=[score.summary for score in scores],
        judged_at_10=sheet.judged.mean if sheet.judged else None,
        answered=counts["in_run"],
        missing=counts["missing"],
    )
    people = [score.people for score in scores]
    judged = sheet.judged.summary if sheet.judged else None
    return ScoredRun(tag, values, people=people if any(people) else (), judged=judged)


def _card(sheet: EvaluationSheet, measures: dict[str, Measure], runs: Sequence[ScoredRun]) -> Scorecard:
    evaluation = sheet.evaluation
    return Scorecard(
        measures=measures,
        queries=tuple(evaluation.query_ids),
        with_relevant=evaluation.counts["with_relevant"],
        runs=runs,
        confidence=DEFAULT_CONFIDENCE,
        seed=evaluation.seed,
        visible=sheet.visible,
        fewest=FEWEST_IN_STRATUM,
    )


def _strata(sheet: EvaluationSheet, runs: Sequence[ScoredRun]) -> Iterator[StratumScores]:
    """The strata of every field that divides the queries, as on the pages."""
    values = [run.scores.values for run in runs]
    labels = open_labels(sheet)
    for field, words in fields_of(sheet.queries).items():
        division = Division(words.lower(), tuple(labels[field]))
        yield from stratum_scores(division, values, confidence=DEFAULT_CONFIDENCE, with_interval=True)


def _decisions(sheet: ComparisonSheet) -> dict[tuple[str, str], str]:
    """The decision on every drop of these two runs, by measure and query."""
    notes = RegressionNote.objects.filter(
        baseline=sheet.baseline.evaluation, candidate=sheet.candidate.evaluation
    ).order_by("pk")
    return {
        (note.measure, note.query_id_text): ": ".join(filter(None, [note.get_decision_display(), note.explanation]))
        for note in notes
    }


def ground_of(evaluation: Evaluation) -> str:
    version = evaluation.version
    return f"{version.gold_set.name} {version.label}, {rules.ground_words(evaluation)}"


def basis_of(evaluations: Sequence[Evaluation]) -> Facts:
    version = evaluations[0].version
    facts = [
        ("Gold set", f"{version.gold_set.name} {version.label}"),
        ("Digest of the version", version.digest),
        ("Split", rules.ground_words(evaluations[0])),
        ("Snapshot", version.snapshot.name),
        ("Digest of the snapshot", version.snapshot.digest),
        *([("Hit rule", evaluations[0].hit)] if evaluations[0].hit else []),
    ]
    for evaluation in evaluations:
        run = evaluation.run
        facts.append((f"Run {run.tag}", f"{run.system.name}, rankings {run.digest}"))
    return [*facts, ("Made with", f"Karat {version.manifest['software']['version']}")]
