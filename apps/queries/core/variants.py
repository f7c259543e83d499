"""Other wordings of a query: typos and slips by a seed, what people leave out in a hurry, and probes.

Probes ask what a system knows: acronyms and what they mean, terms in another language, keywords as a question.

The same text, kind and seed give the same variant.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from apps.common.text.words import words
from apps.queries.core.checks import small_words
from apps.queries.enums import VariantKind

EVERY = 5
"""One word of so many is mistyped, and one at least."""
_WORD = re.compile(r"[^\W\d_]+")


class Pair(NamedTuple):
    """An acronym and its words, or a term and its words in another language."""

    one: str
    other: str


class Known(NamedTuple):
    """What is known of the words of a project; `language` is that of its queries, "" where it is not clear."""

    acronyms: Sequence[Pair] = ()
    terms: Sequence[Pair] = ()
    language: str = ""


_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_PLACES = {letter: (row, place) for row, letters in enumerate(_ROWS) for place, letter in enumerate(letters)}
_NEAR = {
    letter: [
        other for other, (r, p) in _PLACES.items() if other != letter and abs(r - row) <= 1 and abs(p - place) <= 1
    ]
    for letter, (row, place) in _PLACES.items()
}
_PLAIN = str.maketrans({"ß": "ss", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "æ": "ae", "Æ": "AE", "đ": "d", "œ": "oe"})


NOTHING_KNOWN = Known()


def degraded(text: str, kind: str, seed: int, known: Known = NOTHING_KNOWN) -> str:
    """The text in this wording; "" where that changes nothing, as lower case of small letters."""
    if kind in _PROBES:
        return _PROBES[VariantKind(kind)](text, known)
    found = _MAKERS[VariantKind(kind)](text, Random(f"{seed}\n{kind}\n{text}"))
    return found if found and found != text else ""


def pairs_in(lines: str) -> list[Pair]:
    """The pairs of a list, one a line: "TLS = transport layer security". Raises ValueError with what is wrong."""
    found = []
    for number, line in enumerate(lines.splitlines(), start=1):
        one, sign, other = (part.strip() for part in line.partition("="))
        if line.strip() and not (one and sign and other):
            raise ValueError(f"Line {number}, “{line.strip()}”: write it as “TLS = transport layer security”.")
        if one:
            found.append(Pair(one, other))
    return found


def _other_language(text: str, known: Known) -> str:
    """All terms of the list that the text has, in the other language, longer ones first."""
    others = {one.casefold(): other for one, other in known.terms}
    if not others:
        return ""
    longest_first = sorted(others, key=len, reverse=True)
    form = rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)"
    found = re.sub(form, lambda match: others[match[0].casefold()], text, flags=re.IGNORECASE)
    return found if found != text else ""


_QUESTIONS = {
    "English": "What do the documents say about {}?",
    "German": "Was steht in den Unterlagen zu {}?",
    "French": "Que disent les documents sur {} ?",
    "Spanish": "¿Qué dicen los documentos sobre {}?",
    "Italian": "Che cosa dicono i documenti su {}?",
    "Portuguese": "O que dizem os documentos sobre {}?",
    "Dutch": "Wat staat er in de documenten over {}?",
    "Polish": "Co mówią dokumenty na temat: {}?",
    "Swedish": "Vad säger dokumenten om {}?",
    "Danish": "Hvad siger dokumenterne om {}?",
    "Finnish": "Mitä asiakirjoissa sanotaan aiheesta {}?",
    "Czech": "Co říkají dokumenty k tématu {}?",
    "Turkish": "Belgeler {} hakkında ne diyor?",
}


def _question(text: str, known: Known) -> str:
    """Keywords as a question in the language of the project; "" for what has small words, which is more than keywords.

    The other way round, from a question to keywords, is the telegraphic wording.
    """
    form = _QUESTIONS.get(known.language, "")
    has_small = not small_words(text).isdisjoint(words(text))
    return form.format(text) if form and not has_small and not text.rstrip().endswith("?") else ""


def _other_form(text: str, known: Known) -> str:
    """The first acronym of the list that a text has is spelled out; else the first that it spells out is shortened."""
    for short, long in known.acronyms:
        found = re.search(rf"(?<!\w){re.escape(short)}(?!\w)", text)
        if found and not re.search(rf"(?<!\w){re.escape(long)}(?!\w)", text, re.IGNORECASE):
            return text[: found.start()] + long + text[found.end() :]
    for short, long in known.acronyms:
        if found := re.search(rf"(?<!\w){re.escape(long)}(?!\w)", text, re.IGNORECASE):
            return text[: found.start()] + short + text[found.end() :]
    return ""


def _typo(text: str, chance: Random) -> str:
    """Two neighbouring letters in the wrong order, one missing, or one twice; the first letter of a word is right."""

    def mistyped(word: str) -> str:
        at = chance.randrange(1, len(word) - 1)
        swapped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        ways = [swapped, word[:at] + word[at + 1 :], word[:at] + word[at] + word[at:]]
        return chance.choice([way for way in ways if way != word])

    return _mistyped(text, chance, lambda word: len(word) > 3, mistyped)


def _slip(text: str, chance: Random) -> str:
    """A letter becomes a neighbour on an English keyboard."""

    def slipped(word: str) -> str:
        at = chance.choice([place for place, letter in enumerate(word) if letter.lower() in _NEAR])
        other = chance.choice(_NEAR[word[at].lower()])
        return word[:at] + (other.upper() if word[at].isupper() else other) + word[at + 1 :]

    return _mistyped(
        text, chance, lambda word: len(word) > 2 and any(letter in _NEAR for letter in word.lower()), slipped
    )


def _mistyped(text: str, chance: Random, may: Callable[[str], bool], change: Callable[[str], str]) -> str:
    """Words changed, drawn without those in capitals: codes and acronyms stay, or it would be another query."""
    found = [match for match in _WORD.finditer(text) if may(match[0]) and not match[0].isupper()]
    drawn = chance.sample(found, min(len(found), 1 + len(found) // EVERY))
    for match in sorted(drawn, key=lambda match: match.start(), reverse=True):
        text = text[: match.start()] + change(match[0]) + text[match.end() :]
    return text


def _without_marks(text: str, chance: Random) -> str:
    letters = unicodedata.normalize("NFD", text.translate(_PLAIN))
    return unicodedata.normalize("NFC", "".join(letter for letter in letters if not unicodedata.combining(letter)))


def _telegraphic(text: str, chance: Random) -> str:
    """Its words without the small ones of its language, as in a search box."""
    small = small_words(text)
    return " ".join(word for word in words(text) if word not in small)


_MAKERS: Mapping[VariantKind, Callable[[str, Random], str]] = {
    VariantKind.TYPO: _typo,
    VariantKind.SLIP: _slip,
    VariantKind.MARKS: _without_marks,
    VariantKind.LOWER: lambda text, chance: text.lower(),
    VariantKind.TELEGRAPHIC: _telegraphic,
}
_PROBES: Mapping[VariantKind, Callable[[str, Known], str]] = {
    VariantKind.ACRONYM: _other_form,
    VariantKind.QUESTION: _question,
    VariantKind.LANGUAGE: _other_language,
}
