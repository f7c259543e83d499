"""Queries in the API."""

from rest_framework import serializers

from apps.queries.enums import Difficulty
from apps.queries.models import Query
from apps.queries.rules import MOST_AT_ONCE


class QuerySerializer(serializers.ModelSerializer[Query]):
    """A query. `source` is the slug of its source, null when it has none; `difficulty` is empty when nobody said."""

    query_id = serializers.CharField(source="outside_id", read_only=True)
    source = serializers.SerializerMethodField()  # type: ignore[assignment]
    group = serializers.CharField(source="group_key", read_only=True)
    difficulty = serializers.ChoiceField(choices=["", *Difficulty.values], read_only=True)

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


class QuerySourceSerializer(serializers.Serializer):
    """Queries, by their outside ids, and their source, by its slug; null: not known."""

    source = serializers.SlugField(max_length=60, allow_null=True)  # type: ignore[assignment]
    query_ids = serializers.ListField(
        child=serializers.CharField(max_length=200), min_length=1, max_length=MOST_AT_ONCE
    )


class QuerySourceSetSerializer(serializers.Serializer):
    """How many queries had another source before."""

    changed = serializers.IntegerField()


class QueryPageSerializer(serializers.Serializer):
    results = QuerySerializer(many=True)
    next = serializers.CharField(allow_null=True)
