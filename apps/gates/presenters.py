"""Answers that the pages and the API of gates share, and the gates' panels on pages of scores."""

from typing import Any

from django.http import Http404, HttpResponse
from django.utils.text import slugify

from apps.evaluation.models import Evaluation
from apps.evaluation.presenters.run_panels import Panel
from apps.gates import selectors as gates
from apps.gates.core.rule import GateRule
from apps.goldsets.models import GoldSet, Version
from apps.retrieval.models import System
from apps.retrieval.selectors.runs import run_in
from apps.retrieval.selectors.systems import system_in


def results_panel(evaluation: Evaluation) -> Panel:
    """The gate results of one run."""
    return Panel("gates/_results.html", gates.results_on(evaluation))


def slices_panel(version: Version) -> Panel:
    """The gates on slices of the version's gold set, each with its current result."""
    return Panel("gates/_on_slices.html", gates.statuses(gates.on_slices(version.gold_set)))


def planned_in(gold_set: GoldSet, values: dict[str, Any]) -> tuple[System, list[GateRule]]:
    """The system and the rules of a file to import, by the values of its form. Raises InputErrors and Http404."""
    project = gold_set.project
    baseline = run_in(project, values["baseline"]) if values["baseline"] else None
    system = system_in(project, values["system"])
    return system, gates.planned(gold_set, system, values["text"], split=values["split"], baseline=baseline)


def file_response(gold_set: GoldSet, system: System) -> HttpResponse:
    """The gates of a system as a download, for pages and the API. Raises Http404 without gates."""
    text = gates.file_of(gold_set, system)
    if not text:
        raise Http404(f"{system.name} has no gate on {gold_set.name}.")
    answer = HttpResponse(text, content_type=gates.CONTENT_TYPE)
    name = slugify(f"gates {gold_set.slug} {system.name}")[:100]
    answer["Content-Disposition"] = f'attachment; filename="{name}.toml"'
    answer["X-Content-Type-Options"] = "nosniff"
    return answer
