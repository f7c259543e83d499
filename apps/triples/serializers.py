"""Triples as they leave over HTTP. Nothing of an open round is in here."""

from typing import Any

from rest_framework import serializers

from apps.triples.enums import State
from apps.triples.models import Triple

MOST_TRIPLES = 200


class TripleListInput(serializers.Serializer):
    """Allow-listed filters: a state, and the number behind which the next page begins."""

    state = serializers.ChoiceField(choices=[*State.values, "stale"], required=False)
    after = serializers.IntegerField(required=False, min_value=0, default=0)
    limit = serializers.IntegerField(required=False, min_value=1, max_value=MOST_TRIPLES, default=50)


def triple_out(triple: Triple) -> dict[str, Any]:
    """A triple with its current wording; `current__expected_blocks` should come along."""
    revision = triple.current
    assert revision is not None
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
        "expected_blocks": [
            {
                "block_id": expected.version.block.outside_id,
                "document_id": expected.version.block.document.outside_id,
                "digest": expected.version.digest,
                "page_range": [expected.version.page_start, expected.version.page_end],
                "evidence": [
                    {"start": start, "end": end, "text": expected.version.text[start:end]}
                    for start, end in expected.spans
                ],
            }
            for expected in revision.expected_blocks.all()
        ],
        "needs_all_blocks": revision.needs_all_blocks,
        "metadata": {
            "domain": triple.domain,
            "difficulty": triple.difficulty,
            "source": triple.source.slug if triple.source else None,
            "added_by": str(triple.author),
            "added_at": triple.created_at,
            "machine_written": triple.is_machine_written,
            "resolution": triple.resolution or None,
        },
    }
