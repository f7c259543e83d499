"""Queries in the API."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from apps.accounts.models import Project
from apps.common.web.forms import ChoiceField
from apps.queries.core.naming import BulkChange
from apps.queries.enums import Difficulty
from apps.queries.models import Query, Source
from apps.queries.rules import MOST_AT_ONCE

COLUMNS = {"query_id": "outside_id", "group": "group_key"}
"""The columns behind fields that have another name in the API."""
LONGEST_TEXT = 4_000
LONGEST_TAGS = 1_000


class QuerySerializer(serializers.ModelSerializer[Query]):
    """A query. `source` is the slug of its source, null when it has none; `difficulty` is empty when nobody said."""

    query_id = serializers.CharField(source="outside_id", read_only=True)
    source = serializers.SerializerMethodField()  # type: ignore[assignment]
    group = serializers.CharField(source="group_key", read_only=True)
    difficulty = ChoiceField(choices=["", *Difficulty.values], read_only=True)

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
            "tags",
            "metadata",
            "locked_at",
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
    tags = TagsField(required=False)


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


class QueryPageSerializer(serializers.Serializer):
    results = QuerySerializer(many=True)
    next = serializers.CharField(allow_null=True)
