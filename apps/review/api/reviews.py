"""API of reviewing: one's own queue, seats and verdicts, and the lead's board."""

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.accounts.models import User
from apps.accounts.selectors import member_user
from apps.common.web.api import body_with_key
from apps.common.web.paging import only_known
from apps.review.actions.seating import give_back_seat, pull_seat, reseat
from apps.review.actions.submitting import give_verdict
from apps.review.forms import BoardForm
from apps.review.selectors.board import board_page
from apps.review.selectors.queues import next_in_queue, place, review_queue
from apps.review.serializers import (
    BoardOut,
    NextOut,
    QueueOut,
    ReseatedOut,
    ReseatInput,
    VerdictInput,
    VerdictOut,
    row_out,
    seat_out,
    verdict_out,
)
from apps.triples.selectors.triples import triple_for
from apps.triples.serializers import triple_out

MOST_SHOWN = 1_000


class QueueView(ProjectAPIView):
    """Triples that need your verdict, oldest first; at most a thousand."""

    roles = {"GET": (Role.REVIEWER,)}
    scopes = {"GET": Scope.REVIEW_WRITE}

    @extend_schema(operation_id="review_queue", responses=QueueOut)
    def get(self, request: Request, slug: str) -> Response:
        waiting = review_queue(self.member.user, self.project)[:MOST_SHOWN]
        return Response({"waiting": [seat_out(seat) for seat in waiting]})


class NextView(ProjectAPIView):
    """The next triple for you to review; `triple` is null when there is none. `after` skips one."""

    roles = {"GET": (Role.REVIEWER,)}
    scopes = {"GET": Scope.REVIEW_WRITE}

    @extend_schema(operation_id="review_next", parameters=[OpenApiParameter("after", int)], responses=NextOut)
    def get(self, request: Request, slug: str) -> Response:
        after = request.query_params.get("after", "")
        if after and not (after.isdecimal() and len(after) < 18):
            raise ValidationError({"after": ["after is the id of a triple."]})
        triple = next_in_queue(self.member.user, self.project, int(after) if after else None)
        return Response({"triple": triple_out(triple) if triple else None})


class PullView(ProjectAPIView):
    """Take the next seat where reviewers pull theirs: your oldest unanswered one, else one in the oldest open round."""

    roles = {"POST": (Role.REVIEWER,)}
    scopes = {"POST": Scope.REVIEW_WRITE}

    @extend_schema(operation_id="review_pull", request=None, responses=NextOut)
    def post(self, request: Request, slug: str) -> Response:
        seat = pull_seat(project=self.project, reviewer=self.member.user, at=timezone.now())
        triple = triple_for(self.member, seat.revision.triple_id) if seat else None
        return Response({"triple": triple_out(triple) if triple else None})


class GiveBackView(ProjectAPIView):
    """Return a triple that you pulled to the queue."""

    roles = {"POST": (Role.REVIEWER,)}
    scopes = {"POST": Scope.REVIEW_WRITE}

    @extend_schema(operation_id="review_give_back", request=None, responses={204: None})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        triple = triple_for(self.member, pk)
        give_back_seat(project=self.project, triple_id=triple.pk, reviewer=self.member.user, at=timezone.now())
        return Response(status=204)


class ReseatView(ProjectAPIView):
    """Give an unanswered seat to somebody else; without `to`, to the reviewer with the least to review."""

    roles = {"POST": (Role.LEAD,)}
    scopes = {"POST": Scope.REVIEW_WRITE}

    @extend_schema(operation_id="review_reseat", request=ReseatInput, responses={201: ReseatedOut})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        triple = triple_for(self.member, pk)
        given = ReseatInput(data=request.data)
        given.is_valid(raise_exception=True)
        values = given.validated_data
        seat = reseat(
            project=self.project,
            triple_id=triple.pk,
            reviewer=self._person(values.get("reviewer")),
            successor=self._person(values.get("to")),
            lead=self.member.user,
            reason=values["reason"],
            at=timezone.now(),
        )
        return Response({"triple_id": triple.pk, "seat": seat.number, "reviewer": seat.reviewer_id}, status=201)

    def _person(self, pk: int | None) -> User | None:
        return None if pk is None else member_user(self.project, pk)


class BoardView(ProjectAPIView):
    """Every triple in progress, longest wait first. `seats` is null where you have a part in the triple."""

    roles = {"GET": (Role.LEAD,)}
    scopes = {"GET": Scope.REVIEW_WRITE}
    NAMES = ("state", "show", "days", "domain", "source", "author", "reviewer")

    @extend_schema(
        operation_id="review_board",
        parameters=[OpenApiParameter(name, str) for name in (*NAMES, "after")],
        responses=BoardOut,
    )
    def get(self, request: Request, slug: str) -> Response:
        only_known(request.query_params, {*self.NAMES, "after"})
        form = BoardForm(request.query_params, project=self.project)
        if not form.is_valid():
            raise ValidationError({name: [str(error) for error in errors] for name, errors in form.errors.items()})
        after = request.query_params.get("after", "")
        if after and place(after) is None:
            raise ValidationError({"after": ["This is not a cursor. Use `next` of the previous page."]})
        page = board_page(self.project, self.member.user, form.filters(), timezone.now(), after=after)
        return Response({"rows": [row_out(row) for row in page.rows], "next": page.next or None})


class VerdictView(ProjectAPIView):
    """Confirm or flag. The idempotency key, in the body or as a header, makes it safe to send it again."""

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
