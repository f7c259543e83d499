"""Gold sets and versions in the API: reads, drafts, release and export."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import IntegerField, Serializer

from apps.accounts.access.api import VersionsAPIView
from apps.accounts.enums import Role
from apps.common.web.api import PAGING, OneForm, given_in, page_of
from apps.common.web.forms import body_fields, checked
from apps.common.web.paging import cut_list, only_known
from apps.corpus.serializers import DocumentReachSerializer
from apps.goldsets import rules, serializers
from apps.goldsets.access import log_names, names_told
from apps.goldsets.actions import versions as actions
from apps.goldsets.enums import Split
from apps.goldsets.formats.folder import CHOICES
from apps.goldsets.models import Version
from apps.goldsets.presenters import export_response
from apps.goldsets.selectors import versions
from apps.goldsets.selectors.assembly import gather
from apps.goldsets.selectors.freeze_checks import find_blockers
from apps.goldsets.selectors.freeze_policy import find_lead_checks
from apps.querylogs.forms import TraceServerForm
from apps.retrieval.serializers.runs import snapshot_of_body


class LeadAPIView(VersionsAPIView):
    """A step of a lead on gold sets and versions."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    def inputs(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The inputs of a draft, with the rows that `snapshot` and `rounds` name in this project."""
        inputs = dict(given)
        if "snapshot" in given:
            inputs["snapshot"] = snapshot_of_body(self.project, given["snapshot"])
        if "rounds" in given:
            inputs["rounds"] = list(versions.rounds_on(self.project).filter(pk__in=given["rounds"]))
            if len(inputs["rounds"]) != len(set(given["rounds"])):
                raise ValidationError({"rounds": ["Not all of these are rounds of this project."]})
        return inputs

    def version(self, ids: Mapping[str, Any]) -> Version:
        return versions.version_in(self.project, ids["gold_set"], ids["number"])

    def facts(self, version: Version, *, status: int = 200) -> Response:
        is_blind = rules.blind_refusal(self.member) is not None
        shown = versions.version_in(self.project, version.gold_set.slug, version.number)
        return Response(serializers.VersionSerializer(shown, context={"is_blind": is_blind}).data, status=status)


class GoldSetList(LeadAPIView):
    """Lists the gold sets of the project, by name; creates one."""

    roles: ClassVar = {"GET": (), "POST": (Role.LEAD,)}

    @extend_schema(operation_id="gold_sets_list", responses=serializers.GoldSetSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return Response(serializers.GoldSetSerializer(versions.gold_sets_of(self.project), many=True).data)

    @extend_schema(
        operation_id="gold_sets_create",
        request=serializers.GoldSetRequestSerializer,
        responses={201: serializers.GoldSetSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        named = given_in(request.data, serializers.GoldSetRequestSerializer)
        gold_set = actions.create_gold_set(project=self.project, actor=self.member.user, at=timezone.now(), **named)
        return Response(serializers.GoldSetSerializer(gold_set).data, status=201)


class DraftList(LeadAPIView):
    """Begins the next version of a gold set, as a draft. A gold set has at most one."""

    @extend_schema(
        operation_id="versions_draft",
        request=serializers.DraftRequestSerializer,
        responses={201: serializers.VersionSerializer},
    )
    def post(self, request: Request, slug: str, gold_set: str) -> Response:
        parent = versions.gold_set_in(self.project, gold_set)
        given = given_in(request.data, serializers.DraftRequestSerializer)
        inputs = {"test_share": versions.usual_test_share(self.project), **self.inputs(given)}
        draft = actions.draft_version(gold_set_id=parent.pk, actor=self.member.user, at=timezone.now(), **inputs)
        return self.facts(draft, status=201)


class DraftChange(LeadAPIView):
    """Changes the inputs of a draft. What is left out stays as it is."""

    @extend_schema(
        operation_id="versions_change",
        request=serializers.DraftChangeSerializer,
        responses=serializers.VersionSerializer,
    )
    def post(self, request: Request, **ids: Any) -> Response:
        version = self.version(ids)
        inputs = _inputs_of(version) | self.inputs(given_in(request.data, serializers.DraftChangeSerializer))
        actions.change_draft(version_id=version.pk, actor=self.member.user, at=timezone.now(), **inputs)
        return self.facts(version)


def _inputs_of(version: Version) -> dict[str, Any]:
    names = ("snapshot", "test_share", "seed", "group_by", "split_by", "note")
    return {name: getattr(version, name) for name in names} | {"rounds": list(version.rounds.all())}


class DraftBlockers(LeadAPIView):
    """What stands against freezing a draft now, each item with a sentence. Empty for what is frozen."""

    roles: ClassVar = {"GET": (Role.LEAD,)}

    @extend_schema(operation_id="versions_blockers", responses=serializers.BlockersSerializer)
    def get(self, request: Request, **ids: Any) -> Response:
        version = self.version(ids)
        found = []
        if version.is_draft:
            gathered = gather(version)
            log_names(version, self.member, names_told(gathered), "what blocks a freeze")
            found = find_blockers(gathered, find_lead_checks(gathered), at=timezone.now())
        return Response(serializers.BlockersSerializer({"blockers": found}).data)


class VersionFreeze(LeadAPIView):
    """Freezes a draft: its items are copied and never change again."""

    @extend_schema(
        operation_id="versions_freeze",
        request=serializers.FreezeRequestSerializer,
        responses=serializers.VersionSerializer,
    )
    def post(self, request: Request, **ids: Any) -> Response:
        changelog = given_in(request.data, serializers.FreezeRequestSerializer)["changelog"]
        version, at = self.version(ids), timezone.now()
        return self.facts(
            actions.freeze_version(version_id=version.pk, actor=self.member.user, at=at, changelog=changelog)
        )


class VersionRelease(LeadAPIView):
    """Releases a frozen version. The one released before it is superseded."""

    @extend_schema(operation_id="versions_release", request=None, responses=serializers.VersionSerializer)
    def post(self, request: Request, **ids: Any) -> Response:
        version = self.version(ids)
        return self.facts(actions.release_version(version_id=version.pk, actor=self.member.user, at=timezone.now()))


class DraftDiscard(LeadAPIView):
    """Discards a draft. What it would have been cut from stays."""

    @extend_schema(operation_id="versions_discard", request=None, responses={204: None})
    def post(self, request: Request, **ids: Any) -> Response:
        actions.discard_draft(version_id=self.version(ids).pk, actor=self.member.user, at=timezone.now())
        return Response(status=204)


class VersionAPIView(VersionsAPIView):
    roles: ClassVar = {"GET": ()}

    def version(self, gold_set: str, number: int) -> Version:
        return versions.seen_by(self.member, versions.version_in(self.project, gold_set, number))

    def facts(self, found: Version | QuerySet[Version], *, many: bool = False) -> Response:
        is_blind = rules.blind_refusal(self.member) is not None
        return Response(serializers.VersionSerializer(found, many=many, context={"is_blind": is_blind}).data)


class VersionList(VersionAPIView):
    """Every version of every gold set, newest first; unreleased ones for leads only."""

    @extend_schema(responses=serializers.VersionSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        rows = versions.versions_in(self.project).order_by("gold_set__slug", "-number")
        if not self.member.is_lead:
            rows = rows.filter(released_at__isnull=False)
        return self.facts(rows, many=True)


class VersionDetail(VersionAPIView):
    """One version with its manifest."""

    @extend_schema(responses=serializers.VersionSerializer)
    def get(self, request: Request, slug: str, gold_set: str, number: int) -> Response:
        return self.facts(self.version(gold_set, number))


class VersionDocuments(VersionAPIView):
    """Which documents of the snapshot hold a passage graded 1 or more, or expected by a Q&A. For leads."""

    roles: ClassVar = {"GET": (Role.LEAD,)}

    @extend_schema(responses=DocumentReachSerializer)
    def get(self, request: Request, slug: str, gold_set: str, number: int) -> Response:
        found = self.version(gold_set, number)
        if reason := rules.documents_refusal(found):
            raise actions.VersionRefused(reason, code="is_draft")
        return Response(DocumentReachSerializer(versions.documents_held(found)).data)


class VersionLosses(VersionAPIView):
    """The judged pairs and queries that a version leaves out, queries first, each with the reason. For leads.

    Of a draft what would be left out now, of a frozen version what was left out.
    """

    roles: ClassVar = {"GET": (Role.LEAD,)}

    @extend_schema(
        parameters=PAGING,
        responses=page_of("LossPage", serializers.LossSerializer),
    )
    def get(self, request: Request, slug: str, gold_set: str, number: int) -> Response:
        only_known(request.query_params, {"after", "limit"})
        found = self.version(gold_set, number)
        cut = cut_list(versions.losses_of(found), request.query_params)
        log_names(found, self.member, (row.query_name for row in cut.rows), "what is left out")
        return Response({"results": serializers.LossSerializer(cut.rows, many=True).data, "next": cut.next})


class VersionExport(VersionAPIView):
    """The files of a version as a zip. Leads get dev and test unless they name a split, everybody else dev."""

    content_negotiation_class = OneForm

    @extend_schema(
        parameters=[
            OpenApiParameter("format", enum=CHOICES, default="all"),
            OpenApiParameter("split", enum=Split.values),
            OpenApiParameter("run", many=True, description="Of letor: tags of the runs whose scores are features."),
            OpenApiParameter("slices", enum=["yes"], description="Also slices.json, as the slices are now."),
        ],
        responses={(200, "application/zip"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, slug: str, gold_set: str, number: int):
        return export_response(
            self.version(gold_set, number),
            member=self.member,
            form=request.query_params.get("format", "all"),
            split=request.query_params.get("split", ""),
            runs=request.query_params.getlist("run"),
            with_slices=request.query_params.get("slices") == "yes",
        )


class SendGradesInput(Serializer):
    """Langfuse or Phoenix, and how Karat signs in there; `secret` is the name of a secret of the project."""

    def get_fields(self) -> dict[str, Any]:
        return body_fields(TraceServerForm)


class SendGradesOut(Serializer):
    job = IntegerField(help_text="Its result has how many grades were sent.")


class VersionSendGrades(LeadAPIView):
    """Sends the grades of dev to the traces that its queries are from, in a job."""

    @extend_schema(operation_id="versions_send_grades", request=SendGradesInput, responses={202: SendGradesOut})
    def post(self, request: Request, slug: str, gold_set: str, number: int) -> Response:
        found = versions.version_in(self.project, gold_set, number)
        form = checked(TraceServerForm(given_in(request.data, SendGradesInput), project=self.project))
        answers = rules.answers_refusal(self.member, found) is None
        job = actions.request_sending(
            version=found, answers=answers, **form.cleaned_data, actor=self.member.user, at=timezone.now()
        )
        return Response({"job": job.pk}, status=202)
