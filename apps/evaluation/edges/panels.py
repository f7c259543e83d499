"""Panels that apps above this one add to the page of an evaluation."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from apps.evaluation.models import Evaluation


class Panel(NamedTuple):
    """A template and its rows."""

    template: str
    rows: Sequence[Any]


_panels: list[Callable[[Evaluation], Panel]] = []


def on_evaluation_page(panel: Callable[[Evaluation], Panel]) -> Callable[[Evaluation], Panel]:
    """Register a panel for the page of every scored evaluation."""
    if panel not in _panels:
        _panels.append(panel)
    return panel


def panels_of(evaluation: Evaluation) -> list[Panel]:
    """The panels in the order of registration."""
    return [panel(evaluation) for panel in _panels]
