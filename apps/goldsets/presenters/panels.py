"""Panels that apps above this one add to the page of a frozen version."""

from collections.abc import Callable
from typing import Any, NamedTuple

from apps.goldsets.models import Version


class VersionPanel(NamedTuple):
    """A template, and what it shows as `panel`."""

    template: str
    panel: Any


MakePanel = Callable[[Version], VersionPanel | None]
_panels: list[MakePanel] = []


def on_version_page(panel: MakePanel) -> MakePanel:
    """Register a panel; None where it has nothing to show."""
    if panel not in _panels:
        _panels.append(panel)
    return panel


def panels_of(version: Version) -> list[VersionPanel]:
    """The panels in the order of registration."""
    return [made for panel in _panels if (made := panel(version))]
