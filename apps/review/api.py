"""Reviewing over HTTP: one's own queue, and verdicts."""

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.common.idempotency import body_with_key
from apps.review.actions import give_verdict
from apps.review.selectors import next_in_queue, review_queue
from apps.review.serializers import NextOut, QueueOut, VerdictInput, VerdictOut, seat_out, verdict_out
from apps.triples.selectors import triple_for
from apps.triples.serializers import triple_out


class QueueView(ProjectAPIView):
    """What waits for your verdict, oldest first."""

    roles = {"GET": (Role.REVIEWER,)}
    scopes = {"GET": Scope.REVIEW_WRITE}

    @extend_schema(operation_id="review_queue", responses=QueueOut)
    def get(self, request: Request, slug: str) -> Response:
        return Response({"waiting": [seat_out(seat) for seat in review_queue(self.member.user, self.project)]})


class NextView(ProjectAPIView):
    """The next triple for you to review; `triple` is null when nothing waits. `after` skips one."""

    roles = {"GET": (Role.REVIEWER,)}
    scopes = {"GET": Scope.REVIEW_WRITE}

    @extend_schema(operation_id="review_next", parameters=[OpenApiParameter("after", int)], responses=NextOut)
    def get(self, request: Request, slug: str) -> Response:
        after = request.query_params.get("after", "")
        if after and not (after.isdecimal() and len(after) < 18):
            raise ValidationError({"after": ["after is the id of a triple."]})
        triple = next_in_queue(self.member.user, self.project, int(after) if after else None)
        return Response({"triple": triple_out(triple) if triple else None})


class VerdictView(ProjectAPIView):
    """Confirm or flag. The idempotency key, in the body or as a header, makes sending it again harmless."""

    roles = {"POST": (Role.REVIEWER,)}
    scopes = {"POST": Scope.REVIEW_WRITE}

    @extend_schema(operation_id="review_verdict", request=VerdictInput, responses={201: VerdictOut})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        triple = triple_for(self.member, pk)
        given = VerdictInput(data=body_with_key(request))
        given.is_valid(raise_exception=True)
        verdict = give_verdict(
            project=self.project, triple_id=triple.pk, reviewer=self.member.user, at=timezone.now(), **given.verdict()
        )
        return Response(verdict_out(verdict), status=201)
