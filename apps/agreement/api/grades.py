"""API of agreement between annotators and between reviewers, with the same figures and blinding as the pages."""

from collections.abc import Sequence
from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import VersionsAPIView
from apps.accounts.enums import Role, Scope
from apps.agreement.presenters import selected_rounds
from apps.agreement.selectors import agreement, people
from apps.agreement.selectors.agreement import as_facts
from apps.agreement.selectors.breakdowns import (
    BOUNDARY,
    WAYS,
    Costly,
    boundaries_in,
    overview_of,
    parts_in,
    tight_spots,
)
from apps.calibration import rules
from apps.calibration.serializers import RateOut
from apps.common.web.api import EstimateSerializer
from apps.common.web.paging import only_known
from apps.judging.models import Round
from apps.metrics.agreement.ratings import PairAgreement
from apps.metrics.agreement.results import Coefficient


class CoefficientSerializer(EstimateSerializer):
    """An estimate with the name of the coefficient."""

    name = serializers.CharField()
    queries = serializers.IntegerField(
        allow_null=True, help_text="The queries that the interval is over; null where it is over items."
    )

    def to_representation(self, coefficient: Coefficient) -> dict[str, Any]:
        return as_facts(coefficient) | {"queries": coefficient.clusters}


class PairAgreementOut(serializers.Serializer):
    """Two people and their agreement. Members who are no leads get letters for names."""

    people = serializers.ListField(child=serializers.CharField())
    n = serializers.IntegerField()
    percent = CoefficientSerializer()
    kappa = CoefficientSerializer()
    kappa_quadratic = CoefficientSerializer(source="quadratic")
    alpha_ordinal = CoefficientSerializer(required=False, help_text="Of two people; not of decisions and repeats.")


class PairGradesOut(serializers.Serializer):
    """Every two of the people who share most pairs; `people_count` counts everybody who shares one."""

    people_count = serializers.IntegerField()
    pairs = PairAgreementOut(many=True)


class BoundaryOut(serializers.Serializer):
    """The boundary between two grades. `astride` of `comparisons` cross it; `share` is of all such crossings."""

    below = serializers.IntegerField()
    above = serializers.IntegerField()
    astride = serializers.IntegerField(source="crossings")
    comparisons = serializers.IntegerField()
    share = EstimateSerializer(source="estimate")
    alpha = CoefficientSerializer()


class PartOut(serializers.Serializer):
    """A part of the pairs; `differing` of `comparisons` of two grades are not the same."""

    name = serializers.CharField(source="label.name")
    n = serializers.IntegerField()
    differing = serializers.IntegerField(source="differing.hits")
    comparisons = serializers.IntegerField(source="differing.n")
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

    def to_representation(self, row: Costly) -> dict[str, Any]:
        ruled = {"decisions": row.unclear.n, "unclear_guideline": row.unclear.hits}
        return {**PartOut(row.part).data, "gain": row.change.as_json, **ruled}


class TightenOut(serializers.Serializer):
    alpha = CoefficientSerializer()
    boundaries = BoundaryOut(many=True)
    queries = CostlyOut(many=True)


class WeekOut(serializers.Serializer):
    """A week of one person: lean in grades, α of the week's pairs, median milliseconds per pair."""

    begins = serializers.DateField()
    lean = EstimateSerializer()
    alpha = CoefficientSerializer()
    median_ms = EstimateSerializer(source="pace")


class QuestionOut(serializers.Serializer):
    """Two reviewers on one of the three questions: how often both, or one, answered no; how often they agreed."""

    question = serializers.CharField(source="aspect")
    no_by_both = serializers.IntegerField()
    no_by_one = serializers.IntegerField()
    alike = RateOut()
    kappa = CoefficientSerializer()


class SubtopicOut(serializers.Serializer):
    """Agreement whether passages answer a subtopic; `answered` of the judgements that were `asked` name it."""

    query_id = serializers.CharField(source="query")
    facet = serializers.CharField()
    kappa = CoefficientSerializer()
    answered = serializers.IntegerField()
    asked = serializers.IntegerField()


class SubtopicsOut(serializers.Serializer):
    """All subtopics together (null: nobody was asked twice), and one by one."""

    pooled = CoefficientSerializer(allow_null=True)
    subtopics = SubtopicOut(many=True, source="rows")


class AgreementSerializer(serializers.Serializer):
    """Agreement of the whole project. `grades` is Krippendorff's ordinal α, `coefficients` has all others too."""

    pairs_judged_twice = serializers.IntegerField()
    grades = CoefficientSerializer()
    coefficients = CoefficientSerializer(many=True)
    subtopics = SubtopicsOut()
    verdicts = CoefficientSerializer()
    questions = QuestionOut(many=True)


class PersonOut(serializers.Serializer):
    """One person's grades compared with others', with decisions and with their own second grades, and by week."""

    person = serializers.CharField()
    graded = serializers.IntegerField(source="comparison.graded")
    others = PairAgreementOut(many=True)
    decisions = PairAgreementOut()
    repeats = PairAgreementOut()
    weeks = WeekOut(source="comparison.weeks", many=True)
    questions = QuestionOut(many=True)


def pair_facts(pair: PairAgreement, names: dict[int, str], **more: Any) -> dict[str, Any]:
    people = [names[person] for person in dict.fromkeys((pair.first, pair.second))]
    figures = {"percent": pair.percent, "kappa": pair.kappa, "quadratic": pair.quadratic}
    return {"people": people, "n": pair.n, **figures, **more}


def pairs_facts(
    pairs: Sequence[PairAgreement], alphas: Sequence[Coefficient], names: dict[int, str]
) -> list[dict[str, Any]]:
    return [pair_facts(pair, names, alpha_ordinal=alpha) for pair, alpha in zip(pairs, alphas, strict=True)]


class AgreementView(VersionsAPIView):
    """Agreement of the whole project. No person is named: each value carries its interval and its n."""

    roles: ClassVar = {"GET": ()}

    @extend_schema(responses=AgreementSerializer)
    def get(self, request: Request, slug: str) -> Response:
        rounds = selected_rounds(request, self.member).rounds
        grades = overview_of(self.project, rounds)
        verdicts = agreement.verdict_agreement(self.project)
        facts = {
            "pairs_judged_twice": grades.shared,
            "grades": grades.alpha,
            "coefficients": grades.coefficients,
            "subtopics": agreement.subtopic_agreement(self.project, rounds),
            "verdicts": verdicts.kappa,
            "questions": verdicts.questions,
        }
        return Response(AgreementSerializer(facts).data)


ROUND = OpenApiParameter("round", int, description="A round that you may see; all of them when left out.")


class GradesView(VersionsAPIView):
    """An endpoint about the grades of the rounds that the user may see, filtered by `round`."""

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
        pairs = pairs_facts(overview.pairs, overview.pair_alphas, names)
        return Response(PairGradesOut({"people_count": overview.people_count, "pairs": pairs}).data)


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
            boundaries = boundaries_in(self.project, rounds)
            return Response(WhereOut({"by": by, "total": len(boundaries), "boundaries": boundaries}).data)
        parts = parts_in(self.project, rounds, by)
        facts = {"by": by, "total": parts.total, "alike": parts.alike, "parts": parts.shown}
        return Response(WhereOut(facts).data)


class TightenView(GradesView):
    """The boundaries and queries that lower agreement most."""

    roles: ClassVar = {"GET": (Role.LEAD,)}

    @extend_schema(operation_id="agreement_tighten", parameters=[ROUND], responses=TightenOut)
    def get(self, request: Request, slug: str) -> Response:
        return Response(TightenOut(tight_spots(self.project, self.rounds(request))).data)


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
        facts = {
            "person": names[person],
            "comparison": sheet.comparison,
            "others": pairs_facts(sheet.comparison.others, sheet.comparison.alphas, names),
            "decisions": pair_facts(sheet.decisions, names),
            "repeats": pair_facts(sheet.repeats, names),
            "questions": sheet.questions,
        }
        return Response(PersonOut(facts).data)
