from rest_framework import serializers

from apps.queries.models import Query


class QuerySerializer(serializers.ModelSerializer[Query]):
    """A query. `source` is the slug of its source, null when it has none."""

    query_id = serializers.CharField(source="outside_id", read_only=True)
    source = serializers.SerializerMethodField()  # type: ignore[assignment]
    group = serializers.CharField(source="group_key", read_only=True)

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


class QueryPageSerializer(serializers.Serializer):
    results = QuerySerializer(many=True)
    next = serializers.CharField(allow_null=True)
