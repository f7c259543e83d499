"""API of agreement over a whole project; the quality log and flag rates are in `calibration`."""

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.edges.access import ProjectAPIView
from apps.accounts.enums import Scope
from apps.agreement.edges import selected_rounds
from apps.agreement.selectors import agreement
from apps.agreement.selectors.breakdowns import overview_of
from apps.agreement.serializers import AgreementSerializer, question_out


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
