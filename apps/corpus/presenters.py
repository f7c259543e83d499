"""What apps above show on the page of an applied import."""

from collections.abc import Callable
from typing import Any, NamedTuple

from apps.accounts.selectors import Member
from apps.common.discovery import Registered
from apps.corpus.models import Import


class ImportPanel(NamedTuple):
    """A template, and what it shows as `panel`."""

    template: str
    panel: Any


on_import_page: Registered[Callable[[Import, Member], ImportPanel | None]] = Registered()
"""Panels of apps above; None where one has nothing to show."""


def panels_of(item: Import, member: Member) -> list[ImportPanel]:
    return [made for panel in on_import_page if (made := panel(item, member))]
