"""Runs and pushed runs in the API."""

import math
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.accounts.models import Project
from apps.common.web.api import EstimateSerializer
from apps.corpus.models import Snapshot
from apps.corpus.serializers import DocumentReachSerializer
from apps.jobs.models import Job
from apps.jobs.serializers import JobSerializer
from apps.metrics.statistics.usage import NAMES, UsageError, checked_usage, failure_rates
from apps.retrieval.models import Run
from apps.retrieval.selectors.question_sets import question_sets
from apps.retrieval.selectors.snapshots import snapshot_named


class FailureRatesSerializer(serializers.Serializer[Any]):
    """The shares of a run's `n` requests that ended in an error, and without an answer in the time allowed."""

    errors = EstimateSerializer()  # type: ignore[assignment]  # a field, which rest_framework takes out of the class
    timeouts = EstimateSerializer()


class RunSerializer(serializers.ModelSerializer[Run]):
    """A run; `latency_ms` has percentiles and mean in milliseconds, of n timed queries."""

    system = serializers.CharField(source="system.name", read_only=True)
    system_digest = serializers.CharField(source="system.digest", read_only=True)
    snapshot = serializers.CharField(source="snapshot.digest", read_only=True)
    latency_ms = serializers.DictField(source="latency", child=serializers.FloatField(), read_only=True)
    usage = serializers.DictField(
        child=serializers.FloatField(),
        read_only=True,
        allow_null=True,
        help_text="What the whole run used: requests, errors, timeouts, input_tokens, output_tokens and seconds, where"
        " they are known.",
    )
    failures = serializers.SerializerMethodField()
    report = serializers.DictField(
        read_only=True,
        allow_null=True,
        help_text="Counts of what was unusual in the answers of a system elsewhere; or the components of a fused run.",
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
            "returns",
            "state",
            "digest",
            "query_count",
            "latency_ms",
            "usage",
            "failures",
            "report",
            "note",
            "commit",
            "as_role",
            "abstains_below",
            "failure",
            "created_at",
            "completed_at",
        )
        read_only_fields = fields

    @extend_schema_field(FailureRatesSerializer(allow_null=True))
    def get_failures(self, run: Run) -> dict[str, Any] | None:
        rates = failure_rates(run.usage)
        return None if rates is None else {name: rate.as_json for name, rate in rates._asdict().items()}


class RunReachSerializer(serializers.Serializer[Any]):
    """What the first `depth` results of `queries` queries hold.

    `documents` are those in at least one of them. `sources` is the mean number of different documents divided by that
    of results, `distance` the mean share of different words over pairs of results; its `n` is at most 300.
    """

    depth = serializers.IntegerField()
    queries = serializers.IntegerField()
    documents = DocumentReachSerializer()
    sources = EstimateSerializer(source="sources.as_json")
    distance = EstimateSerializer(source="distance.as_json")


def snapshot_of_body(project: Project, name: str) -> Snapshot:
    """The snapshot that a body names: by digest, at least 8 characters of it, or `corpus@number`.

    Raises ValidationError.
    """
    snapshot = snapshot_named(project, name)
    if snapshot is None:
        raise serializers.ValidationError({"snapshot": ["No snapshot, or more than one, is called that."]})
    return snapshot


def questions_of_body(project: Project, key: str) -> str:
    """The key of the set of queries that a body names; "" for none. Raises ValidationError, which lists the sets."""
    known = [one.key for one in question_sets(project)] if key else []
    if key and key not in known:
        there = ", ".join(known[:20]) or "none yet"
        raise serializers.ValidationError({"questions": [f"No questions are called {key}; there are: {there}."]})
    return key


class RunAnnotationSerializer(serializers.Serializer[Any]):
    """What the ledger says about a run; what is left out stays as it is."""

    note = serializers.CharField(required=False, allow_blank=True, max_length=2_000)
    commit = serializers.CharField(required=False, allow_blank=True, max_length=80)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs:
            raise serializers.ValidationError({"note": ["Give note, commit or both."]})
        return attrs


class AbstainsBelowField(serializers.FloatField):
    """The score below which a system has no answer."""

    def __init__(self, **kwargs: Any) -> None:
        words = "A query whose best score is below it gets no answer; null: only one without results."
        super().__init__(required=False, allow_null=True, default=None, help_text=words, **kwargs)

    def to_internal_value(self, data: Any) -> float:
        value = super().to_internal_value(data)
        if not math.isfinite(value):
            self.fail("invalid")
        return value


class RunRowSerializer(serializers.Serializer[Any]):
    """One result. The rows of a query may be in any order; they are sorted by score."""

    query_id = serializers.CharField(max_length=200)
    block_id = serializers.CharField(max_length=300)
    score = serializers.FloatField()


def is_plain(text: str) -> bool:
    """Whether the text can be written as UTF-8; unpaired surrogates cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class LargePushSerializer(serializers.Serializer[Any]):
    """The details of a pushed run, without its rows: for a large run, the import job validates those."""

    snapshot = serializers.CharField(max_length=300)
    system = serializers.CharField(max_length=120, required=False, allow_blank=True, default="")
    tag = serializers.CharField(max_length=110, required=False, allow_blank=True, default="")
    skip_unknown = serializers.BooleanField(required=False, default=False)
    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=2_000)
    commit = serializers.CharField(required=False, allow_blank=True, default="", max_length=80)
    as_role = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=60, help_text="The role for whom it searched."
    )
    abstains_below = AbstainsBelowField()
    usage = serializers.DictField(
        required=False, default=dict, help_text=f"What the whole run used; of {', '.join(NAMES)} what is known."
    )

    def validate_usage(self, usage: dict[str, Any]) -> dict[str, Any]:
        try:
            return checked_usage(usage)
        except UsageError as error:
            raise serializers.ValidationError({error.field: [str(error)]}) from None

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        kinds = {"rows": list, "trec": str, "results": list}
        given = [key for key in kinds if self.initial_data.get(key)]
        if len(given) != 1:
            raise serializers.ValidationError({"rows": ["Give one of rows, trec and results; it must not be empty."]})
        if not isinstance(self.initial_data[given[0]], kinds[given[0]]):
            message = "rows and results must be lists of objects, trec a text."
            raise serializers.ValidationError({given[0]: [message]})
        if given == ["trec"] and not is_plain(self.initial_data["trec"]):
            raise serializers.ValidationError({"trec": ["This text has characters that cannot be written as UTF-8."]})
        if given[0] in ("rows", "results") and not attrs["tag"]:
            raise serializers.ValidationError({"tag": [f"Give a tag: {given[0]} have none."]})
        return attrs


class PushedRunSerializer(LargePushSerializer):
    """A run to import: its rows, the text of a run file in TREC's six columns, or results.

    Results are passages of the system's own: `qid`, `rank` or `score`, and of `id`, `document_id`, `pages` and `text`
    what it tells, or `start` and `end`, characters in the text of the block `id`. `snapshot` is the snapshot's digest,
    at least 8 characters of it, or `corpus@number`. The default of system and tag is the tag in the file; rows and
    results have no tag, so for them a tag is required.
    """

    rows = RunRowSerializer(many=True, required=False)
    trec = serializers.CharField(required=False, trim_whitespace=False)
    results = serializers.ListField(child=serializers.JSONField(), required=False)


class PushAnswerSerializer(serializers.Serializer[Any]):
    run = RunSerializer()
    is_new = serializers.BooleanField(help_text="False: exactly this run existed already; nothing changed.")
    skipped_rows = serializers.IntegerField()


class FaultSerializer(serializers.Serializer[Any]):
    file = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)
    field = serializers.CharField()
    value = serializers.CharField()
    message = serializers.CharField()


class PushSerializer(serializers.Serializer[Any]):
    """A large push: the job that imports it, and once that is done the run, or its mistakes."""

    job = JobSerializer()
    run = RunSerializer(allow_null=True)
    is_new = serializers.BooleanField(
        allow_null=True, help_text="False: exactly this run existed already; nothing changed."
    )
    skipped_rows = serializers.IntegerField(allow_null=True)
    mistakes = FaultSerializer(many=True, help_text="The first mistakes; with any, nothing was imported.")
    mistakes_total = serializers.IntegerField()


def push_out(job: Job, run: Run | None) -> dict[str, Any]:
    result = job.result or {}
    outcome = {key: result.get(key) for key in ("is_new", "skipped_rows")}
    mistakes = {"mistakes": result.get("errors", []), "mistakes_total": result.get("errors_total", 0)}
    return PushSerializer({"job": job, "run": run, **outcome, **mistakes}).data
