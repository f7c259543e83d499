"""The shape of versions in the API."""

from rest_framework import serializers


class VersionSerializer(serializers.Serializer):
    """A version with the facts of its manifest; `manifest` is empty while a draft. Scores are asked for by `id`."""

    id = serializers.IntegerField(source="pk")
    gold_set = serializers.CharField(source="gold_set.slug")
    version = serializers.CharField(source="label")
    number = serializers.IntegerField()
    state = serializers.CharField()
    digest = serializers.CharField()
    snapshot = serializers.CharField(source="snapshot.name")
    snapshot_digest = serializers.CharField(source="snapshot.digest")
    frozen_at = serializers.DateTimeField(allow_null=True)
    released_at = serializers.DateTimeField(allow_null=True)
    manifest = serializers.DictField()
