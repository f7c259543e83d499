"""Numbers in one form: digits in any grouping, and number words."""

import re
from decimal import Decimal

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
SMALL = {word: value for value, word in enumerate(_ONES.split())} | {
    word: value for value, word in zip(range(20, 100, 10), _TENS.split(), strict=True)
}
GREAT = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}

NUMBER_WORDS = frozenset([*SMALL, *GREAT])

NUMBER = r"\d{1,3}(?:[ '’]\d{3})+(?![\d])(?:\.\d+)?|\d+(?:[.,]\d+)*|\.\d+"


def plain_number(written: str) -> str:
    """A number without the signs that group thousands, with a decimal point. Its precision is kept."""
    if re.fullmatch(r"-?\d{1,3}(?:([ ,'’])\d{3})(?:\1\d{3})*(?:\.\d+)?", written):
        return re.sub(r"[ ,'’]", "", written)
    if re.fullmatch(r"-?\d+,\d{1,2}", written):
        return written.replace(",", ".")
    return f"0{written}" if written.startswith(".") else written


def value_of(written: str) -> Decimal | None:
    """The value of number words: "twenty-four" is 24, "two hundred and five" 205. None for anything but one number."""
    total, part, last = 0, 0, 0
    for word in re.split(r"[\s,-]+", written.casefold()):
        if word == "and":
            continue
        if word in GREAT:
            step = GREAT[word]
            part = (part or 1) * step
            if step > 100:
                total, part = total + part, 0
            last = 0
        else:
            value = SMALL[word]
            if last and not (last >= 20 and value < 10):
                return None
            part, last = part + value, value
    return Decimal(total + part)


def scaled(text: str, plain: str, end: int) -> tuple[str, int]:
    """A number in digits with the word of scale that follows `end`, and the end of both.

    "1.5 million" is 1500000; anything else stays `plain` and ends where it did.
    """
    match = re.compile(r" (thousand|million|billion)\b", re.IGNORECASE).match(text, end)
    if match is None or not re.fullmatch(r"-?\d+(\.\d+)?", plain):
        return plain, end
    value = Decimal(plain) * GREAT[match[1].casefold()]
    return format(value.normalize(), "f"), match.end()
