"""Pages of gates: states, results and badges."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import condition, require_http_methods, require_POST, require_safe

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.digests import sha256_hex
from apps.evaluation import rules
from apps.gates import actions
from apps.gates.core import rule
from apps.gates.core.badge import badge as drawn
from apps.gates.forms.gates import BoundForm, GateForm
from apps.gates.models import Badge, Gate
from apps.gates.pages import gates_context as gate_pages
from apps.gates.selectors import gates
from apps.gates.selectors.next_steps import next_step
from apps.goldsets.enums import Split
from apps.goldsets.selectors.versions import gold_set_in, gold_sets_of
from apps.jobs.execution.mailing import absolute

SECTION = {"section": "Gates"}
RESULTS_A_PAGE = 50
MOST_RETIRED = 50
BADGE_LASTS = 60


@require_safe
@member_view()
def gate_list(request: HttpRequest, project: Project) -> HttpResponse:
    """The state of every system on every gold set."""
    rows = gates.statuses(gates.gates_in(project))
    context = {
        **SECTION,
        "sets": gate_pages.by_set(gold_sets_of(project), rows),
        "splits": rules.SPLIT_WORDS,
        "retired": gates.retired_in(project)[:MOST_RETIRED],
    }
    return render(request, "gates/gates.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def new_gate(request: HttpRequest, project: Project, gold_set: str) -> HttpResponse:
    chosen = gold_set_in(project, gold_set)
    part = request.GET.get("slice", "")
    start = {"system": request.GET.get("system", ""), "split": Split.DEV, "slice": f"{rule.NAMED}={part}"}
    form = GateForm(request.POST or None, gold_set=chosen, initial=start)
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        gate = actions.create_gate(
            gold_set=chosen,
            system_id=values["system"],
            facts=form.facts,
            split=values["split"],
            baseline_id=values["baseline"],
            actor=member_of(request).user,
            at=timezone.now(),
        )
        messages.success(request, f"{gate.name} now checks {gate.system.name}. Existing scores are being checked.")
        return redirect("gates:gate", slug=project.slug, pk=gate.pk)
    context = {**SECTION, "gold_set": chosen, "form": form}
    return render(request, "gates/new_gate.html", context, status=400 if form.errors else 200)


@require_safe
@member_view()
def gate_page(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """One gate: its rule, its state, its results, and the badge of its system."""
    return _shown(request, gates.gate_in(project, pk))


def _shown(request: HttpRequest, gate: Gate, change: BoundForm | None = None) -> HttpResponse:
    """The page of a gate; `change` is the form of a new bound as sent, where it was refused."""
    project = gate.gold_set.project
    page = Paginator(gates.results_of(gate), RESULTS_A_PAGE).get_page(request.GET.get("page", ""))
    row = gates.statuses([gate])[0]
    context = {
        **SECTION,
        "row": row,
        "running_check": gate_pages.running_check(gate) if gate.retired_at is None else None,
        "shallow": gate_pages.shallow(row),
        "next": next_step(gate, row.result) if gate.retired_at is None else None,
        "page": page,
        "history": gate_pages.history(gate, list(page.object_list)),
        "split_words": rules.SPLIT_WORDS[gate.split],
        "retire_url": reverse("gates:retire-gate", args=[project.slug, gate.pk]),
        "badge": _badge_context(gates.badge_of(gate.gold_set, gate.system_id)),
        "change": change or BoundForm(gate=gate),
        "fault": rule.range_fault(gates.rule_of(gate)),
        "successor": gate.replaced_by.first(),
        "replaced_requirement": gates.requirement_of(gate.replaces) if gate.replaces else "",
    }
    return render(request, "gates/gate.html", context, status=400 if change else 200)


def _badge_context(badge: Badge | None) -> dict[str, Any] | None:
    if badge is None:
        return None
    path = reverse("badges:badge", args=[badge.token])
    return {"path": path, "address": absolute(path)}


@require_POST
@member_view(Role.LEAD)
def retire(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    gate = actions.retire_gate(gate=gates.gate_in(project, pk), actor=member_of(request).user, at=timezone.now())
    messages.success(request, f"{gate.name} is retired. Its results are kept.")
    return redirect("gates:gates", slug=project.slug)


@require_POST
@member_view(Role.LEAD)
def change_bound(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Replace a gate by one with a new bound."""
    gate = gates.gate_in(project, pk)
    form = BoundForm(request.POST, gate=gate)
    if not form.is_valid():
        return _shown(request, gate, form)
    made = actions.replace_gate(gate=gate, changes=form.changes, actor=member_of(request).user, at=timezone.now())
    messages.success(
        request, f"{made.name} now requires {rule.requirement(gates.rule_of(made))}. The earlier gate is kept."
    )
    return _back(made)


@require_POST
@member_view(Role.LEAD)
def make_badge(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    gate = gates.gate_in(project, pk)
    actions.make_badge(gold_set=gate.gold_set, system=gate.system, actor=member_of(request).user, at=timezone.now())
    return _back(gate)


@require_POST
@member_view(Role.LEAD)
def revoke_badge(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    gate = gates.gate_in(project, pk)
    actions.revoke_badge(gold_set=gate.gold_set, system=gate.system, actor=member_of(request).user, at=timezone.now())
    messages.success(request, "The badge is revoked. Its address no longer works.")
    return _back(gate)


def _back(gate: Gate) -> HttpResponse:
    return redirect("gates:gate", slug=gate.gold_set.project.slug, pk=gate.pk)


def _drawing(token: str) -> str:
    return drawn([row.state for row in gates.gates_of_badge(gates.badge_at(token))])


def _etag(request: HttpRequest, token: str) -> str:
    return f'"{sha256_hex(_drawing(token).encode())[:32]}"'


@condition(etag_func=_etag)
def _picture(request: HttpRequest, token: str) -> HttpResponse:
    return HttpResponse(_drawing(token), content_type="image/svg+xml; charset=utf-8")


@require_safe
def badge(request: HttpRequest, token: str) -> HttpResponse:
    """The badge at a public address. Any page may embed it, caches may keep it for a minute, and so for its 304 answer:
    else a cache would drop its copy.
    """
    answer = _picture(request, token)
    answer["Cache-Control"] = f"public, max-age={BADGE_LASTS}"
    answer["Content-Security-Policy"] = "default-src 'none'"
    answer["X-Robots-Tag"] = "noindex"
    return answer
