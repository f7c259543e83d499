"""The one form of an e-mail address, and lists of people to invite by theirs. No Django.

Databases and programs disagree about which letters are the same: PostgreSQL takes ı for I and ſ for S, SQLite does not.
So an address has ASCII letters only, small ones, and a domain with others stands in it as DNS has it (IDNA).
"""

import csv
import re
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import NamedTuple

from apps.accounts.enums import Role
from apps.common.errors import InputError, Refusal

LONGEST = 254


class NoAddress(Refusal):
    """What is no e-mail address that can be stored, with a sentence that says what to type instead."""


def plain_address(text: str) -> str:
    """The address in its one form. Raises NoAddress for one with other than ASCII letters before the @."""
    mailbox, at, domain = text.strip().rpartition("@")
    if not (mailbox and at and domain):
        raise NoAddress(f"“{text.strip()}” is no e-mail address. Type it like name@example.org.", code="address")
    if not (mailbox.isascii() and mailbox.isprintable()):
        raise NoAddress(
            f"“{text.strip()}” has a letter before the @ that is not one of a to z. Type an address without it.",
            code="address",
        )
    address = f"{mailbox.lower()}@{plain_domain(domain)}"
    if len(address) > LONGEST or " " in address:
        raise NoAddress(f"“{text.strip()}” is no e-mail address. Type it like name@example.org.", code="address")
    return address


def plain_domain(text: str) -> str:
    """A domain as DNS has it. Raises NoAddress for one with a letter that would become another one."""
    domain = "".join(letter.lower() if letter.isascii() or not letter.lower().isascii() else letter for letter in text)
    if domain.isascii():
        return domain
    try:
        written = domain.encode("idna").decode("ascii")
        is_same = written.encode("ascii").decode("idna") == domain
    except UnicodeError:
        is_same = False
    if not is_same:
        raise NoAddress(
            f"The domain “{text}” has a letter that stands for another one. Type the domain as it is registered, such "
            "as example.org or xn--bcher-kva.example.",
            code="address",
        )
    return written


MOST_GUESTS = 200
LONGEST_NAME = 120
MOST_MISTAKES = 20
PASTED = ""
"""The name of the file in errors about what somebody pasted."""
_ADDRESS = re.compile(r"[^@\s,;\"]+@[^@\s,;\"]+\.[^@\s,;.\"]+")
_SEPARATORS = "\t;,"
_ROLES = re.compile(r"(?:[\s+/&,;]|\band\b)+")
_HEADINGS = frozenset({"name", "e-mail", "email", "e-mail address", "mail", "address", "role", "roles"})


class Guest(NamedTuple):
    """Somebody to invite. Without an address they enter their own when they open the link."""

    name: str
    email: str
    roles: tuple[str, ...]

    @property
    def line(self) -> str:
        """A line that is read as this guest."""
        parts = [part for part in (self.name, self.email, " ".join(self.roles)) if part]
        written = StringIO()
        csv.writer(written, delimiter="\t", lineterminator="").writerow(parts)
        return written.getvalue()


class GuestList(NamedTuple):
    """The guests in the order of their lines, and what is wrong, each mistake with its line, field and value."""

    guests: list[Guest]
    mistakes: list[InputError]


def read_guests(text: str, roles: Sequence[str], *, file: str = PASTED) -> GuestList:
    """Read one guest a line; parts are separated by a comma, semicolon or tab, in any order, and may be quoted.

    The part with an @ is the address, a part of role names the roles, the first other part the name. A line that names
    no role gets `roles`. Empty lines are skipped, and so is a line of headings. Reading ends after 20 mistakes.
    """
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    if lines and _is_heading(lines[0][1]):
        del lines[0]
    if len(lines) > MOST_GUESTS:
        what = f"{len(lines):,} people are too many at once. Invite at most {MOST_GUESTS} together"
        return GuestList([], [InputError(file, None, "", "", what)])
    guests: list[Guest] = []
    mistakes: list[InputError] = []
    at: dict[str, int] = {}
    for number, line in lines:
        try:
            guest = _read(line, tuple(sorted(set(roles))))
            if guest.email and (first := at.setdefault(guest.email, number)) != number:
                raise _Wrong("e-mail", guest.email, f"“{guest.email}” is in line {first} too")
            guests.append(guest)
        except _Wrong as wrong:
            mistakes.append(InputError(file, number, wrong.field, wrong.value, wrong.message))
            if len(mistakes) == MOST_MISTAKES:
                break
    return GuestList(guests, mistakes)


def sentence(mistake: InputError) -> str:
    """A mistake as a page says it: "Line 3, role: …", after the name of its file."""
    words = str(mistake).removeprefix(f"{PASTED}, ").removeprefix(": ")
    return f"{words[:1].upper()}{words[1:]}." if mistake.file == PASTED else f"{words}."


class _Wrong(Exception):
    def __init__(self, field: str, value: str, message: str) -> None:
        super().__init__(message)
        self.field, self.value, self.message = field, value, message


def _read(line: str, roles: tuple[str, ...]) -> Guest:
    name, email = "", ""
    named: tuple[str, ...] = ()
    for part in _parts(line):
        words = [word.lower() for word in _ROLES.split(part)]
        if "@" in part:
            if email:
                raise _Wrong("e-mail", part, f"“{part}” is a second address")
            if not _ADDRESS.fullmatch(part):
                raise _Wrong("e-mail", part, f"“{part}” is not an e-mail address")
            try:
                email = plain_address(part)
            except NoAddress as wrong:
                raise _Wrong("e-mail", part, wrong.sentence.rstrip(".")) from None
        elif set(words) <= set(Role.values):
            named = tuple(sorted({*named, *words}))
        elif name:
            raise _Wrong("role", part, f"“{part}” is no role; roles are {', '.join(Role.values)}")
        else:
            name = part
    if not (named or roles):
        raise _Wrong("role", "", "it names no role, and none is ticked")
    if len(name) > LONGEST_NAME:
        raise _Wrong("name", name, f"the name is longer than {LONGEST_NAME} characters")
    return Guest(name, email, named or roles)


def _parts(line: str) -> Iterator[str]:
    """The parts of a line, split at tabs, or else at semicolons, or else at commas; what is quoted is not split."""
    outside = re.sub(r'"[^"]*"', "", line)
    separator = next((letter for letter in _SEPARATORS if letter in outside), ",")
    for part in next(csv.reader([line], delimiter=separator, skipinitialspace=True), []):
        if stripped := " ".join(part.split()):
            yield stripped


def _is_heading(line: str) -> bool:
    return all(part.lower() in _HEADINGS for part in _parts(line))
