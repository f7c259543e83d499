"""Pages of training manifests: what drafts are checked against, and what of a version they have."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.goldsets.access import open_test
from apps.goldsets.actions.training import retire_training_manifest
from apps.goldsets.selectors import versions
from apps.goldsets.selectors.training import manifest_in, manifests_of, training_leaks

PER_PAGE = 50
LOOKED_AT = "items known from training"


@require_safe
@member_view(Role.LEAD)
def training_list(request: HttpRequest, project: Project) -> HttpResponse:
    page = Paginator(manifests_of(project), PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "goldsets/training.html", {"page": page})


@member_view(Role.LEAD)
@require_POST
def retire(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    manifest = retire_training_manifest(
        manifest_id=manifest_in(project, pk).pk, actor=user_of(request), at=timezone.now()
    )
    messages.success(request, f"{manifest.name} is retired. No draft is checked against it any more.")
    return redirect("goldsets:training", slug=project.slug)


@require_safe
@member_view(Role.LEAD)
def training_found(request: HttpRequest, project: Project, gold_set: str, number: int) -> HttpResponse:
    """The items of a frozen version that are in a training manifest, by name: a look at test, which is logged."""
    version = versions.version_in(project, gold_set, number)
    if version.is_draft:
        raise Http404("A draft names them on its own page.")
    found = training_leaks(version, is_blind=False)
    if found.in_test:
        open_test(version, member_of(request), LOOKED_AT)
    page = Paginator(found.items, PER_PAGE).get_page(request.GET.get("page"))
    context = {"version": version, "found": found, "page": page}
    return render(request, "goldsets/training_found.html", context)
