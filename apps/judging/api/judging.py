"""API of judging: own rounds, the next pairs, and grades."""

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.edges.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.accounts.rules import ProjectArchived
from apps.common.web.idempotency import body_with_key
from apps.judging.actions.judgements import give_judgement
from apps.judging.actions.seats import MOST_SEATS, claim_seats
from apps.judging.rules import USUAL_PAIRS
from apps.judging.selectors.reading import readings
from apps.judging.selectors.rounds import own_round, rounds_of, seat_in
from apps.judging.serializers import JudgementInput, JudgementOut, PairsOut, RoundsOut

N = OpenApiParameter("n", int, description=f"How many pairs to lease, 1 to {MOST_SEATS}; {USUAL_PAIRS} when left out.")
KEY = OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER, description="Instead of the field in the body.")


class RoundsView(ProjectAPIView):
    """The rounds in which you are an annotator."""

    roles = {"GET": (Role.ANNOTATOR,)}
    scopes = {"GET": Scope.JUDGING_WRITE}

    @extend_schema(operation_id="judging_rounds", responses=RoundsOut)
    def get(self, request: Request, slug: str) -> Response:
        rounds = rounds_of(self.member.user, self.project)
        return Response(RoundsOut({"rounds": rounds}).data)


class PairsView(ProjectAPIView):
    """The next pairs for you to grade, leased for a while. The same request again renews your leased pairs."""

    roles = {"GET": (Role.ANNOTATOR,)}
    scopes = {"GET": Scope.JUDGING_WRITE}

    @extend_schema(operation_id="judging_pairs", parameters=[N], responses=PairsOut)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        person = self.member.user
        ProjectArchived.unless_open(self.project)
        round_ = own_round(person, self.project, pk)
        seats = claim_seats(round_=round_, annotator=person, n=wanted(request.query_params.get("n")), at=timezone.now())
        pairs = readings(seats, annotator_id=person.pk)
        return Response(PairsOut({"round": round_, "pairs": pairs}).data)


class JudgementsView(ProjectAPIView):
    """Send one grade. The idempotency key, in the body or as a header, makes it safe to send it again."""

    roles = {"POST": (Role.ANNOTATOR,)}
    scopes = {"POST": Scope.JUDGING_WRITE}

    @extend_schema(
        operation_id="judging_grade", parameters=[KEY], request=JudgementInput, responses={201: JudgementOut}
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        person = self.member.user
        round_ = own_round(person, self.project, pk)
        serializer = JudgementInput(data=body_with_key(request))
        serializer.is_valid(raise_exception=True)
        judgement = give_judgement(
            seat=seat_in(round_, serializer.validated_data["seat"]),
            annotator=person,
            answer=serializer.answer(),
            idempotency_key=serializer.validated_data["idempotency_key"],
            at=timezone.now(),
        )
        return Response(JudgementOut(judgement).data, status=201)


def wanted(text: str | None) -> int:
    """How many pairs were requested, 1 to 20. Raises ValidationError for anything else."""
    if text is None:
        return USUAL_PAIRS
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= MOST_SEATS:
        raise ValidationError({"n": [f"n is a whole number from 1 to {MOST_SEATS}."]})
    return int(text)
