"""Systems and loaded indexes in the API. Requests are validated like the forms of the pages."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.common.database.statements import LARGEST_KEY
from apps.common.web.forms import ChoiceField, KeyField
from apps.jobs.serializers import JobSerializer
from apps.retrieval import rules
from apps.retrieval.core.engines.registry import DEFAULT_K, ENGINES, LARGEST_K
from apps.retrieval.core.engines.remote.base import AUTHS
from apps.retrieval.core.engines.remote.servers import BM25, SEARCHES
from apps.retrieval.enums import BlockText
from apps.retrieval.models import LoadedIndex, System
from apps.retrieval.rules import LONGEST, RUN_DEPTH
from apps.retrieval.serializers.runs import AbstainsBelowField, RunSerializer, is_plain

LONGEST_NAME = 120
LARGEST_NUMBER = 2**53
MOST_FUSED = 50


class KnownFieldsSerializer(serializers.Serializer[Any]):
    """Rejects unknown fields: otherwise a misspelt setting would silently have its default."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and (unknown := sorted(set(map(str, data)) - set(self.fields))):
            known = ", ".join(self.fields)
            raise serializers.ValidationError({unknown[0][:80]: [f"There is no such setting. Settings are {known}."]})
        return super().to_internal_value(data)


@extend_schema_field(OpenApiTypes.ANY)
class PlainValueField(serializers.Field[Any, Any, Any, Any]):
    """A parameter of an engine: a number, a text, or true or false. The engine validates which of them."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, str) and is_plain(data) and "\0" not in data:
            return data
        if isinstance(data, bool | int | float) and abs(data) <= LARGEST_NUMBER:
            return data
        raise serializers.ValidationError("A parameter must be a number, a text, or true or false.")

    def to_representation(self, value: Any) -> Any:
        return value


class SystemRequestSerializer(KnownFieldsSerializer):
    """A system that Karat runs itself. Missing parameters have their defaults."""

    name = serializers.CharField(max_length=LONGEST_NAME)
    kind = ChoiceField(choices=list(ENGINES))
    parameters = serializers.DictField(child=PlainValueField(), default=dict)
    words = ChoiceField(choices=BlockText.choices, default=BlockText.TITLE_AND_TEXT)


class FusionRequestSerializer(KnownFieldsSerializer):
    """A system that fuses the rankings of others; `systems` are their ids."""

    name = serializers.CharField(max_length=LONGEST_NAME)
    systems = serializers.ListField(child=KeyField(), max_length=MOST_FUSED)
    k = serializers.FloatField(
        default=DEFAULT_K, min_value=0, max_value=LARGEST_K, help_text="With a smaller k low ranks lose weight faster."
    )


class RemoteAuthSerializer(KnownFieldsSerializer):
    """How Karat signs in: `secret` is the name of a secret of the project, never its value."""

    kind = ChoiceField(choices=AUTHS)
    secret = serializers.CharField(max_length=120, required=False)
    user = serializers.CharField(max_length=200, required=False, help_text="For basic.")
    header = serializers.CharField(max_length=80, required=False, help_text="For header, such as X-Api-Key.")


class SystemSerializer(serializers.ModelSerializer[System]):
    """A system. `configuration` has the names of secrets, never their values."""

    configuration = serializers.DictField(source="config", read_only=True)
    run_count = serializers.IntegerField(read_only=True)

    class Meta:
        model = System
        fields = ("id", "name", "kind", "digest", "configuration", "run_count", "created_at")
        read_only_fields = fields


class SystemRunRequestSerializer(KnownFieldsSerializer):
    """One execution of a system. An empty filter does not narrow the queries.

    `snapshot` is the snapshot's digest, at least 8 characters of it, or `corpus@number`. `questions` instead of filters
    are those of a version, such as `handbook/v1`, or those of a gold set as it is now, such as `handbook`: its queries
    and the questions of its triples.
    """

    snapshot = serializers.CharField(max_length=300)
    depth = serializers.IntegerField(min_value=1, max_value=rules.DEEPEST, default=RUN_DEPTH)
    tag = serializers.CharField(max_length=110, default="", allow_blank=True)
    note = serializers.CharField(max_length=2_000, default="", allow_blank=True)
    commit = serializers.CharField(max_length=80, default="", allow_blank=True)
    as_role = serializers.CharField(
        max_length=60, default="", allow_blank=True, help_text="The role for whom it searches."
    )
    abstains_below = AbstainsBelowField()
    source = serializers.IntegerField(  # type: ignore[assignment]  # a source of queries
        min_value=1, max_value=LARGEST_KEY, allow_null=True, default=None
    )
    domain = serializers.CharField(max_length=200, default="", allow_blank=True)
    difficulty = serializers.CharField(max_length=20, default="", allow_blank=True)
    query_type = serializers.CharField(max_length=200, default="", allow_blank=True)
    expertise = serializers.CharField(max_length=200, default="", allow_blank=True)
    answer_format = serializers.CharField(max_length=200, default="", allow_blank=True)
    questions = serializers.CharField(max_length=80, default="", allow_blank=True)


class SystemRunSerializer(serializers.Serializer[Any]):
    """The pending run, and the job that makes it."""

    run = RunSerializer()
    job = JobSerializer()


class LoadRequestSerializer(KnownFieldsSerializer):
    """A snapshot to load into OpenSearch or Elasticsearch.

    `snapshot` is its digest, at least 8 characters of it, or `corpus@number`. `vectors` is the id of a system with
    dense embeddings, whose vectors are loaded too.
    """

    snapshot = serializers.CharField(max_length=300)
    url = serializers.CharField(max_length=1_000, help_text="Address of the cluster.")
    auth = RemoteAuthSerializer(required=False)
    vectors = KeyField(allow_null=True, default=None)


class LoadedSystemRequestSerializer(KnownFieldsSerializer):
    """A system that searches a loaded index. Without a name it is called after its search, server and snapshot."""

    search = ChoiceField(choices=list(SEARCHES), default=BM25)
    name = serializers.CharField(max_length=LONGEST["name"], default="", allow_blank=True)


class LoadedIndexSerializer(serializers.ModelSerializer[LoadedIndex]):
    """A loaded index. `noted` of its `passages` are there for certain; `auth` has a secret's name, not its value."""

    snapshot = serializers.CharField(source="snapshot.digest", read_only=True)
    passages = serializers.IntegerField(source="snapshot.block_count", read_only=True)
    vectors = serializers.IntegerField(source="dense_id", read_only=True, allow_null=True)
    auth = serializers.DictField(read_only=True)
    job = JobSerializer(read_only=True)

    class Meta:
        model = LoadedIndex
        fields = (
            "id",
            "name",
            "state",
            "snapshot",
            "url",
            "auth",
            "vectors",
            "server",
            "server_version",
            "noted",
            "passages",
            "failure",
            "created_at",
            "ready_at",
            "dropped_at",
            "job",
        )
        read_only_fields: Any = fields
