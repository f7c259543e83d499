"""Agreement as machines read it."""

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.api import ProjectAPIView
from apps.accounts.enums import Scope
from apps.agreement import selectors
from apps.agreement.serializers import AgreementSerializer


class AgreementView(ProjectAPIView):
    """Agreement of the whole project. No person is named: each value carries its interval and its n."""

    roles: ClassVar = {"GET": ()}
    scopes: ClassVar = {"GET": Scope.VERSIONS_READ}

    @extend_schema(responses=AgreementSerializer)
    def get(self, request: Request, slug: str) -> Response:
        grades = selectors.grade_agreement(self.project, selectors.rounds_for(self.member))
        verdicts = selectors.verdict_agreement(self.project)
        facts = {
            "pairs_judged_twice": grades.ratings.shared,
            "grades": selectors.as_facts(grades.overall),
            "verdicts": selectors.as_facts(verdicts.kappa),
        }
        return Response(AgreementSerializer(facts).data)
