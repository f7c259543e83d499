"""API of passages that may be right as well: what is asked about, and a reviewer's answer."""

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
from apps.review.actions import answer_candidate
from apps.review.enums import CandidateState
from apps.review.selectors.candidate_blocks import candidates_for, views_for
from apps.review.serializers import CandidateAnswerInput, CandidateAnswerOut, CandidatePageOut

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


class CandidateAnswerView(ProjectAPIView):
    """Say whether a passage is right as well, without knowing the other answer or where it was found.

    The idempotency key, in the body or as a header, makes it safe to send it again.
    """

    roles = {"POST": (Role.REVIEWER,)}
    scopes = {"POST": Scope.REVIEW_WRITE}

    @extend_schema(
        operation_id="review_candidate_answer", request=CandidateAnswerInput, responses={201: CandidateAnswerOut}
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        if not candidates_for(self.member).filter(pk=pk).exists():
            raise Http404("No such passage is being asked about.")
        given = CandidateAnswerInput(data=body_with_key(request))
        given.is_valid(raise_exception=True)
        answer = answer_candidate(
            project=self.project, pk=pk, reviewer=self.member.user, at=timezone.now(), **given.validated_data
        )
        return Response(CandidateAnswerOut(answer).data, status=201)
