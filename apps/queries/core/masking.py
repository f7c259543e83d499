"""Finds and masks what tells of a person in a query: addresses, numbers, keys, and the names on a project's list.

Rules alone, without a model. What a rule cannot know, such as a person's name that is on no list, is for the person who
reads the query. Where a rule is not sure it masks: a masked order number loses less than a stored account number. A
public release has stricter rules of its own, for whole documents, where a wrong find stops a page of numbers.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from ipaddress import ip_address
from itertools import pairwise
from math import log2
from typing import NamedTuple
from unicodedata import normalize

EMAIL, LINK, IP, PHONE, CARD, IBAN, NATIONAL_ID, KEY, STREET, LISTED = KINDS = (
    "e-mail",
    "link",
    "IP address",
    "phone",
    "card",
    "IBAN",
    "national id",
    "key",
    "street address",
    "name on list",
)
"""The kinds of what is masked, as they stand in the text that is kept: "reset password for [e-mail]"."""

BY_PEOPLE = ("customer", "person", "place", "something else")
"""The kinds that a person who reads a query can choose for what no rule finds."""
MASK = re.compile(rf"\[({'|'.join((*KINDS, *BY_PEOPLE))})\]")


class Masked(NamedTuple):
    """A text with its masks, and the kind of each, in the order of `KINDS`."""

    text: str
    found: tuple[str, ...] = ()


class Names:
    """A list of names to mask, of one word or several; case and what stands between words do not matter."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._by_first: dict[str, list[tuple[str, ...]]] = {}
        for name in names:
            words = tuple(_folded(name))
            if words:
                self._by_first.setdefault(words[0], []).append(words)
        for listed in self._by_first.values():
            listed.sort(key=len, reverse=True)

    def __bool__(self) -> bool:
        return bool(self._by_first)

    def mask(self, text: str, as_kind: str = LISTED) -> tuple[str, int]:
        """The text with a mask for each name, the longest that fits, and how many there were."""
        text = normalize("NFC", text)
        masks = {place for found in MASK.finditer(text) for place in range(*found.span())}
        words = [
            (match.start(), match.end(), match[0].casefold())
            for match in _WORD.finditer(text)
            if match.start() not in masks
        ]
        parts, place, count, at = [], 0, 0, 0
        while at < len(words):
            for name in self._by_first.get(words[at][2], ()):
                if tuple(word for _, _, word in words[at : at + len(name)]) == name:
                    parts += [text[place : words[at][0]], f"[{as_kind}]"]
                    place, count = words[at + len(name) - 1][1], count + 1
                    at += len(name) - 1
                    break
            at += 1
        return "".join([*parts, text[place:]]), count


NO_NAMES = Names()


def mask(text: str, names: Names = NO_NAMES) -> Masked:
    """The text with `[kind]` in the place of each thing that was found."""
    if not (names or _WORTH_A_LOOK.search(text)):
        return Masked(text)
    plain, found = text.translate(_PLAIN), Counter[str]()
    for kind, pattern, is_one in _DETECTORS:

        def masked(match: re.Match[str], kind: str = kind, is_one: Callable[[str], bool] = is_one) -> str:
            if not is_one(match[0]):
                return match[0]
            found[kind] += 1
            return f"[{kind}]"

        plain = pattern.sub(masked, plain)
    plain, found[LISTED] = names.mask(plain)
    kinds = tuple(kind for kind in KINDS for _ in range(found[kind]))
    return Masked(plain, kinds) if kinds else Masked(text)


def with_masks(text: str) -> list[tuple[str, bool]]:
    """The text in parts, each with whether it is a mask, without its brackets."""
    parts, place = list[tuple[str, bool]](), 0
    for found in MASK.finditer(text):
        if found.start() > place:
            parts.append((text[place : found.start()], False))
        parts.append((found[1], True))
        place = found.end()
    return [*parts, (text[place:], False)] if place < len(text) else parts


def _folded(text: str) -> Iterator[str]:
    return (match[0].casefold() for match in _WORD.finditer(normalize("NFC", text)))


_WORD = re.compile(r"[^\W_]+")
_PLAIN: Mapping[int, str | None] = {
    **{wide: chr(wide - 0xFEE0) for wide in range(0xFF01, 0xFF5F)},
    **dict.fromkeys((0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0xAD)),
    **dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2013, 0x2212), "-"),
    **dict.fromkeys((0xA0, 0x2007, 0x2009, 0x202F), " "),
}
"""Wide letters and signs as plain ones, and no signs without width: neither hides a number."""
_WORTH_A_LOOK = re.compile(
    r"[@\uff20:/\\=]|%40|\d|[-\w.+]{12}|\?\S|www\.|\b(?:at|dot)\b|[\u200b-\u200d\u2060\ufeff\xad\uff01-\uff5e]",
    re.IGNORECASE,
)
"""What every detector needs one of; most queries have none, and are not searched further."""


def _digits(text: str) -> str:
    return "".join(str(int(sign)) for sign in text if sign.isdecimal())


def _weighted(digits: str, weights: Iterable[int]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False))


def is_luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of ISO/IEC 7812-1, annex B (Luhn)."""
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits)))
    return sum(value - 9 * (value > 9) for value in doubled) % 10 == 0


def _is_card(text: str) -> bool:
    """Whether it is a card's number, alone or before others such as its last month."""
    parts = re.findall(r"\d+", text)
    runs = ["".join(parts[:number]) for number in range(1, len(parts) + 1)]
    return any(13 <= len(digits) <= 19 and len(set(digits)) > 1 and is_luhn(digits) for digits in map(_digits, runs))


def _is_iban(text: str) -> bool:
    """Whether the remainder by 97 is 1, as ISO 13616 has it; of a text that runs on, one of its beginnings."""
    compact = re.sub(r"[^A-Z0-9]", "", text.upper()).removeprefix("IBAN")
    return any(_remainder_97(compact[:length]) == 1 for length in range(15, min(len(compact), 34) + 1))


def _remainder_97(compact: str) -> int:
    return int("".join(str(int(sign, 36)) for sign in compact[4:] + compact[:4])) % 97


def _is_ip(text: str) -> bool:
    """Whether it is an address that can be of one person: not "std::a", "::1" or a mask of networks."""
    try:
        address = ip_address(text.partition("/")[0].partition("%")[0])
    except ValueError:
        return False
    is_of_everybody = address.is_loopback or address.is_unspecified or str(address).startswith("255.")
    return not is_of_everybody and any(sign.isdigit() for sign in text)


def _is_phone(text: str) -> bool:
    """From 7 to 15 digits (E.164 allows 15): with the beginning of a call, or as many as no year or count has."""
    digits = _digits(text)
    parts = len(re.findall(r"\d+", text))
    day = r"(?:19|20)\d\d[-./ ]\d{1,2}[-./ ]\d{1,2}|\d{1,2}[-./ ]\d{1,2}[-./ ](?:19|20)\d\d"
    is_date = re.fullmatch(rf"(?:{day})(?: \d{{1,2}}(?:\.\d\d)?)?", text)
    is_local = re.fullmatch(r"\(?\d{3}-\d{4}", text)
    is_dialled = text.lstrip("( ").startswith(("+", "0"))
    is_decimal = re.fullmatch(r"\d+\.\d+", text) and not is_dialled
    least = 7 if is_dialled or is_local else 9 if parts > 2 else 10
    is_network = re.fullmatch(r"\d{1,3}(?:\.\d{1,3}){3}", text)
    return not (is_date or is_decimal or is_network) and least <= len(digits) <= 15


_SPANISH = "TRWAGMYFPDXBNJZSQVHLCKE"


def _is_national_id(text: str) -> bool:
    """Whether the form and, where there is one, the check digit are those of a national number of persons.

    Of the United States, the United Kingdom, Germany, France, Italy, Spain, Poland, Sweden, the Netherlands,
    Switzerland, Brazil and India.
    """
    compact = re.sub(r"[\s./-]", "", text).upper()
    digits = _digits(compact)
    if re.fullmatch(r"\d{3}[- ]\d{2}[- ]\d{4}", text):
        return True
    if len(digits) == 9 and not re.fullmatch(r"\d{9}|\d{4}[. ]\d{2}[. ]\d{3}|\d{3}([. ])\d{3}\1\d{3}", text):
        return False
    return any(is_one(digits) for is_one in _CHECKED.get(len(digits), ()))


def _is_lettered_id(text: str) -> bool:
    compact = re.sub(r"[ -]", "", text).upper()
    if spanish := re.fullmatch(r"([XYZ]?)(\d{7,8})([A-Z])", compact):
        number = int(str("XYZ".find(spanish[1])) + spanish[2]) if spanish[1] else int(spanish[2])
        return len(compact) == 9 and _SPANISH[number % 23] == spanish[3]
    british = r"(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]"
    italian = r"[A-Z]{6}[\dL-V]{2}[A-EHLMPRST][\dL-V]{2}[A-Z][\dL-V]{3}[A-Z]"
    return bool(re.fullmatch(f"{british}|{italian}", compact))


def _is_german(digits: str) -> bool:
    """A tax number of persons (ISO/IEC 7064, MOD 11,10)."""
    product = 10
    for digit in digits[:10]:
        total = (int(digit) + product) % 10 or 10
        product = total * 2 % 11
    return digits[0] != "0" and (11 - product) % 10 == int(digits[10])


def _is_brazilian(digits: str) -> bool:
    return len(set(digits)) > 1 and all(
        _weighted(digits, range(length + 1, 1, -1)) * 10 % 11 % 10 == int(digits[length]) for length in (9, 10)
    )


_D5 = ["0123456789", "1234067895", "2340178956", "3401289567", "4012395678"]
_D5 += ["5987604321", "6598710432", "7659821043", "8765932104", "9876543210"]
_TURNS = [
    "0123456789",
    "1576283094",
    "5803796142",
    "8916043527",
    "9453126870",
    "4286573901",
    "2793806415",
    "7046913258",
]


def _is_verhoeff(digits: str) -> bool:
    """Whether the check digit is that of Verhoeff (1969), as India's number has it."""
    check = 0
    for place, digit in enumerate(reversed(digits)):
        check = int(_D5[check][int(_TURNS[place % 8][int(digit)])])
    return check == 0 and digits[0] not in "01"


_CHECKED: Mapping[int, tuple[Callable[[str], bool], ...]] = {
    9: (lambda digits: (_weighted(digits, range(9, 1, -1)) - int(digits[8])) % 11 == 0 and int(digits) > 0,),
    10: (is_luhn,),
    11: (
        _is_german,
        _is_brazilian,
        lambda digits: _weighted(digits, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0,
    ),
    12: (_is_verhoeff, lambda digits: is_luhn(digits[2:])),
    13: (lambda digits: digits.startswith("756") and _weighted(digits, (1, 3) * 7) % 10 == 0,),
    15: (lambda digits: digits[0] in "123478" and 97 - int(digits[:13]) % 97 == int(digits[13:]),),
}
"""The checks of numbers of so many digits: the Netherlands; Sweden; Germany, Brazil, Poland; India, Sweden with the
century; Switzerland; France."""


def _is_key(text: str) -> bool:
    """A long code: hexadecimal, with a prefix of known keys, or with the mixture of signs that no word has."""
    if _HEX.fullmatch(text) or _PREFIXED.match(text):
        return True
    return any(len(run) >= 16 and _is_mixed(run) for run in re.findall(r"[A-Za-z0-9+=]+", text))


_CAMEL = re.compile(r"^[a-z]{3,}|[A-Z][a-z]{2,}")
"""The words of a name in a program, such as X509Certificate."""
_HEX = re.compile(r"(?:0x)?(?=[0-9a-f:-]*[0-9])[0-9a-f]{2}(?:[:-]?[0-9a-f]{2}){5,}[0-9a-f]?", re.IGNORECASE)
_PREFIXED = re.compile(r"(?:sk|pk|rk|ghp|gho|ghs|glpat|xox[abprs]|AKIA|ASIA|AIza|eyJ|npm|pypi|hf)[-_.A-Za-z0-9]{12,}")


def _is_mixed(run: str) -> bool:
    if len("".join(_CAMEL.findall(run))) >= 0.55 * len(run):
        return False
    classes = [sign.isdigit() + 2 * sign.isupper() for sign in run]
    switches = sum(first != second for first, second in pairwise(classes))
    shares = [count / len(run) for count in Counter(run).values()]
    entropy = -sum(share * log2(share) for share in shares)
    return len(set(classes)) > 1 and any(sign.isdigit() for sign in run) and switches >= 4 and entropy >= 3


_AT = r"(?:@|%40|&#64;|[\[({<]at[\])}>])"
_DOT = r"[\[({]dot[\])}]"
_GAP = r"[ ./-]?"
_OF_NO_STREET = "arbeits|park|stell|sitz|lager|speicher|dienst|lösungs|rechts|unter"
_BY_WAY_OF = r"vpn\b|e-?mail|mail\b|sso\b|api\b|sms\b|web\b|app\b|teams\b|ssh\b|rdp\b|usb\b|http|wi-?fi|wlan\b|port\b"
"""What "via" in other languages than Italian goes before."""
_STREET_WORDS = "street|st|road|rd|avenue|ave|lane|drive|boulevard|blvd|court"


def _of(
    kind: str, pattern: str, is_one: Callable[[str], bool] = bool
) -> tuple[str, re.Pattern[str], Callable[[str], bool]]:
    return kind, re.compile(pattern, re.IGNORECASE), is_one


# What a pattern may repeat is bounded, so that no text takes longer than its length.
_DETECTORS = (
    _of(LINK, r"\b(?:[a-z][a-z0-9+.-]{0,20}://|www\.)[^\s<>\"]+"),
    _of(
        EMAIL,
        rf"(?:mailto:)?(?:\"[^\"@]{{1,60}}\"|[\w.+'-]{{1,64}}){_AT}[\w-]{{1,63}}"
        rf"(?:(?:\.| ?{_DOT} ?)[\w-]{{1,63}}){{0,8}}"
        rf"|[\w.+'-]{{1,64}} ?{_AT} ?[\w-]{{1,63}}(?:(?: ?\. ?| ?{_DOT} ?)[\w-]{{1,63}}){{1,8}}",
    ),
    _of(
        EMAIL,
        r"\b[\w.+-]{1,64} at [\w-]{1,63} dot [a-z]{2,}\b"
        r"|\b[\w+-]{1,64}[._\d][\w.+-]{0,64} at (?:[\w-]{1,63}\.){1,8}[a-z]{2,}\b",
    ),
    _of(LINK, r"\b(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,}[/?]\S{0,500}[?=&#%]\S*|\b[\w.-]{1,100}/\S{0,500}\?\w{1,60}=\S*"),
    _of(LINK, r"\b(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,}/(?:in|u|users?|people|profile|members?)/\S+"),
    _of(LINK, r"(?:\b[a-z]:)?[\\/](?:users|home)[\\/]\S+"),
    _of(
        IBAN,
        r"\b(?:IBAN)?[A-Z]{2} ?\d{2}(?:[ .-]{0,2}[A-Z0-9]{11,30}"
        r"|(?:[ .-]{1,2}[A-Z0-9]{4}){2,7}(?:[ .-]{1,2}(?=\w{0,3}\d)[A-Z0-9]{1,3})?)\b",
        _is_iban,
    ),
    _of(IP, r"(?:(?<![\w.])|(?<=\bip))(?:\d{1,3}\.){3}\d{1,3}(?:/\d{1,2})?(?![\w]|\.\d)", _is_ip),
    _of(IP, r"(?<!\w)(?=[0-9a-f:.]*:[0-9a-f.]*:)[0-9a-f:.]{3,45}(?:%\w+)?(?:/\d{1,3})?(?![\w:])", _is_ip),
    _of(PHONE, r"(?<!\w)\(?\+\d(?:[ ()./-]{0,3}\d){6,14}(?!\w)"),
    _of(CARD, r"(?<![\d.])\d(?:[ ._/,-]{0,2}\d){12,26}(?!\w)", _is_card),
    _of(
        KEY,
        r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b|\b(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}\b",
    ),
    _of(KEY, r"\b(?:password|passwort|kennwort|pwd|pw|passcode|token|secret|api[ _-]?key) ?[:=] ?\S{4,}"),
    _of(NATIONAL_ID, rf"(?:(?<![\w.])|(?<=ssn))\d{{1,6}}(?:{_GAP}\d{{1,9}}+){{1,7}}(?!\w)", _is_national_id),
    _of(
        NATIONAL_ID,
        r"\b(?:ssn|social security|steuer-?id|tax id|passport|reisepass|personalausweis|nino|pesel|dni|bsn|cpf|aadhaar)"
        r"(?: ?(?:no|nr|number|nummer))?[ .:#]*(?=[A-Z]{0,3}\d)[A-Z0-9]{6,14}\b",
    ),
    _of(
        NATIONAL_ID,
        r"\b(?:[XYZ]?\d{7,8}-?|[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?)[A-Z]\b|\b[A-Z]{6} ?\w{5} ?\w{5}\b",
        _is_lettered_id,
    ),
    _of(
        PHONE,
        r"(?:(?<![\w.,-])|(?<=tel)|(?<=fon)|(?<=phone)|(?<=fax)|(?<=mobile)|(?<=handy))"
        r"(?:\+|\(\+?)?\d(?:[ ()./-]{0,3}\d){6,16}(?!\w)",
        _is_phone,
    ),
    _of(KEY, r"(?<!\w)[A-Z0-9][A-Z0-9+/_=:.-]{11,}", _is_key),
    _of(
        STREET,
        r"\b\d{1,5}[a-z]?,? (?:(?!(?:of|the|to|in|on|for|a|per) )[^\W\d]{1,40}\.? ){1,3}"
        rf"(?:{_STREET_WORDS})\b"
        rf"|\b(?:[^\W\d]{{1,40}}[ -])?(?!\w{{0,40}}(?:{_OF_NO_STREET})(?:platz|wegs?)\b)"
        r"[^\W\d]{0,40}(?:stra(?:ß|ss)e|[^\W\d]{3}str\.?|gasse|allee|weg|platz|straat|gatan) \d{1,4} ?[a-z]?\b"
        r"|\b(?:po box|p\.o\. box|postfach) \d{2,6}\b"
        r"|\b\d{1,5},? (?:bis |ter )?(?:(?:rue|avenue|boulevard|chemin) (?:de |du |des |la |d')*"
        r"|place (?:de |du |des |la )+)[^\W\d]{1,40}"
        rf"|\b(?:via (?!{_BY_WAY_OF})|(?:viale|piazza|calle|avenida|rua|ulica|ul\.) )"
        r"(?:[^\W\d]{1,40} ){0,3}[^\W\d]{1,40},? \d{1,4}\b",
    ),
)
"""In the order in which they look: what one has masked, the next does not see."""
