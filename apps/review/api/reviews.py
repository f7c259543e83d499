"""API of reviewing: one's own queue, seats and verdicts, the lead's board, and triples as a file."""

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ReviewAPIView
from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.accounts.selectors import member_user
from apps.common.web.api import OneForm, body_in, body_with_key, given_in
from apps.common.web.paging import only_known
from apps.review.actions.seating import give_back_seat, pull_seat, reseat
from apps.review.actions.submitting import give_verdict
from apps.review.forms import BoardForm
from apps.review.presenters.choices import export_response
from apps.review.selectors.board import board_page
from apps.review.selectors.exports import STATES, Selection
from apps.review.selectors.queues import next_in_queue, place, review_queue
from apps.review.serializers import (
    BoardOut,
    NextOut,
    QueueOut,
    ReseatedOut,
    ReseatInput,
    VerdictInput,
    VerdictOut,
)
from apps.triples.enums import State
from apps.triples.formats import WRITTEN
from apps.triples.rules import READERS
from apps.triples.selectors.triples import triple_for
from apps.triples.serializers import triple_out

MOST_SHOWN = 1_000


class QueueView(ReviewAPIView):
    """Triples that need your verdict, oldest first; at most a thousand."""

    roles = {"GET": (Role.REVIEWER,)}

    @extend_schema(operation_id="review_queue", responses=QueueOut)
    def get(self, request: Request, slug: str) -> Response:
        waiting = review_queue(self.member.user, self.project)[:MOST_SHOWN]
        return Response(QueueOut({"waiting": waiting}).data)


class NextView(ReviewAPIView):
    """The next triple for you to review; `triple` is null when there is none. `after` skips one."""

    roles = {"GET": (Role.REVIEWER,)}

    @extend_schema(operation_id="review_next", parameters=[OpenApiParameter("after", int)], responses=NextOut)
    def get(self, request: Request, slug: str) -> Response:
        after = request.query_params.get("after", "")
        if after and not (after.isdecimal() and len(after) < 18):
            raise ValidationError({"after": ["after is the id of a triple."]})
        triple = next_in_queue(self.member.user, self.project, int(after) if after else None)
        return Response({"triple": triple_out(triple) if triple else None})


class PullView(ReviewAPIView):
    """Take the next seat where reviewers pull theirs: your oldest unanswered one, else one in the oldest open round."""

    roles = {"POST": (Role.REVIEWER,)}

    @extend_schema(operation_id="review_pull", request=None, responses=NextOut)
    def post(self, request: Request, slug: str) -> Response:
        seat = pull_seat(project=self.project, reviewer=self.member.user, at=timezone.now())
        triple = triple_for(self.member, seat.revision.triple_id) if seat else None
        return Response({"triple": triple_out(triple) if triple else None})


class GiveBackView(ReviewAPIView):
    """Return a triple that you pulled to the queue."""

    roles = {"POST": (Role.REVIEWER,)}

    @extend_schema(operation_id="review_give_back", request=None, responses={204: None})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        triple = triple_for(self.member, pk)
        give_back_seat(project=self.project, triple_id=triple.pk, reviewer=self.member.user, at=timezone.now())
        return Response(status=204)


class ReseatView(ReviewAPIView):
    """Give an unanswered seat to somebody else; without `to`, to the reviewer with the least to review."""

    roles = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="review_reseat", request=ReseatInput, responses={201: ReseatedOut})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        triple = triple_for(self.member, pk)
        values = given_in(request.data, ReseatInput)
        seat = reseat(
            project=self.project,
            triple_id=triple.pk,
            reviewer=self._person(values.get("reviewer")),
            successor=self._person(values.get("to")),
            lead=self.member.user,
            reason=values["reason"],
            at=timezone.now(),
        )
        return Response(ReseatedOut(seat).data, status=201)

    def _person(self, pk: int | None) -> User | None:
        return None if pk is None else member_user(self.project, pk)


class BoardView(ReviewAPIView):
    """Every triple in progress, longest wait first. `seats` is null where you have a part in the triple."""

    roles = {"GET": (Role.LEAD,)}
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
        return Response(BoardOut({"rows": page.rows, "next": page.next or None}).data)


class VerdictView(ReviewAPIView):
    """Confirm or flag. The idempotency key, in the body or as a header, makes it safe to send it again."""

    roles = {"POST": (Role.REVIEWER,)}

    @extend_schema(operation_id="review_verdict", request=VerdictInput, responses={201: VerdictOut})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        triple = triple_for(self.member, pk)
        given = body_in(body_with_key(request), VerdictInput)
        verdict = give_verdict(
            project=self.project, triple_id=triple.pk, reviewer=self.member.user, at=timezone.now(), **given.verdict()
        )
        return Response(VerdictOut(verdict).data, status=201)


WHICH = OpenApiParameter("state", str, enum=list(STATES), default=State.ACCEPTED.value)


class TripleExport(ReviewAPIView):
    """The triples in one state, as entries of a gold set, streamed."""

    roles = {"GET": READERS}
    content_negotiation_class = OneForm

    @extend_schema(
        operation_id="triples_export",
        parameters=[WHICH, OpenApiParameter("format", str, enum=list(WRITTEN), default="jsonl")],
        responses={
            (200, "application/x-ndjson"): OpenApiTypes.BINARY,
            (200, "application/yaml"): OpenApiTypes.BINARY,
        },
    )
    def get(self, request: Request, slug: str):
        params = request.query_params
        only_known(params, {"state", "format"})
        return export_response(
            self.member, state=params.get("state", State.ACCEPTED.value), form=params.get("format", "jsonl")
        )


class TripleExportReport(ReviewAPIView):
    """What that file leaves out, with reasons."""

    roles = {"GET": READERS}

    @extend_schema(
        operation_id="triples_export_report",
        parameters=[WHICH],
        responses=inline_serializer(
            "LeftOut",
            {
                "reason": serializers.CharField(),
                "count": serializers.IntegerField(),
                "triples": serializers.ListField(child=serializers.CharField()),
            },
            many=True,
        ),
    )
    def get(self, request: Request, slug: str) -> Response:
        only_known(request.query_params, {"state"})
        state = request.query_params.get("state", State.ACCEPTED.value)
        left_out = Selection(self.project, state, member=self.member, at=timezone.now()).left_out()
        return Response([{"reason": one.reason, "count": one.count, "triples": one.labels} for one in left_out])
