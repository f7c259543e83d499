"""Every round of a project in the API, and the steps of leads on one."""

from typing import ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.edges.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.judging.actions.pilots import open_after_pilot
from apps.judging.actions.rounds import close_round
from apps.judging.actions.seats import release_seats, return_seats_of
from apps.judging.selectors.rounds import own_round, person_of_round, round_in
from apps.judging.selectors.summaries import round_summaries
from apps.judging.serializers import GiveBackInput, PilotInput, ReturnedOut, RoundFacts, SummariesOut


class AllRoundsView(ProjectAPIView):
    """Every round, newest first, with its seats counted. Versions are cut from rounds by their ids."""

    roles: ClassVar = {"GET": (Role.LEAD,)}
    scopes: ClassVar = {"GET": Scope.ROUNDS_WRITE}

    @extend_schema(operation_id="judging_rounds_all", responses=SummariesOut)
    def get(self, request: Request, slug: str) -> Response:
        return Response(SummariesOut({"rounds": round_summaries(self.project)}).data)


class CloseView(ProjectAPIView):
    """Ends a round. Empty seats stay empty, and pairs resolve on their answers so far."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.ROUNDS_WRITE}

    @extend_schema(operation_id="judging_round_close", request=None, responses=RoundFacts)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        round_ = round_in(self.project, pk)
        closed = close_round(round_id=round_.pk, actor=self.member.user, at=timezone.now())
        return Response(RoundFacts(closed).data)


class OpenTheRestView(ProjectAPIView):
    """Opens the rest of a round in spite of its pilot, for a reason that stays on record."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.ROUNDS_WRITE}

    @extend_schema(operation_id="judging_round_open_the_rest", request=PilotInput, responses=RoundFacts)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        round_ = round_in(self.project, pk)
        body = PilotInput(data=request.data)
        body.is_valid(raise_exception=True)
        open_after_pilot(round_id=round_.pk, actor=self.member.user, at=timezone.now(), **body.validated_data)
        return Response(RoundFacts(round_in(self.project, pk)).data)


class GiveBackView(ProjectAPIView):
    """Returns to the queue the leased, ungraded pairs of somebody who is away."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.ROUNDS_WRITE}

    @extend_schema(operation_id="judging_round_give_back", request=GiveBackInput, responses=ReturnedOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        round_ = round_in(self.project, pk)
        body = GiveBackInput(data=request.data)
        body.is_valid(raise_exception=True)
        holder = person_of_round(round_, body.validated_data["person"])
        if holder is None:
            raise ValidationError({"person": ["Nobody of this round has that id."]})
        n = return_seats_of(round_=round_, holder=holder, actor=self.member.user, at=timezone.now())
        return Response(ReturnedOut({"returned": n}).data)


class ReleaseView(ProjectAPIView):
    """Returns your own leased, ungraded pairs to the queue."""

    roles: ClassVar = {"POST": (Role.ANNOTATOR,)}
    scopes: ClassVar = {"POST": Scope.JUDGING_WRITE}

    @extend_schema(operation_id="judging_round_release", request=None, responses=ReturnedOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        round_ = own_round(self.member.user, self.project, pk)
        return Response(ReturnedOut({"returned": release_seats(round_=round_, annotator=self.member.user)}).data)
