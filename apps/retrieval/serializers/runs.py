from typing import Any

from rest_framework import serializers

from apps.jobs.models import Job
from apps.jobs.serializers import JobSerializer
from apps.retrieval.models import Pool, Run

MOST_ROWS = 1_000_000


class RunSerializer(serializers.ModelSerializer[Run]):
    """A run as machines see it: what made it, on what, and how long its n timed queries took (milliseconds)."""

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


def is_plain(text: str) -> bool:
    """Whether the text can be written as UTF-8; halves of surrogate pairs cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class LargePushSerializer(serializers.Serializer[Any]):
    """What goes along with a large pushed run. Its rows are looked at by the job that takes them in."""

    snapshot = serializers.CharField(max_length=300)
    system = serializers.CharField(max_length=120, required=False, allow_blank=True, default="")
    tag = serializers.CharField(max_length=110, required=False, allow_blank=True, default="")
    skip_unknown = serializers.BooleanField(required=False, default=False)
    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=2_000)
    commit = serializers.CharField(required=False, allow_blank=True, default="", max_length=80)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        kinds = {"rows": list, "trec": str}
        given = [key for key in kinds if self.initial_data.get(key)]
        if len(given) != 1:
            raise serializers.ValidationError({"rows": ["Give either rows or trec, and not an empty one."]})
        if not isinstance(self.initial_data[given[0]], kinds[given[0]]):
            raise serializers.ValidationError({given[0]: ["rows is a list of objects, trec is text."]})
        if given == ["trec"] and not is_plain(self.initial_data["trec"]):
            raise serializers.ValidationError({"trec": ["This text holds characters that no file can hold."]})
        if given == ["rows"] and not attrs["tag"]:
            raise serializers.ValidationError({"tag": ["Rows carry no tag, so the run needs one here."]})
        return attrs


class PushedRunSerializer(LargePushSerializer):
    """A run to take in: its rows, or the text of a run file in TREC's six columns.

    `snapshot` is the snapshot's digest, at least 8 characters of it, or `corpus@number`. System and tag are the
    file's tag unless named; rows have no tag, so they need one.
    """

    rows = RunRowSerializer(many=True, required=False)
    trec = serializers.CharField(required=False, trim_whitespace=False)


class PushAnswerSerializer(serializers.Serializer[Any]):
    run = RunSerializer()
    is_new = serializers.BooleanField(help_text="False: exactly this run was there already; nothing changed.")
    skipped_rows = serializers.IntegerField()


class FaultSerializer(serializers.Serializer[Any]):
    file = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)
    field = serializers.CharField()
    value = serializers.CharField()
    message = serializers.CharField()


class PushSerializer(serializers.Serializer[Any]):
    """A large push: the job that takes it in, and once that is done the run, or what was wrong with it."""

    job = JobSerializer()
    run = RunSerializer(allow_null=True)
    is_new = serializers.BooleanField(
        allow_null=True, help_text="False: exactly this run was there already; nothing changed."
    )
    skipped_rows = serializers.IntegerField(allow_null=True)
    mistakes = FaultSerializer(many=True, help_text="The first of them; with any, nothing was taken in.")
    mistakes_total = serializers.IntegerField()


def push_out(job: Job, run: Run | None) -> dict[str, Any]:
    result = job.result or {}
    told = {key: result.get(key) for key in ("is_new", "skipped_rows")}
    mistakes = {"mistakes": result.get("errors", []), "mistakes_total": result.get("errors_total", 0)}
    return PushSerializer({"job": job, "run": run, **told, **mistakes}).data
