"""Differences in the API: the own list of a judge, the grades of the others on one pair, and an answer to it."""

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.common.web.api import given_in
from apps.common.web.forms import ChoiceField
from apps.judging.actions.differences import answer_difference, look_at_difference
from apps.judging.core.differences import DifferenceState
from apps.judging.enums import CantJudgeReason
from apps.judging.models import Judgement
from apps.judging.selectors.differences import OwnDifference, differences_of
from apps.judging.selectors.rounds import entries_in, entry_in, own_round
from apps.judging.serializers import FacetIds, QueryOut


class StateField(serializers.CharField):
    def __init__(self, **kwargs: Any) -> None:
        states = ", ".join(f"`{state.value}`" for state in DifferenceState)
        super().__init__(help_text=f"Whose answer it waits for, or how it ended: {states}.", **kwargs)


class ListedOut(serializers.Serializer):
    """A pair on which you and others differ. Its grades come with opening it."""

    entry = serializers.IntegerField(source="entry.pk")
    query = QueryOut(source="entry.query")
    block = serializers.CharField(source="entry.version.block.outside_id")
    state = StateField()


class ListOut(serializers.Serializer):
    differences = ListedOut(many=True)


class GivenOut(serializers.Serializer):
    """A judge's first answer, and the last one since; the others have no name."""

    is_you = serializers.BooleanField()
    grade = serializers.IntegerField(allow_null=True)
    cant_judge = serializers.CharField()
    note = serializers.CharField()
    spans = serializers.JSONField()
    facets = FacetIds(allow_null=True, help_text="Subtopics of the first answer; null: they were not asked.")
    has_answered = serializers.BooleanField(help_text="Since all first grades were in.")
    grade_now = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField(help_text="Why the grade was changed.")


class DifferenceOut(serializers.Serializer):
    """`seen` goes back with your answer, which is refused where another judge has answered meanwhile."""

    entry = serializers.IntegerField()
    state = StateField()
    seen = serializers.IntegerField()
    settled_at = serializers.IntegerField(allow_null=True)
    judges = GivenOut(many=True)


class SecondGradeInput(serializers.Serializer):
    """Your grade again, or another one with a reason. `grade` null: the pair can't be judged, with `cant_judge`."""

    grade = serializers.IntegerField(allow_null=True)
    cant_judge = ChoiceField(choices=[("", ""), *CantJudgeReason.choices], required=False, default="")
    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=4_000)
    seen = serializers.IntegerField(min_value=0, max_value=10_000)
    idempotency_key = serializers.CharField(max_length=64)


class JudgeView(ProjectAPIView):
    """Differences of an annotator of the round."""

    scopes: ClassVar = {"GET": Scope.JUDGING_WRITE, "POST": Scope.JUDGING_WRITE}


class DifferencesView(JudgeView):
    """Your differences of a round, by entry, and whose answer each waits for."""

    roles: ClassVar = {"GET": (Role.ANNOTATOR,)}

    @extend_schema(operation_id="judging_differences", responses=ListOut)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        round_ = own_round(self.member.user, self.project, pk)
        own = differences_of(self.member.user, [round_])
        entries = entries_in(round_, [each.entry_id for each in own])
        rows = [{"entry": entries[each.entry_id], "state": each.state.value} for each in own]
        return Response(ListOut({"differences": rows}).data)


class OpenView(JudgeView):
    """Shows you the grades of the other judges on one pair. From then on your own first grade is final."""

    roles: ClassVar = {"POST": (Role.ANNOTATOR,)}

    @extend_schema(operation_id="judging_difference_open", request=None, responses=DifferenceOut)
    def post(self, request: Request, slug: str, pk: int, entry: int) -> Response:
        round_ = own_round(self.member.user, self.project, pk)
        row = entry_in(round_, entry)
        own = look_at_difference(round_=round_, entry=row, judge=self.member.user, at=timezone.now())
        return Response(DifferenceOut(_facts(own)).data)


class AnswerView(JudgeView):
    """Keeps your grade of a pair on which judges differ, or changes it. Once all give one grade, it is settled."""

    roles: ClassVar = {"POST": (Role.ANNOTATOR,)}

    @extend_schema(operation_id="judging_difference_answer", request=SecondGradeInput, responses=DifferenceOut)
    def post(self, request: Request, slug: str, pk: int, entry: int) -> Response:
        round_, judge = own_round(self.member.user, self.project, pk), self.member.user
        row, given = entry_in(round_, entry), given_in(request.data, SecondGradeInput)
        answer_difference(round_=round_, entry=row, judge=judge, at=timezone.now(), **given)
        (own,) = differences_of(judge, [round_], row)
        return Response(DifferenceOut(_facts(own)).data)


def _facts(own: OwnDifference) -> dict[str, Any]:
    return {
        "entry": own.entry_id,
        "state": own.state.value,
        "seen": len(own.second),
        "settled_at": own.decision.grade if own.decision else None,
        "judges": [_given(own, judgement) for judgement in (own.own, *own.others)],
    }


def _given(own: OwnDifference, first: Judgement) -> dict[str, Any]:
    since = own.answer_of(first.annotator_id)
    return {
        "is_you": first.annotator_id == own.judge_id,
        "grade": first.grade,
        "cant_judge": first.cant_judge,
        "note": first.note,
        "spans": first.spans,
        "facets": first.facets,
        "has_answered": since is not None,
        "grade_now": since.grade if since else first.grade,
        "reason": since.reason if since else "",
    }
