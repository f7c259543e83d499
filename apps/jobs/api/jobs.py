"""Jobs in the API."""

from typing import ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.edges.api import ProjectAPIView
from apps.accounts.enums import Scope
from apps.jobs.actions import jobs
from apps.jobs.selectors.jobs import job_in
from apps.jobs.serializers import JobSerializer


class JobDetail(ProjectAPIView):
    """Follow a job."""

    roles: ClassVar = {"GET": ()}
    scopes: ClassVar = {"GET": Scope.JOBS_READ}

    @extend_schema(responses=JobSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(JobSerializer(job_in(self.project, pk)).data)


class JobCancel(ProjectAPIView):
    """Cancel a job."""

    roles: ClassVar = {"POST": ()}
    scopes: ClassVar = {"POST": Scope.RUNS_WRITE}

    @extend_schema(request=None, responses=JobSerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        job = job_in(self.project, pk)
        job = jobs.cancel_job(job_id=job.pk, actor=self.member.user, at=timezone.now())
        return Response(JobSerializer(job).data)
