"""The number of a version, major.minor.patch, by what changed since the version before, and the change in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from apps.common.text.wording import plural

NAMED = 12
NOTHING = "Nothing was added, fixed or retired."


class Changes(NamedTuple):
    """The names of the items that changed, by what changed in them."""

    retired: Sequence[str] = ()
    regraded: Sequence[str] = ()
    reworded: Sequence[str] = ()
    repinned: Sequence[str] = ()
    remarked: Sequence[str] = ()
    added: Sequence[str] = ()
    redescribed: Sequence[str] = ()
    other_passages: bool = False


class Numbered(NamedTuple):
    """A number and why it is this one, as a sentence."""

    number: str
    reason: str


FIRST = Numbered("1.0.0", "The first version of its gold set.")
IN_WORDS = {
    "retired": "retired",
    "regraded": "graded anew",
    "reworded": "reworded",
    "repinned": "on another text of the passage",
    "remarked": "with other evidence",
    "added": "added",
    "redescribed": "with other metadata",
}
MAJOR = ("retired", "regraded", "reworded", "repinned", "remarked")
OTHER_PASSAGES = "the corpus has other passages"


def next_number(former: str, changes: Changes) -> Numbered:
    """The number after `former`: major where an item was fixed or retired, minor where something was added, else patch.

    Passages that were added to the corpus or left it count as an addition: systems search among others than before.
    """
    major, minor, patch = map(int, former.split("."))
    if fixed := _counted(changes, MAJOR):
        return Numbered(f"{major + 1}.0.0", f"Major: {fixed}.")
    added = list(filter(None, [_counted(changes, ["added"]), OTHER_PASSAGES if changes.other_passages else ""]))
    if added:
        return Numbered(f"{major}.{minor + 1}.0", f"Minor: {', and '.join(added)}.")
    described = _counted(changes, ["redescribed"])
    reason = f"Patch: {described}." if described else f"Patch: {NOTHING[0].lower()}{NOTHING[1:]}"
    return Numbered(f"{major}.{minor}.{patch + 1}", reason)


def _counted(changes: Changes, kinds: Sequence[str]) -> str:
    return ", ".join(_one_kind(kind, len(getattr(changes, kind))) for kind in kinds if getattr(changes, kind))


def draft_changelog(changes: Changes, *, named: frozenset[str]) -> str:
    """A line for each kind of change, with the number of items and the names of those that are in `named`.

    Names of test items are not in `named`: a changelog is for everybody.
    """
    lines = [_line(kind, getattr(changes, kind), named) for kind in IN_WORDS if getattr(changes, kind)]
    if changes.other_passages:
        lines.append(f"- {OTHER_PASSAGES[0].upper()}{OTHER_PASSAGES[1:]}.")
    return "\n".join(lines) or f"- {NOTHING}"


def _line(kind: str, names: Sequence[str], named: frozenset[str]) -> str:
    head = f"- {_one_kind(kind, len(names))}"
    shown = [name for name in names if name in named][:NAMED]
    if not shown:
        return f"{head}."
    more = len(names) - len(shown)
    return f"{head}: {', '.join(shown)}{f' and {more:,} more' if more else ''}."


def _one_kind(kind: str, count: int) -> str:
    return f"{plural(count, 'item')} {IN_WORDS[kind]}"
