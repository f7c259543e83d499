"""The page that decides on a pilot that has not opened its round by itself."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.accounts.edges.access import member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.judging.actions.pilots import PilotRefused, open_after_pilot
from apps.judging.selectors.rounds import round_in


@require_POST
@member_view(Role.LEAD)
def open_the_rest(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Open the rest of a round in spite of its pilot, for a reason."""
    round_ = round_in(project, pk)
    reason = request.POST.get("reason", "")[:4_000]
    try:
        open_after_pilot(round_id=round_.pk, actor=user_of(request), reason=reason, at=timezone.now())
    except PilotRefused as refusal:
        messages.error(request, refusal.sentence)
    return redirect("judging:round", slug=project.slug, pk=pk)
