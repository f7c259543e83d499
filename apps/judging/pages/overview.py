"""Pages that list judging rounds and their progress."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.edges.access import member_of, member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.judging.actions.rounds import close_round
from apps.judging.enums import RoundState
from apps.judging.selectors import own_work
from apps.judging.selectors.own_share import own_progress_in
from apps.judging.selectors.rounds import latest_guideline, open_rounds_of, round_in, rounds_of
from apps.judging.selectors.summaries import round_summaries


@require_safe
@member_view()
def index(request: HttpRequest, project: Project) -> HttpResponse:
    """The rounds: an annotator's own work, or for a lead all of it."""
    member = member_of(request)
    own = []
    if member.holds(Role.ANNOTATOR):
        rounds = list(open_rounds_of(user_of(request), project))
        progress = own_progress_in(rounds, user_of(request))
        own = [(round_, progress[round_.pk]) for round_ in rounds]
    context = {
        "section": "Rounds",
        "own": own,
        "guideline": latest_guideline(project),
        "rounds": round_summaries(project) if member.is_lead else [],
        "closed": rounds_of(user_of(request), project).filter(state=RoundState.CLOSED),
        "is_annotator": member.holds(Role.ANNOTATOR),
    }
    return render(request, "judging/index.html", context)


@require_safe
@member_view(Role.ANNOTATOR)
def mine(request: HttpRequest, project: Project) -> HttpResponse:
    """A person's own work: speed, consistency, and grades that decisions confirmed. Nobody else's is shown."""
    user = user_of(request)
    context = {
        "section": "Rounds",
        "weeks": own_work.own_weeks(user, project),
        "rounds": own_work.own_rounds(user, project),
        "decisions": own_work.own_decisions(user, project),
    }
    return render(request, "judging/mine.html", context)


@require_POST
@member_view(Role.LEAD)
def close(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """End a round."""
    round_ = round_in(project, pk)
    close_round(round_id=round_.pk, actor=user_of(request), at=timezone.now())
    return redirect("judging:round", slug=project.slug, pk=pk)
