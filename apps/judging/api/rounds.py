"""Rounds in the API: plan one, list them, the steps of leads on one, and the names in imported ones."""

import secrets
from typing import Any, ClassVar

from django.utils import timezone
from django.utils.text import slugify
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.common.web.api import given_in
from apps.common.web.forms import KeyField, body_fields, checked
from apps.judging.actions.placeholders import claim_placeholder, end_claim
from apps.judging.actions.rounds import close_round, open_after_pilot, open_round, start_pilot
from apps.judging.actions.seats import release_seats, return_seats_of
from apps.judging.core.plan import LARGEST_SEED
from apps.judging.forms.rounds import PilotForm, RoundForm, round_offer
from apps.judging.selectors.placeholders import placeholder_in, placeholders_in
from apps.judging.selectors.rounds import latest_guideline, own_round, person_of_round, round_in, round_summaries
from apps.judging.serializers import GiveBackInput, PilotInput, ReturnedOut, RoundFacts, SummariesOut
from apps.queries.models import SET_PREFIX
from apps.queries.selectors import set_with_key


class RoundInput(serializers.Serializer):
    """A plan, as on the page. Shares are in percent; what is left out has the value that the page proposes."""

    pool = KeyField()
    annotators = serializers.ListField(child=KeyField(), min_length=1)
    remits = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField(max_length=200)),
        required=False,
        help_text="What an annotator may judge, by their id: domain:security and the like, from `properties`.",
    )

    def get_fields(self) -> dict[str, serializers.Field]:
        return super().get_fields() | body_fields(RoundForm, but={"pool", "annotators"}, required=False)


class OfferedPersonOut(serializers.Serializer):
    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()


class OfferedPoolOut(serializers.Serializer):
    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()
    snapshot = serializers.IntegerField(source="snapshot_id")
    pairs = serializers.IntegerField(source="entry_count")


class OfferOut(serializers.Serializer):
    """What a round can be made of."""

    annotators = OfferedPersonOut(source="people", many=True)
    pools = OfferedPoolOut(many=True)
    properties = serializers.SerializerMethodField()

    def get_properties(self, offer: Any) -> list[str]:
        return [key for key, _ in offer.properties]


class LeadView(ProjectAPIView):
    """A read or a step of a lead on rounds, grades or the guideline."""

    roles: ClassVar = {"GET": (Role.LEAD,), "POST": (Role.LEAD,)}
    scopes: ClassVar = {"GET": Scope.ROUNDS_WRITE, "POST": Scope.ROUNDS_WRITE}


class OfferView(LeadView):
    """The annotators, the pools with pairs to judge, and the properties of queries that a remit can name."""

    roles: ClassVar = {"GET": (Role.LEAD,)}

    @extend_schema(operation_id="judging_rounds_offer", responses=OfferOut)
    def get(self, request: Request, slug: str) -> Response:
        return Response(OfferOut(round_offer(self.project)).data)


class PlanView(LeadView):
    """Plans a round under the latest guideline. It is open at once, or by a job when it has more than 5,000 pairs."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="judging_round_plan", request=RoundInput, responses={201: RoundFacts})
    def post(self, request: Request, slug: str) -> Response:
        form = self._form(given_in(request.data, RoundInput))
        round_ = open_round(
            project=self.project,
            actor=self.member.user,
            pool=form.cleaned_data["pool"],
            guideline=latest_guideline(self.project),
            annotators=list(form.cleaned_data["annotators"]),
            plan=form.plan(),
            name=form.cleaned_data["name"],
            lease_minutes=form.cleaned_data["lease_minutes"],
            remits=form.remits(),
            known=form.known_pairs(),
            at=timezone.now(),
        )
        return Response(RoundFacts(round_in(self.project, round_.pk)).data, status=201)

    def _form(self, given: dict[str, Any]) -> RoundForm:
        """The form of the page, filled as the page proposes and then with what was given."""
        offer = round_offer(self.project)
        remits = {f"remit_{person}": chosen for person, chosen in given.pop("remits", {}).items()}
        blank = RoundForm(project=self.project, offered=offer, initial={"seed": secrets.randbelow(LARGEST_SEED)})
        if unknown := sorted(set(remits) - set(blank.fields)):
            raise ValidationError({"remits": [f"{unknown[0].removeprefix('remit_')} is no annotator with a choice."]})
        proposed = {name: blank.get_initial_for_field(field, name) for name, field in blank.fields.items()}
        return checked(RoundForm(proposed | given | remits, project=self.project, offered=offer))


class NewPilotInput(serializers.Serializer):
    """A pilot, as on the page: `of` is the key of a query set such as `set:hard`; without it all queries."""

    of = serializers.CharField(required=False, allow_blank=True, max_length=80)
    snapshot = KeyField(required=False, help_text="By default the newest.")
    annotators = serializers.ListField(child=KeyField(), min_length=1)

    def get_fields(self) -> dict[str, serializers.Field]:
        return super().get_fields() | body_fields(PilotForm, but={"of", "snapshot", "annotators"}, required=False)


class NewPilotOut(serializers.Serializer):
    """The pool and its job: when it is done, the round is open."""

    pool = serializers.IntegerField(source="pk")
    questions = serializers.SerializerMethodField(help_text="The key of the set that was drawn.")
    job = serializers.IntegerField(source="job_id")

    def get_questions(self, pool: Any) -> str:
        return f"{SET_PREFIX}{slugify(pool.name)[:60]}"


class StartPilotView(LeadView):
    """Draws queries by stratum as a frozen set, pools them, and opens a round in which everybody judges every pair."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="judging_pilot_start", request=NewPilotInput, responses={202: NewPilotOut})
    def post(self, request: Request, slug: str) -> Response:
        given = given_in(request.data, NewPilotInput)
        if key := given.pop("of", ""):
            saved = set_with_key(self.project, key)
            if saved is None:
                raise ValidationError({"of": [f"No query set is called {key}."]})
            given["of"] = saved.pk
        blank = PilotForm(project=self.project)
        proposed = {name: blank.get_initial_for_field(field, name) for name, field in blank.fields.items()}
        form = checked(PilotForm(proposed | given, project=self.project))
        pool = start_pilot(project=self.project, **form.cleaned_data, actor=self.member.user, at=timezone.now())
        return Response(NewPilotOut(pool).data, status=202)


class AllRoundsView(LeadView):
    """Every round, newest first, with its seats counted. Versions are cut from rounds by their ids."""

    roles: ClassVar = {"GET": (Role.LEAD,)}

    @extend_schema(operation_id="judging_rounds_all", responses=SummariesOut)
    def get(self, request: Request, slug: str) -> Response:
        return Response(SummariesOut({"rounds": round_summaries(self.project)}).data)


class CloseView(LeadView):
    """Ends a round. Empty seats stay empty, and pairs resolve on their answers so far."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="judging_round_close", request=None, responses=RoundFacts)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        round_ = round_in(self.project, pk)
        closed = close_round(round_id=round_.pk, actor=self.member.user, at=timezone.now())
        return Response(RoundFacts(closed).data)


class OpenTheRestView(LeadView):
    """Opens the rest of a round in spite of its pilot, for a reason that stays on record."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="judging_round_open_the_rest", request=PilotInput, responses=RoundFacts)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        round_ = round_in(self.project, pk)
        given = given_in(request.data, PilotInput)
        open_after_pilot(round_id=round_.pk, actor=self.member.user, at=timezone.now(), **given)
        return Response(RoundFacts(round_in(self.project, pk)).data)


class GiveBackView(LeadView):
    """Returns to the queue the leased, ungraded pairs of somebody who is away."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="judging_round_give_back", request=GiveBackInput, responses=ReturnedOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        round_ = round_in(self.project, pk)
        holder = person_of_round(round_, given_in(request.data, GiveBackInput)["person"])
        if holder is None:
            raise ValidationError({"person": ["Nobody of this round has that id."]})
        n = return_seats_of(round_=round_, holder=holder, actor=self.member.user, at=timezone.now())
        return Response(ReturnedOut({"returned": n}).data)


class ReleaseView(ProjectAPIView):
    """Returns your own leased, ungraded pairs to the queue."""

    roles: ClassVar = {"POST": (Role.ANNOTATOR,)}
    scopes: ClassVar = {"POST": Scope.JUDGING_WRITE}

    @extend_schema(operation_id="judging_round_release", request=None, responses=ReturnedOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        round_ = own_round(self.member.user, self.project, pk)
        return Response(ReturnedOut({"returned": release_seats(round_=round_, annotator=self.member.user)}).data)


class PlaceholderOut(serializers.Serializer):
    """A name in imported files. `member` is the key of the member who it is, or null."""

    id = serializers.IntegerField(source="user.pk")
    name = serializers.CharField(source="user.name")
    grades = serializers.IntegerField()
    imports = serializers.IntegerField(source="rounds")
    member = serializers.IntegerField(source="claim.member_id", allow_null=True, default=None)


class PlaceholdersOut(serializers.Serializer):
    placeholders = PlaceholderOut(many=True)


class ClaimInput(serializers.Serializer):
    member = KeyField()


class ClaimOut(serializers.Serializer):
    placeholder = serializers.IntegerField(source="placeholder_id")
    member = serializers.IntegerField(source="member_id")
    claimed_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)


class PlaceholdersView(ProjectAPIView):
    """The names of the imports in force, with how many grades each has."""

    roles = {"GET": (Role.LEAD,)}
    scopes = {"GET": Scope.JUDGING_WRITE}

    @extend_schema(operation_id="judging_placeholders", responses=PlaceholdersOut)
    def get(self, request: Request, slug: str) -> Response:
        return Response(PlaceholdersOut({"placeholders": placeholders_in(self.project)}).data)


class ClaimView(ProjectAPIView):
    """Say which member a name is. Refused where both have judged one pair."""

    roles = {"POST": (Role.LEAD,)}
    scopes = {"POST": Scope.JUDGING_WRITE}

    @extend_schema(operation_id="judging_claim_placeholder", request=ClaimInput, responses={201: ClaimOut})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        placeholder = placeholder_in(self.project, pk)
        claim = claim_placeholder(
            project=self.project,
            placeholder=placeholder,
            member_id=given_in(request.data, ClaimInput)["member"],
            actor=self.member.user,
            at=timezone.now(),
        )
        return Response(ClaimOut(claim).data, status=201)


class EndClaimView(ProjectAPIView):
    """Take back that a member is a name."""

    roles = {"POST": (Role.LEAD,)}
    scopes = {"POST": Scope.JUDGING_WRITE}

    @extend_schema(operation_id="judging_end_claim", request=None, responses=ClaimOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        placeholder = placeholder_in(self.project, pk)
        claim = end_claim(project=self.project, placeholder=placeholder, actor=self.member.user, at=timezone.now())
        return Response(ClaimOut(claim).data)
