"""Pages of files of gates: download for `karat eval`, and import by a lead after a preview."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.access.pages import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.errors import InputErrors
from apps.gates import actions
from apps.gates.forms.gates import GateFileForm
from apps.gates.presenters import file_response
from apps.gates.selectors import gates
from apps.goldsets.enums import Split
from apps.goldsets.models import GoldSet
from apps.goldsets.selectors.versions import gold_set_in
from apps.retrieval.selectors.runs import run_in
from apps.retrieval.selectors.systems import system_in

SECTION = {"section": "Gates"}


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
    context: dict[str, Any] = {**SECTION, "gold_set": chosen, "form": form}
    if request.method != "POST":
        return render(request, "gates/import.html", context)
    if not form.is_valid():
        return render(request, "gates/import.html", context, status=400)
    try:
        if "make" in request.POST:
            return _create(request, project, chosen, form.cleaned_data)
        return render(request, "gates/import.html", {**context, **_preview(chosen, form.cleaned_data)})
    except InputErrors as error:
        context |= {"faults": error.errors, "is_capped": error.capped}
        return render(request, "gates/import.html", context, status=400)


def _preview(gold_set: GoldSet, values: dict[str, Any]) -> dict[str, Any]:
    """The preview: the gates that the file would create. Raises InputErrors."""
    project = gold_set.project
    baseline = run_in(project, values["baseline"]) if values["baseline"] else None
    system = system_in(project, values["system"])
    planned = gates.planned(gold_set, system, values["text"], split=values["split"], baseline=baseline)
    return {"planned": [(rule, gates.words_of(rule)) for rule in planned], "system": system, "values": values}


def _create(request: HttpRequest, project: Project, gold_set: GoldSet, values: dict[str, Any]) -> HttpResponse:
    """Create all gates. Raises InputErrors."""
    made = actions.create_gates(
        gold_set=gold_set,
        system_id=values["system"],
        text=values["text"],
        split=values["split"],
        baseline_id=values["baseline"],
        actor=member_of(request).user,
        at=timezone.now(),
    )
    sentence = f"{len(made)} gates now check" if len(made) > 1 else f"{made[0].name} now checks"
    messages.success(request, f"{sentence} {made[0].system.name}. Existing scores are being checked.")
    return redirect("gates:gates", slug=project.slug)
