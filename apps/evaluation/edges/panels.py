"""Parts of the page of one evaluation that apps above this one add to it."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from apps.evaluation.models import Evaluation


class Panel(NamedTuple):
    """A template and the rows that it shows."""

    template: str
    rows: Sequence[Any]


_panels: list[Callable[[Evaluation], Panel]] = []


def on_evaluation_page(panel: Callable[[Evaluation], Panel]) -> Callable[[Evaluation], Panel]:
    """Register a part of the page of every evaluation that was scored."""
    if panel not in _panels:
        _panels.append(panel)
    return panel


def panels_of(evaluation: Evaluation) -> list[Panel]:
    """The parts in the order they were registered."""
    return [panel(evaluation) for panel in _panels]
