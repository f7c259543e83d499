"""The guided split: a compound triple becomes two to six drafts, each with its own question, answer and evidence."""

from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.review import rules
from apps.review.actions.disputes import DisputeRefused, split_triple
from apps.review.core.claim_proposals import FEWEST, MOST
from apps.review.core.policies import POLICIES
from apps.review.enums import Category
from apps.review.pages.claims_context import ClaimForm, ClaimsSheet, count_in
from apps.review.selectors.participation import participation_for
from apps.triples.selectors.triples import triple_for

WRITERS = (Role.ANNOTATOR, Role.LEAD)


def _rearranged(posted: QueryDict, do: str) -> tuple[QueryDict, int]:
    """The posted form with one more claim, one less, or another block; and the number of the claim to show next."""
    data = posted.copy()
    verb, _, rest = do.partition(":")
    number, _, block = rest.partition(":")
    at = int(number) if number.isdecimal() and len(number) < 3 else 0
    count = count_in(data)
    if verb == "add" and count < MOST:
        data["claims"] = str(count + 1)
        return data, count + 1
    if verb == "remove" and count > FEWEST and 1 <= at <= count:
        for name in ClaimForm.base_fields:
            for later in range(at, count):
                data.setlist(f"{name}_{later}", data.getlist(f"{name}_{later + 1}"))
            data.pop(f"{name}_{count}", None)
        data["claims"] = str(count - 1)
        return data, min(at, count - 1)
    if verb == "block" and at:
        data[f"block_{at}"] = block
    return data, at


def _views(sheet: ClaimsSheet) -> Iterator[dict[str, Any]]:
    for form in sheet.forms:
        yield {
            "form": form,
            "number": form.number,
            "key": str(form.number),
            "origins": sheet.origins(form),
            "hits": sheet.hits(form),
            "sought": form.held("sought") or "",
            "other_block": sheet.other_block(form),
            "checks": sheet.checks(form),
        }


def _page(
    request: HttpRequest, sheet: ClaimsSheet, *, go_on: int = 0, fault: str = "", status: int = 200
) -> HttpResponse:
    participation = participation_for(sheet.triple, member_of(request))
    claims = list(_views(sheet))
    return render(
        request,
        "review/split.html",
        {
            "section": "Review",
            "triple": sheet.triple,
            "revision": sheet.triple.revision,
            "expected": sheet.expected,
            "claims": claims,
            "count": len(claims),
            "fewest": FEWEST,
            "most": MOST,
            "go_on": go_on,
            "fault": fault,
            "flag": participation.flag,
            "policy": POLICIES[Category.COMPOUND],
        },
        status=status,
    )


@member_view(*WRITERS)
@require_http_methods(["GET", "HEAD", "POST"])
def split(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The form: proposed at first, changed by its buttons, then the split. Every step keeps what was typed."""
    triple = triple_for(member_of(request), pk)
    if reason := rules.split_refusal(triple, participation_for(triple, member_of(request))):
        if request.method == "GET":
            return redirect("review:triple", slug=project.slug, pk=triple.pk)
        raise DisputeRefused(reason, code="not_splittable")
    if request.method == "GET":
        return _page(request, ClaimsSheet(triple), go_on=1)
    do = request.POST.get("do", "split")
    if do != "split":
        data, go_on = _rearranged(request.POST, do)
        return _page(request, ClaimsSheet(triple, data), go_on=go_on)
    return _split(request, project, ClaimsSheet(triple, request.POST))


def _split(request: HttpRequest, project: Project, sheet: ClaimsSheet) -> HttpResponse:
    if first := sheet.first_fault():
        return _page(request, sheet, go_on=first[0], fault=first[1], status=400)
    try:
        children = split_triple(
            project=project,
            triple_id=sheet.triple.pk,
            author=member_of(request).user,
            claims=sheet.claims(),
            at=timezone.now(),
        )
    except DisputeRefused as refusal:
        if refusal.code != "claims":
            raise
        return _page(request, sheet, fault=refusal.sentence, status=400)
    labels = ", ".join(child.label for child in children)
    messages.info(
        request, f"{sheet.triple.label} is split into {labels}. Each is a draft; {children[0].label} is open."
    )
    return redirect("triples:edit", slug=project.slug, pk=children[0].pk)
