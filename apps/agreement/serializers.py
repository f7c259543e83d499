"""The shape of agreement between annotators in the API: pairs, parts, what to tighten, one person."""

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers

from apps.agreement.core.weeks import AnnotatorWeek
from apps.agreement.selectors.agreement import QuestionAgreement, as_facts
from apps.agreement.selectors.breakdowns import AlphaPart, Costly
from apps.agreement.selectors.guideline_clarity import Unclear
from apps.agreement.selectors.people import PersonSheet
from apps.calibration.serializers import RateOut, rate_out
from apps.common.web.estimates import EstimateSerializer
from apps.metrics.agreement import Coefficient
from apps.metrics.agreement.grouped_alpha import Boundary
from apps.metrics.agreement.ratings import PairAgreement


class CoefficientSerializer(EstimateSerializer):
    """An estimate with the name of the coefficient."""

    name = serializers.CharField()


class PairAgreementOut(serializers.Serializer):
    """Two people and how far they agree. Who is no lead finds letters instead of names."""

    people = serializers.ListField(child=serializers.CharField())
    n = serializers.IntegerField()
    percent = CoefficientSerializer()
    kappa = CoefficientSerializer()
    kappa_quadratic = CoefficientSerializer()
    alpha_ordinal = CoefficientSerializer(required=False, help_text="Of two people; not of decisions and repeats.")


class PairGradesOut(serializers.Serializer):
    """The people who share most pairs, every two of them; `people_count` counts everybody who shares one."""

    people_count = serializers.IntegerField()
    pairs = PairAgreementOut(many=True)


class BoundaryOut(serializers.Serializer):
    """The boundary between two grades. `astride` of `comparisons` lie across it; `share` is of all such crossings."""

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
    """Boundaries, or the parts of any other way; `total` counts all parts, of which the first are told.

    On `alike` of them, queries, nobody differs: those are counted and not told.
    """

    by = serializers.CharField()
    total = serializers.IntegerField()
    alike = serializers.IntegerField(required=False)
    boundaries = BoundaryOut(many=True, required=False)
    parts = PartOut(many=True, required=False)


class CostlyOut(PartOut):
    """A query and what α of all would gain without it."""

    gain = EstimateSerializer()
    decisions = serializers.IntegerField(help_text="Decisions on its pairs that name a reason.")
    unclear_guideline = serializers.IntegerField(help_text="Those of them that call the guideline unclear.")


class TightenOut(serializers.Serializer):
    alpha = CoefficientSerializer()
    boundaries = BoundaryOut(many=True)
    queries = CostlyOut(many=True)


class WeekOut(serializers.Serializer):
    """A week of one person: leaning in grades, α of the week's pairs, median milliseconds a pair."""

    begins = serializers.DateField()
    lean = EstimateSerializer()
    alpha = CoefficientSerializer()
    median_ms = EstimateSerializer()


class QuestionOut(serializers.Serializer):
    """Two reviewers on one of the three questions: how often both, or one, said no; how often they said the same."""

    question = serializers.CharField()
    no_by_both = serializers.IntegerField()
    no_by_one = serializers.IntegerField()
    alike = RateOut()
    kappa = CoefficientSerializer()


class AgreementSerializer(serializers.Serializer):
    """Agreement of the whole project. `grades` is Krippendorff's ordinal α, `coefficients` holds every other too."""

    pairs_judged_twice = serializers.IntegerField()
    grades = CoefficientSerializer()
    coefficients = CoefficientSerializer(many=True)
    verdicts = CoefficientSerializer()
    questions = QuestionOut(many=True)


class PersonOut(serializers.Serializer):
    """One person's grades beside others', beside decisions, beside their own second look, and over the weeks."""

    person = serializers.CharField()
    graded = serializers.IntegerField()
    others = PairAgreementOut(many=True)
    decisions = PairAgreementOut()
    repeats = PairAgreementOut()
    weeks = WeekOut(many=True)
    questions = QuestionOut(many=True)


def pair_out(pair: PairAgreement, names: dict[int, str], alpha: Coefficient | None = None) -> dict[str, Any]:
    found = {
        "people": [names[person] for person in dict.fromkeys((pair.first, pair.second))],
        "n": pair.n,
        "percent": as_facts(pair.percent),
        "kappa": as_facts(pair.kappa),
        "kappa_quadratic": as_facts(pair.quadratic),
    }
    return found if alpha is None else {**found, "alpha_ordinal": as_facts(alpha)}


def pairs_out(
    pairs: Sequence[PairAgreement], alphas: Sequence[Coefficient], names: dict[int, str]
) -> list[dict[str, Any]]:
    return [pair_out(pair, names, alpha) for pair, alpha in zip(pairs, alphas, strict=True)]


def boundary_out(found: Boundary) -> dict[str, Any]:
    return {
        "below": found.below,
        "above": found.above,
        "astride": found.crossings,
        "comparisons": found.comparisons,
        "share": found.estimate.as_json,
        "alpha": as_facts(found.alpha),
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


def _ruled(found: Unclear) -> dict[str, int]:
    return {"decisions": found.n, "unclear_guideline": found.hits}


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
        "graded": sheet.beside.graded,
        "others": pairs_out(sheet.beside.others, sheet.beside.alphas, names),
        "decisions": pair_out(sheet.decisions, names),
        "repeats": pair_out(sheet.repeats, names),
        "weeks": [_week_out(week) for week in sheet.beside.weeks],
        "questions": [question_out(row) for row in sheet.questions],
    }


def _week_out(week: AnnotatorWeek) -> dict[str, Any]:
    return {
        "begins": week.begins,
        "lean": week.lean.as_json,
        "alpha": as_facts(week.alpha),
        "median_ms": week.pace.as_json,
    }
