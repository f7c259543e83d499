"""Taking an edition in the API, and running the systems again that ranked the one before it."""

from typing import ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.edges.access import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.corpus.selectors.corpora import import_in, snapshot_in
from apps.editions.actions import running, taking
from apps.editions.enums import Choice
from apps.editions.execution.taking import EditionRefused, TakeOrder
from apps.editions.serializers import SystemsRunOut, TakeInput, TakeOut
from apps.retrieval.models import Run

FAULTY = (
    "The project has changed since the file was read, so that it has mistakes now. Nothing was taken. "
    "Read the import: its plan lists them."
)


class TakeView(ProjectAPIView):
    """Takes an edition: grades come along as decided, the rest becomes a pool and a round, and drafts move."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    def order(self, request: Request) -> TakeOrder:
        body = TakeInput(data=request.data)
        body.is_valid(raise_exception=True)
        given = body.validated_data
        rest = Choice(given["rest"]) if given["rest"] else None
        return TakeOrder({}, rest=rest, with_round=given["with_round"], shown=given["mark"])

    def out(self, requested: taking.RequestedTake) -> Response:
        return Response(TakeOut(requested).data, status=202 if requested.job else 201)


class ImportTake(TakeView):
    """Imports the file, freezes the corpus and takes the edition: all of it or nothing, in a job where it is large."""

    scopes: ClassVar = {"POST": (Scope.CORPUS_WRITE, Scope.ROUNDS_WRITE)}

    @extend_schema(operation_id="editions_import_take", request=TakeInput, responses={201: TakeOut, 202: TakeOut})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        item = import_in(self.project, pk)
        order = self.order(request)
        requested = taking.take_imported(import_id=item.pk, order=order, actor=self.member.user, at=timezone.now())
        if requested.taken is None and requested.job is None:
            raise EditionRefused(FAULTY, code="import_faulty")
        return self.out(requested)


class SnapshotTake(TakeView):
    """Takes the edition of a snapshot, in a job where it is large."""

    scopes: ClassVar = {"POST": Scope.ROUNDS_WRITE}

    @extend_schema(operation_id="editions_snapshot_take", request=TakeInput, responses={201: TakeOut, 202: TakeOut})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        snapshot = snapshot_in(self.project, pk)
        order = self.order(request)
        return self.out(
            taking.take_snapshot(snapshot_id=snapshot.pk, order=order, actor=self.member.user, at=timezone.now())
        )


class SnapshotRunAgain(ProjectAPIView):
    """Queues a run on a snapshot for each system that Karat ran on the one before it and not yet on this one."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.RUNS_WRITE}

    @extend_schema(operation_id="editions_snapshot_run_again", request=None, responses={202: SystemsRunOut})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        snapshot = snapshot_in(self.project, pk)
        runs = running.run_again(snapshot_id=snapshot.pk, actor=self.member.user, at=timezone.now())
        queued = Run.objects.filter(pk__in=[run.pk for run in runs]).select_related("system").order_by("pk")
        return Response(SystemsRunOut({"runs": queued}).data, status=202)
