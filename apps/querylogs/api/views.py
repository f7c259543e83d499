"""Search logs in the API: their list, what one offers, and what is done with each query."""

import json
import zlib
from typing import Any, ClassVar, cast

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.access.api import CorpusAPIView
from apps.accounts.access.authentication import TokenAuthentication
from apps.accounts.enums import Role, Scope
from apps.accounts.models import ApiToken
from apps.accounts.rules import ProjectArchived
from apps.accounts.selectors import membership_in
from apps.common.web.api import CURSOR, PAGING, given_in, newest_first, newest_page_of, oldest_first, page_of
from apps.common.web.forms import ChoiceField, body_fields, checked
from apps.querylogs import actions
from apps.querylogs.enums import Band, OfferState, Outcome, Plan
from apps.querylogs.execution import received
from apps.querylogs.formats.spans import as_response, spans_of_body
from apps.querylogs.forms import DecideForm, FetchForm, RunsForm
from apps.querylogs.models import MaskedName, OfferedQuery, QueryLog
from apps.querylogs.rules import MOST_NAME
from apps.querylogs.selectors import logs as selectors


class QueryLogOut(serializers.ModelSerializer[QueryLog]):
    """A search log. `figures` has its counts and strata; unread queries are deleted at `expires_at`."""

    source: Any = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    plan = ChoiceField(choices=Plan.choices)
    offered = serializers.IntegerField(source="drawn")
    waiting = serializers.IntegerField()
    came_in = serializers.IntegerField()

    class Meta:
        model = QueryLog
        fields = (
            "id", "name", "source", "least_people", "plan", "seed", "figures", "offered", "waiting", "came_in",
            "expires_at", "created_at", "closed_at",
        )  # fmt: skip
        read_only_fields = fields


class OfferedOut(serializers.ModelSerializer[OfferedQuery]):
    """An offered query. `text` is empty once it was decided; `query` is the id of the one in the project, or null."""

    query = serializers.CharField(source="query.outside_id", allow_null=True, default=None)
    band = ChoiceField(choices=Band.choices)
    outcome = ChoiceField(choices=Outcome.choices)
    state = ChoiceField(choices=OfferState.choices)

    class Meta:
        model = OfferedQuery
        fields = (
            "position", "text", "masks", "doubts", "spellings", "band", "outcome", "searches", "people", "nothing",
            "again", "clicks", "first_week", "last_week", "chance", "history", "state", "query", "note",
        )  # fmt: skip
        read_only_fields = fields


class OfferedStepInput(serializers.Serializer):
    """One step on an offered query: `keep`, `same`, `reject`, `mask` or `undo`."""

    def get_fields(self) -> dict[str, Any]:
        return body_fields(DecideForm)


class RunsFromLogInput(serializers.Serializer):
    """The documents in which what systems returned is located."""

    snapshot = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        max_length=80,
        help_text="As `corpus@number`. Empty: the passages that were returned become a corpus, “as returned”.",
    )


class RunsFromLogOut(serializers.Serializer):
    job = serializers.IntegerField(help_text="Its result has the runs.")


class TakenReceivedOut(serializers.Serializer):
    def get_fields(self) -> dict[str, Any]:
        return {"import": serializers.IntegerField(help_text="The import that waits for its confirmation.")}


class MaskedNameOut(serializers.ModelSerializer[MaskedName]):
    class Meta:
        model = MaskedName
        fields = ("id", "name", "created_at")
        read_only_fields = fields


class MaskedNamesInput(serializers.Serializer):
    names = serializers.ListField(child=serializers.CharField(max_length=MOST_NAME), max_length=10_000)


class NamesAddedOut(serializers.Serializer):
    added = serializers.IntegerField(help_text="How many were new.")


class LogView(CorpusAPIView):
    """Search logs are for leads: their queries are not in the project yet."""

    roles: ClassVar = {"GET": (Role.LEAD,)}


class LogStep(CorpusAPIView):
    """A step of a lead on a search log."""

    roles: ClassVar = {"POST": (Role.LEAD,)}


class QueryLogList(LogView):
    """The search logs, newest first."""

    @extend_schema(
        operation_id="query_logs", parameters=[CURSOR], responses=newest_page_of("QueryLogPage", QueryLogOut)
    )
    def get(self, request: Request, slug: str) -> Response:
        return newest_first(request, selectors.logs_in(self.project), QueryLogOut)


class QueryLogDetail(LogView):
    """One search log."""

    @extend_schema(operation_id="query_log", responses=QueryLogOut)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(QueryLogOut(selectors.log_in(self.project, pk)).data)


class OfferedList(LogView):
    """What a log offers, in the order drawn."""

    @extend_schema(operation_id="query_log_offered", parameters=PAGING, responses=page_of("OfferedPageOut", OfferedOut))
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return oldest_first(request, selectors.offered_in(selectors.log_in(self.project, pk)), OfferedOut)


class OfferedStep(LogStep):
    """Keeps an offered query, rejects it, says that it is the same as another, masks words of it, or undoes that."""

    @extend_schema(operation_id="query_log_decide", request=OfferedStepInput, responses=OfferedOut)
    def post(self, request: Request, slug: str, pk: int, position: int) -> Response:
        log = selectors.log_in(self.project, pk)
        form = checked(DecideForm(given_in(request.data, OfferedStepInput)))
        offered = selectors.one_offered(log, position)
        actions.decide(offered=offered, **form.cleaned_data, actor=self.member.user, at=timezone.now())
        return Response(OfferedOut(selectors.one_offered(log, position)).data)


class LogClose(LogStep):
    """Ends the reading of a log: what nobody has read is deleted."""

    @extend_schema(operation_id="query_log_close", request=None, responses=QueryLogOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        log = selectors.log_in(self.project, pk)
        actions.close_log(log_id=log.pk, actor=self.member.user, at=timezone.now())
        return Response(QueryLogOut(selectors.log_in(self.project, pk)).data)


class LogRuns(LogStep):
    """Makes a run of each system from what it returned for the queries that were kept, in a job."""

    @extend_schema(operation_id="query_log_runs", request=RunsFromLogInput, responses={202: RunsFromLogOut})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        log = selectors.log_in(self.project, pk)
        form = checked(RunsForm(given_in(request.data, RunsFromLogInput), project=self.project))
        job = actions.request_runs(log_id=log.pk, **form.cleaned_data, actor=self.member.user, at=timezone.now())
        return Response({"job": job.pk}, status=202)


class LogClicks(LogView):
    """What people clicked for the queries that came in, as a TREC run: a hint for pools, never a grade."""

    @extend_schema(operation_id="query_log_clicks", responses={(200, "text/plain"): str})
    def get(self, request: Request, slug: str, pk: int) -> HttpResponse:
        log = selectors.log_in(self.project, pk)
        return HttpResponse("".join(selectors.clicks_as_run(log)), content_type="text/plain; charset=utf-8")


class TraceReceiver(APIView):
    """Takes spans as OTLP over HTTP sends them, in protobuf and JSON, plain or gzip, with a token of the scope for it.

    It is off unless the operators turn it on. What comes in waits as a file, see `execution.received`.
    """

    authentication_classes = (TokenAuthentication,)
    permission_classes = (IsAuthenticated,)
    schema = None  # it is no part of the API's description: OTLP has its own

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if not settings.RECEIVE_TRACES:
            raise exceptions.NotFound("This server does not receive traces. Its operators can turn that on.")
        super().initial(request, *args, **kwargs)

    def post(self, request: Request) -> HttpResponse:
        token = cast(ApiToken, request.auth)
        if Scope.TRACES_WRITE not in token.scopes:
            raise exceptions.PermissionDenied(f"This token lacks the scope {Scope.TRACES_WRITE}.")
        if not membership_in(token.user, token.project.slug).holds(Role.LEAD):
            raise exceptions.PermissionDenied("This is for: lead.")
        ProjectArchived.unless_open(token.project)
        kind = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind not in {PROTOBUF, JSON}:
            return _problem(JSON, 415, f"Send {PROTOBUF} or {JSON}.")
        try:
            spans = list(spans_of_body(unpacked(request), is_json=kind == JSON))
        except ValueError as error:
            return _problem(kind, 400, str(error))
        found = received.receive(token.project, spans, timezone.now())
        if found.retry_after:
            answer = _problem(kind, 429, found.reason)
            answer["Retry-After"] = str(found.retry_after)
            return answer
        return _taken(kind, found)


PROTOBUF, JSON = "application/x-protobuf", "application/json"
MOST_UNPACKED = 50_000_000
INVALID_ARGUMENT, RESOURCE_EXHAUSTED = 3, 8
"""Codes of google.rpc.Status, as gRPC has them."""


def unpacked(request: Request) -> bytes:
    """The body. Raises ValueError for what is no gzip, or too much of it."""
    body: bytes = request._request.body
    encoding = request.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding == "identity":
        return body
    if encoding != "gzip":
        raise ValueError("Send the body plain or as gzip.")
    unpack = zlib.decompressobj(wbits=31)
    try:
        content = unpack.decompress(body, MOST_UNPACKED)
    except zlib.error:
        raise ValueError("The body is no gzip, though its header says so.") from None
    if unpack.unconsumed_tail or not unpack.eof:
        raise ValueError(f"The body is cut off, or larger than {MOST_UNPACKED:,} bytes. Send less at once.")
    return content


def _problem(kind: str, status: int, message: str) -> HttpResponse:
    """A refusal as OTLP says it: a google.rpc.Status."""
    code = RESOURCE_EXHAUSTED if status == 429 else INVALID_ARGUMENT
    if kind == JSON:
        return HttpResponse(json.dumps({"code": code, "message": message}), status=status, content_type=JSON)
    text = message.encode()[:127]
    return HttpResponse(bytes([8, code, 18, len(text)]) + text, status=status, content_type=PROTOBUF)


def _taken(kind: str, found: received.Received) -> HttpResponse:
    """An ExportTraceServiceResponse."""
    if kind == JSON:
        partial = {"rejectedSpans": str(found.rejected), "errorMessage": found.reason}
        body = {"partialSuccess": partial} if found.rejected else {}
        return HttpResponse(json.dumps(body), content_type=JSON)
    return HttpResponse(as_response(found.rejected, found.reason), content_type=PROTOBUF)


class LogReceived(LogStep):
    """Makes a waiting import of the traces that came in: the queries are drawn when it is confirmed."""

    @extend_schema(operation_id="query_logs_take_received", request=None, responses={201: TakenReceivedOut})
    def post(self, request: Request, slug: str) -> Response:
        item = actions.take_received(project=self.project, actor=self.member.user, at=timezone.now())
        return Response({"import": item.pk}, status=201)


class FetchInput(serializers.Serializer):
    """The server, what is fetched from it, and how the log is called."""

    def get_fields(self) -> dict[str, Any]:
        return body_fields(FetchForm)


class FetchOut(serializers.Serializer):
    job = serializers.IntegerField(help_text="Its result has `import_id`, the import that waits for its confirmation.")


class LogFetch(LogStep):
    """Fetches traces from Langfuse or Phoenix in a job, and makes a waiting import of them."""

    @extend_schema(operation_id="query_logs_fetch", request=FetchInput, responses={202: FetchOut})
    def post(self, request: Request, slug: str) -> Response:
        form = checked(FetchForm(given_in(request.data, FetchInput), project=self.project))
        job = actions.request_fetch(project=self.project, **form.request, actor=self.member.user, at=timezone.now())
        return Response({"job": job.pk}, status=202)


class NameList(LogView):
    """The names that every search log of the project has masked; adds some."""

    roles: ClassVar = {"GET": (Role.LEAD,), "POST": (Role.LEAD,)}

    @extend_schema(operation_id="masked_names", parameters=PAGING, responses=page_of("MaskedNamePage", MaskedNameOut))
    def get(self, request: Request, slug: str) -> Response:
        return oldest_first(request, selectors.names_in(self.project), MaskedNameOut)

    @extend_schema(operation_id="masked_names_add", request=MaskedNamesInput, responses=NamesAddedOut)
    def post(self, request: Request, slug: str) -> Response:
        names = given_in(request.data, MaskedNamesInput)["names"]
        added = actions.add_names(project=self.project, names=names, actor=self.member.user, at=timezone.now())
        return Response({"added": added})


class NameRemove(LogStep):
    """Takes a name off the list."""

    @extend_schema(operation_id="masked_names_remove", request=None, responses={204: None})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        name = get_object_or_404(selectors.names_in(self.project), pk=pk)
        actions.remove_name(name=name, actor=self.member.user, at=timezone.now())
        return Response(status=204)
