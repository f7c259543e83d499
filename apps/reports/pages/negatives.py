"""Negatives for training: the page with a preview, and the file."""

from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.models import Project
from apps.goldsets.actions import log_test_look
from apps.goldsets.enums import Split
from apps.goldsets.rules import blind_refusal
from apps.reports.core.negatives import EASY, HARD
from apps.reports.edges.negatives import file_response, negatives_form, proposal_of, visible_version

SECTION = {"section": "Versions"}
QUERIES_A_PAGE = 20


@require_safe
@member_view()
def negatives(request: HttpRequest, project: Project, version_pk: int) -> HttpResponse:
    """A paged preview of the negatives, with a link to the file."""
    member = member_of(request)
    version = visible_version(member, version_pk)
    form = negatives_form(member, version, request.GET)
    context: dict[str, Any] = {**SECTION, "version": version, "form": form, "refusal": blind_refusal(member)}
    if context["refusal"] is None and form.is_valid():
        proposal = proposal_of(member, version, form)
        page = Paginator(proposal.queries(), QUERIES_A_PAGE).get_page(request.GET.get("page", ""))
        rows = proposal.proposed(list(page.object_list))
        if any(row.query.split == Split.TEST for row in rows):
            log_test_look(version=version, actor=member.user, what="negatives of test", at=proposal.at)
        context |= {
            "proposal": proposal,
            "page": page,
            "rows": [(row, row.count(HARD), row.count(EASY)) for row in rows],
            "choice": urlencode(form.cleaned_data),
            "has_signatures": proposal.signatures is not None,
            "shows_test": Split.TEST in proposal.splits,
        }
    return render(request, "reports/negatives.html", context)


@require_safe
@member_view()
def negatives_file(request: HttpRequest, project: Project, version_pk: int) -> StreamingHttpResponse:
    member = member_of(request)
    return file_response(member, visible_version(member, version_pk), request.GET)
