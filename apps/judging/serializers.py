"""Rounds, pairs and judgements in the API."""

from typing import Any

from rest_framework import serializers

from apps.common.web.forms import ChoiceField, KeyField
from apps.judging.core.resolution import MOST_TIME_MS, Answer
from apps.judging.enums import CantJudgeReason
from apps.queries.core.naming import MOST_FACETS


class FacetIds(serializers.ListField):
    """Ids of subtopics of a query."""

    child = serializers.CharField(max_length=20)
    max_length = MOST_FACETS


class JudgementInput(serializers.Serializer):
    """A grade for the pair of a seat, or a reason why it can't be judged."""

    seat = KeyField()
    grade = serializers.IntegerField(required=False, allow_null=True, default=None)
    cant_judge = ChoiceField(CantJudgeReason.choices, required=False, allow_blank=True, default="")
    note = serializers.CharField(required=False, allow_blank=True, max_length=10_000, default="")
    spans = serializers.JSONField(
        required=False, default=None, help_text="[[start, end], …] in code points of the text."
    )
    facets = FacetIds(
        required=False,
        allow_null=True,
        default=None,
        help_text="Ids of the query's subtopics that the block answers, an empty list for none of them. Left out: not"
        " asked.",
    )
    active_ms = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=0, max_value=MOST_TIME_MS
    )
    away_ms = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=0, max_value=MOST_TIME_MS
    )
    again = serializers.BooleanField(
        required=False, default=True, help_text="False: only if you have not graded this pair yet, here or elsewhere."
    )
    idempotency_key = serializers.CharField(max_length=64, min_length=1)


def answer_in(values: dict[str, Any]) -> Answer:
    """The answer in what `JudgementInput` has validated, for the action."""
    return Answer(
        grade=values["grade"],
        cant_judge=values["cant_judge"],
        note=values["note"],
        spans=values["spans"] or [],
        active_ms=values["active_ms"],
        away_ms=values["away_ms"],
        is_again=values["again"],
        facets=values["facets"],
    )


class JudgementOut(serializers.Serializer):
    """A judgement as its annotator sees it; the same for the same key, however often it is sent."""

    id = serializers.IntegerField(source="pk")
    seat = serializers.IntegerField(source="seat_id")
    grade = serializers.IntegerField(allow_null=True)
    cant_judge = serializers.CharField()
    note = serializers.CharField()
    spans = serializers.JSONField()
    facets = FacetIds(allow_null=True)
    supersedes = serializers.IntegerField(source="supersedes_id", allow_null=True)
    given_at = serializers.DateTimeField()


class RoundOut(serializers.Serializer):
    """A round as its annotators see it."""

    id = serializers.IntegerField(source="pk")
    number = serializers.IntegerField()
    name = serializers.CharField()
    state = serializers.CharField()
    guideline = serializers.IntegerField(source="guideline.number", default=None, allow_null=True)


class RoundsOut(serializers.Serializer):
    rounds = RoundOut(many=True)


class RoundFacts(RoundOut):
    """A round as leads see it."""

    kind = serializers.CharField()
    pool = serializers.IntegerField(source="pool_id")
    created_at = serializers.DateTimeField()
    opened_at = serializers.DateTimeField(allow_null=True)
    closed_at = serializers.DateTimeField(allow_null=True)
    withdrawn_at = serializers.DateTimeField(allow_null=True, help_text="When the import of its grades was undone.")


class SummaryOut(serializers.Serializer):
    """A round with its seats counted."""

    round = RoundFacts()
    planned = serializers.IntegerField(help_text="Grades that its plan asks for.")
    done = serializers.IntegerField(help_text="Grades given.")
    people = serializers.IntegerField()


class SummariesOut(serializers.Serializer):
    rounds = SummaryOut(many=True)


class PilotInput(serializers.Serializer):
    reason = serializers.CharField(max_length=4_000, allow_blank=True)


class GiveBackInput(serializers.Serializer):
    person = KeyField()


class ReturnedOut(serializers.Serializer):
    returned = serializers.IntegerField(help_text="How many pairs are free for others again.")


class FacetOut(serializers.Serializer):
    id = serializers.CharField()
    words = serializers.CharField()


class QueryOut(serializers.Serializer):
    id = serializers.CharField(source="outside_id")
    text = serializers.CharField()
    intent = serializers.CharField()
    description = serializers.CharField()
    facets = FacetOut(many=True, help_text="The subtopics that a judgement may name.")


class BlockOut(serializers.Serializer):
    id = serializers.CharField(source="version.block.outside_id")
    document = serializers.CharField()
    title = serializers.CharField(source="version.title")
    section = serializers.JSONField(source="version.section_path")
    page_start = serializers.IntegerField(source="version.page_start", allow_null=True)
    page_end = serializers.IntegerField(source="version.page_end", allow_null=True)
    text = serializers.CharField(source="version.text")
    digest = serializers.CharField(source="version.digest")


class PairOut(serializers.Serializer):
    """A pair to grade: query and block, without provenance."""

    seat = serializers.IntegerField(source="seat_id")
    query = QueryOut()
    block = BlockOut(source="*")


class PairsOut(serializers.Serializer):
    round = RoundOut()
    pairs = PairOut(many=True)
