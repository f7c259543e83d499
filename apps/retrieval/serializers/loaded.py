"""Loaded indexes in the API: input and output."""

from typing import Any

from rest_framework import serializers

from apps.common.web.choices import ChoiceField
from apps.jobs.serializers import JobSerializer
from apps.retrieval.core.engines.remote.loaded import BM25, SEARCHES
from apps.retrieval.models import LoadedIndex
from apps.retrieval.rules import LONGEST
from apps.retrieval.serializers.systems import LARGEST_ID, KnownFieldsSerializer, RemoteAuthSerializer


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
