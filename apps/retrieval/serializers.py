from typing import Any

from rest_framework import serializers

from apps.retrieval.models import Pool, Run

MOST_ROWS = 1_000_000


class RunSerializer(serializers.ModelSerializer[Run]):
    """A run as machines see it: what made it, on what, and how long its queries took (milliseconds)."""

    system = serializers.CharField(source="system.name", read_only=True)
    system_digest = serializers.CharField(source="system.digest", read_only=True)
    snapshot = serializers.CharField(source="snapshot.digest", read_only=True)
    latency_ms = serializers.DictField(source="latency", child=serializers.FloatField(), read_only=True)
    report = serializers.DictField(
        read_only=True,
        allow_null=True,
        help_text="What went by the way while another side was asked.",
    )

    class Meta:
        model = Run
        fields = (
            "id",
            "tag",
            "system",
            "system_digest",
            "snapshot",
            "depth",
            "state",
            "digest",
            "query_count",
            "latency_ms",
            "report",
            "note",
            "commit",
            "failure",
            "created_at",
            "completed_at",
        )
        read_only_fields = fields


class PoolSerializer(serializers.ModelSerializer[Pool]):
    """A pool as machines see it. It tells no ranks."""

    snapshot = serializers.CharField(source="snapshot.digest", read_only=True)
    query_count = serializers.IntegerField(read_only=True)
    run_count = serializers.IntegerField(read_only=True)

    class Meta:
        model = Pool
        fields = (
            "id",
            "name",
            "kind",
            "snapshot",
            "depth",
            "state",
            "query_count",
            "run_count",
            "entry_count",
            "failure",
            "created_at",
            "completed_at",
        )
        read_only_fields = fields


class RunRowSerializer(serializers.Serializer[Any]):
    """One result. Rows of a query may come in any order: the scores decide."""

    query_id = serializers.CharField(max_length=200)
    block_id = serializers.CharField(max_length=300)
    score = serializers.FloatField()


class PushedRunSerializer(serializers.Serializer[Any]):
    """A run to take in: its rows, or the text of a run file in TREC's six columns.

    `snapshot` is the snapshot's digest, at least 8 characters of it, or `corpus@number`. System and tag are the
    file's tag unless named; rows have no tag, so they need one.
    """

    snapshot = serializers.CharField(max_length=300)
    system = serializers.CharField(max_length=120, required=False, allow_blank=True, default="")
    tag = serializers.CharField(max_length=110, required=False, allow_blank=True, default="")
    rows = RunRowSerializer(many=True, required=False)
    trec = serializers.CharField(required=False, trim_whitespace=False)
    skip_unknown = serializers.BooleanField(required=False, default=False)
    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=2_000)
    commit = serializers.CharField(required=False, allow_blank=True, default="", max_length=80)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        given = [key for key in ("rows", "trec") if attrs.get(key)]
        if len(given) != 1:
            raise serializers.ValidationError({"rows": ["Give either rows or trec, and not an empty one."]})
        if given == ["rows"] and not attrs["tag"]:
            raise serializers.ValidationError({"tag": ["Rows carry no tag, so the run needs one here."]})
        return attrs


class PushAnswerSerializer(serializers.Serializer[Any]):
    run = RunSerializer()
    is_new = serializers.BooleanField(help_text="False: exactly this run was there already; nothing changed.")
    skipped_rows = serializers.IntegerField()
