"""The reports that pages and the API share, and their files."""

from __future__ import annotations

from datetime import datetime

from django.http import HttpResponse
from django.utils import timezone
from django.utils.text import slugify

from apps.accounts.selectors import Member
from apps.evaluation.presenters.hit_comparison import compared
from apps.evaluation.presenters.hit_score_tables import HitSheet
from apps.evaluation.presenters.score_tables import EvaluationSheet, log_look
from apps.evaluation.selectors import evaluations
from apps.evaluation.selectors.comparisons import ComparisonRefused
from apps.goldsets.models import Version
from apps.goldsets.rules import blind_refusal, without_grades
from apps.metrics.expected.rules import counts_questions
from apps.metrics.scorecard import LOWER_END
from apps.metrics.statistics.significance import DEFAULT_CONFIDENCE
from apps.reports.core.document import Document
from apps.reports.core.version_document import ReleaseSummary, released_document
from apps.reports.formats.html import as_html
from apps.reports.formats.markdown import as_markdown
from apps.reports.presenters.negatives import visible_version
from apps.reports.presenters.score_reports import comparison_report, evaluation_report
from apps.reports.presenters.version_reports.boards import negative_blocks, scored_boards, split_board, strata_sections
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
    return version_report(version, is_blind=blind_refusal(member) is not None, at=timezone.now())


def version_report(version: Version, *, is_blind: bool, at: datetime) -> Document:
    """The report names no person and shows no single query.

    `is_blind`: for somebody who still judges, so without anything that tells grades. `at` is when permissions have to
    be valid.
    """
    facts = facts_of(version, at=at)
    manifest = without_grades(version.manifest) if is_blind else version.manifest
    boards, questions = scored_boards(version), VersionQuestions(version, facts.flags)
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
            strata=strata_sections(questions, boards),
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
