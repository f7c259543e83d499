"""What must not go out, as internal words, names of people and what detectors find, and the preview of a record."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from ipaddress import AddressValueError, IPv4Address
from typing import Any, NamedTuple


class PreviewLine(NamedTuple):
    """A field. `kept` goes out as it is; `struck` is left out, and `inserted` takes its place. Values are JSON."""

    name: str
    kept: str = ""
    struck: str = ""
    inserted: str = ""


def preview_lines(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[PreviewLine]:
    """The fields in the order of the version's record."""
    public = dict(_flat(after))
    return [_line(name, value, public.get(name)) for name, value in _flat(before)]


def _line(name: str, value: Any, public: Any) -> PreviewLine:
    written = json.dumps(value, ensure_ascii=False)
    if value == public:
        return PreviewLine(name, kept=written)
    inserted = "" if public in (None, "", [], {}) else json.dumps(public, ensure_ascii=False)
    return PreviewLine(name, struck=written, inserted=inserted)


def _flat(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """The fields with those of inner objects under their path, such as `metadata.added_by`."""
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


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
# A detector reads a text once: what its pattern may repeat is bounded, and begins only where such a value can begin.
DETECTORS: tuple[tuple[str, re.Pattern[str], Callable[[str], bool]], ...] = (
    (EMAIL, re.compile(r"(?<![\w.%+-])[\w.%+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"), bool),
    (TOKEN, re.compile(_TOKENS), bool),
    (IBAN, re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)"), is_iban),
    (CARD, re.compile(r"(?<![\w.+-])\d(?:[ -]?\d){12,18}(?![\w-]|\.\d)"), is_card_number),
    (NETWORK, re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w]|\.\d)"), is_network_address),
    (TELEPHONE, re.compile(_TELEPHONES), is_telephone_number),
)


def detected_in(text: str) -> Iterator[Found]:
    """What detectors find, by kind; of overlapping finds the first kind has it."""
    taken = bytearray(len(text))
    for what, pattern, holds in DETECTORS:
        for match in pattern.finditer(text):
            start, end = match.span()
            if holds(match.group()) and not any(taken[start:end]):
                taken[start:end] = b"1" * (end - start)
                yield Found(match.group(), what)


NAME, WORD = "name of a person", "internal word"
TITLES = "Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Sir|Herr|Frau|Mme|Mlle|Sr|Sra|Señor|Señora"
SHORTEST_NAME = 3
"""A name with fewer letters is too often a word or an initial."""


class ForbiddenWords(NamedTuple):
    """What to look for.

    `inside` are found within words too, `whole` only as whole words, both whatever their case. `names` are names of
    people: whole, and the family name where only a person can be meant, behind a title or an initial. `allowed` are
    texts that a lead lets go out all the same, on the record.
    """

    inside: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()


class Found(NamedTuple):
    """A text that must not go out, and what it is: NAME, WORD, or what a detector calls it."""

    word: str
    what: str


class WordSearch:
    """Searches texts for forbidden words, addresses, numbers and tokens. White space and forms of the same letter make
    no difference.
    """

    def __init__(self, words: ForbiddenWords) -> None:
        self.count = len({_folded(word) for part in words[:3] for word in part if word.strip()})
        self._allowed = {_folded(word) for word in words.allowed}
        self._inside = _pattern(map(_folded, words.inside), "", "")
        self._whole = _pattern(map(_folded, words.whole), r"(?<!\w)", r"(?!\w)")
        names = [_spaced(name) for name in words.names]
        self._names = _pattern((_folded(name) for name in names if " " in name or "@" in name), r"(?<!\w)", r"(?!\w)")
        # One name alone may be a word: "Will it rain?". Inside a sentence, with its capital, it is a person.
        alone = (name for name in names if " " not in name and "@" not in name and _is_telling(name))
        self._alone = _pattern(alone, r"(?<=[\w,;] )", r"(?!\w)")
        family = [name.split(" ")[-1] for name in names if "@" not in name]
        self._addressed = _pattern(filter(_is_telling, family), rf"(?<!\w)(?:(?:{TITLES})\.? |[A-Z]\. ?)", r"(?!\w)")

    def find(self, text: str) -> Found | None:
        return next(self.find_all(text), None)

    def find_all(self, text: str) -> Iterator[Found]:
        """What must not go out of a text: internal words, then names, then what the detectors find."""
        if not text:
            return
        spaced = _spaced(text)
        folded = spaced.casefold()
        for pattern, searched, what in (
            (self._inside, folded, WORD),
            (self._whole, folded, WORD),
            (self._names, folded, NAME),
            (self._addressed, spaced, NAME),
            (self._alone, spaced, NAME),
        ):
            for match in pattern.finditer(searched) if pattern else ():
                if match.group().casefold() not in self._allowed:
                    yield Found(match.group(), what)
        yield from (found for found in detected_in(spaced) if found.word.casefold() not in self._allowed)

    def finds(self, text: str) -> list[Found]:
        """Each text once, as what it was found first."""
        return list({_folded(found.word): found for found in reversed([*self.find_all(text)])}.values())[::-1]

    def find_in(self, texts: Iterable[str]) -> Found | None:
        return next((found for text in texts if (found := self.find(text))), None)


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a plain value, without the keys of objects."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_in(inner)


def _pattern(words: Iterable[str], before: str, after: str) -> re.Pattern[str] | None:
    longest_first = sorted({word for word in words if word}, key=lambda word: (-len(word), word))
    if not longest_first:
        return None
    return re.compile(f"{before}(?:{'|'.join(map(re.escape, longest_first))}){after}")


def _is_telling(part: str) -> bool:
    return len(part) >= SHORTEST_NAME and part[0].isupper()


def _folded(text: str) -> str:
    return _spaced(text).casefold()


def _spaced(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())
