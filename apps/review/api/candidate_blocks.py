"""API of passages that may be right as well: what is asked about, a reviewer's answer, and a lead's decision."""

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.edges.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.common.web.idempotency import body_with_key
from apps.common.web.paging import cut, only_known, whole
from apps.review.actions.candidate_blocks import answer_candidate, decide_candidate, withdraw_candidate
from apps.review.enums import CandidateState
from apps.review.models import CandidateBlock
from apps.review.selectors.candidate_blocks import candidates_for, views_for
from apps.review.serializers import (
    CandidateAnswerInput,
    CandidateAnswerOut,
    CandidateDecisionInput,
    CandidateOut,
    CandidatePageOut,
)

READERS = (Role.ANNOTATOR, Role.REVIEWER, Role.LEAD)
STATES = [state.value for state in CandidateState if state is not CandidateState.WITHDRAWN]


class CandidateList(ProjectAPIView):
    """Passages that somebody holds for right as well, oldest first, with as much of each as you may see."""

    roles = {"GET": READERS}
    scopes = {"GET": Scope.REVIEW_WRITE}

    @extend_schema(
        operation_id="review_candidates",
        parameters=[
            OpenApiParameter("state", str, enum=STATES),
            OpenApiParameter("triple", int, description="Of this triple alone, by id."),
            OpenApiParameter("after", str),
            OpenApiParameter("limit", int),
        ],
        responses=CandidatePageOut,
    )
    def get(self, request: Request, slug: str) -> Response:
        params = request.query_params
        only_known(params, {"state", "triple", "after", "limit"})
        candidates = candidates_for(self.member)
        if state := params.get("state"):
            if state not in STATES:
                raise ValidationError({"state": [f"One of {', '.join(STATES)}."]})
            candidates = candidates.filter(state=state)
        if triple := params.get("triple"):
            try:
                candidates = candidates.filter(triple=whole(triple))
            except ValueError:
                raise ValidationError({"triple": ["triple is the id of a triple."]}) from None
        page = cut(candidates, params, column="pk", parse=whole, read=lambda candidate: candidate.pk)
        views = [view for view in views_for(page.rows, self.member) if view.sight.passage]
        return Response(CandidatePageOut({"candidates": views, "next": page.next}).data)


class OneCandidate(ProjectAPIView):
    scopes = {"POST": Scope.REVIEW_WRITE}

    def candidate(self, pk: int) -> CandidateBlock:
        """What is being asked about, or was. Raises Http404, for what is hidden or withdrawn too."""
        candidate = candidates_for(self.member).filter(pk=pk).first()
        if candidate is None:
            raise Http404("No such passage is being asked about.")
        return candidate


class CandidateAnswerView(OneCandidate):
    """Say whether a passage is right as well, without knowing the other answer or where it was found.

    The idempotency key, in the body or as a header, makes it safe to send it again.
    """

    roles = {"POST": (Role.REVIEWER,)}

    @extend_schema(
        operation_id="review_candidate_answer", request=CandidateAnswerInput, responses={201: CandidateAnswerOut}
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        self.candidate(pk)
        given = CandidateAnswerInput(data=body_with_key(request))
        given.is_valid(raise_exception=True)
        answer = answer_candidate(
            project=self.project, pk=pk, reviewer=self.member.user, at=timezone.now(), **given.validated_data
        )
        return Response(CandidateAnswerOut(answer).data, status=201)


class CandidateDecisionView(OneCandidate):
    """Decides, for a reason, between two answers that differ, in a question that you have no part in."""

    roles = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="review_candidate_decide", request=CandidateDecisionInput, responses=CandidateOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        self.candidate(pk)
        given = CandidateDecisionInput(data=request.data)
        given.is_valid(raise_exception=True)
        decide_candidate(
            project=self.project,
            pk=pk,
            lead=self.member.user,
            step=given.step(),
            reason=given.validated_data["reason"],
            at=timezone.now(),
        )
        (view,) = views_for([self.candidate(pk)], self.member)
        return Response(CandidateOut(view).data)


class CandidateWithdrawView(OneCandidate):
    """Takes back a passage that you proposed, while both answers are not in: nobody is asked about it any more."""

    roles = {"POST": READERS}

    @extend_schema(operation_id="review_candidate_withdraw", request=None, responses={204: None})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        self.candidate(pk)
        withdraw_candidate(project=self.project, pk=pk, person=self.member.user, at=timezone.now())
        return Response(status=204)
