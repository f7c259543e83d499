"""API of importing triples: upload a file, preview the plan, confirm. The same three steps as the pages."""

from typing import Any

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.edges.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.accounts.models import Project
from apps.corpus.actions.imports import confirm_import, start_import
from apps.corpus.models import Import
from apps.corpus.selectors.corpora import import_in
from apps.triples.edges.imports import LONGEST_MACHINE, TripleImport, TripleImportForm
from apps.triples.formats import FORMATS


class TripleFileInput(serializers.Serializer):
    """For the schema only; the page's own form parses it."""

    file = serializers.FileField()
    format = serializers.ChoiceField(choices=list(FORMATS))
    corpus = serializers.CharField(required=False, allow_blank=True)
    machine = serializers.CharField(required=False, allow_blank=True, max_length=LONGEST_MACHINE)
    near = serializers.BooleanField(required=False)


class TripleImportOut(serializers.Serializer):
    """`plan` is the result of reading the file: counts, faults and warnings with file, line, field and value."""

    id = serializers.IntegerField()
    state = serializers.CharField()
    file = serializers.CharField()
    plan = serializers.DictField()
    failure = serializers.CharField()
    job = serializers.IntegerField(allow_null=True)


def import_out(item: Import) -> dict[str, Any]:
    return {
        "id": item.pk,
        "state": item.state,
        "file": item.upload.filename,
        "plan": item.result or item.plan,
        "failure": item.failure,
        "job": item.job_id,
    }


def triple_import_in(project: Project, pk: int) -> Import:
    item = import_in(project, pk)
    if item.kind != TripleImport.name:
        raise Http404("No such import.")
    return item


class TripleImports(ProjectAPIView):
    """Upload a file. It is read at once, or in a job when it is large; nothing changes before it is confirmed."""

    roles = {"POST": (Role.LEAD,)}
    scopes = {"POST": Scope.TRIPLES_WRITE}
    parser_classes = [MultiPartParser]

    @extend_schema(
        operation_id="triples_import",
        request={"multipart/form-data": TripleFileInput},
        responses={201: TripleImportOut},
    )
    def post(self, request: Request, slug: str) -> Response:
        form = TripleImportForm(request.data, request.FILES, project=self.project)
        if not form.is_valid():
            raise ValidationError({name: [str(error) for error in errors] for name, errors in form.errors.items()})
        item = start_import(
            project=self.project,
            kind=TripleImport.name,
            file=form.cleaned_data["file"],
            options=form.options(),
            actor=self.member.user,
            at=timezone.now(),
        )
        return Response(import_out(item), status=201)


class TripleImportDetail(ProjectAPIView):
    """An import and its state."""

    roles = {"GET": (Role.LEAD,)}
    scopes = {"GET": Scope.TRIPLES_WRITE}

    @extend_schema(operation_id="triples_import_read", responses=TripleImportOut)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(import_out(triple_import_in(self.project, pk)))


class TripleImportConfirm(ProjectAPIView):
    """Import the file, all of it or nothing: at once, or in a job when it is large."""

    roles = {"POST": (Role.LEAD,)}
    scopes = {"POST": Scope.TRIPLES_WRITE}

    @extend_schema(operation_id="triples_import_confirm", request=None, responses=TripleImportOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        item = triple_import_in(self.project, pk)
        confirmed = confirm_import(import_id=item.pk, actor=self.member.user, at=timezone.now())
        return Response(import_out(confirmed))
