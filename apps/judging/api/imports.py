"""API of importing judgements: upload a file, look at the plan, confirm. The same three steps as the pages."""

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
from apps.judging.edges.imports import CHOICES, JudgementImport


class JudgementFileInput(serializers.Serializer):
    """For the schema only; the page's own form parses it."""

    file = serializers.FileField()
    format = serializers.ChoiceField(choices=list(CHOICES))
    snapshot = serializers.IntegerField(min_value=1, help_text="The key of the snapshot whose texts were judged.")
    columns = serializers.CharField(
        required=False, allow_blank=True, max_length=2_000, help_text="Such as Search=query,URL=passage,Stars=grade."
    )
    grades = serializers.CharField(
        required=False, allow_blank=True, max_length=500, help_text="Such as relevant=3,partly=1,-1=skip."
    )
    sheet = serializers.CharField(required=False, allow_blank=True, max_length=200)
    person = serializers.CharField(required=False, allow_blank=True, max_length=120)
    name = serializers.CharField(required=False, allow_blank=True, max_length=100)
    skip_unknown = serializers.BooleanField(required=False)


class JudgementImports(ProjectAPIView):
    """Upload a file. It is read at once, or in a job when it is large; nothing changes before it is confirmed."""

    roles = {"POST": (Role.LEAD,)}
    scopes = {"POST": Scope.JUDGING_WRITE}
    parser_classes = [MultiPartParser]

    @extend_schema(
        operation_id="judging_import",
        request={"multipart/form-data": JudgementFileInput},
        responses={201: ImportOut},
    )
    def post(self, request: Request, slug: str) -> Response:
        item = uploaded(request, self.project, JudgementImport, self.member.user)
        return Response(import_out(item), status=201)


class JudgementImportDetail(ProjectAPIView):
    """An import and its state. Of a table, `plan.table` has the columns and what its grades become."""

    roles = {"GET": (Role.LEAD,)}
    scopes = {"GET": Scope.JUDGING_WRITE}

    @extend_schema(operation_id="judging_import_read", responses=ImportOut)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(import_out(import_of_kind(self.project, JudgementImport, pk)))


class JudgementImportConfirm(ProjectAPIView):
    """Import the file, all of it or nothing: at once, or in a job when it is large."""

    roles = {"POST": (Role.LEAD,)}
    scopes = {"POST": Scope.JUDGING_WRITE}

    @extend_schema(operation_id="judging_import_confirm", request=None, responses=ImportOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        item = import_of_kind(self.project, JudgementImport, pk)
        confirmed = confirm_import(import_id=item.pk, actor=self.member.user, at=timezone.now())
        return Response(import_out(confirmed))
