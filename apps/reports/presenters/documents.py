"""The reports that pages and the API share, and their files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
from django.http import HttpResponse
from django.utils import timezone
from django.utils.text import slugify

from apps.accounts.models import User
from apps.accounts.selectors import Member
from apps.evaluation import rules
from apps.evaluation.actions.comparisons import record_comparisons
from apps.evaluation.core.basis import rule_name
from apps.evaluation.core.question_kinds import FIELDS
from apps.evaluation.models import Evaluation, RegressionNote
from apps.evaluation.presenters.comparison import ComparisonSheet
from apps.evaluation.presenters.hit_comparison import HitComparison, compared
from apps.evaluation.presenters.hit_score_tables import HitSheet, kind_rows
from apps.evaluation.presenters.score_tables import EvaluationSheet, fields_of, log_look, open_labels
from apps.evaluation.selectors import evaluations
from apps.evaluation.selectors.comparisons import ComparisonRefused
from apps.evaluation.selectors.evaluations import originals_in
from apps.gates import selectors as gates
from apps.gates.models import GateResult
from apps.goldsets.models import Version
from apps.goldsets.rules import blind_refusal, without_grades
from apps.metrics.expected.rules import counts_questions
from apps.metrics.measures.registry import parse_measure
from apps.metrics.scorecard import LOWER_END, Scorecard, ScoredRun, StratumScores
from apps.metrics.scoring import RunScores
from apps.metrics.statistics.significance import DEFAULT_CONFIDENCE
from apps.metrics.statistics.strata import FEWEST_IN_STRATUM, Division
from apps.reports.core.document import Document
from apps.reports.core.score_document import scored_document
from apps.reports.core.version_document import ReleaseSummary, ReportedGate, gates_parts, released_document
from apps.reports.formats.markdown import as_html, as_markdown
from apps.reports.presenters.negatives import visible_version
from apps.reports.presenters.version_reports.boards import (
    compared_pairs,
    comparison_section,
    negative_blocks,
    scored_boards,
    scores_with_values,
    split_board,
    strata_sections,
    to_compare,
)
from apps.reports.presenters.version_reports.gaps import gap_blocks
from apps.reports.presenters.version_reports.questions import (
    VersionQuestions,
    agreement_facts,
    basis_facts,
    counts_table,
    decision_blocks,
    digest_facts,
    guideline_texts,
    lead,
    sources_table,
)
from apps.reports.selectors.version_facts import facts_of

Facts = list[tuple[str, str]]


def evaluation_report(sheet: EvaluationSheet | HitSheet) -> Document:
    """One run on one split of a version: means, strata, and every query or question that the reader may see."""
    evaluation = sheet.evaluation
    card = _card([sheet], [evaluation.run.tag], evaluation.measures)._replace(with_queries=True)
    title = f"{evaluation.run.system.name}, {evaluation.run.tag}, on {_ground_of(evaluation)}"
    document = scored_document(card, title=title, about=_about(sheet), basis=_basis_of([evaluation]))
    if evaluation.counts_questions:
        return document
    results = map(_gate_result, gates.results_on(evaluation))
    return document._replace(parts=[*gates_parts(results), *document.parts])


def _about(sheet: EvaluationSheet | HitSheet) -> list[str]:
    """What its figures are worth, and what is not shown one by one."""
    left_out = sheet.left_out if isinstance(sheet, EvaluationSheet) else []
    return [*filter(None, [sheet.pooling_note]), *left_out, *sheet.withheld]


def _gate_result(result: GateResult) -> ReportedGate:
    rule, estimate = gates.rule_of(result.gate), result.estimate
    return ReportedGate(rule, result.get_state_display(), result.words, estimate.value, estimate.interval, result.n)


def comparison_report(sheet: ComparisonSheet | HitComparison) -> Document:
    """A candidate against a baseline: verdict, differences, strata; by grades also the decisions on what fell."""
    sides, compared = (sheet.baseline, sheet.candidate), sheet.compared
    first = [one for one in compared.measures if one.measure == sheet.measure]
    measures = [*first, *(one for one in compared.measures if one.measure != sheet.measure)]
    card = _card(sides, sheet.names, [one.measure for one in measures])
    card = card._replace(comparisons=[replace(compared, measures=measures)])
    if isinstance(sheet, HitComparison):
        about = [sheet.finding, sheet.lead, sheet.method]
    else:
        card, about = card._replace(decisions=_decisions(sheet)), _closing(sheet)
    title = f"{sheet.names[1]} against {sheet.names[0]} on {_ground_of(sheet.candidate.evaluation)}"
    basis = _basis_of([side.evaluation for side in sides])
    return scored_document(card, title=title, about=[*about, *_about(sheet.candidate)], basis=basis)


def _closing(sheet: ComparisonSheet) -> list[str]:
    """By which measure and when it was closed, with the verdict of that day if it is another today."""
    if sheet.closed is None:
        return []
    words = f"Closed by {sheet.closed.measure} on {sheet.closed.closed_at:%Y-%m-%d}"
    return [f"{words}." if sheet.closed.verdict == sheet.verdict else f"{words}: {sheet.closed.verdict}"]


def _card(sheets: Sequence[EvaluationSheet | HitSheet], tags: Sequence[str], names: Sequence[str]) -> Scorecard:
    """The scorecard of runs on the same queries or questions, with the strata of these."""
    last, evaluation = sheets[-1], sheets[-1].evaluation
    card = Scorecard(
        measures={name: parse_measure(name) for name in names},
        queries=tuple(evaluation.query_ids),
        with_relevant=evaluation.counts.get("with_relevant", len(evaluation.query_ids)),
        runs=[_scored(tag, sheet, names) for tag, sheet in zip(tags, sheets, strict=True)],
        confidence=DEFAULT_CONFIDENCE,
        seed=evaluation.seed,
        visible=last.visible,
        fewest=FEWEST_IN_STRATUM,
        originals=originals_in(evaluation),
    )
    if isinstance(last, EvaluationSheet):
        labels, fields = open_labels(last), fields_of(last.queries)
        return card.by_strata(Division(words.lower(), tuple(labels[field])) for field, words in fields.items())
    by_hits = [sheet for sheet in sheets if isinstance(sheet, HitSheet)]
    return card._replace(
        strata=list(_kinds(by_hits, names)),
        hit=last.rule,
        undefined=evaluation.counts["undefined"],
        unreadable=sum(sheet.evaluation.counts["unreadable"] for sheet in sheets),
    )


def _scored(tag: str, sheet: EvaluationSheet | HitSheet, names: Sequence[str]) -> ScoredRun:
    counts, scores = sheet.evaluation.counts, [sheet.scores[name] for name in names]
    judged = sheet.judged if isinstance(sheet, EvaluationSheet) else None
    values = RunScores(
        values=np.column_stack([sheet.values[name] for name in names]),
        summaries=[score.summary for score in scores],
        judged_at_10=judged.mean if judged else None,
        answered=len(sheet.evaluation.query_ids) - counts["missing"],
        missing=counts["missing"],
        if_judged=[sheet.evaluation.if_judged(name) for name in names] if "if_judged" in counts else (),
    )
    people = [score.people for score in scores]
    return ScoredRun(tag, values, people=people if any(people) else (), judged=judged.summary if judged else None)


def _kinds(sheets: Sequence[HitSheet], names: Sequence[str]) -> Iterator[StratumScores]:
    """Every kind of question with enough of them, by field."""
    by_measure = [kind_rows(sheets, name)[1:] for name in names]
    for rows in zip(*by_measure, strict=True):
        one = rows[0]
        summaries = tuple([row.summaries[place] for row in rows] for place in range(len(sheets)))
        yield StratumScores(FIELDS[one.field].lower(), one.name, one.n, summaries)


def _decisions(sheet: ComparisonSheet) -> dict[tuple[str, str], str]:
    """The decision on every drop of these two runs, by measure and query."""
    notes = RegressionNote.objects.filter(
        baseline=sheet.baseline.evaluation, candidate=sheet.candidate.evaluation
    ).order_by("pk")
    return {
        (note.measure, note.query_id_text): ": ".join(filter(None, [note.get_decision_display(), note.explanation]))
        for note in notes
    }


def _ground_of(evaluation: Evaluation) -> str:
    """ "the Q&As of Handbook v1, dev split"; by grades without the first words, and with "by text" where it is."""
    version = evaluation.version
    where = f"{version.gold_set.name} {version.label}, {rules.ground_words(evaluation)}"
    if evaluation.counts_questions:
        return f"the Q&As of {where}"
    return f"{where}, {rule_name(evaluation.hit)}" if evaluation.is_by_text else where


def _basis_of(evaluations: Sequence[Evaluation]) -> Facts:
    version = evaluations[0].version
    facts = [
        ("Gold set", f"{version.gold_set.name} {version.label}"),
        ("Digest of the version", version.digest),
        ("Split", rules.ground_words(evaluations[0])),
        ("Snapshot", version.snapshot.name),
        ("Digest of the snapshot", version.snapshot.digest),
        *([("Hit rule", evaluations[0].hit)] if evaluations[0].counts_questions else []),
        *([("By text", rule.words)] if evaluations[0].is_by_text and (rule := evaluations[0].rule) else []),
    ]
    for evaluation in evaluations:
        run = evaluation.run
        facts.append((f"Run {run.tag}", f"{run.system.name}, rankings {run.digest}"))
    return [*facts, ("Made with", f"Karat {version.manifest['software']['version']}")]


HTML = "html"
FORMS = {HTML: (as_html, "text/html"), "md": (as_markdown, "text/markdown")}
REVOKED = "It contains material whose permission has been revoked; downloads leave that out."


def evaluation_document(member: Member, pk: int) -> Document:
    """The report of one run on one version; logs a look at the test split. Raises Http404 and ComparisonRefused."""
    evaluation = evaluations.evaluation_in(member.project, pk)
    if not evaluation.is_scored:
        raise ComparisonRefused(f"{evaluation.run.tag} has not been scored yet, so it has no report.", code="waiting")
    sheet = HitSheet(evaluation, member) if evaluation.counts_questions else EvaluationSheet(evaluation, member)
    log_look(sheet, f"report of scores by {'question' if evaluation.counts_questions else 'query'}")
    return evaluation_report(sheet)


def comparison_document(member: Member, baseline: int, candidate: int, measure: str) -> Document:
    """The report of two runs, with the decisions on drops; logs and raises as `evaluation_document`."""
    first, second = evaluations.evaluations_with_values(member.project, baseline, candidate)
    sheet = compared(member, first, second, measure)
    sheet.log_look(f"report of a comparison by {'question' if second.counts_questions else 'query'}", timezone.now())
    return comparison_report(sheet)


def version_document(member: Member, version_pk: int) -> Document:
    """The report of a gold version and the runs on it. Raises Http404; leads alone see unreleased versions."""
    version = visible_version(member, version_pk)
    is_blind = blind_refusal(member) is not None
    return version_report(version, is_blind=is_blind, at=timezone.now(), reader=member.user)


def version_report(version: Version, *, is_blind: bool, at: datetime, reader: User | None = None) -> Document:
    """The report names no person and shows no single query.

    `is_blind`: for somebody who still judges, so without anything that tells grades. `at` is when permissions have to
    be valid. The comparisons in it go on record as looks of the `reader`.
    """
    manifest = without_grades(version.manifest) if is_blind else version.manifest
    boards = scored_boards(version)
    scores = scores_with_values(boards)
    facts = facts_of(version, (best for _, best, _ in to_compare(boards)), at=at)
    questions, pairs = VersionQuestions(version, facts.flags), compared_pairs(boards, scores, facts.backgrounds)
    if reader is not None:
        looks = [(pair, board.measures[0]) for board, pair in pairs]
        record_comparisons(looks=looks, actor=reader, at=at)
    return released_document(
        ReleaseSummary(
            name=f"{version.gold_set.name} {version.label}, {version.get_state_display().lower()}",
            lead=lead(version),
            about=[
                *filter(None, [manifest["note"]]),
                *([REVOKED] if facts.revoked else []),
                *([f"Scores on Q&As: {LOWER_END}"] if any(counts_questions(board.hit) for board in boards) else []),
            ],
            counts=counts_table(manifest["splits"]),
            boards=[split_board(board) for board in boards],
            comparisons=[comparison_section(board, pair) for board, pair in pairs],
            strata=strata_sections(questions, boards, scores),
            negatives=[] if is_blind else negative_blocks(version),
            agreement=agreement_facts(version),
            decisions=decision_blocks(questions, manifest),
            guideline=guideline_texts(version),
            sources=sources_table(manifest["sources"]) if manifest["sources"] else None,
            gaps=gap_blocks(questions, boards, facts, manifest, is_blind=is_blind),
            basis=basis_facts(manifest),
            digests=digest_facts(manifest),
            confidence=DEFAULT_CONFIDENCE,
        )
    )


def file_of(document: Document, form: str) -> HttpResponse:
    """The report as a download; `form` is a key of FORMS."""
    write, kind = FORMS[form]
    answer = HttpResponse(write(document), content_type=f"{kind}; charset=utf-8")
    name = slugify(document.title)[:100] or "report"
    answer["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    answer["X-Content-Type-Options"] = "nosniff"
    return answer
