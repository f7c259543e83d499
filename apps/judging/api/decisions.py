"""Judging in the API: pairs and grades of an annotator, and the decisions of leads on grades."""

from typing import Any, ClassVar

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.accounts.models import User
from apps.accounts.rules import ProjectArchived
from apps.accounts.selectors import Member
from apps.common.database.statements import LARGEST_KEY
from apps.common.web.api import body_with_key, given_in
from apps.common.web.forms import ChoiceField
from apps.common.web.paging import only_known
from apps.judging.actions.adjudication import IN_WORDS, adjudicate, adjudicate_many, settle_bulk
from apps.judging.actions.judgements import give_judgement
from apps.judging.actions.propagation import carry_over, mark_of
from apps.judging.actions.seats import MOST_SEATS, lease_seats
from apps.judging.api.rounds import LeadView
from apps.judging.core.resolution import ResolutionRule
from apps.judging.enums import ErrorType
from apps.judging.models import Round
from apps.judging.rules import USUAL_PAIRS
from apps.judging.selectors import propagation
from apps.judging.selectors.deciding import adjudicable, left_to_another_lead
from apps.judging.selectors.leases import grader_of, leased_pairs
from apps.judging.selectors.pairs import voices
from apps.judging.selectors.propagation import CarryRule, carry_of, rules_for, trivial_among
from apps.judging.selectors.rounds import entries_in, entry_in, pool_in, round_in, rounds_of
from apps.judging.serializers import (
    BlockOut,
    FacetIds,
    JudgementInput,
    JudgementOut,
    PairsOut,
    QueryOut,
    RoundFacts,
    RoundOut,
    RoundsOut,
    answer_in,
)

N = OpenApiParameter("n", int, description=f"How many pairs to lease, 1 to {MOST_SEATS}; {USUAL_PAIRS} when left out.")
# Made once: a serializer copies its fields each time that one is made.
ROUND, GRADE, GIVEN = RoundOut(), JudgementInput(), JudgementOut()
KEY = OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER, description="Instead of the field in the body.")


class RoundsView(ProjectAPIView):
    """The rounds in which you are an annotator."""

    roles = {"GET": (Role.ANNOTATOR,)}
    scopes = {"GET": Scope.JUDGING_WRITE}

    @extend_schema(operation_id="judging_rounds", responses=RoundsOut)
    def get(self, request: Request, slug: str) -> Response:
        rounds = rounds_of(self.member.user, self.project)
        return Response(RoundsOut({"rounds": rounds}).data)


class GraderView(ProjectAPIView):
    """An endpoint of one round for its annotators. They ask thousands of times a day: all of it is read at once."""

    _round: Round | None

    def member_of(self, user: User, slug: str, **kwargs: Any) -> Member:
        member, self._round = grader_of(user, slug, kwargs["pk"])
        return member

    @property
    def round(self) -> Round:
        """The round, or Http404 for a member who is no annotator of it."""
        if self._round is None:
            raise Http404("No such round.")
        return self._round


class PairsView(GraderView):
    """The next pairs for you to grade, leased for a while. The same request again renews your leased pairs."""

    roles = {"GET": (Role.ANNOTATOR,)}
    scopes = {"GET": Scope.JUDGING_WRITE}

    @extend_schema(operation_id="judging_pairs", parameters=[N], responses=PairsOut)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        person = self.member.user
        ProjectArchived.unless_open(self.project)
        n = wanted(request.query_params.get("n"))
        reached = lease_seats(round_=self.round, annotator=person, n=n, at=timezone.now())
        pairs = leased_pairs(self.round, person.pk, reached=reached)
        return Response({"round": ROUND.to_representation(self.round), "pairs": pairs})


class JudgementsView(GraderView):
    """Send one grade. The idempotency key, in the body or as a header, makes it safe to send it again."""

    roles = {"POST": (Role.ANNOTATOR,)}
    scopes = {"POST": Scope.JUDGING_WRITE}

    @extend_schema(
        operation_id="judging_grade", parameters=[KEY], request=JudgementInput, responses={201: JudgementOut}
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        round_, values = self.round, GRADE.run_validation(body_with_key(request))
        judgement = give_judgement(
            round_=round_,
            seat_id=values["seat"],
            annotator=self.member.user,
            answer=answer_in(values),
            idempotency_key=values["idempotency_key"],
            at=timezone.now(),
        )
        return Response(GIVEN.to_representation(judgement), status=201)


def wanted(text: str | None) -> int:
    """How many pairs were requested, 1 to 20. Raises ValidationError for anything else."""
    if text is None:
        return USUAL_PAIRS
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= MOST_SEATS:
        raise ValidationError({"n": [f"n is a whole number from 1 to {MOST_SEATS}."]})
    return int(text)


MOST_ROWS = 200


class AfterInput(serializers.Serializer):
    after = serializers.IntegerField(required=False, min_value=0, max_value=LARGEST_KEY, default=0)
    limit = serializers.IntegerField(required=False, min_value=1, max_value=MOST_ROWS, default=50)


OF_DECISION = "Ids of the subtopics that the block answers. Null: those that at least half of its judges chose."


class VoiceOut(serializers.Serializer):
    """One judge's answer, under a letter for a name."""

    letter = serializers.CharField()
    grade = serializers.IntegerField(source="judgement.grade", allow_null=True)
    cant_judge = serializers.CharField(source="judgement.cant_judge")
    note = serializers.CharField(source="judgement.note")
    spans = serializers.JSONField()
    facets = FacetIds(source="judgement.facets", allow_null=True, help_text="Subtopics; null: they were not asked.")


class DecidedBlockOut(BlockOut):
    document = serializers.CharField(source="version.block.document.outside_id")


class UndecidedOut(serializers.Serializer):
    """A pair that its judges did not settle."""

    entry = serializers.IntegerField(source="entry.pk")
    query = QueryOut(source="entry.query")
    block = DecidedBlockOut(source="entry")
    voices = VoiceOut(many=True)


class UndecidedPageOut(serializers.Serializer):
    pairs = UndecidedOut(many=True)
    left_to_another_lead = serializers.IntegerField(help_text="Pairs that you judged, which another lead decides.")
    next = serializers.IntegerField(allow_null=True)


class DecisionInput(serializers.Serializer):
    """`grade` null: the pair can't be judged and is left out."""

    grade = serializers.IntegerField(allow_null=True)
    facets = FacetIds(required=False, allow_null=True, default=None, help_text=OF_DECISION)
    error_type = ChoiceField(choices=ErrorType.choosable())
    reason = serializers.CharField(max_length=4_000)


class DecisionOut(serializers.Serializer):
    id = serializers.IntegerField(source="pk")
    entry = serializers.IntegerField(source="entry_id")
    grade = serializers.IntegerField(allow_null=True)
    facets = FacetIds(allow_null=True)
    error_type = serializers.CharField()
    reason = serializers.CharField()
    decided_by = serializers.CharField(help_text="lead, or lead_who_judged for a lead who also judged the pair.")
    adjudicator = serializers.IntegerField(source="adjudicator_id")
    supersedes = serializers.IntegerField(source="supersedes_id", allow_null=True)
    given_at = serializers.DateTimeField()


class PairDecisionInput(serializers.Serializer):
    entry = serializers.IntegerField(min_value=1, max_value=LARGEST_KEY)
    grade = serializers.IntegerField(allow_null=True)
    facets = FacetIds(required=False, allow_null=True, default=None, help_text=OF_DECISION)


class PairDecisionsInput(serializers.Serializer):
    """Several pairs, each with its grade; cause and reason are the same for all."""

    pairs = serializers.ListField(child=PairDecisionInput(), min_length=1, max_length=MOST_ROWS)
    error_type = ChoiceField(choices=ErrorType.choosable())
    reason = serializers.CharField(max_length=4_000)


class LeftOutOut(serializers.Serializer):
    entry = serializers.IntegerField(source="entry_id")
    why = serializers.CharField()


class DecisionsOut(serializers.Serializer):
    decisions = DecisionOut(many=True)
    left_out = LeftOutOut(many=True)


class SettlingPairOut(serializers.Serializer):
    entry = serializers.IntegerField(source="pair.entry_id")
    grade = serializers.IntegerField()


class SettlingRuleOut(serializers.Serializer):
    """What a rule settles now. `seen` is the mark of exactly these pairs and grades."""

    rule = serializers.CharField()
    seen = serializers.CharField()
    pairs = SettlingPairOut(many=True)


class SettlingOut(serializers.Serializer):
    rules = SettlingRuleOut(many=True)


class SettleInput(serializers.Serializer):
    rule = ChoiceField(choices=[rule.value for rule in IN_WORDS])
    seen = serializers.CharField(max_length=64)
    error_type = ChoiceField(choices=ErrorType.choosable())
    words = serializers.CharField(required=False, allow_blank=True, default="", max_length=1_000)


class SettledOut(serializers.Serializer):
    settled = serializers.IntegerField()


class CarriedOut(serializers.Serializer):
    entry = serializers.IntegerField(source="entry.pk")
    query = serializers.CharField(source="entry.query.outside_id")
    is_exact = serializers.BooleanField()
    grade = serializers.IntegerField()


class CarryRuleOut(serializers.Serializer):
    """What a rule carries over now. `seen` is the mark of these pairs, up to the most that go at once."""

    rule = serializers.CharField()
    seen = serializers.CharField()
    count = serializers.IntegerField()


class CarryOut(serializers.Serializer):
    rules = CarryRuleOut(many=True)
    pairs = CarriedOut(many=True)
    unsettled = serializers.IntegerField()
    done = serializers.IntegerField()
    own = serializers.IntegerField()
    next = serializers.IntegerField(allow_null=True)


class CarryInput(serializers.Serializer):
    rule = ChoiceField(choices=[rule.value for rule in CarryRule])
    seen = serializers.CharField(max_length=64)


class UndecidedView(LeadView):
    """The pairs of a round that you can decide, by entry, with the answers of their judges under letters.

    A pair that you judged yourself is not among them, whatever the state of the round.
    """

    roles: ClassVar = {"GET": (Role.LEAD,)}

    @extend_schema(operation_id="judging_undecided", parameters=[AfterInput], responses=UndecidedPageOut)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        only_known(request.query_params, set(AfterInput().fields))
        wanted = given_in(request.query_params, AfterInput)
        round_ = round_in(self.project, pk)
        pairs = sorted(adjudicable(round_, self.member.user), key=lambda pair: pair.entry_id)
        later = [pair for pair in pairs if pair.entry_id > wanted["after"]]
        page = later[: wanted["limit"]]
        entries = entries_in(round_, [pair.entry_id for pair in page])
        rows = [{"entry": entries[pair.entry_id], "voices": voices(round_, pair)} for pair in page]
        answer = {
            "pairs": rows,
            "left_to_another_lead": left_to_another_lead(round_, self.member.user),
            "next": page[-1].entry_id if len(later) > len(page) else None,
        }
        return Response(UndecidedPageOut(answer).data)


class DecideView(LeadView):
    """Decides a pair that its judges did not settle. A later decision supersedes the earlier one."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="judging_decide", request=DecisionInput, responses={201: DecisionOut})
    def post(self, request: Request, slug: str, pk: int, entry: int) -> Response:
        round_ = round_in(self.project, pk)
        row = entry_in(round_, entry)
        given = given_in(request.data, DecisionInput)
        decision = adjudicate(round_=round_, entry=row, adjudicator=self.member.user, at=timezone.now(), **given)
        return Response(DecisionOut(decision).data, status=201)


class DecideManyView(LeadView):
    """Decides several pairs with one cause and reason. Pairs that you cannot decide are left out, with why."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="judging_decide_many", request=PairDecisionsInput, responses={201: DecisionsOut})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        round_ = round_in(self.project, pk)
        given = given_in(request.data, PairDecisionsInput)
        pairs = {each["entry"]: each for each in given.pop("pairs")}
        done = adjudicate_many(
            round_=round_,
            grades={entry: each["grade"] for entry, each in pairs.items()},
            facets={entry: each["facets"] for entry, each in pairs.items()},
            adjudicator=self.member.user,
            at=timezone.now(),
            **given,
        )
        return Response(DecisionsOut(done).data, status=201)


class SettleView(LeadView):
    """What each rule settles among the pairs that you can decide; settles exactly the pairs of one answer."""

    @extend_schema(operation_id="judging_settling", responses=SettlingOut)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(SettlingOut({"rules": self._rules(round_in(self.project, pk))}).data)

    def _rules(self, round_: Round) -> list[dict[str, Any]]:
        undecided = adjudicable(round_, self.member.user)
        rows = []
        for rule in rules_for(round_):
            pairs = trivial_among(undecided, rule)[: propagation.MOST_AT_ONCE]
            rows.append({"rule": rule, "seen": propagation.mark_of(pairs), "pairs": pairs})
        return rows

    @extend_schema(operation_id="judging_settle", request=SettleInput, responses={201: SettledOut})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        round_ = round_in(self.project, pk)
        given = given_in(request.data, SettleInput)
        rule = ResolutionRule(given.pop("rule"))
        decided = settle_bulk(round_=round_, rule=rule, adjudicator=self.member.user, at=timezone.now(), **given)
        return Response(SettledOut({"settled": len(decided)}).data, status=201)


class CarryView(LeadView):
    """What can be carried over in a pool to the same texts, pair by pair; carries over exactly what one answer named.

    `next` is the `after` of the next page of `pairs`.
    """

    @extend_schema(operation_id="judging_carrying", parameters=[AfterInput], responses=CarryOut)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        wanted = given_in(request.query_params, AfterInput)
        found = carry_of(pool_in(self.project, pk))
        later = sorted(found.under(CarryRule.NEAR), key=lambda each: each.entry.pk)
        later = [each for each in later if each.entry.pk > wanted["after"]]
        page = later[: wanted["limit"]]
        under = {rule: found.under(rule) for rule in CarryRule}
        answer = {
            "rules": [{"rule": rule, "seen": mark_of(pairs), "count": len(pairs)} for rule, pairs in under.items()],
            "pairs": page,
            "unsettled": found.unsettled,
            "done": found.done,
            "own": found.own,
            "next": page[-1].entry.pk if len(later) > len(page) else None,
        }
        return Response(CarryOut(answer).data)

    @extend_schema(operation_id="judging_carry", request=CarryInput, responses={201: RoundFacts})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        pool = pool_in(self.project, pk)
        given = given_in(request.data, CarryInput)
        round_ = carry_over(
            pool=pool, rule=CarryRule(given["rule"]), seen=given["seen"], actor=self.member.user, at=timezone.now()
        )
        return Response(RoundFacts(round_in(self.project, round_.pk)).data, status=201)
