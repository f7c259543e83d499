"""Query sets in the API: save a filter, freeze a set, draw a sample; and the sets with their sizes."""

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import CorpusAPIView
from apps.accounts.enums import Role
from apps.common.web.api import given_in, oldest_first, page_of
from apps.common.web.forms import ChoiceField
from apps.corpus.imports.api import PAGING
from apps.queries import selectors
from apps.queries.actions.sets import delete_set, draw_set, freeze_set, save_set
from apps.queries.api.views import in_columns
from apps.queries.enums import Difficulty, QueryCheck
from apps.queries.models import SavedSet
from apps.queries.rules import MOST_IN_SET
from apps.queries.selectors import ANY_REMARK, NO_SOURCE, QueryFilters


class SetSerializer(serializers.ModelSerializer[SavedSet]):
    """A query set. `key` is what runs and pools take as `questions`, `filters` what a query has to match.

    `drawn` says of a sample from which set it is (empty: of all queries), how many were drawn, and the seed.
    """

    filters = serializers.DictField(child=serializers.CharField(), read_only=True)
    drawn = serializers.DictField(read_only=True, allow_null=True)

    class Meta:
        model = SavedSet
        fields = ("id", "key", "name", "filters", "drawn", "digest", "created_at", "frozen_at")
        read_only_fields = fields


class SetExtraSerializer(serializers.Serializer[Any]):
    """The part of a set that only its detail has."""

    queries = serializers.IntegerField(source="size.queries", read_only=True)
    live = serializers.IntegerField(source="size.live", read_only=True)
    judged = serializers.IntegerField(source="size.judged", read_only=True)
    query_ids = serializers.ListField(child=serializers.CharField(), read_only=True, allow_null=True)


class SizedSetSerializer(SetExtraSerializer, SetSerializer):
    """A query set with its size: `queries` in all, `live` that are not retired, `judged` that are no variants either.

    `query_ids` are the ids of a frozen set; of one that is not frozen it is null, since they change.
    """

    class Meta(SetSerializer.Meta):
        fields = (*SetSerializer.Meta.fields, *SetExtraSerializer().fields)
        read_only_fields = fields


class NewSetInput(serializers.Serializer):
    """A name, and filters as the list of queries has them. Without any the set has all live queries."""

    name = serializers.CharField(max_length=120)
    text = serializers.CharField(required=False, allow_blank=True, max_length=200)
    state = ChoiceField(required=False, choices=["live", "used"])
    source = serializers.CharField(  # type: ignore[assignment]
        required=False, allow_blank=True, max_length=60, help_text="The slug of a source, or ~ for none."
    )
    difficulty = ChoiceField(required=False, choices=Difficulty.choices, allow_blank=True)
    domain = serializers.CharField(required=False, allow_blank=True, max_length=80)
    query_type = serializers.CharField(required=False, allow_blank=True, max_length=40)
    remarks = ChoiceField(required=False, choices=[ANY_REMARK, *QueryCheck.values], allow_blank=True)


class SetSampleInput(serializers.Serializer):
    """`of` is the key of a set, such as `set:hard`; without it the sample is of all queries."""

    name = serializers.CharField(max_length=120)
    of = serializers.CharField(required=False, allow_blank=True, default="", max_length=80)
    number = serializers.IntegerField(default=10, min_value=1, max_value=MOST_IN_SET)
    seed = serializers.IntegerField(default=1, min_value=0, max_value=2**31 - 1)


class SetView(CorpusAPIView):
    """The common part of the endpoints of query sets."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    def out(self, saved: SavedSet, status: int = 200) -> Response:
        facts: Any = saved
        facts.size = selectors.sizes_of_sets([saved])[saved.pk]
        names = selectors.queries_of_set(saved).values_list("outside_id", flat=True)
        facts.query_ids = list(names) if saved.is_frozen else None
        return Response(SizedSetSerializer(facts).data, status=status)


class SetList(SetView):
    """The query sets of the project, oldest first; saves one."""

    roles: ClassVar = {"GET": (), "POST": (Role.LEAD,)}

    @extend_schema(
        operation_id="query_sets_list", parameters=[*PAGING], responses=page_of("QuerySetPage", SetSerializer)
    )
    def get(self, request: Request, slug: str) -> Response:
        return oldest_first(request, selectors.sets_in(self.project), SetSerializer)

    @extend_schema(operation_id="query_sets_save", request=NewSetInput, responses={201: SizedSetSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Save a filter under a name; the set has the queries that match when it is used."""
        given = given_in(request.data, NewSetInput)
        if (source := given.get("source", "")) and source != NO_SOURCE:
            in_columns({"source": source}, self.project)
        name = given.pop("name")
        saved = save_set(
            project=self.project, name=name, filters=QueryFilters(**given), actor=self.member.user, at=timezone.now()
        )
        return self.out(saved, 201)


class SetDraw(SetView):
    """A sample of queries by source, type, difficulty and domain."""

    @extend_schema(operation_id="query_sets_draw", request=SetSampleInput, responses={201: SizedSetSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Draw queries with a seed and freeze them as a set."""
        given = given_in(request.data, SetSampleInput)
        key = given.pop("of")
        of = selectors.set_with_key(self.project, key) if key else None
        if key and of is None:
            known = ", ".join(saved.key for saved in selectors.sets_in(self.project)[:20]) or "none yet"
            raise ValidationError({"of": [f"No query set is called {key}; there are: {known}."]})
        drawn = draw_set(project=self.project, of=of, **given, actor=self.member.user, at=timezone.now())
        return self.out(drawn, 201)


class SetDetail(SetView):
    """One query set."""

    roles: ClassVar = {"GET": ()}

    @extend_schema(operation_id="query_sets_read", responses=SizedSetSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return self.out(selectors.set_in(self.project, pk))


class SetFreeze(SetView):
    """Fixes the list of a set, and the words of its queries, for good."""

    @extend_schema(operation_id="query_sets_freeze", request=None, responses=SizedSetSerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        saved = selectors.set_in(self.project, pk)
        return self.out(freeze_set(set_id=saved.pk, actor=self.member.user, at=timezone.now()))


class SetDelete(SetView):
    """Deletes a set that is not frozen. Its queries stay."""

    @extend_schema(operation_id="query_sets_delete", request=None, responses={204: None})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        delete_set(set_id=selectors.set_in(self.project, pk).pk, actor=self.member.user, at=timezone.now())
        return Response(status=204)
