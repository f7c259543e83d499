"""Queries in the API: lists and reads them, adds, edits and retires one, and changes many."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import CorpusAPIView
from apps.accounts.enums import Role, Scope
from apps.accounts.models import Project
from apps.common.web.api import change_in, given_in, oldest_first, page_of
from apps.common.web.forms import ChoiceField
from apps.corpus.imports.api import PAGING
from apps.queries import selectors
from apps.queries.actions import failures as failures_actions
from apps.queries.actions import queries as queries_actions
from apps.queries.core.bulk_changes import BulkChange
from apps.queries.core.naming import LONGEST_WORDS, parse_facets, stored_facets
from apps.queries.core.strata import CONTEXT, TYPED, checked_day
from apps.queries.enums import Difficulty, QueryCheck, ReportState, VariantKind
from apps.queries.models import FailureReport, Query, Source
from apps.queries.rules import MOST_AT_ONCE

COLUMNS = {"query_id": "outside_id", "group": "group_key"}
"""The columns behind fields that have another name in the API."""
LONGEST_TEXT = 4_000
LONGEST_TAGS = 1_000


class FacetSerializer(serializers.Serializer):
    """A subtopic of a query."""

    id = serializers.CharField(max_length=20, help_text="Letters, digits, hyphens, dots and underscores; not 0.")
    words = serializers.CharField(max_length=LONGEST_WORDS)


class QuerySerializer(serializers.ModelSerializer[Query]):
    """A query. `source` is the slug of its source, null when it has none; `difficulty` is empty when nobody said.

    `remarks` is what the checks found and nobody has settled: a sentence by check.
    """

    query_id = serializers.CharField(source="outside_id", read_only=True)
    source = serializers.SerializerMethodField()  # type: ignore[assignment]
    group = serializers.CharField(source="group_key", read_only=True)
    difficulty = ChoiceField(choices=["", *Difficulty.values], read_only=True)
    facets = FacetSerializer(many=True, read_only=True, help_text="Its subtopics in order.")
    remarks = serializers.DictField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = Query
        fields = (
            "id",
            "query_id",
            "text",
            "label",
            "intent",
            "description",
            "source",
            "difficulty",
            "domain",
            "query_type",
            "group",
            *CONTEXT,
            "tags",
            "metadata",
            "facets",
            "remarks",
            "locked_at",
            "facets_locked_at",
            "retired_at",
            "retired_reason",
        )
        read_only_fields = fields

    def get_source(self, query: Query) -> str | None:
        return query.source.slug if query.source else None


def in_columns(given: Mapping[str, Any], project: Project) -> dict[str, Any]:
    """Validated fields by column, with the row of the source that they name. Raises ValidationError."""
    values = {COLUMNS.get(name, name): value for name, value in given.items()}
    if slug := values.get("source"):
        values["source"] = Source.objects.filter(project=project, slug=slug).first()
        if values["source"] is None:
            sentence = f"No source of this project has the slug “{slug}”. queries/sources/ lists them, and adds one."
            raise serializers.ValidationError({"source": [sentence]})
    return values


class TagField(serializers.CharField):
    """A tag; pages separate them by commas."""

    def to_internal_value(self, data: Any) -> str:
        tag = super().to_internal_value(data)
        if "," in tag:
            raise serializers.ValidationError(f"“{tag}” contains a comma. Name each tag by itself.")
        return tag


class TagsField(serializers.ListField):
    """Different tags in their order."""

    child = TagField(max_length=LONGEST_TAGS)

    def to_internal_value(self, data: Any) -> list[str]:
        tags = list(dict.fromkeys(super().to_internal_value(data)))
        if len(", ".join(tags)) > LONGEST_TAGS:
            raise serializers.ValidationError(f"Tags have at most {LONGEST_TAGS:,} characters together.")
        return tags


class FacetsField(serializers.ListField):
    """Subtopics, as they are stored."""

    child = FacetSerializer()

    def to_internal_value(self, data: Any) -> list[dict[str, str]]:
        given = super().to_internal_value(data)
        try:
            return stored_facets(parse_facets([dict(one) for one in given]))
        except ValueError as fault:
            raise serializers.ValidationError(f"{fault}.") from None


class StrataInput(serializers.Serializer):
    """What queries are told apart by. `source` is the slug of one, null: not known."""

    source = serializers.SlugField(required=False, max_length=60, allow_null=True)  # type: ignore[assignment]
    difficulty = ChoiceField(required=False, choices=Difficulty.choices, allow_blank=True)
    query_type = serializers.CharField(required=False, allow_blank=True, max_length=40)
    domain = serializers.CharField(required=False, allow_blank=True, max_length=80)
    group = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=120,
        help_text="Queries about the same thing or time; dev and test never share a group.",
    )
    expertise = serializers.CharField(
        required=False, allow_blank=True, max_length=40, help_text="What the asker knows already."
    )
    answer_format = serializers.CharField(
        required=False, allow_blank=True, max_length=40, help_text="What the answer should look like."
    )


class QueryInput(StrataInput):
    """The fields of a query. Those left out stay as they are, or empty in a new one."""

    text = serializers.CharField(required=False, max_length=LONGEST_TEXT)
    intent = serializers.CharField(
        required=False, allow_blank=True, max_length=4_000, help_text="What the asker needs, in a sentence or two."
    )
    description = serializers.CharField(required=False, allow_blank=True, max_length=8_000)
    label = serializers.CharField(  # type: ignore[assignment]
        required=False, allow_blank=True, max_length=200, help_text="A short name shown in lists."
    )
    asked_on = serializers.CharField(
        required=False, allow_blank=True, max_length=10, help_text="The day it is of, such as 2026-03-01."
    )
    tags = TagsField(required=False)
    facets = FacetsField(required=False, help_text="Its subtopics in order, at most 12: id and words of each.")

    def validate_asked_on(self, day: str) -> str:
        try:
            return checked_day(day)
        except ValueError:
            raise serializers.ValidationError("Write a day as 2026-03-01.") from None


class NewQueryInput(QueryInput):
    text = serializers.CharField(max_length=LONGEST_TEXT)
    query_id = serializers.RegexField(
        r"^\S+$",
        max_length=200,
        help_text="Such as Q061. Files and runs use it; it cannot be changed later.",
        error_messages={"invalid": "An id cannot contain spaces."},
    )


class RetireQueryInput(serializers.Serializer):
    reason = serializers.CharField(max_length=200)


class BulkChangeInput(StrataInput):
    """What changes in all of these queries; what is left out stays, and an empty value clears it."""

    query_ids = serializers.ListField(
        child=serializers.CharField(max_length=200), min_length=1, max_length=MOST_AT_ONCE
    )
    add_tags = TagsField(required=False, default=list)
    remove_tags = TagsField(required=False, default=list)

    def change(self, project: Project) -> BulkChange:
        """The validated change. Raises ValidationError when nothing would change, or for an unknown source."""
        tags = ("add_tags", "remove_tags")
        given = {name: value for name, value in self.validated_data.items() if name not in {*tags, "query_ids"}}
        added, removed = (tuple(self.validated_data[name]) for name in tags)
        change = BulkChange(in_columns(given, project), added, removed)
        if not change.fields:
            raise serializers.ValidationError({"body": ["Nothing would change. Name at least one field."]})
        return change


class QuerySourceSerializer(serializers.Serializer):
    """Queries, by their outside ids, and their source, by its slug; null: not known."""

    source = serializers.SlugField(max_length=60, allow_null=True)  # type: ignore[assignment]
    query_ids = serializers.ListField(
        child=serializers.CharField(max_length=200), min_length=1, max_length=MOST_AT_ONCE
    )


class QueriesChangedSerializer(serializers.Serializer):
    """How many queries changed; the others had these values already, or are retired."""

    changed = serializers.IntegerField()


class BulkView(CorpusAPIView):
    """A change of many queries, or of none of them when one is unknown. Retired ones do not change."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    def keys(self, names: list[str]) -> list[int]:
        """The keys of the queries with these ids. Raises ValidationError when one is not of the project."""
        keys = selectors.keys_of(self.project, names)
        if unknown := [name for name in names if name not in keys]:
            raise ValidationError({"query_ids": [f"{name} is no query of this project." for name in unknown[:20]]})
        return list(keys.values())


class QuerySource(BulkView):
    """The source of many queries."""

    @extend_schema(operation_id="queries_set_source", request=QuerySourceSerializer, responses=QueriesChangedSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Set the source of many queries, or of none of them when one is unknown. Retired ones do not change."""
        given = given_in(request.data, QuerySourceSerializer)
        named = in_columns({"source": given["source"]}, self.project)
        changed = queries_actions.change_queries(
            project=self.project,
            query_ids=self.keys(given["query_ids"]),
            change=BulkChange(named),
            actor=self.member.user,
            at=timezone.now(),
        )
        return Response(QueriesChangedSerializer({"changed": changed}).data)


class QueryChange(BulkView):
    """The strata, the group and the tags of many queries."""

    @extend_schema(operation_id="queries_change", request=BulkChangeInput, responses=QueriesChangedSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Change many queries alike, or none of them when one is unknown. Retired ones do not change."""
        body = change_in(request.data, BulkChangeInput)
        changed = queries_actions.change_queries(
            project=self.project,
            query_ids=self.keys(body.validated_data["query_ids"]),
            change=body.change(self.project),
            actor=self.member.user,
            at=timezone.now(),
        )
        return Response(QueriesChangedSerializer({"changed": changed}).data)


class QueryIdsInput(serializers.Serializer):
    query_ids = serializers.ListField(
        child=serializers.CharField(max_length=200), min_length=1, max_length=MOST_AT_ONCE
    )


class RemarksSettled(BulkView):
    """The open remarks on many queries."""

    @extend_schema(operation_id="queries_settle_remarks", request=QueryIdsInput, responses=QueriesChangedSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Record that what the checks remarked on these queries is all right, or nothing when one is unknown."""
        given = given_in(request.data, QueryIdsInput)
        keys = self.keys(given["query_ids"])
        settled = queries_actions.settle_remarks(
            project=self.project, query_ids=keys, actor=self.member.user, at=timezone.now()
        )
        return Response(QueriesChangedSerializer({"changed": settled}).data)


class VariantsInput(QueryIdsInput):
    """`seed` makes the same variants again."""

    kinds = serializers.ListField(child=ChoiceField(choices=VariantKind.choices), min_length=1)
    seed = serializers.IntegerField(default=1, min_value=0, max_value=2**31 - 1)


class VariantsSerializer(serializers.Serializer):
    """The ids of the variants that were added."""

    query_ids = serializers.ListField(child=serializers.CharField())


class QueryVariants(BulkView):
    """Degraded wordings of many queries."""

    @extend_schema(operation_id="queries_add_variants", request=VariantsInput, responses={201: VariantsSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Add those that the queries do not have yet. They have the grades of their originals; nobody judges them."""
        given = given_in(request.data, VariantsInput)
        added = queries_actions.add_variants(
            project=self.project,
            query_ids=self.keys(given["query_ids"]),
            kinds=given["kinds"],
            seed=given["seed"],
            actor=self.member.user,
            at=timezone.now(),
        )
        return Response(VariantsSerializer({"query_ids": [query.outside_id for query in added]}).data, status=201)


FILTERS = ("state", "source", "difficulty", *TYPED, "remarks", "text")
REMARKS = (selectors.ANY_REMARK, *QueryCheck.values)
PARAMETERS = [
    OpenApiParameter("state", str, enum=list(selectors.STATES), description="by default live"),
    OpenApiParameter("source", str, description="slug of a source, or ~ for queries without one"),
    OpenApiParameter("difficulty", str, enum=Difficulty.values),
    *(OpenApiParameter(name, str) for name in TYPED),
    OpenApiParameter("remarks", str, enum=REMARKS, description="with an open remark of this check"),
    OpenApiParameter("text", str, description="part of the words, the label or the id"),
    *PAGING,
]


class QueryList(CorpusAPIView):
    """The queries of the project in the order in which they were added; adds one."""

    roles: ClassVar = {"GET": (), "POST": (Role.LEAD,)}

    @extend_schema(operation_id="queries_list", parameters=PARAMETERS, responses=page_of("QueryPage", QuerySerializer))
    def get(self, request: Request, slug: str) -> Response:
        params = request.query_params
        filters = selectors.QueryFilters(**{name: params[name] for name in FILTERS if name in params})
        if filters.state not in selectors.STATES:
            raise ValidationError({"state": f"One of {', '.join(selectors.STATES)}."})
        if filters.difficulty and filters.difficulty not in Difficulty.values:
            raise ValidationError({"difficulty": f"One of {', '.join(Difficulty.values)}."})
        if filters.remarks and filters.remarks not in REMARKS:
            raise ValidationError({"remarks": f"One of {', '.join(REMARKS)}."})
        rows = selectors.narrowed(selectors.queries_in(self.project), filters)
        return oldest_first(request, rows, QuerySerializer, *FILTERS)

    @extend_schema(operation_id="queries_create", request=NewQueryInput, responses={201: QuerySerializer})
    def post(self, request: Request, slug: str) -> Response:
        fields = in_columns(given_in(request.data, NewQueryInput), self.project)
        query = queries_actions.create_query(project=self.project, actor=self.member.user, at=timezone.now(), **fields)
        return Response(QuerySerializer(query).data, status=201)


class QueryDetail(CorpusAPIView):
    """One query."""

    roles: ClassVar = {"GET": ()}

    @extend_schema(responses=QuerySerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(QuerySerializer(selectors.query_in(self.project, pk)).data)


class QueryEdit(CorpusAPIView):
    """Changes fields of one query. Its words can be changed until its first run or grade."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="queries_edit", request=QueryInput, responses=QuerySerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        query = selectors.query_in(self.project, pk)
        changes = in_columns(change_in(request.data, QueryInput).validated_data, self.project)
        queries_actions.edit_query(query_id=query.pk, actor=self.member.user, at=timezone.now(), **changes)
        return Response(QuerySerializer(selectors.query_in(self.project, pk)).data)


class QueryRetire(CorpusAPIView):
    """Retires a query: new runs, pools and versions leave it out; earlier ones keep it."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="queries_retire", request=RetireQueryInput, responses=QuerySerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        query = selectors.query_in(self.project, pk)
        reason = given_in(request.data, RetireQueryInput)["reason"]
        queries_actions.retire_query(query_id=query.pk, reason=reason, actor=self.member.user, at=timezone.now())
        return Response(QuerySerializer(selectors.query_in(self.project, pk)).data)


class FailureSerializer(serializers.ModelSerializer[FailureReport]):
    """A report of a search that went wrong, with masks. Of a rejected one the words are deleted.

    `query_id` is the query that it became.
    """

    state = ChoiceField(choices=ReportState.choices, read_only=True)
    query_id = serializers.CharField(source="query.outside_id", default=None, read_only=True, allow_null=True)
    remarks = serializers.DictField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = FailureReport
        fields = ("id", "text", "expected", "passage", "remarks", "state", "reason", "query_id", "reported_at")
        read_only_fields = fields


class FailureInput(serializers.Serializer):
    """`passage` is the id of a passage that answers, as files have it."""

    text = serializers.CharField(max_length=LONGEST_TEXT, help_text="What was searched for.")
    expected = serializers.CharField(
        required=False, allow_blank=True, max_length=4_000, default="", help_text="What should have been found."
    )
    passage = serializers.CharField(required=False, allow_blank=True, max_length=200, default="")
    has_consent = serializers.BooleanField(help_text="That the project may keep the query; without it nothing is kept.")


class FailureDecisionInput(serializers.Serializer):
    step = ChoiceField(choices=["take", "reject"])
    reason = serializers.CharField(required=False, allow_blank=True, max_length=400, default="")


class FailureList(CorpusAPIView):
    """Reports of searches that went wrong."""

    roles: ClassVar = {"GET": (Role.LEAD,), "POST": ()}
    scopes: ClassVar = {"GET": Scope.CORPUS_READ, "POST": Scope.FAILURES_WRITE}

    @extend_schema(
        operation_id="failures_list",
        parameters=[OpenApiParameter("state", str, enum=ReportState.values), *PAGING],
        responses=page_of("FailurePage", FailureSerializer),
    )
    def get(self, request: Request, slug: str) -> Response:
        reports = selectors.reports_in(self.project)
        if state := request.query_params.get("state"):
            if state not in ReportState.values:
                raise ValidationError({"state": f"One of {', '.join(ReportState.values)}."})
            reports = reports.filter(state=state)
        return oldest_first(request, reports, FailureSerializer, "state")

    @extend_schema(operation_id="failures_report", request=FailureInput, responses={201: FailureSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Report a search that went wrong; what tells of a person is masked before anything is stored."""
        given = given_in(request.data, FailureInput)
        report = failures_actions.report_failure(
            project=self.project, actor=self.member.user, at=timezone.now(), **given
        )
        return Response(FailureSerializer(report).data, status=201)


class FailureDecision(CorpusAPIView):
    """Takes a report as a query, or rejects it."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="failures_decide", request=FailureDecisionInput, responses=FailureSerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        report_id = selectors.report_in(self.project, pk).pk
        given = given_in(request.data, FailureDecisionInput)
        by: dict[str, Any] = {
            "report_id": report_id,
            "actor": self.member.user,
            "at": timezone.now(),
        }
        is_taken = given["step"] == "take"
        report = (
            failures_actions.take_report(**by)
            if is_taken
            else failures_actions.reject_report(reason=given["reason"], **by)
        )
        return Response(FailureSerializer(report).data)
