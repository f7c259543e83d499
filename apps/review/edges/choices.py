"""A reviewer's choices, as the screens show them: each choice with its key and its help."""

from collections.abc import Iterable
from typing import NamedTuple

from apps.review.core.visibility import POLICIES
from apps.review.enums import CATEGORY_KEYS, REASON_HELP, REASON_KEYS, Category, Reason


class ShownChoice(NamedTuple):
    value: str
    label: str
    help: str
    key: str
    checked: bool


def reasons_shown(chosen: Iterable[str]) -> list[ShownChoice]:
    """The six reasons in the order of their keys, those of `chosen` ticked."""
    ticked = set(chosen)
    return [
        ShownChoice(reason.value, reason.label, REASON_HELP[reason], REASON_KEYS[reason], reason.value in ticked)
        for reason in Reason
    ]


def categories_shown(chosen: str) -> list[ShownChoice]:
    """The kinds of entailment in the order of their keys, each with its policy."""
    return [
        ShownChoice(kind.value, kind.label, POLICIES[kind].short, CATEGORY_KEYS[kind], kind.value == chosen)
        for kind in Category
    ]
