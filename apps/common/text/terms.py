"""Words that explain themselves on pages: the texts are in `terms.toml` beside this file.

`{% term "pool" %}` shows one.
"""

import re
import tomllib
from pathlib import Path
from typing import NamedTuple

_PARTS_OF_A_MEASURE = re.compile(r"\(.*?\)|@.*$")


class Term(NamedTuple):
    """One sentence, and the address below the documents that says more."""

    sentence: str
    page: str


TERMS = {
    word: Term(**text)
    for word, text in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
}


def term_of(word: str) -> Term | None:
    """The term that this word names, in any case; None for a word that is not explained.

    A measure is found with or without its parameters and its cutoff.
    """
    name = word.strip().casefold().replace("'", "’")
    return TERMS.get(name) or TERMS.get(_PARTS_OF_A_MEASURE.sub("", name))
