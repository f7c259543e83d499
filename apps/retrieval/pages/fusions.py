"""The page of a new fusion."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from apps.accounts.edges.access import MemberRequest, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.errors import Refusal
from apps.retrieval.actions.fusions import create_fusion
from apps.retrieval.core.engines.registry import ENGINES
from apps.retrieval.forms.fusions import FusionForm

SECTION = {"section": "Runs"}


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def new_fusion(request: MemberRequest, project: Project) -> HttpResponse:
    """Create a system that fuses the rankings of others."""
    form = FusionForm(request.POST or None, project=project, initial={"name": "Fusion"})
    if request.method == "POST" and form.is_valid():
        try:
            system = create_fusion(
                project=project,
                name=form.cleaned_data["name"],
                system_ids=[system.pk for system in form.cleaned_data["systems"]],
                k=form.cleaned_data["k"],
                actor=request.user,
                at=timezone.now(),
            )
        except Refusal as refusal:
            form.add_error(None, refusal.sentence)
        else:
            return redirect("retrieval:system", slug=project.slug, pk=system.pk)
    kinds = [(name, engine.title) for name, engine in ENGINES.items()]
    context = {**SECTION, "form": form, "kinds": kinds, "is_enough": len(form.fields["systems"].queryset) > 1}  # type: ignore[attr-defined]
    return render(request, "retrieval/new_fusion.html", context, status=400 if form.errors else 200)
