"""The reports of an evaluation and of a comparison, as far as a person may see them.

Made from what is stored, so that the same rows give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from apps.evaluation import rules
from apps.evaluation.edges.comparison import ComparisonSheet
from apps.evaluation.edges.sheets import EvaluationSheet
from apps.evaluation.edges.strata import fields_of, stratum_of
from apps.evaluation.models import Evaluation, RegressionNote
from apps.gates.models import GateResult
from apps.gates.selectors import gates
from apps.metrics.comparison import FEWEST_IN_STRATUM
from apps.metrics.files.strata import QueryDivision, stratum_scores
from apps.metrics.measures import Measure, parse_measure
from apps.metrics.scorecard import Scorecard, ScoredRun, StratumScores
from apps.metrics.scoring import RunScores
from apps.metrics.statistics.significance import DEFAULT_CONFIDENCE
from apps.reports.core.document import Document
from apps.reports.core.gate_parts import Decided, gates_parts
from apps.reports.core.score_document import scored_document

Facts = list[tuple[str, str]]


def evaluation_report(sheet: EvaluationSheet) -> Document:
    """One run on one side of a version: means, strata, every query that may be seen."""
    evaluation = sheet.evaluation
    measures = _measures(evaluation.measures)
    run = _scored(evaluation.run.tag, sheet, list(measures))
    card = _card(sheet, measures, [run])._replace(strata=list(_strata(sheet, [run])), with_queries=True)
    title = f"{evaluation.run.system.name}, {evaluation.run.tag}, on {_ground(evaluation)}"
    document = scored_document(card, title=title, about=_sealed(sheet), basis=_basis([evaluation]))
    decided = map(_decided, gates.results_on(evaluation))
    return document._replace(parts=[*gates_parts(decided), *document.parts])


def _decided(result: GateResult) -> Decided:
    rule, found = gates.rule_of(result.gate), result.estimate
    return Decided(rule, result.get_state_display(), result.words, found.value, found.interval, result.n)


def comparison_report(found: ComparisonSheet) -> Document:
    """A candidate against a baseline: verdict, differences, what fell and what was decided about it."""
    sheets = (found.baseline, found.candidate)
    names = [found.measure, *(row.measure for row in found.rows if row.measure != found.measure)]
    measures = _measures(names)
    runs = [_scored(name, sheet, names) for name, sheet in zip(found.names, sheets, strict=True)]
    card = _card(found.candidate, measures, runs)
    compared = found.pair.comparison
    first = [one for one in compared.measures if one.measure == found.measure]
    others = [one for one in compared.measures if one.measure != found.measure]
    card = card._replace(
        comparisons=[replace(compared, measures=[*first, *others])],
        decisions=_decisions(found),
        strata=list(_strata(found.candidate, runs)),
    )
    evaluation = found.candidate.evaluation
    about = _closing(found)
    title = f"{found.names[1]} against {found.names[0]} on {_ground(evaluation)}"
    about += _sealed(found.candidate)
    return scored_document(card, title=title, about=about, basis=_basis([sheet.evaluation for sheet in sheets]))


def _closing(found: ComparisonSheet) -> list[str]:
    """That it was closed, and what it then said where that reads otherwise now."""
    if found.closed is None:
        return []
    said = f"Closed by {found.closed.measure} on {found.closed.closed_at:%Y-%m-%d}"
    return [f"{said}." if found.closed.verdict == found.verdict else f"{said}: {found.closed.verdict}"]


def _measures(names: Sequence[str]) -> dict[str, Measure]:
    return {name: parse_measure(name) for name in names}


def _scored(tag: str, sheet: EvaluationSheet, names: Sequence[str]) -> ScoredRun:
    counts, scores = sheet.evaluation.counts, [sheet.scores[name] for name in names]
    found = RunScores(
        values=np.column_stack([sheet.values[name] for name in names]),
        summaries=[score.summary for score in scores],
        judged_at_10=sheet.judged.mean if sheet.judged else None,
        answered=counts["in_run"],
        missing=counts["missing"],
    )
    people = [score.people for score in scores]
    judged = sheet.judged.summary if sheet.judged else None
    return ScoredRun(tag, found, people=people if any(people) else (), judged=judged)


def _card(sheet: EvaluationSheet, measures: dict[str, Measure], runs: Sequence[ScoredRun]) -> Scorecard:
    evaluation = sheet.evaluation
    return Scorecard(
        measures=measures,
        queries=tuple(evaluation.query_ids),
        with_relevant=evaluation.counts["with_relevant"],
        runs=runs,
        confidence=DEFAULT_CONFIDENCE,
        seed=evaluation.seed,
        told=sheet.visible,
        fewest=FEWEST_IN_STRATUM,
    )


def _strata(sheet: EvaluationSheet, runs: Sequence[ScoredRun]) -> Iterator[StratumScores]:
    """Every way in which the queries fall into strata, as on the pages."""
    values = [run.scores.values for run in runs]
    for field, words in fields_of(sheet.queries).items():
        division = QueryDivision(words.lower(), tuple(stratum_of(query, field) for query in sheet.queries))
        yield from stratum_scores(division, values, confidence=DEFAULT_CONFIDENCE, with_interval=True)


def _decisions(found: ComparisonSheet) -> dict[tuple[str, str], str]:
    """What was decided about every fall of this pair, by measure and query."""
    notes = RegressionNote.objects.filter(
        baseline=found.baseline.evaluation, candidate=found.candidate.evaluation
    ).order_by("pk")
    return {
        (note.measure, note.query_id_text): ": ".join(filter(None, [note.get_decision_display(), note.explanation]))
        for note in notes
    }


def _sealed(sheet: EvaluationSheet) -> list[str]:
    return [rules.SEALED] if sheet.hidden_count else []


def _ground(evaluation: Evaluation) -> str:
    version = evaluation.version
    return f"{version.gold_set.name} {version.label}, {rules.SPLIT_WORDS[evaluation.split]}"


def _basis(evaluations: Sequence[Evaluation]) -> Facts:
    version = evaluations[0].version
    facts = [
        ("Gold set", f"{version.gold_set.name} {version.label}"),
        ("Digest of the version", version.digest),
        ("Split", rules.SPLIT_WORDS[evaluations[0].split]),
        ("Snapshot", version.snapshot.name),
        ("Digest of the snapshot", version.snapshot.digest),
    ]
    for evaluation in evaluations:
        run = evaluation.run
        facts.append((f"Run {run.tag}", f"{run.system.name}, rankings {run.digest}"))
    return [*facts, ("Made with", f"Karat {version.manifest['software']['version']}")]
