"""Versions in the API."""

from typing import ClassVar

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.edges.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.common.web.negotiation import OneForm
from apps.common.web.paging import cut_list, only_known
from apps.goldsets import rules
from apps.goldsets.edges.exports import export_response
from apps.goldsets.edges.sealed import log_names
from apps.goldsets.enums import Split
from apps.goldsets.formats.folder import CHOICES
from apps.goldsets.models import Version
from apps.goldsets.selectors import versions
from apps.goldsets.serializers import LossPageSerializer, VersionSerializer


class VersionAPIView(ProjectAPIView):
    roles: ClassVar = {"GET": ()}
    scopes: ClassVar = {"GET": Scope.VERSIONS_READ}

    def version(self, gold_set: str, number: int) -> Version:
        return versions.seen_by(self.member, versions.version_in(self.project, gold_set, number))

    def facts(self, found: Version | QuerySet[Version], *, many: bool = False) -> Response:
        is_blind = rules.blind_refusal(self.member) is not None
        return Response(VersionSerializer(found, many=many, context={"is_blind": is_blind}).data)


class VersionList(VersionAPIView):
    """Every version of every gold set, newest first; unreleased ones for leads only."""

    @extend_schema(responses=VersionSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        rows = versions.versions_in(self.project).order_by("gold_set__slug", "-number")
        if not self.member.is_lead:
            rows = rows.filter(released_at__isnull=False)
        return self.facts(rows, many=True)


class VersionDetail(VersionAPIView):
    """One version with its manifest."""

    @extend_schema(responses=VersionSerializer)
    def get(self, request: Request, slug: str, gold_set: str, number: int) -> Response:
        return self.facts(self.version(gold_set, number))


class VersionLosses(VersionAPIView):
    """The judged pairs and queries that a version leaves out, queries first, each with the reason. For leads.

    Of a draft what would be left out now, of a frozen version what was left out.
    """

    roles: ClassVar = {"GET": (Role.LEAD,)}

    @extend_schema(
        parameters=[OpenApiParameter("after", str), OpenApiParameter("limit", int)], responses=LossPageSerializer
    )
    def get(self, request: Request, slug: str, gold_set: str, number: int) -> Response:
        only_known(request.query_params, {"after", "limit"})
        found = self.version(gold_set, number)
        cut = cut_list(versions.losses_of(found), request.query_params)
        log_names(found, self.member, (row.query_name for row in cut.rows), "what is left out")
        return Response(LossPageSerializer({"results": cut.rows, "next": cut.next}).data)


class VersionExport(VersionAPIView):
    """The files of a version as a zip. Leads get dev and test unless they name a split, everybody else dev."""

    content_negotiation_class = OneForm

    @extend_schema(
        parameters=[
            OpenApiParameter("format", enum=CHOICES, default="all"),
            OpenApiParameter("split", enum=Split.values),
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
            with_slices=request.query_params.get("slices") == "yes",
        )
