"""The reports that pages and the API share, and their files."""

from django.http import HttpResponse
from django.utils import timezone
from django.utils.text import slugify

from apps.accounts.selectors import Member
from apps.evaluation.edges.comparison import comparison_of
from apps.evaluation.edges.hit_comparison import hit_comparison_of
from apps.evaluation.edges.hit_sheets import HitSheet
from apps.evaluation.edges.sheets import EvaluationSheet, log_look
from apps.evaluation.selectors import evaluations
from apps.evaluation.selectors.comparisons import ComparisonRefused
from apps.goldsets.rules import blind_refusal
from apps.reports.core.document import Document
from apps.reports.edges.hit_reports import hit_comparison_report, hit_evaluation_report
from apps.reports.edges.negatives import visible_version
from apps.reports.edges.score_reports import comparison_report, evaluation_report
from apps.reports.edges.version_reports import version_report
from apps.reports.formats.html import as_html
from apps.reports.formats.markdown import as_markdown

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
