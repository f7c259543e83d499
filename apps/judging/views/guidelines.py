"""Guidelines: what each grade means. Every member reads them, leads publish the next version."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.access import member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.judging import selectors
from apps.judging.actions import GuidelineRefused, publish_guideline
from apps.judging.forms import GuidelineForm
from apps.judging.guidelines import few_examples, highest_first, to_html
from apps.judging.models import Guideline
from apps.judging.views import user_of


@require_safe
@member_view()
def latest(request: HttpRequest, project: Project) -> HttpResponse:
    """The version that new rounds are judged by."""
    return _page(request, project, selectors.latest_guideline(project))


@require_safe
@member_view()
def version(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    """One version as it was published."""
    return _page(request, project, selectors.guideline_in(project, number))


def _page(request: HttpRequest, project: Project, guideline: Guideline | None) -> HttpResponse:
    context = {
        "section": "Judging",
        "guideline": guideline,
        "versions": selectors.guidelines_in(project),
        "grades": highest_first(guideline.grades) if guideline else [],
        "few": few_examples(guideline.grades) if guideline else [],
        "html": mark_safe(to_html(guideline.markdown)) if guideline else "",
    }
    return render(request, "judging/guideline.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def new(request: HttpRequest, project: Project) -> HttpResponse:
    """Write the next version, starting from the latest."""
    before = selectors.latest_guideline(project)
    form = GuidelineForm(request.POST or None, scale=project.scale, latest=before)
    if request.method == "POST" and form.is_valid():
        try:
            guideline = publish_guideline(
                project=project,
                actor=user_of(request),
                grades=form.grade_texts(),
                markdown=form.cleaned_data["markdown"],
                at=timezone.now(),
            )
            return redirect("judging:guideline", slug=project.slug, number=guideline.number)
        except GuidelineRefused as refusal:
            form.add_error(None, refusal.sentence)
    context = {"section": "Judging", "form": form, "latest": before}
    return render(request, "judging/guideline_form.html", context, status=400 if form.errors else 200)
