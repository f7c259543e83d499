"""Texts compared by their words."""

import unicodedata


def plain_words(text: str) -> str:
    """The text for comparison: without differences of capitals, blanks and forms of letters."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
