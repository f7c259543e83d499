"""The people to invite, read from lines "name, e-mail, role", pasted or in a file. No Django."""

import csv
import os
import re
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from apps.accounts.core.browsers import NoAddress, plain_address
from apps.accounts.enums import Role
from apps.common.errors import InputError

VERSION = b"\x01"
NONCE_BYTES = 12


class SealBroken(Exception):
    """The key differs from the one used to seal, or the sealed bytes belong to another place."""


def seal(text: str, *, key: str, place: str) -> bytes:
    """The text encrypted for one `place`: it cannot be decrypted for another."""
    nonce = os.urandom(NONCE_BYTES)
    return VERSION + nonce + _cipher(key).encrypt(nonce, text.encode(), place.encode())


def unseal(sealed: bytes, *, key: str, place: str) -> str:
    """The text given to `seal`. Raises SealBroken."""
    nonce, rest = sealed[1 : 1 + NONCE_BYTES], sealed[1 + NONCE_BYTES :]
    if sealed[:1] != VERSION or len(nonce) < NONCE_BYTES:
        raise SealBroken
    try:
        return _cipher(key).decrypt(nonce, rest, place.encode()).decode()
    except InvalidTag:
        raise SealBroken from None


def _cipher(key: str) -> AESGCM:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"karat project secrets")
    return AESGCM(derived.derive(key.encode()))


class Holding(NamedTuple):
    """Some things of one kind that a person has, and what becomes of them when the person leaves.

    `what` is the noun, singular and plural where that is not the same with an s: "identity,identities".
    """

    what: str
    number: int
    becomes: str
    project: str = ""

    @property
    def as_record(self) -> dict[str, Any]:
        facts = {"what": self.what.partition(",")[0], "count": self.number}
        return {**facts, "project": self.project} if self.project else facts


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
