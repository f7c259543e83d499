"""What there is to judge, and how far it is."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access import member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common import charts
from apps.judging import rules, selectors
from apps.judging.actions import close_round
from apps.judging.enums import RoundKind, RoundState
from apps.judging.models import Round
from apps.judging.views import user_of

SHOWN_QUERIES = 500


@require_safe
@member_view()
def index(request: HttpRequest, project: Project) -> HttpResponse:
    """The rounds: an annotator finds their own work, a lead all of it."""
    member = request.member  # type: ignore[attr-defined]
    own = []
    if member.holds(Role.ANNOTATOR):
        rounds = selectors.open_rounds_of(user_of(request), project)
        own = [(round_, selectors.own_progress(round_, user_of(request))) for round_ in rounds]
    context = {
        "section": "Judging",
        "own": own,
        "guideline": selectors.latest_guideline(project),
        "rounds": selectors.round_summaries(project) if member.is_lead else [],
        "closed": selectors.rounds_of(user_of(request), project).filter(state=RoundState.CLOSED),
        "is_annotator": member.holds(Role.ANNOTATOR),
    }
    return render(request, "judging/index.html", context)


@require_safe
@member_view(Role.LEAD)
def round_page(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """One round for its leads: how far it is by person and by query, and what waits. No grade is shown here."""
    round_ = selectors.round_in(project, pk)
    totals = selectors.totals(round_)
    queries = selectors.by_query(round_)
    context = {
        "section": "Judging",
        "round": round_,
        "totals": totals,
        "meter": charts.meter("Judgements given", totals.done, totals.planned),
        "people": selectors.by_person(round_),
        "queries": queries[:SHOWN_QUERIES],
        "unshown": max(0, len(queries) - SHOWN_QUERIES),
        "query_count": len(queries),
        "stuck": selectors.stuck(round_) if round_.state == RoundState.OPEN else 0,
        "waiting": _waiting(round_, request),
        "close_refusal": rules.close_refusal(round_),
        "is_imported": round_.kind == RoundKind.IMPORTED,
    }
    return render(request, "judging/round.html", context)


def _waiting(round_: Round, request: HttpRequest) -> int:
    if round_.kind == RoundKind.IMPORTED or round_.state == RoundState.OPENING:
        return 0
    return len(selectors.adjudicable(round_, user_of(request)))


@require_POST
@member_view(Role.LEAD)
def close(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """End a round."""
    round_ = selectors.round_in(project, pk)
    close_round(round_id=round_.pk, actor=user_of(request), at=timezone.now())
    return redirect("judging:round", slug=project.slug, pk=pk)
