"""Pages that plan a round, with the work that a plan means, and that open the rest of one after its pilot."""

import secrets
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.accounts.selectors import members_of
from apps.judging import rules
from apps.judging.actions.rounds import PilotRefused, RoundRefused, open_after_pilot, open_round
from apps.judging.core.plan import LARGEST_SEED
from apps.judging.forms.rounds import RoundForm, round_offer
from apps.judging.models import Guideline
from apps.judging.selectors.plans import pace_of, preview_of
from apps.judging.selectors.rounds import latest_guideline, round_in


@require_POST
@member_view(Role.LEAD)
def open_the_rest(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Open the rest of a round in spite of its pilot, for a reason."""
    round_ = round_in(project, pk)
    reason = request.POST.get("reason", "")[:4_000]
    try:
        open_after_pilot(round_id=round_.pk, actor=user_of(request), reason=reason, at=timezone.now())
    except PilotRefused as refusal:
        messages.error(request, refusal.sentence)
    return redirect("judging:round", slug=project.slug, pk=pk)


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def new_round(request: HttpRequest, project: Project) -> HttpResponse:
    """The form of a new round. Stores nothing before it is sent. Leads by the guideline, as long as there is none."""
    guideline, offer = latest_guideline(project), round_offer(project)
    if guideline is None and offer.pools:
        back = urlencode({"then": request.get_full_path()})
        return redirect(f"{reverse('judging:guideline-new', args=[project.slug])}?{back}")
    if request.method != "POST":
        start = {"seed": secrets.randbelow(LARGEST_SEED), **request.GET.dict()}
        form = RoundForm(project=project, offer=offer, initial=start)
        return render(request, "judging/new_round.html", _context(request, form, guideline))
    form = RoundForm(request.POST, project=project, offer=offer)
    if form.is_valid():
        try:
            round_ = open_round(
                project=project,
                actor=user_of(request),
                pool=form.cleaned_data["pool"],
                guideline=guideline,
                annotators=list(form.cleaned_data["annotators"]),
                plan=form.plan(),
                name=form.cleaned_data["name"],
                lease_minutes=form.cleaned_data["lease_minutes"],
                remits=form.remits(),
                known=form.known_pairs(),
                at=timezone.now(),
            )
            return redirect("judging:round", slug=project.slug, pk=round_.pk)
        except RoundRefused as refusal:
            form.add_error(None, refusal.sentence)
    return render(request, "judging/new_round.html", _context(request, form, guideline), status=400)


@require_safe
@member_view(Role.LEAD)
def preview(request: HttpRequest, project: Project) -> HttpResponse:
    """The work that the plan in the form means, as a fragment."""
    form = RoundForm(request.GET, project=project)
    return render(request, "judging/_plan.html", _preview(form))


def _context(request: HttpRequest, form: RoundForm, guideline: Guideline | None) -> dict[str, object]:
    bound = form if form.is_bound else RoundForm(_as_data(form), project=form.project, offer=form.offer)
    return {
        "form": form,
        "guideline": guideline,
        "has_pools": bool(form.offer.pools),
        "has_annotators": bool(form.offer.people),
        "may_join": not member_of(request).holds(Role.ANNOTATOR),
        **_preview(bound),
    }


def _as_data(form: RoundForm) -> dict[str, object]:
    return {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}


def _preview(form: RoundForm) -> dict[str, object]:
    if not form.is_valid() and form.errors.keys() != {NON_FIELD_ERRORS}:
        return {"preview": None, "plan_refusal": None}
    plan = form.plan()
    data = form.cleaned_data
    remits = {person.pk: form.remits().get(person.pk) for person in data["annotators"]}
    people = len(remits)
    preview = preview_of(data["pool"], plan, remits, form.known_pairs())
    most = plan.judges if preview.repeated else 1
    refusal = rules.pairs_refusal(preview.pairs, preview.checks, preview.kept)
    if refusal is None:
        refusal = rules.plan_refusal(people, most) if people else rules.NO_ANNOTATOR
    return {
        "preview": preview,
        "people": people,
        "share": -(-preview.judgements // people) if people else None,
        "hours": pace_of(form.project).words_for(preview.judgements),
        "plan_refusal": refusal,
        "plan_warning": rules.plan_warning(_leads(form.project), remits.keys(), most),
        "plan": plan,
    }


def _leads(project: Project) -> list[int]:
    return list(members_of(project, Role.LEAD).values_list("pk", flat=True))
