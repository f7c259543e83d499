"""Importing a file over the API: upload it, look at the plan, confirm. The same three steps as on the pages."""

from typing import Any

from django.http import Http404
from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from apps.accounts.models import Project, User
from apps.corpus.actions.imports import start_import
from apps.corpus.models import Import
from apps.corpus.selectors.corpora import import_in
from apps.corpus.selectors.import_kinds import ImportKind


class ImportOut(serializers.Serializer):
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


def import_of_kind(project: Project, kind: type[ImportKind], pk: int) -> Import:
    item = import_in(project, pk)
    if item.kind != kind.name:
        raise Http404("No such import.")
    return item


def uploaded(request: Request, project: Project, kind: type[ImportKind], actor: User) -> Import:
    """The import of the file in the request, read by the form of the page. Nothing changes before it is confirmed."""
    form = kind.form_class(request.data, request.FILES, project=project)
    if not form.is_valid():
        raise ValidationError({name: [str(error) for error in errors] for name, errors in form.errors.items()})
    return start_import(
        project=project,
        kind=kind.name,
        file=form.cleaned_data["file"],
        options=form.options(),
        actor=actor,
        at=timezone.now(),
    )
