"""Panels that apps above this one add to the page of an evaluation, and to that of a version's slices."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from apps.evaluation.models import Evaluation
from apps.goldsets.models import Version


class Panel(NamedTuple):
    """A template and its rows."""

    template: str
    rows: Sequence[Any]


_slice_panels: list[Callable[[Version], Panel]] = []
_panels: list[Callable[[Evaluation], Panel]] = []


def on_evaluation_page(panel: Callable[[Evaluation], Panel]) -> Callable[[Evaluation], Panel]:
    """Register a panel for the page of every scored evaluation."""
    if panel not in _panels:
        _panels.append(panel)
    return panel


def panels_of(evaluation: Evaluation) -> list[Panel]:
    """The panels in the order of registration."""
    return [panel(evaluation) for panel in _panels]


def on_slices_page(panel: Callable[[Version], Panel]) -> Callable[[Version], Panel]:
    """Register a panel for the page of the slices of every version."""
    if panel not in _slice_panels:
        _slice_panels.append(panel)
    return panel


def slice_panels_of(version: Version) -> list[Panel]:
    """The panels in the order of registration."""
    return [panel(version) for panel in _slice_panels]
