"""Pages of guidelines: the meaning of each grade. Every member reads them, leads publish the next version."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.text.markdown import to_html
from apps.common.web.requests import own_page
from apps.corpus.selectors.corpora import snapshot_in
from apps.judging.actions.guidelines import (
    GuidelineRefused,
    RejudgingRefused,
    keep_grades,
    pool_to_rejudge,
    publish_guideline,
)
from apps.judging.core.guidelines import few_examples, highest_first
from apps.judging.forms.judging import GuidelineForm, RejudgeForm
from apps.judging.models import Guideline
from apps.judging.selectors import rejudging
from apps.judging.selectors.rounds import guideline_in, guidelines_in, latest_guideline, wants_first_round
from apps.retrieval.actions.pools import ChoiceRefused


@require_safe
@member_view()
def latest(request: HttpRequest, project: Project) -> HttpResponse:
    """The version that new rounds use."""
    return _page(request, project, latest_guideline(project))


@require_safe
@member_view()
def version(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    """One version as it was published."""
    return _page(request, project, guideline_in(project, number))


def _page(request: HttpRequest, project: Project, guideline: Guideline | None) -> HttpResponse:
    context = {
        "section": "Guideline",
        "guideline": guideline,
        "versions": guidelines_in(project),
        "grades": highest_first(guideline.grades) if guideline else [],
        "few": few_examples(guideline.grades) if guideline else [],
        "limit": ":50",
        "undecided": _undecided(request, guideline),
        "wants_round": bool(guideline) and member_of(request).is_lead and wants_first_round(project),
        "html": mark_safe(to_html(guideline.markdown)) if guideline else "",
    }
    return render(request, "judging/guideline.html", context)


def _undecided(request: HttpRequest, guideline: Guideline | None) -> int:
    """How many earlier grades a lead has not yet decided to keep or to judge again."""
    if guideline is None or guideline.number == 1 or not member_of(request).is_lead:
        return 0
    if rejudging.keep_decision(guideline) or rejudging.rejudging_pools(guideline):
        return 0
    return sum(row.judgements for row in rejudging.touched(guideline))


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def new(request: HttpRequest, project: Project) -> HttpResponse:
    """Write the next version, starting from the latest; then go on with the page that `then` of the address names."""
    then = own_page(request, request.GET.get("then", ""))
    before = latest_guideline(project)
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
            if then:
                messages.success(request, f"Guideline version {guideline.number} is published.")
                return redirect(then)
            page = "judging:guideline-changes" if before else "judging:guideline"
            return redirect(page, slug=project.slug, number=guideline.number)
        except GuidelineRefused as refusal:
            form.add_error(None, refusal.sentence)
    context = {"section": "Guideline", "form": form, "latest": before, "then": then}
    return render(request, "judging/guideline_form.html", context, status=400 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def differences(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    """The changes of a version, the earlier grades it touches, and the choice to judge them again."""
    guideline = guideline_in(project, number)
    again = rejudging.earlier_by_snapshot(guideline)
    snapshots = [(each.snapshot.pk, each.snapshot.name) for each in again]
    form = RejudgeForm(request.POST or None, grades=project.grades, snapshots=snapshots)
    if request.method == "POST" and form.is_valid():
        try:
            pool = pool_to_rejudge(
                guideline=guideline,
                snapshot=snapshot_in(project, form.cleaned_data["snapshot"]),
                grades=form.cleaned_data["grades"],
                actor=user_of(request),
                at=timezone.now(),
            )
            return redirect(f"{reverse('judging:new-round', args=[project.slug])}?pool={pool.pk}")
        except (RejudgingRefused, ChoiceRefused) as refusal:
            form.add_error(None, refusal.sentence)
    status = 400 if form.errors else 200
    return render(request, "judging/differences.html", _differences(guideline, again, form), status=status)


@require_POST
@member_view(Role.LEAD)
def keep(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    """Keep the earlier grades."""
    keep_grades(guideline=guideline_in(project, number), actor=user_of(request), at=timezone.now())
    messages.success(request, "The earlier grades are kept. Your decision is recorded.")
    return redirect("judging:guideline", slug=project.slug, number=number)


def _differences(
    guideline: Guideline, again: list[rejudging.SnapshotToRejudge], form: RejudgeForm
) -> dict[str, object]:
    before = rejudging.version_before(guideline)
    return {
        "section": "Guideline",
        "guideline": guideline,
        "before": before,
        "changes": [change for change in rejudging.changes_of(before, guideline) if change.is_touched],
        "general": rejudging.changes_of_text(before, guideline),
        "again": again,
        "form": form,
        "pools": rejudging.rejudging_pools(guideline),
        "keep_decision": rejudging.keep_decision(guideline),
        "open_rounds": rejudging.open_under_earlier(guideline),
    }
