"""The lists of triples, and an author's or a lead's actions on one outside of its reviews."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.triples.actions.triples import RetireRefused, reopen_as_draft, retire_triple, withdraw_draft
from apps.triples.enums import RetireReason
from apps.triples.forms.bench import ListForm, RetireForm
from apps.triples.forms.block_fieldset import whole
from apps.triples.selectors.triples import page_of, triple_for, writing_snapshot

WRITERS = (Role.ANNOTATOR, Role.LEAD)
READERS = (Role.ANNOTATOR, Role.REVIEWER, Role.LEAD)
MOST_SOUGHT = 500


def words_sought(request: HttpRequest) -> str:
    """The search words of the request, without NUL, which PostgreSQL rejects."""
    return request.GET.get("q", "").replace("\x00", "").strip()[:MOST_SOUGHT]


# Lists -------------------------------------------------------------------------------------------------------------


def _listed(request: HttpRequest, project: Project, *, title: str, mine: bool) -> HttpResponse:
    member = member_of(request)
    form = ListForm(request.GET, project=project, mine=mine)
    narrowing = form.narrowing(words=words_sought(request))
    filters = narrowing._replace(author=member.user) if mine else narrowing
    before = whole(request.GET.get("before", ""))
    context = {
        "section": "Q&A",
        "title": title,
        "mine": mine,
        "form": form,
        "page": page_of(member, filters, before=before),
        "words": narrowing.words,
        "is_narrowed": any(narrowing),
        "is_first": before is None,
        "can_write": member.holds(*WRITERS),
    }
    return render(request, "triples/list.html", context)


@member_view(*READERS)
@require_safe
def triples(request: HttpRequest, project: Project) -> HttpResponse:
    return _listed(request, project, title="All Q&As", mine=False)


@member_view(*READERS)
@require_safe
def mine(request: HttpRequest, project: Project) -> HttpResponse:
    return _listed(request, project, title="My Q&As", mine=True)


# Ends --------------------------------------------------------------------------------------------------------------


@member_view(*WRITERS)
@require_POST
def withdraw(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    triple = triple_for(member_of(request), pk)
    withdraw_draft(project=project, triple_id=triple.pk, author=member_of(request).user, at=timezone.now())
    messages.info(request, f"{triple.label} is withdrawn.")
    return redirect("triples:mine", slug=project.slug)


@member_view(*WRITERS)
@require_POST
def reopen(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    triple = triple_for(member_of(request), pk)
    reopen_as_draft(
        project=project,
        triple_id=triple.pk,
        author=member_of(request).user,
        snapshot=writing_snapshot(triple),
        at=timezone.now(),
    )
    return redirect("triples:edit", slug=project.slug, pk=triple.pk)


@member_view(Role.LEAD)
@require_POST
def retire(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    triple = triple_for(member_of(request), pk)
    form = RetireForm(request.POST)
    if not form.is_valid():
        raise RetireRefused("Choose one of the three reasons to retire it.", code="reason_missing")
    retire_triple(
        project=project,
        triple_id=triple.pk,
        lead=member_of(request).user,
        roles=member_of(request).roles,
        reason=RetireReason(form.cleaned_data["reason"]),
        at=timezone.now(),
    )
    messages.info(request, f"{triple.label} is retired.")
    return redirect("review:triple", slug=project.slug, pk=triple.pk)
