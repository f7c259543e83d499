"""Serializers of verdicts, seats and the board."""

from typing import Any

from rest_framework import serializers

from apps.common.web.api import next_page
from apps.common.web.forms import ChoiceField, KeyField
from apps.review.enums import CandidateChoice, CandidateState, CandidateStep, Category, Reason, VerdictChoice
from apps.review.selectors.board import KIND_LABELS
from apps.triples.serializers import TripleOut

DECISION_STEPS = {"add": CandidateStep.DECIDE_ADD, "reject": CandidateStep.DECIDE_REJECT}
CANDIDATE_DECISIONS = list(DECISION_STEPS)


class VerdictInput(serializers.Serializer):
    revision_id = KeyField()
    choice = ChoiceField(choices=VerdictChoice.choices)
    reasons = serializers.ListField(child=ChoiceField(choices=Reason.choices), required=False, max_length=len(Reason))
    category = ChoiceField(choices=Category.choices, required=False, allow_blank=True, default="")
    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=4000)
    idempotency_key = serializers.CharField(max_length=64)

    def verdict(self) -> dict[str, Any]:
        return {"reasons": [], **self.validated_data}


class SeatOut(serializers.Serializer):
    """A seat that needs the user's own verdict."""

    triple_id = serializers.IntegerField(source="revision.triple_id")
    number = serializers.CharField(source="revision.triple.label")
    revision_id = serializers.IntegerField()
    round = serializers.IntegerField(source="revision.round")
    waiting_since = serializers.DateTimeField(source="opened_at")


class QueueOut(serializers.Serializer):
    waiting = SeatOut(many=True)


class NextOut(serializers.Serializer):
    triple = TripleOut(allow_null=True)


class VerdictOut(serializers.Serializer):
    """The user's own verdict, without the state of the round, which is read from the triple."""

    triple_id = serializers.IntegerField(source="revision.triple_id")
    revision_id = serializers.IntegerField()
    choice = ChoiceField(choices=VerdictChoice.choices)
    reasons = serializers.ListField(child=ChoiceField(choices=Reason.choices))
    category = ChoiceField(choices=Category.choices, allow_blank=True)
    note = serializers.CharField()
    given_at = serializers.DateTimeField()


class ReseatInput(serializers.Serializer):
    """`reviewer` is whose seat it is, by id; without one, the free place."""

    reviewer = KeyField(required=False, allow_null=True)
    to = KeyField(required=False, allow_null=True)
    reason = serializers.CharField(max_length=300)


class ReseatedOut(serializers.Serializer):
    triple_id = serializers.IntegerField(source="revision.triple_id")
    seat = serializers.IntegerField(source="number")
    reviewer = serializers.IntegerField(source="reviewer_id")


class BoardSeatOut(serializers.Serializer):
    number = serializers.IntegerField()
    reviewer = serializers.IntegerField(source="reviewer.pk", allow_null=True, default=None)
    has_answered = serializers.BooleanField(source="is_answered")
    is_stuck = serializers.BooleanField()


class BoardRowOut(serializers.Serializer):
    """A row of the board, as the requesting lead may see it."""

    triple_id = serializers.IntegerField(source="triple.pk")
    number = serializers.CharField(source="triple.label")
    kind = ChoiceField(choices=list(KIND_LABELS))
    round = serializers.IntegerField(source="triple.round")
    author = serializers.IntegerField(source="triple.author_id")
    domain = serializers.CharField(source="triple.domain")
    waiting_since = serializers.DateTimeField(source="since")
    next_move = serializers.CharField(source="move")
    is_escalated = serializers.BooleanField()
    seats = BoardSeatOut(many=True, allow_null=True)


class BoardOut(serializers.Serializer):
    rows = BoardRowOut(many=True)
    next = next_page()


class CandidateAnswerInput(serializers.Serializer):
    choice = ChoiceField(choices=CandidateChoice.choices)
    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=4000)
    idempotency_key = serializers.CharField(max_length=64)


class CandidateDecisionInput(serializers.Serializer):
    decision = ChoiceField(choices=CANDIDATE_DECISIONS)
    reason = serializers.CharField(max_length=4000)

    def step(self) -> CandidateStep:
        return DECISION_STEPS[self.validated_data["decision"]]


class CandidateAnswerOut(serializers.Serializer):
    """One answer, without the state of the candidate block, which would tell of the other one."""

    candidate_id = serializers.IntegerField()
    choice = ChoiceField(choices=CandidateChoice.choices)
    note = serializers.CharField()
    given_at = serializers.DateTimeField()


class GivenAnswerOut(serializers.Serializer):
    reviewer = serializers.IntegerField(source="reviewer_id")
    choice = ChoiceField(choices=CandidateChoice.choices)
    note = serializers.CharField()


class ProposedBlockOut(serializers.Serializer):
    block_id = serializers.CharField(source="version.block.outside_id")
    document_id = serializers.CharField(source="version.block.document.outside_id")
    digest = serializers.CharField(source="version.digest")
    text = serializers.CharField(source="version.text")
    spans = serializers.ListField(child=serializers.ListField(child=serializers.IntegerField()))


class CandidateOut(serializers.Serializer):
    """A `CandidateView`: what the person may not see is null."""

    id = serializers.IntegerField(source="candidate.pk")
    triple_id = serializers.IntegerField(source="candidate.triple_id")
    number = serializers.CharField(source="candidate.triple.label")
    question = serializers.CharField(source="candidate.triple.revision.question")
    expected_answer = serializers.CharField(source="candidate.triple.revision.answer")
    block = ProposedBlockOut(source="candidate")
    state = ChoiceField(choices=CandidateState.choices, source="candidate.state")
    is_waiting = serializers.BooleanField()
    may_answer = serializers.BooleanField()
    may_decide = serializers.BooleanField()
    own_answer = CandidateAnswerOut(source="own", allow_null=True)
    answers = GivenAnswerOut(many=True, allow_null=True)
    proposed_by = serializers.IntegerField(source="proposer.pk", allow_null=True, default=None)
    evaluation = serializers.IntegerField(allow_null=True)
    added_revision = serializers.IntegerField(source="candidate.added.number", allow_null=True, default=None)
    reason = serializers.CharField(source="candidate.reason")


class CandidatePageOut(serializers.Serializer):
    candidates = CandidateOut(many=True)
    next = next_page()
