"""The shape of versions in the API."""

from typing import Any

from rest_framework import serializers

from apps.goldsets.core.blind import without_grades
from apps.goldsets.models import Version


class VersionSerializer(serializers.Serializer):
    """A version with the facts of its manifest; `manifest` is empty for a draft. Request scores by `id`.

    To somebody who still judges the manifest says neither how many pairs have which grade nor what was graded anew
    (`is_blind` in the context).
    """

    id = serializers.IntegerField(source="pk")
    gold_set = serializers.CharField(source="gold_set.slug")
    version = serializers.CharField(source="label")
    number = serializers.IntegerField()
    numbered = serializers.SerializerMethodField(
        help_text="major.minor.patch by what changed; empty for a draft, and for somebody who still judges."
    )
    state = serializers.CharField()
    digest = serializers.CharField()
    snapshot = serializers.CharField(source="snapshot.name")
    snapshot_digest = serializers.CharField(source="snapshot.digest")
    frozen_at = serializers.DateTimeField(allow_null=True)
    released_at = serializers.DateTimeField(allow_null=True)
    manifest = serializers.SerializerMethodField()

    def get_numbered(self, version: Version) -> str:
        return "" if self.context["is_blind"] else version.numbered

    def get_manifest(self, version: Version) -> dict[str, Any]:
        return without_grades(version.manifest) if self.context["is_blind"] else version.manifest


class LossSerializer(serializers.Serializer):
    """A judged pair, or a query without block and grade, that a version leaves out."""

    kind = serializers.CharField(help_text="query or pair")
    query_id = serializers.CharField(source="query_name")
    block_id = serializers.CharField(source="block_name")
    grade = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField(help_text="LossReason: text_changed, block_gone, query_retired and so on.")
    sentence = serializers.CharField()
    cure = serializers.CharField(help_text="What can be done about it, before a version is frozen.")


class LossPageSerializer(serializers.Serializer):
    results = LossSerializer(many=True)
    next = serializers.CharField(allow_null=True, help_text="The cursor of the next page; null on the last one.")
