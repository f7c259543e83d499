"""API of agreement between annotators, with the same figures and the same blinding as the pages."""

from typing import ClassVar

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound, PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.edges.access import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.agreement.edges import selected_rounds
from apps.agreement.selectors import agreement, people
from apps.agreement.selectors.breakdowns import BOUNDARY, WAYS, boundaries_in, overview_of, parts_in, tight_spots
from apps.agreement.serializers import (
    AgreementSerializer,
    PairGradesOut,
    PersonOut,
    TightenOut,
    WhereOut,
    boundary_out,
    costly_out,
    pairs_out,
    part_out,
    person_out,
    question_out,
)
from apps.calibration import rules
from apps.common.web.paging import only_known
from apps.judging.models import Round


class AgreementView(ProjectAPIView):
    """Agreement of the whole project. No person is named: each value carries its interval and its n."""

    roles: ClassVar = {"GET": ()}
    scopes: ClassVar = {"GET": Scope.VERSIONS_READ}

    @extend_schema(responses=AgreementSerializer)
    def get(self, request: Request, slug: str) -> Response:
        grades = overview_of(self.project, selected_rounds(request, self.member).rounds)
        verdicts = agreement.verdict_agreement(self.project)
        facts = {
            "pairs_judged_twice": grades.shared,
            "grades": agreement.as_facts(grades.alpha),
            "coefficients": [agreement.as_facts(coefficient) for coefficient in grades.coefficients],
            "verdicts": agreement.as_facts(verdicts.kappa),
            "questions": [question_out(row) for row in verdicts.questions],
        }
        return Response(AgreementSerializer(facts).data)


ROUND = OpenApiParameter("round", int, description="A round that you may see; all of them when left out.")


class GradesView(ProjectAPIView):
    """An endpoint about the grades of the rounds that the user may see, filtered by `round`."""

    scopes: ClassVar = {"GET": Scope.VERSIONS_READ}

    def rounds(self, request: Request, *known: str) -> list[Round]:
        """The rounds that the parameter `round` names. Rejects unknown parameters."""
        only_known(request.query_params, {"round", *known})
        return selected_rounds(request, self.member).shown


class PairsView(GradesView):
    """Agreement of every two annotators. Leads see names, everybody else letters."""

    roles: ClassVar = {"GET": ()}

    @extend_schema(operation_id="agreement_pairs", parameters=[ROUND], responses=PairGradesOut)
    def get(self, request: Request, slug: str) -> Response:
        overview = overview_of(self.project, self.rounds(request))
        names = agreement.names_for(self.member, overview.people)
        pairs = pairs_out(overview.pairs, overview.pair_alphas, names)
        return Response({"people_count": overview.people_count, "pairs": pairs})


class WhereView(GradesView):
    """Agreement by grade boundary, query, week, source, query_type, difficulty or domain."""

    roles: ClassVar = {"GET": ()}

    @extend_schema(
        operation_id="agreement_where",
        parameters=[ROUND, OpenApiParameter("by", str, enum=list(WAYS))],
        responses=WhereOut,
    )
    def get(self, request: Request, slug: str) -> Response:
        rounds = self.rounds(request, "by")
        by = request.query_params.get("by") or BOUNDARY
        if by not in WAYS:
            raise ValidationError({"by": f"One of: {', '.join(WAYS)}."})
        if by == BOUNDARY:
            boundaries = [boundary_out(one) for one in boundaries_in(self.project, rounds)]
            return Response({"by": by, "total": len(boundaries), "boundaries": boundaries})
        breakdown = parts_in(self.project, rounds, by)
        parts = [part_out(part) for part in breakdown.shown]
        return Response({"by": by, "total": breakdown.total, "alike": breakdown.alike, "parts": parts})


class TightenView(GradesView):
    """The boundaries and queries that lower agreement most."""

    roles: ClassVar = {"GET": (Role.LEAD,)}

    @extend_schema(operation_id="agreement_tighten", parameters=[ROUND], responses=TightenOut)
    def get(self, request: Request, slug: str) -> Response:
        spots = tight_spots(self.project, self.rounds(request))
        return Response(
            {
                "alpha": agreement.as_facts(spots.alpha),
                "boundaries": [boundary_out(one) for one in spots.boundaries],
                "queries": [costly_out(row) for row in spots.queries],
            }
        )


class PersonView(GradesView):
    """One person's grades: for leads, and for that person."""

    roles: ClassVar = {"GET": rules.PARTICIPANTS}
    scopes: ClassVar = {"GET": Scope.REVIEW_WRITE}

    @extend_schema(operation_id="agreement_person", parameters=[ROUND], responses=PersonOut)
    def get(self, request: Request, slug: str, person: int) -> Response:
        if reason := rules.person_refusal(self.member, person):
            raise PermissionDenied(reason)
        if not people.has_part(self.project, person):
            raise NotFound("No such person in this project.")
        sheet = people.sheet_of(self.member, self.rounds(request), person)
        names = agreement.names_for(self.member, [person, *(pair.second for pair in sheet.comparison.others)])
        return Response(person_out(sheet, person, names))
