"""Words of a wording."""

import re

_WORD = re.compile(r"\w+(?:[-.’'/]\w+)*")

# One character for one, so that offsets stay: hard and thin spaces, and hyphens and minus signs that look like "-".
SAME_SIGN = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2010": "-", "\u2011": "-", "\u2212": "-"})

_SMALL_WORDS = (
    "a an the of to in on at for by with and or is are was were be been do does did has have had it its this that"
    " which what who whom whose when where why how from as then there"
)
STOP_WORDS = frozenset(_SMALL_WORDS.split())


def words(text: str) -> list[str]:
    """The words of `text`, case folded, with inner hyphens, dots, slashes and apostrophes kept."""
    return [match.casefold().replace("’", "'") for match in _WORD.findall(text.translate(SAME_SIGN))]


def singular(word: str) -> str:
    """A word without its English plural ending; a word that only looks like a plural may lose it too."""
    if len(word) <= 3 or not word.endswith("s") or word.endswith(("ss", "us")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1]


def content_words(text: str) -> frozenset[str]:
    """The content words of a wording: no stop words, plural and singular alike."""
    return frozenset(singular(word) for word in words(text) if word not in STOP_WORDS)
