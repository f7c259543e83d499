"""What each page is for and what to do there, by URL name: the texts are in `help_texts/` beside this file.

A page without a text there fails `tests/test_matrix.py`.
"""

import tomllib
from pathlib import Path
from typing import NamedTuple

TEXTS = Path(__file__).parent / "help_texts"


class PageHelp(NamedTuple):
    """`page` is the address below the documents that says more."""

    words: str
    page: str


HELP = {
    name: PageHelp(**text)
    for file in sorted(TEXTS.glob("*.toml"))
    for name, text in tomllib.loads(file.read_text(encoding="utf-8")).items()
}
