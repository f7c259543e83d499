from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.accounts.edges.access import PersonRequest, operator_view
from apps.dashboard.actions.demo import request_demo


@operator_view
@require_POST
def load(request: PersonRequest) -> HttpResponse:
    """Queue the demo and show the page of its job, with its progress and a link to the project."""
    job = request_demo(host=request.user, at=timezone.now())
    assert job.project is not None
    return redirect("jobs:job", slug=job.project.slug, pk=job.pk)
