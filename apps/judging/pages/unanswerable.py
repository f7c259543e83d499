"""Pages on which people vote whether anything in a snapshot answers a query, and leads see what the votes add up to.

Until two people have voted nobody reads here who voted, how many, or what.
"""

from collections.abc import Collection
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.access.pages import member_of, member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import snapshot_in
from apps.judging import rules
from apps.judging.actions.unanswerable import VoteRefused, candidate_among, decide_unanswerable, vote_on_unanswerable
from apps.judging.enums import AbsenceState
from apps.judging.forms.judging import AbsenceForm
from apps.judging.selectors.unanswerable import (
    VotedQuery,
    snapshots_with_pools,
    to_vote_on,
    voted_queries,
)
from apps.queries.models import Query

SHOWN = 200


@require_safe
@member_view(Role.ANNOTATOR, Role.LEAD)
def queue(request: HttpRequest, project: Project) -> HttpResponse:
    """The queries that wait for this person's vote; for a lead all candidates with their states."""
    snapshots, member = snapshots_with_pools(project), member_of(request)
    snapshot = _chosen(snapshots, request.GET.get("snapshot", ""))
    every = voted_queries(snapshot) if snapshot else []
    own = to_vote_on(every, user_of(request)) if member.holds(Role.ANNOTATOR) else []
    context = {
        "snapshots": snapshots,
        "snapshot": snapshot,
        "own": own[:SHOWN],
        "own_count": len(own),
        "rows": every[:SHOWN] if member.is_lead else [],
        "row_count": len(every) if member.is_lead else 0,
        "confirmed": sum(each.state is AbsenceState.CONFIRMED for each in every),
        "is_annotator": member.holds(Role.ANNOTATOR),
    }
    return render(request, "judging/unanswerable.html", context)


def _chosen(snapshots: list[Snapshot], key: str) -> Snapshot | None:
    """The snapshot with this key, the newest without one. Raises Http404 for another."""
    if not key:
        return snapshots[0] if snapshots else None
    found = next((one for one in snapshots if str(one.pk) == key), None)
    if found is None:
        raise Http404("No such snapshot with a pool.")
    return found


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.ANNOTATOR, Role.LEAD)
def query(request: HttpRequest, project: Project, snapshot: int, pk: int) -> HttpResponse:
    """One query: a person's vote, or a lead's decision where two votes differ."""
    of = snapshot_in(project, snapshot)
    form = AbsenceForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            return _given(request, of, pk, form)
        except VoteRefused as refusal:
            form.add_error(None, refusal.sentence)
    every, member, person = voted_queries(of), member_of(request), user_of(request)
    voted = candidate_among(every, pk)
    can_decide = rules.vote_decision_refusal(
        voted.state, has_voted=False, is_decided=voted.is_decided, is_nothing=False, reason="-"
    )
    context = {
        "snapshot": of,
        "voted": voted,
        "form": form,
        "vote_refusal": rules.vote_refusal(voted.state, has_voted=voted.has_voted(person)),
        "may_vote": member.holds(Role.ANNOTATOR),
        "may_decide": member.is_lead and can_decide is None,
        "shows_votes": member.is_lead and voted.is_told,
        "later": _next_of(of, voted.query, every, request),
    }
    return render(request, "judging/unanswerable_query.html", context, status=400 if form.errors else 200)


def _next_of(snapshot: Snapshot, query: Query, every: Collection[VotedQuery], request: HttpRequest) -> str:
    """The page of the next query that waits for this person's vote, else of the list."""
    waiting = to_vote_on(every, user_of(request)) if member_of(request).holds(Role.ANNOTATOR) else []
    others = [each.query for each in waiting if each.query.pk != query.pk]
    after = next((one for one in others if one.outside_id > query.outside_id), next(iter(others), None))
    slug = member_of(request).project.slug
    if after is None:
        return f"{reverse('judging:unanswerable', args=[slug])}?snapshot={snapshot.pk}"
    return reverse("judging:unanswerable-query", args=[slug, snapshot.pk, after.pk])


def _given(request: HttpRequest, snapshot: Snapshot, pk: int, form: AbsenceForm) -> HttpResponse:
    values: dict[str, Any] = {"snapshot": snapshot, "query_id": pk, "at": timezone.now()}
    is_nothing, passage = form.cleaned_data["answer"] == AbsenceForm.NOTHING, form.cleaned_data["passage"]
    if form.cleaned_data["decide"]:
        reason = form.cleaned_data["reason"]
        vote = decide_unanswerable(
            lead=user_of(request), is_nothing=is_nothing, passage=passage, reason=reason, **values
        )
        messages.success(request, "Your decision is on record.")
    else:
        vote = vote_on_unanswerable(person=user_of(request), passage="" if is_nothing else passage, **values)
        messages.success(request, f"Your vote on {vote.query.outside_id} is on record.")
    return redirect(_next_of(snapshot, vote.query, voted_queries(snapshot), request))
