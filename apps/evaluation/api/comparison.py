"""Comparisons and the ledger in the API."""

from typing import Any, ClassVar

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.edges.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.evaluation import rules
from apps.evaluation.actions.ledger import write_ledger
from apps.evaluation.selectors import evaluations, leaderboard
from apps.evaluation.selectors.comparisons import NO_MEASURE, ComparisonRefused, EvaluationPair
from apps.evaluation.serializers.comparison import (
    ComparisonSerializer,
    LedgerSerializer,
    RunNoteSerializer,
    comparison_facts,
)
from apps.retrieval.selectors.runs import run_in


class ComparisonDetail(ProjectAPIView):
    """Two evaluations of one split of a version, measure by measure, without queries."""

    roles: ClassVar = {"GET": ()}
    scopes: ClassVar = {"GET": Scope.RUNS_READ}

    @extend_schema(operation_id="comparisons_read", responses=ComparisonSerializer)
    def get(self, request: Request, baseline: int, candidate: int, **ids: Any) -> Response:
        first, second = evaluations.evaluations_with_values(self.project, baseline, candidate)
        if reason := rules.comparison_refusal(first, second):
            raise ComparisonRefused(reason, code="comparison_refused")
        pair = EvaluationPair.of(first, second)
        if not pair.comparison.measures:
            raise ComparisonRefused(NO_MEASURE, code="no_measure")
        return Response(ComparisonSerializer(comparison_facts(pair)).data)


class LedgerLine(ProjectAPIView):
    """The ledger entry of a run: read by members, written by leads and pipelines."""

    roles: ClassVar = {"GET": (), "POST": (Role.LEAD,)}
    scopes: ClassVar = {"GET": Scope.RUNS_READ, "POST": Scope.RUNS_WRITE}

    @extend_schema(operation_id="ledger_read", responses=RunNoteSerializer)
    def get(self, request: Request, pk: int, **ids: Any) -> Response:
        run = run_in(self.project, pk)
        note = leaderboard.notes_of([run]).get(run.pk)
        if note is None:
            raise Http404("The ledger has no entry for this run yet.")
        return Response(RunNoteSerializer(note).data)

    @extend_schema(operation_id="ledger_write", request=LedgerSerializer, responses=RunNoteSerializer)
    def post(self, request: Request, pk: int, **ids: Any) -> Response:
        run = run_in(self.project, pk)
        given = LedgerSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        note = write_ledger(run=run, **given.validated_data, actor=self.member.user, at=timezone.now())
        return Response(RunNoteSerializer(note).data)
