"""The reports that pages and the API share, and their files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from django.http import HttpResponse
from django.utils import timezone
from django.utils.text import slugify

from apps.accounts.selectors import Member
from apps.evaluation.core.question_kinds import FIELDS
from apps.evaluation.presenters.comparison import comparison_of
from apps.evaluation.presenters.hit_comparison import HitComparison, hit_comparison_of
from apps.evaluation.presenters.hit_score_tables import HitSheet, kind_rows
from apps.evaluation.presenters.score_tables import EvaluationSheet, log_look
from apps.evaluation.selectors import evaluations
from apps.evaluation.selectors.comparisons import ComparisonRefused
from apps.goldsets.rules import blind_refusal
from apps.metrics.measures.entries import Measure
from apps.metrics.measures.registry import parse_measure
from apps.metrics.scorecard import Scorecard, ScoredRun, StratumScores
from apps.metrics.scoring import RunScores
from apps.metrics.statistics.significance import DEFAULT_CONFIDENCE
from apps.metrics.statistics.strata import FEWEST_IN_STRATUM
from apps.reports.core.document import Document
from apps.reports.core.score_document import scored_document
from apps.reports.formats.html import as_html
from apps.reports.formats.markdown import as_markdown
from apps.reports.presenters.negatives import visible_version
from apps.reports.presenters.score_reports import basis_of, comparison_report, evaluation_report, ground_of
from apps.reports.presenters.version_reports import version_report


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


HTML = "html"
FORMS = {HTML: (as_html, "text/html"), "md": (as_markdown, "text/markdown")}


def evaluation_document(member: Member, pk: int) -> Document:
    """The report of one run on one version; logs a look at the test split. Raises Http404 and ComparisonRefused."""
    evaluation = evaluations.evaluation_in(member.project, pk)
    if not evaluation.is_scored:
        raise ComparisonRefused(f"{evaluation.run.tag} has not been scored yet, so it has no report.", code="waiting")
    if evaluation.hit:
        by_hits = HitSheet(evaluation, member)
        log_look(by_hits, "report of scores by question")
        return hit_evaluation_report(by_hits)
    sheet = EvaluationSheet(evaluation, member)
    log_look(sheet, "report of scores by query")
    return evaluation_report(sheet)


def comparison_document(member: Member, baseline: int, candidate: int, measure: str) -> Document:
    """The report of two runs, with the decisions on drops; logs and raises as `evaluation_document`."""
    if evaluations.evaluation_in(member.project, candidate).hit:
        by_hits = hit_comparison_of(member, baseline, candidate, measure)
        log_look(by_hits.candidate, "report of a comparison by question")
        return hit_comparison_report(by_hits)
    compared = comparison_of(member, baseline, candidate, measure)
    log_look(compared.candidate, "report of a comparison by query")
    return comparison_report(compared)


def version_document(member: Member, version_pk: int) -> Document:
    """The report of a gold version and the runs on it. Raises Http404; leads alone see unreleased versions."""
    version = visible_version(member, version_pk)
    return version_report(version, is_blind=blind_refusal(member) is not None, at=timezone.now())


def file_of(document: Document, form: str) -> HttpResponse:
    """The report as a download; `form` is a key of FORMS."""
    write, kind = FORMS[form]
    answer = HttpResponse(write(document), content_type=f"{kind}; charset=utf-8")
    name = slugify(document.title)[:100] or "report"
    answer["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    answer["X-Content-Type-Options"] = "nosniff"
    return answer
