"""A lead's decisions on what was reviewed elsewhere, from the page of its import."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.accounts.access.pages import member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.corpus.selectors.corpora import import_in
from apps.review.actions.elsewhere import draw_elsewhere, take_elsewhere
from apps.review.execution.elsewhere import ElsewhereRefused
from apps.review.forms import DrawForm, TakeForm


@member_view(Role.LEAD)
@require_POST
def take(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Take the drafts of an import that were reviewed elsewhere as accepted."""
    item, form = import_in(project, pk), TakeForm(request.POST)
    reason = form.cleaned_data["reason"] if form.is_valid() else ""
    try:
        take_elsewhere(project=project, import_id=item.pk, lead=user_of(request), reason=reason, at=timezone.now())
    except ElsewhereRefused as refusal:
        messages.warning(request, refusal.sentence)
    return redirect("corpus:import", slug=project.slug, pk=item.pk)


@member_view(Role.LEAD)
@require_POST
def draw(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Draw some of them at random, to be reviewed blind."""
    item, form = import_in(project, pk), DrawForm(request.POST)
    if not form.is_valid():
        messages.warning(request, "Say how many are reviewed, as a number.")
        return redirect("corpus:import", slug=project.slug, pk=item.pk)
    size = form.cleaned_data["size"]
    try:
        draw_elsewhere(project=project, import_id=item.pk, lead=user_of(request), size=size, at=timezone.now())
    except ElsewhereRefused as refusal:
        messages.warning(request, refusal.sentence)
    return redirect("corpus:import", slug=project.slug, pk=item.pk)
