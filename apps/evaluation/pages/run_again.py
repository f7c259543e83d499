"""The button that runs systems again for a version, on the version's page."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.evaluation.actions import run_again as evaluation_run_again
from apps.evaluation.edges.run_again import names_of
from apps.goldsets.selectors.versions import frozen_in


@require_POST
@member_view(Role.LEAD)
def run_again(request: HttpRequest, project: Project, version_pk: int) -> HttpResponse:
    """Run the chosen systems again on the snapshot of a released version."""
    version = frozen_in(project, version_pk)
    chosen = [int(pk) for pk in request.POST.getlist("system") if pk.isdecimal() and len(pk) < 18]
    runs = evaluation_run_again.run_again(
        project=project, version_id=version.pk, system_ids=chosen, actor=member_of(request).user, at=timezone.now()
    )
    names = names_of(run.system.name for run in runs)
    verb = "is" if len(runs) == 1 else "are"
    messages.info(request, f"{names} {verb} being run on {version.snapshot.name} and scored on {version.label}.")
    gold_set = version.gold_set.slug
    return redirect("goldsets:version", slug=project.slug, gold_set=gold_set, number=version.number)
