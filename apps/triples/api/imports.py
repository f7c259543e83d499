"""API of importing triples: upload a file, preview the plan, confirm. The same three steps as the pages."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.edges.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.corpus.actions.imports import confirm_import
from apps.corpus.edges.import_api import ImportOut, import_of_kind, import_out, uploaded
from apps.triples.edges.imports import LONGEST_MACHINE, TripleImport
from apps.triples.formats import FORMATS


class TripleFileInput(serializers.Serializer):
    """For the schema only; the page's own form parses it."""

    file = serializers.FileField()
    format = serializers.ChoiceField(choices=list(FORMATS))
    corpus = serializers.CharField(required=False, allow_blank=True)
    machine = serializers.CharField(required=False, allow_blank=True, max_length=LONGEST_MACHINE)
    near = serializers.BooleanField(required=False)


class TripleImports(ProjectAPIView):
    """Upload a file. It is read at once, or in a job when it is large; nothing changes before it is confirmed."""

    roles = {"POST": (Role.LEAD,)}
    scopes = {"POST": Scope.TRIPLES_WRITE}
    parser_classes = [MultiPartParser]

    @extend_schema(
        operation_id="triples_import",
        request={"multipart/form-data": TripleFileInput},
        responses={201: ImportOut},
    )
    def post(self, request: Request, slug: str) -> Response:
        item = uploaded(request, self.project, TripleImport, self.member.user)
        return Response(import_out(item), status=201)


class TripleImportDetail(ProjectAPIView):
    """An import and its state."""

    roles = {"GET": (Role.LEAD,)}
    scopes = {"GET": Scope.TRIPLES_WRITE}

    @extend_schema(operation_id="triples_import_read", responses=ImportOut)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(import_out(import_of_kind(self.project, TripleImport, pk)))


class TripleImportConfirm(ProjectAPIView):
    """Import the file, all of it or nothing: at once, or in a job when it is large."""

    roles = {"POST": (Role.LEAD,)}
    scopes = {"POST": Scope.TRIPLES_WRITE}

    @extend_schema(operation_id="triples_import_confirm", request=None, responses=ImportOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        item = import_of_kind(self.project, TripleImport, pk)
        confirmed = confirm_import(import_id=item.pk, actor=self.member.user, at=timezone.now())
        return Response(import_out(confirmed))
