"""Agreement as machines read it."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.api import ProjectAPIView
from apps.accounts.enums import Scope
from apps.agreement import selectors


class AgreementView(ProjectAPIView):
    """Agreement of the whole project. No person is named: each value carries its interval and its n."""

    roles = {"GET": ()}
    scopes = {"GET": Scope.VERSIONS_READ}

    def get(self, request: Request, **ids: Any) -> Response:
        grades = selectors.grade_agreement(self.project, selectors.rounds_for(self.member))
        verdicts = selectors.verdict_agreement(self.project)
        return Response(
            {
                "pairs_judged_twice": grades.ratings.shared,
                "grades": selectors.as_facts(grades.overall),
                "verdicts": selectors.as_facts(verdicts.kappa),
            }
        )
