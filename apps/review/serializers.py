"""Verdicts in, seats and verdicts out."""

from typing import Any

from rest_framework import serializers

from apps.review.enums import Category, Choice, Reason
from apps.review.models import ReviewSeat, Verdict
from apps.triples.serializers import TripleOut


class VerdictInput(serializers.Serializer):
    revision_id = serializers.IntegerField(min_value=1)
    choice = serializers.ChoiceField(choices=Choice.choices)
    reasons = serializers.ListField(
        child=serializers.ChoiceField(choices=Reason.choices), required=False, max_length=len(Reason)
    )
    category = serializers.ChoiceField(choices=Category.choices, required=False, allow_blank=True, default="")
    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=4000)
    idempotency_key = serializers.CharField(max_length=64)

    def verdict(self) -> dict[str, Any]:
        return {"reasons": [], **self.validated_data}


class SeatOut(serializers.Serializer):
    triple_id = serializers.IntegerField()
    number = serializers.CharField()
    revision_id = serializers.IntegerField()
    round = serializers.IntegerField()
    waiting_since = serializers.DateTimeField()


class QueueOut(serializers.Serializer):
    waiting = SeatOut(many=True)


class NextOut(serializers.Serializer):
    triple = TripleOut(allow_null=True)


class VerdictOut(serializers.Serializer):
    triple_id = serializers.IntegerField()
    revision_id = serializers.IntegerField()
    choice = serializers.ChoiceField(choices=Choice.choices)
    reasons = serializers.ListField(child=serializers.ChoiceField(choices=Reason.choices))
    category = serializers.ChoiceField(choices=Category.choices, allow_blank=True)
    note = serializers.CharField()
    given_at = serializers.DateTimeField()


def seat_out(seat: ReviewSeat) -> dict[str, Any]:
    """What waits for one's own verdict."""
    return {
        "triple_id": seat.revision.triple_id,
        "number": seat.revision.triple.label,
        "revision_id": seat.revision_id,
        "round": seat.revision.round,
        "waiting_since": seat.opened_at,
    }


def verdict_out(verdict: Verdict) -> dict[str, Any]:
    """One's own verdict. It says nothing of the round: whether it closed is read from the triple."""
    return {
        "triple_id": verdict.revision.triple_id,
        "revision_id": verdict.revision_id,
        "choice": verdict.choice,
        "reasons": verdict.reasons,
        "category": verdict.category,
        "note": verdict.note,
        "given_at": verdict.given_at,
    }
