"""Snapshots and blocks in the API."""

from rest_framework import serializers

from apps.corpus.models import BlockVersion, Corpus, Snapshot, SnapshotBlock
from apps.corpus.selectors.corpora import DocumentReach, MissedDocument
from apps.jobs.serializers import JobSerializer


class SnapshotSerializer(serializers.ModelSerializer[Snapshot]):
    """A snapshot. `digest` is over exactly these texts."""

    corpus = serializers.CharField(source="corpus.slug", read_only=True)

    class Meta:
        model = Snapshot
        fields = ("id", "corpus", "number", "name", "digest", "recipe", "block_count", "document_count", "frozen_at")
        read_only_fields = fields


class MissedDocumentSerializer(serializers.Serializer[MissedDocument]):
    outside_id = serializers.CharField()
    title = serializers.CharField()
    passages = serializers.IntegerField()


class DocumentReachSerializer(serializers.Serializer[DocumentReach]):
    """How many of the snapshot's `documents` were reached; `missed` are the 20 others with most passages."""

    reached = serializers.IntegerField()
    documents = serializers.IntegerField()
    share = serializers.FloatField()
    missed = MissedDocumentSerializer(many=True)


class BlockSerializer(serializers.ModelSerializer[SnapshotBlock]):
    """A block in a snapshot. A redacted text is empty, with the time and the reason."""

    block_id = serializers.CharField(source="block.outside_id", read_only=True)
    document_id = serializers.CharField(source="block.document.outside_id", read_only=True)
    text_id = serializers.IntegerField(source="version_id", read_only=True)
    digest = serializers.CharField(source="version.digest", read_only=True)
    title = serializers.CharField(source="version.title", read_only=True)
    section = serializers.ListField(source="version.section_path", child=serializers.CharField(), read_only=True)
    page_start = serializers.IntegerField(source="version.page_start", read_only=True, allow_null=True)
    page_end = serializers.IntegerField(source="version.page_end", read_only=True, allow_null=True)
    text = serializers.CharField(source="version.text", read_only=True)
    metadata = serializers.DictField(source="version.metadata", read_only=True)
    redacted_at = serializers.DateTimeField(source="version.redacted_at", read_only=True, allow_null=True)
    redaction_reason = serializers.CharField(source="version.redaction_reason", read_only=True)

    class Meta:
        model = SnapshotBlock
        fields = (
            "position",
            "block_id",
            "document_id",
            "text_id",
            "digest",
            "title",
            "section",
            "page_start",
            "page_end",
            "text",
            "metadata",
            "redacted_at",
            "redaction_reason",
        )
        read_only_fields = fields


class CorpusSerializer(serializers.ModelSerializer[Corpus]):
    """A corpus. `block_count` is of its blocks now, `frozen_at` the time of its newest snapshot."""

    block_count = serializers.IntegerField(read_only=True)
    snapshot_count = serializers.IntegerField(read_only=True)
    frozen_at = serializers.DateTimeField(read_only=True, allow_null=True)

    class Meta:
        model = Corpus
        fields = ("slug", "name", "block_count", "snapshot_count", "frozen_at")
        read_only_fields = fields


class TextSerializer(serializers.ModelSerializer[BlockVersion]):
    """One text that a block has or had. A redacted one is empty, with the time and the reason."""

    corpus = serializers.CharField(source="block.corpus.slug", read_only=True)
    block_id = serializers.CharField(source="block.outside_id", read_only=True)
    document_id = serializers.CharField(source="block.document.outside_id", read_only=True)
    section = serializers.ListField(source="section_path", child=serializers.CharField(), read_only=True)
    metadata = serializers.DictField(read_only=True)

    class Meta:
        model = BlockVersion
        fields = (
            "id",
            "corpus",
            "block_id",
            "document_id",
            "digest",
            "title",
            "section",
            "page_start",
            "page_end",
            "text",
            "metadata",
            "redacted_at",
            "redaction_reason",
        )
        read_only_fields = fields


class RedactionSerializer(serializers.Serializer):
    """Why a text is redacted. It is shown in place of the text."""

    reason = serializers.CharField(max_length=2_000)


class FreezeSerializer(serializers.Serializer):
    """The slug of the corpus to freeze, and the name of the snapshot."""

    corpus = serializers.CharField(max_length=60)
    name = serializers.CharField(max_length=120, required=False, allow_blank=True, default="")


class FrozenSerializer(serializers.Serializer):
    """The result of a freeze: the snapshot once it exists, and the job that makes it when the corpus is large."""

    snapshot = SnapshotSerializer(allow_null=True)
    job = JobSerializer(allow_null=True)
