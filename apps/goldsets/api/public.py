"""Public releases in the API: the same steps as on their pages, for the same people."""

from collections.abc import Callable
from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import VersionsAPIView
from apps.accounts.enums import Role, Scope
from apps.accounts.selectors import member_user
from apps.common.web.api import PAGING, OneForm, body_in, given_in, page_of
from apps.common.web.paging import cut_list, only_known
from apps.corpus.actions.corpora import allow_public_texts, end_public_texts
from apps.goldsets import presenters, serializers
from apps.goldsets.access import log_names
from apps.goldsets.actions import public as actions
from apps.goldsets.enums import StayKind, StayReason
from apps.goldsets.models import PublicRelease, Version
from apps.goldsets.selectors import public, versions


class PublicAPIView(VersionsAPIView):
    """An endpoint of the live public release of a version, for leads."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    def version(self, ids: dict[str, Any]) -> Version:
        return versions.seen_by(self.member, versions.version_in(self.project, ids["gold_set"], ids["number"]))

    def facts(self, release: PublicRelease, *, status: int = 200) -> Response:
        shown = public.public_releases_of(release.version).get(pk=release.pk)
        return Response(
            serializers.PublicReleaseDetailSerializer(shown, context={"at": timezone.now()}).data, status=status
        )

    def step(self, ids: dict[str, Any], act: Callable[..., PublicRelease], *, status: int = 200, **inputs: Any):
        """One step of the live release; 202 where a worker has to see first that what goes out has not changed."""
        release = presenters.public_release_of(self.version(ids))
        return self.facts(
            act(release_id=release.pk, actor=self.member.user, at=timezone.now(), **inputs), status=status
        )


class PublicReleaseList(PublicAPIView):
    """Every public release of a version, withdrawn ones too, newest first."""

    roles: ClassVar = {"GET": (Role.LEAD,)}

    @extend_schema(operation_id="public_releases_list", responses=serializers.PublicReleaseSerializer(many=True))
    def get(self, request: Request, **ids: Any) -> Response:
        return Response(
            serializers.PublicReleaseSerializer(public.public_releases_of(self.version(ids)), many=True).data
        )


class PublicReleaseDetail(PublicAPIView):
    """Reads the live public release of a version; prepares one, or prepares it again, as a job."""

    roles: ClassVar = {"GET": (Role.LEAD,), "POST": (Role.LEAD,)}

    @extend_schema(operation_id="public_release_read", responses=serializers.PublicReleaseDetailSerializer)
    def get(self, request: Request, **ids: Any) -> Response:
        return self.facts(presenters.public_release_of(self.version(ids)))

    @extend_schema(
        operation_id="public_release_prepare",
        request=serializers.PublicRequestSerializer,
        responses={202: serializers.PublicReleaseDetailSerializer},
    )
    def post(self, request: Request, **ids: Any) -> Response:
        order = body_in(request.data, serializers.PublicRequestSerializer).order
        release = presenters.prepare_public(self.version(ids), order, actor=self.member.user, at=timezone.now())
        return self.facts(release, status=202)


class PublicTextsView(PublicAPIView):
    """Who lets the texts of the version's corpus be published, null where nobody does; records it, or ends it."""

    roles: ClassVar = {"GET": (Role.LEAD,), "POST": (Role.LEAD,)}

    @extend_schema(operation_id="public_texts_read", responses=serializers.PublicTextsSerializer)
    def get(self, request: Request, **ids: Any) -> Response:
        return self.said(self.version(ids))

    @extend_schema(
        operation_id="public_texts_record",
        request=serializers.PublicTextsRequestSerializer,
        responses=serializers.PublicTextsSerializer,
    )
    def post(self, request: Request, **ids: Any) -> Response:
        version, given = self.version(ids), given_in(request.data, serializers.PublicTextsRequestSerializer)
        corpus, actor, at = version.snapshot.corpus_id, self.member.user, timezone.now()
        if given.pop("public"):
            allow_public_texts(corpus_id=corpus, actor=actor, at=at, **given)
        else:
            end_public_texts(corpus_id=corpus, actor=actor, at=at)
        return self.said(version)

    def said(self, version: Version) -> Response:
        said = public.public_texts_of(version)
        return Response(serializers.PublicTextsSerializer({"corpus": version.snapshot.corpus, "said": said}).data)


class PublicReleaseAsk(PublicAPIView):
    """Asks another lead to read the preview and sign."""

    @extend_schema(
        operation_id="public_release_ask",
        request=serializers.AskRequestSerializer,
        responses=serializers.PublicReleaseDetailSerializer,
    )
    def post(self, request: Request, **ids: Any) -> Response:
        lead = given_in(request.data, serializers.AskRequestSerializer)["lead"]
        return self.step(ids, actions.ask_to_sign, lead=member_user(self.project, lead))


class PublicReleaseTexts(PublicAPIView):
    """Lets texts that were found, the `hits` of the report, go out all the same, or takes that back; with a reason, on
    the record. The release is prepared again.
    """

    @extend_schema(
        operation_id="public_release_decide_texts",
        request=serializers.TextsRequestSerializer,
        responses={202: serializers.PublicReleaseDetailSerializer},
    )
    def post(self, request: Request, **ids: Any) -> Response:
        return self.step(
            ids,
            actions.decide_public_texts,
            status=202,
            **given_in(request.data, serializers.TextsRequestSerializer),
        )


class PublicReleaseSign(PublicAPIView):
    """Signs what another lead has prepared and the signer has previewed, once a job has seen that it is still that."""

    @extend_schema(
        operation_id="public_release_sign", request=None, responses={202: serializers.PublicReleaseDetailSerializer}
    )
    def post(self, request: Request, **ids: Any) -> Response:
        return self.step(ids, actions.sign_public_release, status=202)


class PublicReleaseRelease(PublicAPIView):
    """Releases what was signed to the public, once a job has seen that it is still that."""

    @extend_schema(
        operation_id="public_release_release", request=None, responses={202: serializers.PublicReleaseDetailSerializer}
    )
    def post(self, request: Request, **ids: Any) -> Response:
        return self.step(ids, actions.publish_release, status=202)


class PublicReleaseWithdraw(PublicAPIView):
    """Withdraws the live public release, in whatever state it is."""

    @extend_schema(
        operation_id="public_release_withdraw",
        request=serializers.WithdrawRequestSerializer,
        responses=serializers.PublicReleaseDetailSerializer,
    )
    def post(self, request: Request, **ids: Any) -> Response:
        reason = given_in(request.data, serializers.WithdrawRequestSerializer)["reason"]
        return self.step(ids, actions.withdraw_public_release, reason=reason)


class PublicReleasePreview(PublicAPIView):
    """One record as it goes out, beside what the version has. Reading one is what a lead does before signing: it is
    logged.
    """

    roles: ClassVar = {"GET": (Role.LEAD,)}
    scopes: ClassVar = {"GET": Scope.VERSIONS_WRITE}

    @extend_schema(operation_id="public_release_preview", responses=serializers.PreviewSerializer)
    def get(self, request: Request, kind: str, record: int, **ids: Any) -> Response:
        release = presenters.built_release_of(self.version(ids))
        shown = presenters.open_preview(release, kind, record, member=self.member, at=timezone.now())
        return Response(serializers.PreviewSerializer(shown).data)


class PublicReleaseStays(PublicAPIView):
    """The items that the live release keeps in, each with its reason."""

    roles: ClassVar = {"GET": (Role.LEAD,)}

    @extend_schema(
        operation_id="public_release_stays",
        parameters=[
            OpenApiParameter("kind", enum=StayKind.values),
            OpenApiParameter("reason", enum=StayReason.values),
            *PAGING,
        ],
        responses=page_of("StayPage", serializers.StaySerializer),
    )
    def get(self, request: Request, **ids: Any) -> Response:
        params = request.query_params
        only_known(params, {"kind", "reason", "after", "limit"})
        release = presenters.built_release_of(self.version(ids))
        cut = cut_list(public.stays_in(release, kind=params.get("kind", ""), reason=params.get("reason", "")), params)
        log_names(release.version, self.member, (row.name for row in cut.rows), "what stays in")
        return Response({"results": serializers.StaySerializer(cut.rows, many=True).data, "next": cut.next})


class PublicReleaseFile(PublicAPIView):
    """The zip of the live public release: for members once it is released, for leads once it is prepared."""

    roles: ClassVar = {"GET": ()}
    content_negotiation_class = OneForm

    @extend_schema(operation_id="public_release_file", responses={(200, "application/zip"): OpenApiTypes.BINARY})
    def get(self, request: Request, **ids: Any):
        return presenters.public_zip_response(
            presenters.public_release_of(self.version(ids)), self.member, at=timezone.now()
        )
