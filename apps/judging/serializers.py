from typing import Any

from rest_framework import serializers

from apps.judging.actions import Answer
from apps.judging.enums import CantJudgeReason
from apps.judging.models import Judgement, Round

MOST_TIME_MS = 7 * 24 * 3_600_000


class JudgementInput(serializers.Serializer):
    """A grade or a reason why there is none, for the pair of a seat."""

    seat = serializers.IntegerField(min_value=1)
    grade = serializers.IntegerField(required=False, allow_null=True, default=None)
    cant_judge = serializers.ChoiceField(CantJudgeReason.choices, required=False, allow_blank=True, default="")
    note = serializers.CharField(required=False, allow_blank=True, max_length=10_000, default="")
    spans = serializers.JSONField(required=False, default=list)
    active_ms = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=0, max_value=MOST_TIME_MS
    )
    away_ms = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=0, max_value=MOST_TIME_MS
    )
    idempotency_key = serializers.CharField(max_length=64, min_length=1)

    def answer(self) -> Answer:
        """The validated answer, for the action."""
        values: dict[str, Any] = self.validated_data
        return Answer(
            grade=values["grade"],
            cant_judge=values["cant_judge"],
            note=values["note"],
            spans=values["spans"] or [],
            active_ms=values["active_ms"],
            away_ms=values["away_ms"],
        )


def judgement_out(judgement: Judgement) -> dict[str, Any]:
    """The judgement as its annotator sees it; the same for the same key, however often it is asked."""
    return {
        "id": judgement.pk,
        "seat": judgement.seat_id,
        "grade": judgement.grade,
        "cant_judge": judgement.cant_judge,
        "note": judgement.note,
        "spans": judgement.spans,
        "supersedes": judgement.supersedes_id,
        "given_at": judgement.given_at.isoformat(),
    }


def round_out(round_: Round) -> dict[str, Any]:
    """What an annotator may know of a round."""
    return {
        "id": round_.pk,
        "number": round_.number,
        "name": round_.name,
        "state": round_.state,
        "guideline": round_.guideline.number if round_.guideline else None,
    }
