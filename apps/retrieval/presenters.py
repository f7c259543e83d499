"""Panels that apps above this one add to the page of a complete run."""

from collections.abc import Callable
from typing import Any, NamedTuple

from apps.accounts.access.pages import MemberRequest
from apps.retrieval.models import Run


class RunPanel(NamedTuple):
    """A template, and what it shows as `panel`."""

    template: str
    panel: Any


MakePanel = Callable[[MemberRequest, Run], RunPanel]
_panels: list[MakePanel] = []


def on_run_page(panel: MakePanel) -> MakePanel:
    """Register a panel, shown above the details of the run."""
    if panel not in _panels:
        _panels.append(panel)
    return panel


def panels_of(request: MemberRequest, run: Run) -> list[RunPanel]:
    """The panels in the order of registration."""
    return [panel(request, run) for panel in _panels]
