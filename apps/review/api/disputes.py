"""API of submitting triples, reminding reviewers, and of disputes: rounds, messages, and what ends a dispute."""

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ReviewAPIView
from apps.accounts.enums import Role
from apps.common.web.api import given_in
from apps.common.web.forms import ChoiceField, KeyField
from apps.review.actions.disputes import adjudicate, drop_triple, post_message, withdraw_flag
from apps.review.actions.reminding import remind_reviewers
from apps.review.actions.submitting import begin_revision, re_pin, submit_triple
from apps.review.enums import Category, Decision
from apps.review.selectors.candidate_blocks import doubts_about, offers_for
from apps.review.selectors.participation import participation_for
from apps.review.selectors.reviews import RoundView, rounds_of
from apps.triples.models import Triple
from apps.triples.rules import READERS, WRITERS
from apps.triples.selectors.triples import triple_for, visible_triples, writing_snapshot
from apps.triples.serializers import TripleOut, triple_out

MOST_AT_ONCE = 200


class RemindInput(serializers.Serializer):
    triples = serializers.ListField(child=KeyField(), min_length=1, max_length=MOST_AT_ONCE)


class RemindedTripleOut(serializers.Serializer):
    id = serializers.IntegerField(source="pk")
    number = serializers.CharField(source="label")


class LeftTripleOut(RemindedTripleOut):
    reason = serializers.CharField()


class RemindedOut(serializers.Serializer):
    """The triples whose reviewers are reminded, and those in which no round is open."""

    reminded = RemindedTripleOut(many=True)
    left = LeftTripleOut(many=True)


class RemindView(ReviewAPIView):
    """Reminds the reviewers who have not answered in the open rounds of these triples, each at most once a day.

    The answer is the same whoever has answered.
    """

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="review_remind", request=RemindInput, responses=RemindedOut)
    def post(self, request: Request, slug: str) -> Response:
        wanted = given_in(request.data, RemindInput)["triples"]
        known = set(visible_triples(self.member).filter(pk__in=wanted).values_list("pk", flat=True))
        if unknown := [pk for pk in wanted if pk not in known]:
            raise ValidationError({"triples": [f"{unknown[0]} is no triple of this project that you may see."]})
        done = remind_reviewers(project=self.project, triple_ids=known, lead=self.member.user, at=timezone.now())
        left = [{"pk": triple.pk, "label": triple.label, "reason": reason} for triple, reason in done.left]
        return Response(RemindedOut({"reminded": done.triples, "left": left}).data)


class SeenVerdictOut(serializers.Serializer):
    reviewer = serializers.IntegerField(source="who.pk")
    choice = serializers.CharField()
    reasons = serializers.ListField(child=serializers.CharField())
    category = serializers.CharField()
    note = serializers.CharField()
    given_at = serializers.DateTimeField(source="at")


class MessageOut(serializers.Serializer):
    id = serializers.IntegerField(source="pk")
    author = serializers.IntegerField(source="author_id")
    text = serializers.CharField()
    posted_at = serializers.DateTimeField()


class ResolutionOut(serializers.Serializer):
    kind = serializers.CharField()
    category = serializers.CharField()
    decided_by = serializers.IntegerField(source="decided_by_id", allow_null=True)
    reason = serializers.CharField()
    resolved_at = serializers.DateTimeField()


class RoundViewOut(serializers.Serializer):
    """A round with what you may see of it: nobody else's verdict before both are in, messages for those with a part."""

    round = serializers.IntegerField(source="number")
    revision = serializers.IntegerField(source="revision.number")
    revision_id = serializers.IntegerField(source="revision.pk")
    phase = serializers.CharField(source="phase.value")
    verdicts = SeenVerdictOut(many=True)
    messages = serializers.SerializerMethodField()
    resolution = ResolutionOut(allow_null=True)

    def get_messages(self, view: RoundView) -> list[dict[str, Any]]:
        return list(MessageOut(view.messages if view.sight.thread else [], many=True).data)


class StepOut(serializers.Serializer):
    """A step on the page of the triple; `refusal` says why it is not yours to take now."""

    name = serializers.CharField()
    refusal = serializers.CharField(allow_null=True)


class RoundsOfOut(serializers.Serializer):
    rounds = RoundViewOut(many=True)
    steps = StepOut(many=True)


class MessageInput(serializers.Serializer):
    text = serializers.CharField(max_length=8_000)


class PolicyInput(serializers.Serializer):
    policy = ChoiceField(choices=Category.choices)


class ReasonInput(serializers.Serializer):
    reason = serializers.CharField(max_length=4_000)


class RulingInput(ReasonInput):
    decision = ChoiceField(choices=[decision.value for decision in Decision])


class OpenedRevisionOut(serializers.Serializer):
    revision_id = serializers.IntegerField(source="pk")
    revision = serializers.IntegerField(source="number")


class StepView(ReviewAPIView):
    """A step on one triple. What ends a dispute is decided by the same rules as on the page of the triple."""

    roles: ClassVar = {"POST": READERS}

    def common(self, pk: int) -> dict[str, Any]:
        return {"project": self.project, "triple_id": triple_for(self.member, pk).pk, "at": timezone.now()}

    def given(self, serializer: type[serializers.Serializer], request: Request) -> dict[str, Any]:
        return given_in(request.data, serializer)

    def shown(self, triple: Triple) -> Response:
        return Response(triple_out(triple_for(self.member, triple.pk)))


class RoundsOfTriple(StepView):
    """The rounds of a triple, oldest first, with verdicts, messages and resolutions as far as you may see them."""

    roles: ClassVar = {"GET": READERS}

    @extend_schema(operation_id="review_rounds", responses=RoundsOfOut)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        triple = triple_for(self.member, pk)
        participation = participation_for(triple, self.member)
        steps = offers_for(triple, participation, doubts_about(triple, participation))
        return Response(RoundsOfOut({"rounds": rounds_of(triple, participation), "steps": steps}).data)


class SubmitView(StepView):
    """Sends the draft or the open revision that you wrote to two reviewers."""

    roles: ClassVar = {"POST": WRITERS}

    @extend_schema(operation_id="review_submit", request=None, responses=TripleOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        return self.shown(submit_triple(author=self.member.user, **self.common(pk)))


class BeginView(StepView):
    """Opens the next revision, worded like the current one, for you to write; again: the open one."""

    roles: ClassVar = {"POST": WRITERS}

    @extend_schema(operation_id="review_begin", request=None, responses=OpenedRevisionOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        snapshot = writing_snapshot(triple_for(self.member, pk))
        opened = begin_revision(person=self.member.user, snapshot=snapshot, **self.common(pk))
        return Response(OpenedRevisionOut(opened).data)


class RepinView(StepView):
    """Pins a stale triple to the new text, which has all of its evidence, and sends it to review again."""

    roles: ClassVar = {"POST": WRITERS}

    @extend_schema(operation_id="review_re_pin", request=None, responses=TripleOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        snapshot = writing_snapshot(triple_for(self.member, pk))
        return self.shown(re_pin(person=self.member.user, snapshot=snapshot, **self.common(pk)))


class MessageView(StepView):
    """Writes into the thread of a dispute, as the author or whoever flagged it."""

    @extend_schema(operation_id="review_message", request=MessageInput, responses={201: MessageOut})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        common = self.common(pk)
        message = post_message(author=self.member.user, **common, **self.given(MessageInput, request))
        return Response(MessageOut(message).data, status=201)


class WithdrawFlagView(StepView):
    """Withdraws your flag by a policy, which accepts the triple."""

    @extend_schema(operation_id="review_withdraw_flag", request=PolicyInput, responses=TripleOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        common = self.common(pk)
        policy = Category(self.given(PolicyInput, request)["policy"])
        return self.shown(withdraw_flag(reviewer=self.member.user, policy=policy, **common))


class DropView(StepView):
    """Drops your disputed triple, for a reason."""

    roles: ClassVar = {"POST": WRITERS}

    @extend_schema(operation_id="review_drop", request=ReasonInput, responses=TripleOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        common = self.common(pk)
        return self.shown(drop_triple(author=self.member.user, **common, **self.given(ReasonInput, request)))


class AdjudicateView(StepView):
    """Decides a dispute that you have no part in, for a reason."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="review_adjudicate", request=RulingInput, responses=TripleOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        common, given = self.common(pk), self.given(RulingInput, request)
        decision, reason = Decision(given["decision"]), given["reason"]
        return self.shown(adjudicate(lead=self.member.user, decision=decision, reason=reason, **common))
