"""Every round of a project in the API, and the steps of leads on one."""

from typing import ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.edges.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.judging import selectors
from apps.judging.actions import close_round, open_after_pilot
from apps.judging.serializers import PilotInput, RoundFacts, SummariesOut


class AllRoundsView(ProjectAPIView):
    """Every round, newest first, with its seats counted. Versions are cut from rounds by their ids."""

    roles: ClassVar = {"GET": (Role.LEAD,)}
    scopes: ClassVar = {"GET": Scope.ROUNDS_WRITE}

    @extend_schema(operation_id="judging_rounds_all", responses=SummariesOut)
    def get(self, request: Request, slug: str) -> Response:
        return Response(SummariesOut({"rounds": selectors.round_summaries(self.project)}).data)


class CloseView(ProjectAPIView):
    """Ends a round. Empty seats stay empty, and pairs resolve on their answers so far."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.ROUNDS_WRITE}

    @extend_schema(operation_id="judging_round_close", request=None, responses=RoundFacts)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        round_ = selectors.round_in(self.project, pk)
        closed = close_round(round_id=round_.pk, actor=self.member.user, at=timezone.now())
        return Response(RoundFacts(closed).data)


class OpenTheRestView(ProjectAPIView):
    """Opens the rest of a round in spite of its pilot, for a reason that stays on record."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.ROUNDS_WRITE}

    @extend_schema(operation_id="judging_round_open_the_rest", request=PilotInput, responses=RoundFacts)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        round_ = selectors.round_in(self.project, pk)
        body = PilotInput(data=request.data)
        body.is_valid(raise_exception=True)
        open_after_pilot(round_id=round_.pk, actor=self.member.user, at=timezone.now(), **body.validated_data)
        return Response(RoundFacts(selectors.round_in(self.project, pk)).data)
