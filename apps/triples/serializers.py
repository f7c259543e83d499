"""Serializers of triples. Nothing of an open round is in here."""

from typing import Any

from rest_framework import serializers

from apps.common.web.forms import ChoiceField
from apps.triples.enums import State
from apps.triples.models import Revision, Triple

MOST_TRIPLES = 200


class TripleListInput(serializers.Serializer):
    """Allow-listed filters: a state, and the number after which the next page begins."""

    state = ChoiceField(choices=[*State.values, "stale"], required=False)
    after = serializers.IntegerField(required=False, min_value=0, default=0)
    limit = serializers.IntegerField(required=False, min_value=1, max_value=MOST_TRIPLES, default=50)


class EvidenceOut(serializers.Serializer):
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    text = serializers.CharField()


class ExpectedBlockOut(serializers.Serializer):
    block_id = serializers.CharField()
    document_id = serializers.CharField()
    digest = serializers.CharField()
    page_range = serializers.ListField(child=serializers.IntegerField(allow_null=True))
    evidence = EvidenceOut(many=True)


class MetadataOut(serializers.Serializer):
    domain = serializers.CharField()
    difficulty = serializers.CharField()
    source = serializers.CharField(allow_null=True)  # type: ignore[assignment]
    added_by = serializers.CharField()
    added_at = serializers.DateTimeField()
    machine_written = serializers.BooleanField()
    resolution = serializers.CharField(allow_null=True)
    reviewed_elsewhere_by = serializers.ListField(
        child=serializers.CharField(), help_text="Of one with the resolution elsewhere, in the words of its file."
    )


class TripleOut(serializers.Serializer):
    """The result of `triple_out`, for the schema."""

    id = serializers.IntegerField()
    number = serializers.CharField()
    state = ChoiceField(choices=State.choices)
    stale = serializers.BooleanField()
    round = serializers.IntegerField()
    revision = serializers.IntegerField()
    revision_id = serializers.IntegerField()
    question = serializers.CharField()
    expected_answer = serializers.CharField()
    expected_blocks = ExpectedBlockOut(many=True)
    needs_all_blocks = serializers.BooleanField()
    metadata = MetadataOut()


class TriplePageOut(serializers.Serializer):
    triples = TripleOut(many=True)
    next = serializers.IntegerField(allow_null=True)


def triple_out(triple: Triple) -> dict[str, Any]:
    """A triple with its current wording; `current__expected_blocks` should be prefetched."""
    revision = triple.revision
    return {
        "id": triple.pk,
        "number": triple.label,
        "state": triple.state,
        "stale": triple.is_stale,
        "round": triple.round,
        "revision": revision.number,
        "revision_id": revision.pk,
        "question": revision.question,
        "expected_answer": revision.answer,
        "expected_blocks": blocks_out(revision),
        "needs_all_blocks": revision.needs_all_blocks,
        "metadata": {
            "domain": triple.domain,
            "difficulty": triple.difficulty,
            "source": triple.source.slug if triple.source else None,
            "added_by": str(triple.author),
            "added_at": triple.created_at,
            "machine_written": triple.is_machine_written,
            "resolution": triple.resolution or None,
            "reviewed_elsewhere_by": triple.reviewed_elsewhere_by,
        },
    }


def blocks_out(revision: Revision) -> list[dict[str, Any]]:
    """The expected blocks of a revision with their evidence, as `ExpectedBlockOut` has them."""
    return [
        {
            "block_id": expected.version.block.outside_id,
            "document_id": expected.version.block.document.outside_id,
            "digest": expected.version.digest,
            "page_range": [expected.version.page_start, expected.version.page_end],
            "evidence": [
                {"start": start, "end": end, "text": expected.version.text[start:end]} for start, end in expected.spans
            ],
        }
        for expected in revision.blocks
    ]
