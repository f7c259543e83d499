"""What in a text tells of a person or opens a door: addresses, telephone numbers, numbers with checksums, tokens.

Each pattern reads a text once: what it may repeat is bounded, and it begins only where such a value can begin.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from ipaddress import AddressValueError, IPv4Address
from typing import NamedTuple


class Detected(NamedTuple):
    what: str
    text: str


def _always(text: str) -> bool:
    return True


def _digits(text: str) -> list[int]:
    return [int(letter) for letter in text if letter.isdigit()]


def is_card_number(text: str) -> bool:
    """By the first digits and lengths of card networks, and the check digit of Luhn (ISO/IEC 7812-1)."""
    digits = _digits(text)
    if len(digits) not in {14, 15, 16, 19} or digits[0] not in {2, 3, 4, 5, 6} or len(set(digits)) == 1:
        return False
    doubled = [sum(divmod(2 * digit, 10)) if place % 2 else digit for place, digit in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0


def is_iban(text: str) -> bool:
    """By the check digits of ISO 13616: the number, its first four signs at the end, leaves 1 when divided by 97."""
    signs = re.sub(r"\W", "", text)
    return 15 <= len(signs) <= 34 and int("".join(str(int(sign, 36)) for sign in signs[4:] + signs[:4])) % 97 == 1


def is_telephone_number(text: str) -> bool:
    """So many digits as a number has with its area or country, and no date."""
    return 9 <= len(_digits(text)) <= 15 and not re.match(r"\d{1,2}[-/. ]\d{1,2}[-/. ]\d{2,4}\b", text)


def is_network_address(text: str) -> bool:
    """An IPv4 address that anybody on the internet has; private ones and those of examples name nobody."""
    try:
        return IPv4Address(text).is_global
    except AddressValueError:
        return False


EMAIL, TELEPHONE, NETWORK, CARD, IBAN, TOKEN = (
    "e-mail address",
    "telephone number",
    "network address",
    "card number",
    "bank account number",
    "token or key",
)
_TELEPHONES = (
    r"(?<![\w+])\+\d(?:[ ().\-/]{0,2}\d){7,14}(?![\w])"
    r"|(?<![\w.,:/+-])(?<!\d )\(?0\d{1,4}\)?[ \-/](?:[ \-/]?\d){5,11}(?![\w])"
    r"|(?<![\w.,:/+-])(?:\(\d{3}\) ?|\d{3}[.-])\d{3}[ .-]\d{4}(?![\w.-]\d|\w)"
)
_TOKENS = (
    r"(?<!\w)(?:gh[pousr]_\w{30,255}|github_pat_\w{30,255}|glpat-[\w-]{20,64}|xox[abeprs]-[\w-]{10,255}"
    r"|sk-[\w-]{20,255}|[sr]k_(?:live|test)_\w{16,255}|A(?:KIA|SIA)[A-Z0-9]{16}|AIza[\w-]{35}|hf_\w{30,64}"
    r"|npm_\w{36}|pypi-[\w-]{40,255}|karat_[\w-]{20,255})(?!\w)"
    r"|(?<!\w)eyJ[\w-]{8,2000}\.eyJ[\w-]{8,4000}\.[\w-]{8,2000}"
    r"|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----"
    r"|(?<!\w)[Bb]earer [\w.~+/-]{20,500}"
    r"|(?<!\w)[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,100}:[^\s/@]{1,200}@"
)
DETECTORS: tuple[tuple[str, re.Pattern[str], Callable[[str], bool]], ...] = (
    (EMAIL, re.compile(r"(?<![\w.%+-])[\w.%+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"), _always),
    (TOKEN, re.compile(_TOKENS), _always),
    (IBAN, re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)"), is_iban),
    (CARD, re.compile(r"(?<![\w.+-])\d(?:[ -]?\d){12,18}(?![\w-]|\.\d)"), is_card_number),
    (NETWORK, re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w]|\.\d)"), is_network_address),
    (TELEPHONE, re.compile(_TELEPHONES), is_telephone_number),
)


def detected_in(text: str) -> Iterator[Detected]:
    """What is found, by kind; of overlapping finds the first kind has it."""
    taken = bytearray(len(text))
    for what, pattern, holds in DETECTORS:
        for match in pattern.finditer(text):
            start, end = match.span()
            if holds(match.group()) and not any(taken[start:end]):
                taken[start:end] = b"1" * (end - start)
                yield Detected(what, match.group())
