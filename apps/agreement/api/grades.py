"""API of agreement between annotators and between reviewers, with the same figures and blinding as the pages."""

from collections.abc import Sequence
from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.agreement.core.weeks import AnnotatorWeek
from apps.agreement.presenters import selected_rounds
from apps.agreement.selectors import agreement, people
from apps.agreement.selectors.agreement import QuestionAgreement, as_facts
from apps.agreement.selectors.breakdowns import (
    BOUNDARY,
    WAYS,
    AlphaPart,
    Costly,
    boundaries_in,
    overview_of,
    parts_in,
    tight_spots,
)
from apps.agreement.selectors.differing_pairs import Unclear
from apps.agreement.selectors.people import PersonSheet
from apps.calibration import rules
from apps.calibration.serializers import RateOut, rate_out
from apps.common.web.api import EstimateSerializer
from apps.common.web.paging import only_known
from apps.judging.models import Round
from apps.metrics.agreement.grouped_alpha import Boundary
from apps.metrics.agreement.ratings import PairAgreement
from apps.metrics.agreement.results import Coefficient


class CoefficientSerializer(EstimateSerializer):
    """An estimate with the name of the coefficient."""

    name = serializers.CharField()


class PairAgreementOut(serializers.Serializer):
    """Two people and their agreement. Members who are no leads get letters for names."""

    people = serializers.ListField(child=serializers.CharField())
    n = serializers.IntegerField()
    percent = CoefficientSerializer()
    kappa = CoefficientSerializer()
    kappa_quadratic = CoefficientSerializer()
    alpha_ordinal = CoefficientSerializer(required=False, help_text="Of two people; not of decisions and repeats.")


class PairGradesOut(serializers.Serializer):
    """Every two of the people who share most pairs; `people_count` counts everybody who shares one."""

    people_count = serializers.IntegerField()
    pairs = PairAgreementOut(many=True)


class BoundaryOut(serializers.Serializer):
    """The boundary between two grades. `astride` of `comparisons` cross it; `share` is of all such crossings."""

    below = serializers.IntegerField()
    above = serializers.IntegerField()
    astride = serializers.IntegerField()
    comparisons = serializers.IntegerField()
    share = EstimateSerializer()
    alpha = CoefficientSerializer()


class PartOut(serializers.Serializer):
    """A part of the pairs; `differing` of `comparisons` of two grades are not the same."""

    name = serializers.CharField()
    n = serializers.IntegerField()
    differing = serializers.IntegerField()
    comparisons = serializers.IntegerField()
    alpha = CoefficientSerializer()


class WhereOut(serializers.Serializer):
    """Boundaries, or the parts of another breakdown; `total` counts all parts, of which the first are listed.

    On `alike` queries nobody differs: those are counted, not listed.
    """

    by = serializers.CharField()
    total = serializers.IntegerField()
    alike = serializers.IntegerField(required=False)
    boundaries = BoundaryOut(many=True, required=False)
    parts = PartOut(many=True, required=False)


class CostlyOut(PartOut):
    """A query and what α of all pairs would gain without it."""

    gain = EstimateSerializer()
    decisions = serializers.IntegerField(help_text="Decisions on its pairs that name a reason.")
    unclear_guideline = serializers.IntegerField(help_text="Those of them that call the guideline unclear.")


class TightenOut(serializers.Serializer):
    alpha = CoefficientSerializer()
    boundaries = BoundaryOut(many=True)
    queries = CostlyOut(many=True)


class WeekOut(serializers.Serializer):
    """A week of one person: lean in grades, α of the week's pairs, median milliseconds per pair."""

    begins = serializers.DateField()
    lean = EstimateSerializer()
    alpha = CoefficientSerializer()
    median_ms = EstimateSerializer()


class QuestionOut(serializers.Serializer):
    """Two reviewers on one of the three questions: how often both, or one, answered no; how often they agreed."""

    question = serializers.CharField()
    no_by_both = serializers.IntegerField()
    no_by_one = serializers.IntegerField()
    alike = RateOut()
    kappa = CoefficientSerializer()


class AgreementSerializer(serializers.Serializer):
    """Agreement of the whole project. `grades` is Krippendorff's ordinal α, `coefficients` has all others too."""

    pairs_judged_twice = serializers.IntegerField()
    grades = CoefficientSerializer()
    coefficients = CoefficientSerializer(many=True)
    verdicts = CoefficientSerializer()
    questions = QuestionOut(many=True)


class PersonOut(serializers.Serializer):
    """One person's grades compared with others', with decisions and with their own second grades, and by week."""

    person = serializers.CharField()
    graded = serializers.IntegerField()
    others = PairAgreementOut(many=True)
    decisions = PairAgreementOut()
    repeats = PairAgreementOut()
    weeks = WeekOut(many=True)
    questions = QuestionOut(many=True)


def pair_out(pair: PairAgreement, names: dict[int, str], alpha: Coefficient | None = None) -> dict[str, Any]:
    facts = {
        "people": [names[person] for person in dict.fromkeys((pair.first, pair.second))],
        "n": pair.n,
        "percent": as_facts(pair.percent),
        "kappa": as_facts(pair.kappa),
        "kappa_quadratic": as_facts(pair.quadratic),
    }
    return facts if alpha is None else {**facts, "alpha_ordinal": as_facts(alpha)}


def pairs_out(
    pairs: Sequence[PairAgreement], alphas: Sequence[Coefficient], names: dict[int, str]
) -> list[dict[str, Any]]:
    return [pair_out(pair, names, alpha) for pair, alpha in zip(pairs, alphas, strict=True)]


def boundary_out(boundary: Boundary) -> dict[str, Any]:
    return {
        "below": boundary.below,
        "above": boundary.above,
        "astride": boundary.crossings,
        "comparisons": boundary.comparisons,
        "share": boundary.estimate.as_json,
        "alpha": as_facts(boundary.alpha),
    }


def part_out(part: AlphaPart) -> dict[str, Any]:
    return {
        "name": part.label.name,
        "n": part.n,
        "differing": part.differing.hits,
        "comparisons": part.differing.n,
        "alpha": as_facts(part.alpha),
    }


def costly_out(row: Costly) -> dict[str, Any]:
    return {**part_out(row.part), "gain": row.change.as_json, **_ruled(row.unclear)}


def _ruled(unclear: Unclear) -> dict[str, int]:
    return {"decisions": unclear.n, "unclear_guideline": unclear.hits}


def question_out(row: QuestionAgreement) -> dict[str, Any]:
    return {
        "question": row.aspect,
        "no_by_both": row.no_by_both,
        "no_by_one": row.no_by_one,
        "alike": rate_out(row.alike),
        "kappa": as_facts(row.kappa),
    }


def person_out(sheet: PersonSheet, person: int, names: dict[int, str]) -> dict[str, Any]:
    return {
        "person": names[person],
        "graded": sheet.comparison.graded,
        "others": pairs_out(sheet.comparison.others, sheet.comparison.alphas, names),
        "decisions": pair_out(sheet.decisions, names),
        "repeats": pair_out(sheet.repeats, names),
        "weeks": [_week_out(week) for week in sheet.comparison.weeks],
        "questions": [question_out(row) for row in sheet.questions],
    }


def _week_out(week: AnnotatorWeek) -> dict[str, Any]:
    return {
        "begins": week.begins,
        "lean": week.lean.as_json,
        "alpha": as_facts(week.alpha),
        "median_ms": week.pace.as_json,
    }


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
