"""Sources of queries in the API, and the permissions under which they are used."""

from datetime import datetime
from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import CorpusAPIView
from apps.accounts.enums import Role
from apps.common.web.api import PAGING, body_in, change_in, given_in, oldest_first, page_of
from apps.common.web.forms import ChoiceField
from apps.queries import selectors
from apps.queries.actions import sources as sources_actions
from apps.queries.enums import PermissionScope, SourceKind
from apps.queries.models import Permission, Source
from apps.queries.presenters import balance_board


class SourceInput(serializers.Serializer):
    """`target_share` is the share of the queries, and of the Q&As, that you aim for, 0 to 1; null: none."""

    name = serializers.CharField(required=False, max_length=120)
    kind = ChoiceField(required=False, choices=SourceKind.choices)
    target_share = serializers.DecimalField(
        required=False, allow_null=True, max_digits=4, decimal_places=3, min_value=0, max_value=1
    )

    def values(self) -> dict[str, Any]:
        """The validated values that were given, for the actions."""
        values = dict(self.validated_data)
        if values.get("target_share") is not None:
            values["target_share"] = float(values["target_share"])
        return values


class NewSourceInput(SourceInput):
    name = serializers.CharField(max_length=120)
    kind = ChoiceField(choices=SourceKind.choices)
    slug = serializers.SlugField(
        required=False, max_length=60, help_text="Its name in commands and bodies; by default made from the name."
    )


class ShareSerializer(serializers.Serializer):
    number = serializers.IntegerField()
    share = serializers.FloatField()
    short = serializers.IntegerField(help_text="How many more the target requires.")


class BoardRowSerializer(serializers.Serializer):
    """One value of a property; empty: not set."""

    value = serializers.CharField()
    target = serializers.FloatField(allow_null=True)
    queries = ShareSerializer()
    triples = ShareSerializer()


class StratumBoardSerializer(serializers.Serializer):
    property = serializers.CharField(source="name")
    values = BoardRowSerializer(source="rows", many=True)


class NextToAddSerializer(serializers.Serializer):
    """A value that is most short of its target: of `Queries` or of `Q&As`."""

    items = serializers.CharField()
    property = serializers.CharField(source="name")
    value = serializers.CharField()
    short = serializers.IntegerField()


class BalanceSerializer(serializers.Serializer):
    """The balance board: numbers and shares by property, and the three values that are most short."""

    queries = serializers.IntegerField()
    variants = serializers.IntegerField(help_text="Not among the queries: they repeat their originals.")
    triples = serializers.IntegerField()
    properties = StratumBoardSerializer(source="strata", many=True)
    next = NextToAddSerializer(many=True)


class TargetsInput(serializers.Serializer):
    """Shares aimed at, 0 to 1, by value of a property. A property that is left out keeps its own; {} clears it."""

    query_type = serializers.DictField(child=serializers.FloatField(min_value=0, max_value=1), required=False)
    difficulty = serializers.DictField(child=serializers.FloatField(min_value=0, max_value=1), required=False)
    domain = serializers.DictField(child=serializers.FloatField(min_value=0, max_value=1), required=False)
    failure_mode = serializers.DictField(child=serializers.FloatField(min_value=0, max_value=1), required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        for name, shares in attrs.items():
            if (total := sum(shares.values())) > 1.0001:
                message = f"These shares add up to {total:g}. Together they are at most 1."
                raise serializers.ValidationError({name: [message]})
        return attrs


class PermissionInput(serializers.Serializer):
    owner = serializers.CharField(max_length=200, help_text="Who gives it: a person, a team or a company.")
    scope = ChoiceField(choices=PermissionScope.choices)
    evidence = serializers.CharField(
        required=False, allow_blank=True, max_length=2_000, help_text="Where it is written down."
    )
    licence = serializers.CharField(required=False, allow_blank=True, max_length=80)
    expires_at = serializers.DateTimeField(required=False, allow_null=True)


class RevokeInput(serializers.Serializer):
    reason = serializers.CharField(max_length=2_000)


class PermissionOut(serializers.ModelSerializer[Permission]):
    revoked_by = serializers.CharField(allow_null=True)

    class Meta:
        model = Permission
        fields = (
            "id",
            "owner",
            "scope",
            "evidence",
            "licence",
            "granted_at",
            "expires_at",
            "revoked_at",
            "revoked_by",
            "revocation_reason",
        )
        read_only_fields = fields


class SourceOut(serializers.Serializer):
    """A source, with its permissions, newest first. `valid_permission` is the id of the one that counts, or null."""

    id = serializers.IntegerField()
    slug = serializers.CharField()
    name = serializers.CharField()
    kind = ChoiceField(choices=SourceKind.choices)
    target_share = serializers.FloatField(allow_null=True)
    live_queries = serializers.IntegerField(source="live_count")
    valid_permission = serializers.SerializerMethodField()
    permissions = PermissionOut(many=True)

    def get_valid_permission(self, source: Source) -> int | None:
        at: datetime = self.context["at"]
        valid = selectors.valid_permission(source, at)
        return valid.pk if valid else None


class RevokedOut(serializers.Serializer):
    """How many queries were retired, since no other permission is valid; what else was, in words; and the source."""

    retired = serializers.IntegerField()
    sentence = serializers.CharField()
    source = SourceOut()  # type: ignore[assignment]


class SourceView(CorpusAPIView):
    """A step of a lead on the sources of queries."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    def facts(self, pk: int) -> dict[str, Any]:
        return SourceOut(selectors.source_in(self.project, pk), context={"at": timezone.now()}).data


class SourceList(SourceView):
    """The sources in the order in which they were added; adds one."""

    roles: ClassVar = {"GET": (), "POST": (Role.LEAD,)}

    @extend_schema(operation_id="queries_sources", parameters=PAGING, responses=page_of("SourcePageOut", SourceOut))
    def get(self, request: Request, slug: str) -> Response:
        return oldest_first(request, selectors.sources_in(self.project), SourceOut, at=timezone.now())

    @extend_schema(operation_id="queries_create_source", request=NewSourceInput, responses={201: SourceOut})
    def post(self, request: Request, slug: str) -> Response:
        body = body_in(request.data, NewSourceInput)
        source = sources_actions.create_source(
            project=self.project, actor=self.member.user, at=timezone.now(), **body.values()
        )
        return Response(self.facts(source.pk), status=201)


class SourceDetail(SourceView):
    """One source."""

    roles: ClassVar = {"GET": ()}

    @extend_schema(operation_id="queries_read_source", responses=SourceOut)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(self.facts(pk))


class SourceEdit(SourceView):
    """Changes a source. What is left out stays as it is, and so does its slug."""

    @extend_schema(operation_id="queries_edit_source", request=SourceInput, responses=SourceOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        source = selectors.source_in(self.project, pk)
        as_it_is = {"name": source.name, "kind": source.kind, "target_share": source.target_share}
        values = as_it_is | change_in(request.data, SourceInput).values()
        sources_actions.edit_source(source_id=source.pk, actor=self.member.user, at=timezone.now(), **values)
        return Response(self.facts(pk))


class PermissionGrant(SourceView):
    """Records a permission. The latest valid one counts; its terms recorded again are the one that is there."""

    @extend_schema(operation_id="queries_grant_permission", request=PermissionInput, responses={201: SourceOut})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        source = selectors.source_in(self.project, pk)
        given = given_in(request.data, PermissionInput)
        sources_actions.grant_permission(source_id=source.pk, actor=self.member.user, at=timezone.now(), **given)
        return Response(self.facts(pk), status=201)


class PermissionRevoke(SourceView):
    """Revokes a permission. Without another valid one, what rests on the source is retired."""

    @extend_schema(operation_id="queries_revoke_permission", request=RevokeInput, responses=RevokedOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        permission = selectors.permission_in(self.project, pk)
        given = given_in(request.data, RevokeInput)
        revoked = sources_actions.revoke_permission(
            permission_id=permission.pk,
            reason=given["reason"],
            actor=self.member.user,
            at=timezone.now(),
        )
        return Response(
            {"retired": len(revoked.queries), "sentence": revoked.sentence, "source": self.facts(permission.source_id)}
        )


class Balance(CorpusAPIView):
    """The balance board of queries and Q&As, and its targets."""

    roles: ClassVar = {"GET": (), "POST": (Role.LEAD,)}

    @extend_schema(operation_id="queries_balance", responses=BalanceSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return Response(BalanceSerializer(balance_board(self.project)).data)

    @extend_schema(operation_id="queries_set_targets", request=TargetsInput, responses=BalanceSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Set targets by value of a property. Those of sources are set with the sources."""
        targets = change_in(request.data, TargetsInput).validated_data
        project = sources_actions.set_targets(
            project=self.project, targets=targets, actor=self.member.user, at=timezone.now()
        )
        return Response(BalanceSerializer(balance_board(project)).data)
