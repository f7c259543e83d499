"""API of missed questions: what was missed and why, and passages that are right as well."""

from typing import Any, ClassVar

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.edges.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.common.web.paging import cut_list, only_known
from apps.evaluation.edges.misses import MissList, propose
from apps.evaluation.models import Evaluation
from apps.evaluation.selectors.evaluations import evaluations_with_values
from apps.evaluation.selectors.misses import block_of_run
from apps.evaluation.serializers.misses import MissPageOut, ProposalInput, ProposalOut
from apps.goldsets.edges.sealed import open_test
from apps.goldsets.enums import Split

WORKERS = (Role.ANNOTATOR, Role.REVIEWER, Role.LEAD)


class Misses(ProjectAPIView):
    """The questions that an evaluation on triples missed; a passage that is right as well is proposed here."""

    roles: ClassVar = {"GET": (), "POST": WORKERS}
    scopes: ClassVar = {"GET": Scope.RUNS_READ, "POST": Scope.TRIPLES_WRITE}

    @extend_schema(
        operation_id="evaluations_misses",
        parameters=[
            OpenApiParameter("measure", str, description="Whose cutoff counts; by default the first."),
            OpenApiParameter("after", str),
            OpenApiParameter("limit", int),
        ],
        responses=MissPageOut,
    )
    def get(self, request: Request, pk: int, **ids: Any) -> Response:
        params = request.query_params
        only_known(params, {"measure", "after", "limit"})
        listed = self._listed(self._scored(pk), params.get("measure", ""))
        page = cut_list(listed.missed, params)
        if any(one.row.split != Split.DEV for one in page.rows):
            version = listed.evaluation.version
            open_test(version, self.member, "missed questions")
        facts = {"evaluation": pk, "measure": listed.measure, "cutoff": listed.cutoff, "count": len(listed)}
        return Response(MissPageOut({**facts, "misses": listed.rows(page.rows), "next": page.next}).data)

    @extend_schema(operation_id="evaluations_misses_propose", request=ProposalInput, responses={201: ProposalOut})
    def post(self, request: Request, pk: int, **ids: Any) -> Response:
        evaluation = self._scored(pk)
        body = ProposalInput(data=request.data)
        body.is_valid(raise_exception=True)
        values = body.validated_data
        listed = self._listed(evaluation, values["measure"])
        found = listed.of(values["triple"], values["rank"])
        version = self._version(evaluation, values["block_id"]) if values["block_id"] else None
        candidate = propose(listed, found, version=version, quote=values["quote"].strip(), at=timezone.now())
        return Response(ProposalOut(candidate).data, status=201)

    def _scored(self, pk: int) -> Evaluation:
        (evaluation,) = evaluations_with_values(self.project, pk)
        if not (evaluation.is_scored and evaluation.hit):
            raise Http404("This evaluation has no misses.")
        return evaluation

    def _listed(self, evaluation: Evaluation, measure: str) -> MissList:
        if measure and measure not in evaluation.measures:
            raise ValidationError({"measure": [f"One of {', '.join(evaluation.measures)}."]})
        return MissList(evaluation, self.member, measure=measure)

    def _version(self, evaluation: Evaluation, block_id: str) -> Any:
        entry = block_of_run(evaluation.run, block_id)
        if entry is None:
            raise ValidationError({"block_id": [f"The snapshot of the run has no passage “{block_id}”."]})
        return entry.version
