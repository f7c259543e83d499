"""Negatives for training: the page with a preview and with what they do to scores, and the file."""

from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.goldsets.access import open_test
from apps.goldsets.enums import Split
from apps.goldsets.models import Version
from apps.reports.core.negatives import EASY, HARD, effect_table, found_table
from apps.reports.presenters.negatives import (
    file_response,
    negatives_form,
    proposal_of,
    ranks_refusal,
    request_measurement,
    visible_version,
)
from apps.reports.presenters.version_reports.boards import measured_splits
from apps.reports.selectors.analyses import latest_by_split, negatives_reports

SECTION = {"section": "Versions"}
QUERIES_A_PAGE = 20


@require_safe
@member_view()
def negatives(request: HttpRequest, project: Project, version_pk: int) -> HttpResponse:
    """A paged preview of the negatives, with a link to the file."""
    member = member_of(request)
    version = visible_version(member, version_pk)
    form = negatives_form(member, version, request.GET)
    context: dict[str, Any] = {**SECTION, "version": version, "form": form, "refusal": ranks_refusal(member, version)}
    if context["refusal"] is None and form.is_valid():
        proposal = proposal_of(version, form)
        pages = Paginator(proposal.queries(), QUERIES_A_PAGE)
        pages.count = proposal.size
        page = pages.get_page(request.GET.get("page", ""))
        rows = proposal.proposed(list(page.object_list))
        if any(row.query.split == Split.TEST for row in rows):
            open_test(version, member, "negatives of test")
        context |= {
            "proposal": proposal,
            "page": page,
            "rows": [(row, row.count(HARD), row.count(EASY)) for row in rows],
            "choice": urlencode(form.cleaned_data),
            "has_signatures": proposal.signatures is not None,
            "shows_test": Split.TEST in proposal.splits,
            **_measured(version),
        }
    return render(request, "reports/negatives.html", context)


def _measured(version: Version) -> dict[str, Any]:
    """What the hard negatives do to scores, as far as it has been measured."""
    reports = list(negatives_reports(version))
    measured = measured_splits(latest_by_split(reports))
    return {
        "measured": [(one, effect_table(one)) for one in measured],
        "found": found_table(measured) if measured else None,
        "in_progress": [report for report in reports if report.computed_at is None],
    }


@require_POST
@member_view(Role.LEAD)
def measure(request: HttpRequest, project: Project, version_pk: int) -> HttpResponse:
    member = member_of(request)
    version = visible_version(member, version_pk)
    request_measurement(member, version, request.POST)
    return redirect("reports:negatives", slug=project.slug, version_pk=version.pk)


@require_safe
@member_view()
def negatives_file(request: HttpRequest, project: Project, version_pk: int) -> StreamingHttpResponse:
    member = member_of(request)
    return file_response(member, visible_version(member, version_pk), request.GET)
