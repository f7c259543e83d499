"""What apps above this one know of questions: sets to make runs on, as of a version, and other names of queries."""

from collections.abc import Callable
from typing import NamedTuple

from django.db.models import Q
from django.http import Http404

from apps.accounts.models import Project


class QuestionSet(NamedTuple):
    """A set of questions: how files and the API write it, its name on pages, and the condition for its queries."""

    key: str
    name: str
    condition: Q


class QuestionSets(NamedTuple):
    """What an app offers: every set of a project, newest first, and one by its key, or None."""

    offered: Callable[[Project], list[QuestionSet]]
    named: Callable[[Project, str], QuestionSet | None]


Names = Callable[[Project], dict[str, str]]
"""Names under which files may call queries of the project, each with the outside id of its query."""

_OFFERS: list[QuestionSets] = []
_NAMES: list[Names] = []


def offer_question_sets(sets: QuestionSets) -> None:
    """Add the sets of an app, once; it calls this from its `ready`."""
    if sets not in _OFFERS:
        _OFFERS.append(sets)


def question_sets(project: Project) -> list[QuestionSet]:
    return [one for sets in _OFFERS for one in sets.offered(project)]


def question_set(project: Project, key: str) -> QuestionSet:
    """The set with this key. Raises Http404."""
    for sets in _OFFERS:
        if (found := sets.named(project, key)) is not None:
            return found
    raise Http404("No such questions.")


def also_named(names: Names) -> None:
    """Add other names of queries, once; an app calls this from its `ready`."""
    if names not in _NAMES:
        _NAMES.append(names)


def other_names(project: Project) -> dict[str, str]:
    return {name: outside_id for names in _NAMES for name, outside_id in names(project).items()}
