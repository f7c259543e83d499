"""The people to invite, read from lines "name, e-mail, role". No Django."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from apps.accounts.enums import Role

MOST_GUESTS = 100
LONGEST_NAME = 120
_ADDRESS = re.compile(r"[^@\s,;]+@[^@\s,;]+\.[^@\s,;.]+")
_SPLIT = re.compile(r"[,;\t]")
_ROLES = re.compile(r"[\s+/&]+")


class Guest(NamedTuple):
    """Somebody to invite. Without an address they enter their own when they open the link."""

    name: str
    email: str
    roles: tuple[str, ...]


NOBODY = Guest("", "", ())


class GuestList(NamedTuple):
    """The guests in the order of their lines, and what is wrong, one sentence a mistake with its line."""

    guests: list[Guest]
    mistakes: list[str]


def read_guests(text: str, roles: Sequence[str]) -> GuestList:
    """Read one guest a line; parts are separated by a comma, semicolon or tab, in any order. Empty lines are skipped.

    The part with an @ is the address, a part of role names the roles, the first other part the name. A line that names
    no role gets `roles`.
    """
    guests: list[Guest] = []
    mistakes: list[str] = []
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    if len(lines) > MOST_GUESTS:
        return GuestList([], [f"{len(lines):,} lines are too many at once. Invite at most {MOST_GUESTS}."])
    for number, line in lines:
        guest, mistake = _read(line, tuple(sorted(set(roles))))
        if not mistake and guest.email and any(guest.email == other.email for other in guests):
            mistake = f"{guest.email} is in another line too"
        if mistake:
            mistakes.append(f"Line {number}: {mistake}.")
        else:
            guests.append(guest)
    return GuestList(guests, mistakes)


def _read(line: str, roles: tuple[str, ...]) -> tuple[Guest, str]:
    name, email = "", ""
    named: tuple[str, ...] = ()
    for part in filter(None, (part.strip() for part in _SPLIT.split(line))):
        words = [word.lower() for word in _ROLES.split(part)]
        if "@" in part:
            if email:
                return NOBODY, f"“{part}” is a second address"
            if not _ADDRESS.fullmatch(part):
                return NOBODY, f"“{part}” is not an e-mail address"
            email = part.lower()
        elif set(words) <= set(Role.values):
            named = tuple(sorted({*named, *words}))
        elif name:
            return NOBODY, f"“{part}” is neither an e-mail address nor a role; roles are {', '.join(Role.values)}"
        else:
            name = part
    if not (named or roles):
        return NOBODY, "names no role, and none is ticked"
    if len(name) > LONGEST_NAME:
        return NOBODY, f"the name is longer than {LONGEST_NAME} characters"
    return Guest(name, email, named or roles), ""
