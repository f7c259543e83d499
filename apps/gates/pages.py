"""Pages of gates: states, results, badges, and files of gates for `karat eval`."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.views.decorators.http import conditional_page, require_http_methods, require_POST, require_safe

from apps.accounts.access.pages import member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.drawing.charts import DrawnEstimate, svg, tag, title, whisker
from apps.common.errors import InputErrors
from apps.common.text.wording import MINUS
from apps.evaluation import rules
from apps.evaluation.core.charts import CELL_WIDTH, Bounds, bounds_of
from apps.evaluation.presenters.score_charts import head_cell
from apps.evaluation.presenters.score_tables import shallow_words
from apps.gates import actions
from apps.gates import execution as checks
from apps.gates import selectors as gates
from apps.gates.core import rule
from apps.gates.core.badge import badge as drawn
from apps.gates.core.decisions import bound_of, formatted_value
from apps.gates.core.rule import COST, GateRule, range_fault, unit
from apps.gates.enums import GateState
from apps.gates.forms import BoundForm, GateFileForm, GateForm
from apps.gates.models import Gate, GateResult
from apps.gates.presenters import file_response, planned_in
from apps.gates.selectors import GateStatus, next_step
from apps.goldsets.enums import Split
from apps.goldsets.models import GoldSet
from apps.goldsets.selectors.versions import gold_set_in, gold_sets_of
from apps.jobs.execution.mailing import absolute
from apps.jobs.models import Job
from apps.retrieval.models import System
from apps.retrieval.selectors.systems import system_in

CELL_HEIGHT = 24


class SystemGates(NamedTuple):
    """The gates of one system on one gold set, and their worst state."""

    system: System
    rows: list[GateStatus]

    @property
    def state(self) -> str:
        return gates.state_of_all(self.rows)


class SetGates(NamedTuple):
    """A gold set and the systems with gates on it, by name."""

    gold_set: GoldSet
    systems: list[SystemGates]


def by_set(gold_sets: Iterable[GoldSet], rows: Sequence[GateStatus]) -> list[SetGates]:
    """Every gold set with its gates, also one without gates."""
    sets = []
    for gold_set in gold_sets:
        mine = [row for row in rows if row.gate.gold_set_id == gold_set.pk]
        systems = {row.gate.system_id: row.gate.system for row in mine}
        parts = [
            SystemGates(system, [row for row in mine if row.gate.system_id == pk]) for pk, system in systems.items()
        ]
        sets.append(SetGates(gold_set, parts))
    return sets


def shallow(row: GateStatus) -> str:
    """The warning that the gate's measure reads deeper than the rankings of the run; "" where it does not."""
    measure = gates.rule_of(row.gate).measure
    if row.result is None or measure is None:
        return ""
    return shallow_words([str(measure)], row.result.evaluation)


class EarlierScoresCheck(NamedTuple):
    """The job that checks earlier scores against a gate, and how many scores there are."""

    job: Job
    scores: int


def running_check(gate: Gate) -> EarlierScoresCheck | None:
    """None where no such job is active, or nothing was scored."""
    open_jobs = Job.objects.open().filter(project=gate.gold_set.project_id, kind=checks.KIND)
    job = open_jobs.filter(params__gate_id=gate.pk).order_by("-pk").first()
    scores = gates.scored_for(gate).count() if job else 0
    return EarlierScoresCheck(job, scores) if job and scores else None


class HistoryRow(NamedTuple):
    """A row of a gate's history: the figure and its interval, as text and drawn."""

    result: GateResult
    value: str
    interval: str
    drawing: SafeString | str


class History(NamedTuple):
    """The results of a gate on one scale. `head` is the axis, "" where nothing can be drawn."""

    rows: list[HistoryRow]
    head: SafeString | str
    bound: str


def history(gate: Gate, results: Sequence[GateResult]) -> History:
    """The results for the gate's page, in the given order."""
    rule = gates.rule_of(gate)
    bounds = history_bounds(rule, results)
    rows = []
    for row in results:
        value = "" if row.value is None else f"{formatted_value(rule, row.value)}{unit(rule)}"
        rows.append(HistoryRow(row, value, _interval(rule, row), history_cell(rule, row, bounds)))
    head = head_cell(bounds) if any(row.value is not None for row in results) else ""
    return History(rows, head, f"{bound_of(rule):,g}{unit(rule)}".replace("-", MINUS))


def _interval(rule: GateRule, row: GateResult) -> str:
    """The interval and n of a value; for a result older than those columns, where to find them."""
    if row.value is None:
        return ""
    if row.n is None:
        return "interval: see the result"
    if row.ci_low is None or row.ci_high is None:
        return "" if rule.figure == COST else f"no interval, n = {row.n:,}"
    return f"{formatted_value(rule, row.ci_low)} to {formatted_value(rule, row.ci_high)}{unit(rule)}, n = {row.n:,}"


def history_bounds(rule: GateRule, results: Sequence[GateResult]) -> Bounds:
    """One scale for the values, intervals and bounds of a gate's history.

    A bound outside the figure's range is left out: next to 70, every nDCG would be at the left end.
    """
    ends = [end for row in results for end in (row.value, row.ci_low, row.ci_high)]
    ends += [] if range_fault(rule) else [row.bound for row in results]
    return bounds_of([end for end in ends if end is not None])


def history_cell(rule: GateRule, row: GateResult, bounds: Bounds) -> SafeString | str:
    """The value with its interval and bound: filled where it passed, hollow where not."""
    if row.value is None or row.bound is None:
        return ""
    figures = ", ".join(filter(None, (formatted_value(rule, row.value), _interval(rule, row))))
    threshold = f"threshold {formatted_value(rule, row.bound)}"
    words = f"{row.evaluation.run.tag}: {figures}; {threshold}, {row.get_state_display()}"
    line = tag("path", title("The threshold"), class_="limit", d=f"M{bounds.place(row.bound):.1f} -60V84")
    lines = [line] if bounds.low <= row.bound <= bounds.high else []
    point = DrawnEstimate(row.evaluation.run.tag, row.value, row.ci_low, row.ci_high)
    css = "point" if row.state == GateState.PASSED else "open"
    lines.append(whisker(point, bounds.place, CELL_HEIGHT / 2, radius=5, class_=css))
    return svg(CELL_WIDTH, CELL_HEIGHT, words, lines)


RESULTS_A_PAGE = 50
MOST_RETIRED = 50
BADGE_LASTS = 60


@require_safe
@member_view()
def gate_list(request: HttpRequest, project: Project) -> HttpResponse:
    """The state of every system on every gold set."""
    rows = gates.statuses(gates.gates_in(project))
    context = {
        "sets": by_set(gold_sets_of(project), rows),
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
            actor=user_of(request),
            at=timezone.now(),
        )
        messages.success(request, f"{gate.name} now checks {gate.system.name}. Existing scores are being checked.")
        return redirect("gates:gate", slug=project.slug, pk=gate.pk)
    context = {"gold_set": chosen, "form": form}
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
    badge = gates.badge_of(gate.gold_set, gate.system_id)
    path = reverse("badges:badge", args=[badge.token]) if badge else ""
    context = {
        "row": row,
        "running_check": running_check(gate) if gate.retired_at is None else None,
        "shallow": shallow(row),
        "next": next_step(gate, row.result) if gate.retired_at is None else None,
        "page": page,
        "history": history(gate, list(page.object_list)),
        "split_words": rules.SPLIT_WORDS[gate.split],
        "retire_url": reverse("gates:retire-gate", args=[project.slug, gate.pk]),
        "badge": {"path": path, "address": absolute(path)} if path else None,
        "change": change or BoundForm(gate=gate),
        "fault": rule.range_fault(gates.rule_of(gate)),
        "successor": gate.replaced_by.first(),
        "replaced_requirement": gates.requirement_of(gate.replaces) if gate.replaces else "",
    }
    return render(request, "gates/gate.html", context, status=400 if change else 200)


@require_POST
@member_view(Role.LEAD)
def retire(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    gate = actions.retire_gate(gate=gates.gate_in(project, pk), actor=user_of(request), at=timezone.now())
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
    made = actions.replace_gate(gate=gate, changes=form.changes, actor=user_of(request), at=timezone.now())
    messages.success(
        request, f"{made.name} now requires {rule.requirement(gates.rule_of(made))}. The earlier gate is kept."
    )
    return _back(made)


@require_POST
@member_view(Role.LEAD)
def make_badge(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    gate = gates.gate_in(project, pk)
    actions.make_badge(gold_set=gate.gold_set, system=gate.system, actor=user_of(request), at=timezone.now())
    return _back(gate)


@require_POST
@member_view(Role.LEAD)
def revoke_badge(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    gate = gates.gate_in(project, pk)
    actions.revoke_badge(gold_set=gate.gold_set, system=gate.system, actor=user_of(request), at=timezone.now())
    messages.success(request, "The badge is revoked. Its address no longer works.")
    return _back(gate)


def _back(gate: Gate) -> HttpResponse:
    return redirect("gates:gate", slug=gate.gold_set.project.slug, pk=gate.pk)


@conditional_page
@require_safe
def badge(request: HttpRequest, token: str) -> HttpResponse:
    """The badge at a public address. Any page may embed it, and caches may keep it for a minute."""
    states = [row.state for row in gates.gates_of_badge(gates.badge_at(token))]
    answer = HttpResponse(drawn(states), content_type="image/svg+xml; charset=utf-8")
    answer["Cache-Control"] = f"public, max-age={BADGE_LASTS}"
    answer["Content-Security-Policy"] = "default-src 'none'"
    answer["X-Robots-Tag"] = "noindex"
    return answer


# Files of gates ------------------------------------------------------------------------------------------------


@require_safe
@member_view()
def take_away(request: HttpRequest, project: Project, gold_set: str, system_pk: int) -> HttpResponse:
    return file_response(gold_set_in(project, gold_set), system_in(project, system_pk))


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def import_gates(request: HttpRequest, project: Project, gold_set: str) -> HttpResponse:
    """First a preview of the gates or all errors of the file, then the import as a whole."""
    chosen = gold_set_in(project, gold_set)
    start = {"system": request.GET.get("system", ""), "split": Split.DEV}
    form = GateFileForm(request.POST or None, request.FILES or None, gold_set=chosen, initial=start)
    context: dict[str, Any] = {"gold_set": chosen, "form": form}
    if request.method != "POST":
        return render(request, "gates/import.html", context)
    if not form.is_valid():
        return render(request, "gates/import.html", context, status=400)
    try:
        if "make" in request.POST:
            return _create(request, project, chosen, form.cleaned_data)
        system, planned = planned_in(chosen, form.cleaned_data)
        context |= {"planned": [(one, gates.words_of(one)) for one in planned], "system": system}
        return render(request, "gates/import.html", {**context, "values": form.cleaned_data})
    except InputErrors as error:
        context |= {"faults": error.errors, "is_capped": error.capped}
        return render(request, "gates/import.html", context, status=400)


def _create(request: HttpRequest, project: Project, gold_set: GoldSet, values: dict[str, Any]) -> HttpResponse:
    """Create all gates. Raises InputErrors."""
    made = actions.create_gates(
        gold_set=gold_set,
        system_id=values["system"],
        text=values["text"],
        split=values["split"],
        baseline_id=values["baseline"],
        actor=user_of(request),
        at=timezone.now(),
    )
    sentence = f"{len(made)} gates now check" if len(made) > 1 else f"{made[0].name} now checks"
    messages.success(request, f"{sentence} {made[0].system.name}. Existing scores are being checked.")
    return redirect("gates:gates", slug=project.slug)
