"""Texts compared by their words."""

import re
import unicodedata

_WORD = re.compile(r"\w+")
_NO_BLANKS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai and Lao, Burmese, Khmer
    "\u3005-\u3007\u303b\u3041-\u312f\u31a0-\u31bf\u31f0-\u31ff"  # Japanese kana, Bopomofo
    "\u2e80-\u2fdf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese characters
)
_HAS_NO_BLANKS = re.compile(f"[{_NO_BLANKS}]")
_RUN = re.compile(rf"([{_NO_BLANKS}]+)|(?:(?![{_NO_BLANKS}])\w)+")


def words_of(text: str) -> list[str]:
    """Runs of letters, digits and underscores in their order.

    Where a script has no blanks between words (Chinese, Japanese, Thai and others) a run is its pairs of neighbouring
    characters; one that stands alone is itself.
    """
    if not _HAS_NO_BLANKS.search(text):
        return _WORD.findall(text)
    return [word for run in _RUN.finditer(text) for word in (windows(run[0], 2) if run[1] else (run[0],))]


def windows(word: str, size: int) -> list[str]:
    """All pieces of `size` characters in a row; the word itself when it is shorter."""
    return [word[start : start + size] for start in range(max(1, len(word) - size + 1))]


def plain_words(text: str) -> str:
    """The text for comparison: without differences of capitals, blanks and forms of letters."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
