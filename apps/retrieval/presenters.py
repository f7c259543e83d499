"""Panels that apps above this one add to the page of a complete run."""

from collections.abc import Callable
from typing import Any, NamedTuple

from apps.accounts.access.pages import MemberRequest
from apps.common.discovery import Registered
from apps.retrieval.models import Run


class RunPanel(NamedTuple):
    """A template, and what it shows as `panel`."""

    template: str
    panel: Any


MakePanel = Callable[[MemberRequest, Run], RunPanel]
on_run_page: Registered[MakePanel] = Registered()
"""The panels, shown above the details of the run."""
