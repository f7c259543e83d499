"""Texts compared by their words, and superscripts and subscripts in letters of their own."""

import re
import unicodedata

RAISED, LOWERED, LEVEL = "\x0e", "\x10", "\x0f"
"""Control characters, which no text has: they begin and end what a reader found raised or lowered."""
_MARKED = re.compile(f"(.?)([{RAISED}{LOWERED}])([^{RAISED}{LOWERED}{LEVEL}]*){LEVEL}?", re.DOTALL)
_RAISED_LETTERS = dict(
    zip(
        "0123456789+-−–=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ",
        strict=True,
    )
)
_LOWERED_LETTERS = dict(zip("0123456789+-−–=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))
_PLAIN = re.compile(r"[^\w\s]*|\[.*\]|[™℠®]", re.DOTALL)
_ORDINALS = frozenset({"st", "nd", "rd", "th"})


def raised(text: str, before: str = "") -> str:
    """A superscript; `before` is the character before it."""
    return _written(text, "^", _RAISED_LETTERS, is_plain=before.isdigit() and text.strip().lower() in _ORDINALS)


def lowered(text: str) -> str:
    return _written(text, "_", _LOWERED_LETTERS)


def with_scripts(text: str) -> str:
    """A text in which RAISED or LOWERED begins a script and LEVEL ends it, with scripts in letters of their own.

    So 10⁸ is not 108: what is exact is what evidence rests on. Where Unicode has no such letters, `^(…)` and `_(…)`
    mark them. Signs that no reading mistakes for digits stay as they are: `word*`, `[1]`, `™`; so do English ordinals,
    `1st`.
    """
    if RAISED not in text and LOWERED not in text:
        return text
    return _MARKED.sub(_marked, text).replace(LEVEL, "")


def _marked(found: re.Match[str]) -> str:
    before, mark, text = found.groups()
    return before + (raised(text, before) if mark == RAISED else lowered(text))


def _written(text: str, sign: str, letters: dict[str, str], *, is_plain: bool = False) -> str:
    words = text.strip()
    if is_plain or _PLAIN.fullmatch(words):
        return text
    if all(letter in letters for letter in words):
        new = "".join(letters[letter] for letter in words)
    else:
        new = f"{sign}{words}" if len(words) == 1 else f"{sign}({words})"
    return text.replace(words, new)


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
    if text.isascii() or not _HAS_NO_BLANKS.search(text):
        return _WORD.findall(text)
    return [word for run in _RUN.finditer(text) for word in (windows(run[0], 2) if run[1] else (run[0],))]


def word_spans(text: str) -> list[tuple[int, int]]:
    """The first character of each of the `words_of` a text, and the one after its last."""
    spans = []
    for run in _RUN.finditer(text):
        start, end = run.span()
        if run[1] and end - start > 2:
            spans += [(at, at + 2) for at in range(start, end - 1)]
        else:
            spans.append((start, end))
    return spans


def windows(word: str, size: int) -> list[str]:
    """All pieces of `size` characters in a row; the word itself when it is shorter."""
    return [word[start : start + size] for start in range(max(1, len(word) - size + 1))]


def plain_words(text: str) -> str:
    """The text for comparison: without differences of capitals, blanks and forms of letters."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


_JOINED_WORD = re.compile(r"\w+(?:[-.’'/]\w+)*")

# One character for one, so that offsets stay: hard and thin spaces, and hyphens and minus signs that look like "-".
SAME_SIGN = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2010": "-", "\u2011": "-", "\u2212": "-"})

_SMALL_WORDS = (
    "a an the of to in on at for by with and or is are was were be been do does did has have had it its this that"
    " which what who whom whose when where why how from as then there"
)
STOP_WORDS = frozenset(_SMALL_WORDS.split())


def words(text: str) -> list[str]:
    """The words of `text`, case folded, with inner hyphens, dots, slashes and apostrophes kept."""
    return [match.casefold().replace("’", "'") for match in _JOINED_WORD.findall(text.translate(SAME_SIGN))]


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
