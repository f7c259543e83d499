"""Systems and loaded indexes in the API. Requests are validated like the forms of the pages."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field
from rest_framework import serializers

from apps.common.web.forms import ChoiceField
from apps.jobs.serializers import JobSerializer
from apps.retrieval import rules
from apps.retrieval.core.engines.registry import DEFAULT_K, ENGINES, LARGEST_K
from apps.retrieval.core.engines.remote.base import AUTHS, MOST_HEADERS
from apps.retrieval.core.engines.remote.http_json import METHODS
from apps.retrieval.core.engines.remote.opensearch import QUERIES
from apps.retrieval.core.engines.remote.own_passages import OwnPaths
from apps.retrieval.core.engines.remote.search import BOUNDS, Pace
from apps.retrieval.core.engines.remote.servers import BM25, SEARCHES
from apps.retrieval.enums import BlockText, SystemKind
from apps.retrieval.models import LoadedIndex, System
from apps.retrieval.rules import LONGEST, RUN_DEPTH
from apps.retrieval.serializers.runs import RunSerializer, is_plain

LONGEST_NAME = 120
LONGEST_BODY = 20_000
LARGEST_NUMBER = 2**53
LARGEST_ID = 2**63 - 1
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
    systems = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=LARGEST_ID), max_length=MOST_FUSED
    )
    k = serializers.FloatField(
        default=DEFAULT_K, min_value=0, max_value=LARGEST_K, help_text="With a smaller k low ranks lose weight faster."
    )


class RemoteAuthSerializer(KnownFieldsSerializer):
    """How Karat signs in: `secret` is the name of a secret of the project, never its value."""

    kind = ChoiceField(choices=AUTHS)
    secret = serializers.CharField(max_length=120, required=False)
    user = serializers.CharField(max_length=200, required=False, help_text="For basic.")
    header = serializers.CharField(max_length=80, required=False, help_text="For header, such as X-Api-Key.")


class OwnPathsSerializer(KnownFieldsSerializer):
    """Where an answer has the parts of passages that the system cut itself."""

    documents = serializers.CharField(max_length=300, required=False, allow_blank=True)
    texts = serializers.CharField(max_length=300, required=False, allow_blank=True)
    first_pages = serializers.CharField(max_length=300, required=False, allow_blank=True)
    last_pages = serializers.CharField(max_length=300, required=False, allow_blank=True)


class HttpParametersSerializer(OwnPathsSerializer):
    """An endpoint that answers with JSON.

    `ids` is needed, unless it returns passages of its own: with any of `documents`, `texts` and `first_pages`, paths
    like that of the ids, it does.
    """

    url = serializers.CharField(max_length=2_000)
    method = ChoiceField(choices=METHODS, default=METHODS[0])
    body = serializers.CharField(max_length=LONGEST_BODY, required=False, allow_blank=True, trim_whitespace=False)
    headers = serializers.DictField(child=serializers.CharField(max_length=1_000, allow_blank=True), required=False)
    ids = serializers.CharField(max_length=300, required=False, allow_blank=True)
    scores = serializers.CharField(max_length=300, required=False, allow_blank=True)
    lower_is_better = serializers.BooleanField(default=False)
    strip = serializers.CharField(max_length=200, required=False, allow_blank=True, trim_whitespace=False)
    prepend = serializers.CharField(max_length=200, required=False, allow_blank=True, trim_whitespace=False)
    version = serializers.CharField(max_length=200, required=False, allow_blank=True)
    auth = RemoteAuthSerializer(required=False)

    def validate_headers(self, value: dict[str, str]) -> dict[str, str]:
        if len(value) > MOST_HEADERS:
            raise serializers.ValidationError(f"At most {MOST_HEADERS} headers.")
        return value


class OpenSearchParametersSerializer(OwnPathsSerializer):
    """The `_search` endpoint of a cluster.

    With any of `documents`, `texts` and `first_pages`, fields written `_source.name`, it returns passages of its own.
    `ids` is then empty unless it is given, else `_id`.
    """

    url = serializers.CharField(max_length=2_000)
    index = serializers.CharField(max_length=255)
    query = ChoiceField(choices=QUERIES, default=QUERIES[0])
    fields = serializers.ListField(  # type: ignore[assignment]  # the setting's own name
        child=serializers.CharField(max_length=200), max_length=100, required=False
    )
    body = serializers.CharField(max_length=LONGEST_BODY, required=False, allow_blank=True, trim_whitespace=False)
    ids = serializers.CharField(max_length=300, required=False, allow_blank=True)
    version = serializers.CharField(max_length=200, required=False, allow_blank=True)
    auth = RemoteAuthSerializer(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        has_own = any(attrs.get(name) for name in OwnPaths._fields)
        return {"ids": "" if has_own else "_id", **attrs}


def _pace_field(name: str) -> serializers.Field[Any, Any, Any, Any]:
    """The field of one request limit, with the same bounds as in the form."""
    low, high = BOUNDS[name]
    if isinstance(Pace().values()[name], int):
        return serializers.IntegerField(min_value=int(low), max_value=int(high), required=False)
    return serializers.FloatField(min_value=low, max_value=high, required=False)


class PaceSerializer(KnownFieldsSerializer):
    """The request limits of a system elsewhere. Missing ones stay as they are; for a new system, they have defaults."""

    at_once = _pace_field("at_once")
    per_second = _pace_field("per_second")
    tries = _pace_field("tries")
    first_wait = _pace_field("first_wait")
    connect = _pace_field("connect")
    read = _pace_field("read")
    whole = _pace_field("whole")
    stop_after = _pace_field("stop_after")


REMOTE_PARAMETERS: dict[str, type[KnownFieldsSerializer]] = {
    SystemKind.HTTP.value: HttpParametersSerializer,
    SystemKind.OPENSEARCH.value: OpenSearchParametersSerializer,
}


@extend_schema_field(
    PolymorphicProxySerializer(
        component_name="RemoteParameters",
        serializers=list(REMOTE_PARAMETERS.values()),
        resource_type_field_name=None,
    )
)
class RemoteParametersField(serializers.DictField):
    """An object whose fields depend on the kind."""


class RemoteRequestSerializer(KnownFieldsSerializer):
    """A system elsewhere: its address, the request, and the request limits."""

    name = serializers.CharField(max_length=LONGEST_NAME)
    kind = ChoiceField(choices=list(REMOTE_PARAMETERS))
    parameters = RemoteParametersField()
    pace = PaceSerializer(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        parameters = REMOTE_PARAMETERS[attrs["kind"]](data=attrs["parameters"])
        if not parameters.is_valid():
            raise serializers.ValidationError({"parameters": parameters.errors})
        return {**attrs, "parameters": parameters.validated_data}


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
    source = serializers.IntegerField(  # type: ignore[assignment]  # a source of queries
        min_value=1, max_value=LARGEST_ID, allow_null=True, default=None
    )
    domain = serializers.CharField(max_length=200, default="", allow_blank=True)
    difficulty = serializers.CharField(max_length=20, default="", allow_blank=True)
    query_type = serializers.CharField(max_length=200, default="", allow_blank=True)
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
    vectors = serializers.IntegerField(min_value=1, max_value=LARGEST_ID, allow_null=True, default=None)


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
