"""Pages that plan a round, that open the rest of one after its pilot, and that carry grades over to the same texts."""

import secrets
from typing import Any
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
from apps.accounts.selectors import policy, team_of
from apps.common.web.forms import refusals_shown
from apps.corpus.models import BlockVersion
from apps.judging import rules
from apps.judging.actions.propagation import MOST_AT_ONCE, CarryRefused, carry_over, mark_of
from apps.judging.actions.rounds import PilotRefused, RoundRefused, open_after_pilot, open_round, start_pilot
from apps.judging.core.plan import LARGEST_SEED
from apps.judging.forms.judging import CarryForm
from apps.judging.forms.rounds import PilotForm, RoundForm, round_offer
from apps.judging.models import Guideline
from apps.judging.selectors.deciding import OWN_DECISIONS
from apps.judging.selectors.plans import pace_of, preview_of
from apps.judging.selectors.propagation import Carried, CarryRule, carry_of
from apps.judging.selectors.rounds import latest_guideline, pool_in, round_in


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
        form = RoundForm(project=project, offered=offer, initial=start)
        return render(request, "judging/new_round.html", _context(request, form, guideline))
    form = RoundForm(request.POST, project=project, offered=offer)
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


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def new_pilot(request: HttpRequest, project: Project) -> HttpResponse:
    """A pilot in one step; its pool's page shows the progress, and the round opens when the pool is built."""
    if latest_guideline(project) is None:
        back = urlencode({"then": request.get_full_path()})
        return redirect(f"{reverse('judging:guideline-new', args=[project.slug])}?{back}")
    form = PilotForm(request.POST or None, project=project, initial={"of": request.GET.get("of", "")})
    if request.method == "POST" and form.is_valid():
        with refusals_shown(form):
            pool = start_pilot(project=project, **form.cleaned_data, actor=user_of(request), at=timezone.now())
            messages.success(request, "The queries are drawn. The round opens as soon as its pool is built.")
            return redirect("retrieval:pool", slug=project.slug, pk=pool.pk)
    context = {
        "form": form,
        "has_snapshot": form.fields["snapshot"].initial is not None,
        "has_annotators": bool(form.fields["annotators"].initial),
    }
    return render(request, "judging/new_pilot.html", context, status=400 if form.errors else 200)


@require_safe
@member_view(Role.LEAD)
def preview(request: HttpRequest, project: Project) -> HttpResponse:
    """The work that the plan in the form means, as a fragment."""
    form = RoundForm(request.GET, project=project)
    return render(request, "judging/_plan.html", _preview(form))


def _context(request: HttpRequest, form: RoundForm, guideline: Guideline | None) -> dict[str, object]:
    bound = form if form.is_bound else RoundForm(_as_data(form), project=form.project, offered=form.offer)
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
    plan, data = form.plan(), form.cleaned_data
    leads = team_of(form.project).leads
    remits = {person.pk: form.remits().get(person.pk) for person in data["annotators"]}
    people = len(remits)
    preview = preview_of(data["pool"], plan, remits, form.known_pairs())
    most = plan.judges if preview.repeated else 1
    own = policy(form.project, OWN_DECISIONS)
    free = [name for pk, name in leads.items() if pk not in remits]
    refusal = rules.pairs_refusal(preview.pairs, preview.checks, preview.kept)
    if refusal is None:
        refusal = rules.plan_refusal(people, most) if people else rules.NO_ANNOTATOR
    return {
        "preview": preview,
        "people": people,
        "share": -(-preview.judgements // people) if people else None,
        "hours": pace_of(form.project).words_for(preview.judgements),
        "plan_refusal": refusal,
        "plan_warning": rules.plan_warning(leads, remits.keys(), most, leads_decide_own=own),
        "who_decides": rules.who_will_decide(free, reconcile=plan.reconcile, leads_decide_own=own) if most > 1 else "",
        "plan": plan,
    }


SHOWN = 100


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def carry(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """What can be carried over in a pool, pair by pair, with one button for each rule."""
    pool = pool_in(project, pk)
    form = CarryForm(request.POST or None)
    if request.method == "POST":
        if not form.is_valid():
            messages.error(request, "Choose what to carry over.")
            return redirect(request.path)
        try:
            round_ = carry_over(
                pool=pool,
                rule=CarryRule(form.cleaned_data["rule"]),
                seen=form.cleaned_data["seen"],
                actor=user_of(request),
                at=timezone.now(),
            )
        except CarryRefused as refusal:
            messages.error(request, refusal.sentence)
            return redirect(request.path)
        return redirect("judging:round", slug=project.slug, pk=round_.pk)
    carryable = carry_of(pool)
    every = carryable.under(CarryRule.NEAR)
    context = {
        "pool": pool,
        "carryable": carryable,
        "rows": _rows(every[:SHOWN]),
        "every": len(every),
        "choices": _choices(carryable.under(CarryRule.EXACT), every),
        "most": MOST_AT_ONCE if len(every) > MOST_AT_ONCE else 0,
    }
    return render(request, "judging/carry.html", context)


def _choices(exact: list[Carried], every: list[Carried]) -> list[dict[str, Any]]:
    """The rules that carry something over; the wider one only where it carries over more."""
    choices = []
    if exact:
        choices.append((CarryRule.EXACT, "Exact texts", exact))
    if len(every) > len(exact):
        choices.append((CarryRule.NEAR, "Exact and near texts", every))
    return [{"rule": rule, "title": title, "pairs": len(of), "mark": mark_of(of)} for rule, title, of in choices]


def _rows(pairs: list[Carried]) -> list[dict[str, Any]]:
    """Each pair with both blocks."""
    ids = {pk for pair in pairs for pk in (pair.judged, pair.entry.version_id)}
    versions = BlockVersion.objects.select_related("block__document").in_bulk(ids)
    return [{"pair": pair, "judged": versions[pair.judged], "other": versions[pair.entry.version_id]} for pair in pairs]
