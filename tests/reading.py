"""What a page says."""

from html import unescape


def words(response) -> str:
    """The page on one line, as it is written."""
    return " ".join(response.content.decode().split())


def plain_words(response) -> str:
    """The page on one line, with characters instead of entities."""
    return " ".join(unescape(response.content.decode()).split())
