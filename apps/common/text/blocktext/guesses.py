"""What lines are that no sign marks: code, or prose that was broken to fit a width."""

import re
from collections.abc import Sequence

from apps.common.text.blocktext.lines import ITEM, QUOTE, TextLine, closes, fence_of, not_blank

FILLED_FROM = 40  # characters: nobody fills lines narrower than this
RAGGED = 14  # characters: filled lines may end this early although the next word would have fitted
FILLED_SHARE = 0.85
RUNNING_SHARE = 0.6
FEWEST = 30  # characters of a line on average: verses and lists of words are shorter
CODE_SHARE = 0.7
LONG_PROSE = 100
LONGEST_CODE = 160  # characters: longer lines are not code unless marked as code

_PROMPT = re.compile(r">>> ")
_CODE_LINE = re.compile(
    r"""\s*(?:
        (?:\$|>>>|\.\.\.|//|/\*|\*/|\#!)(?:\s|\S*$)
      | </?[a-zA-Z!][^<>]*>
      | @\w+(?:\(.*\))?$
      | (?:def|class|import|return|func|function|const|let|var|public|private|static|void|\#include|package|namespace
          |SELECT|INSERT|UPDATE|CREATE|FROM|WHERE|elif|else|try|finally|except|end|fi|done)\b.*[^.!?]$
      | from\s\S+\simport\b
      | (?:if|for|while|with|switch)\b.*[:{]$
      | [\w.\[\]"'$*-]+(?:\s*:\s*\w+)?\s*(?:=|:=|\+=|-=|=>|->)\s*\S
      | "[^"]*"\s*:\s
      | [{}()\[\];,]+$
      | .*(?:[{}(\[\\]|[)\]}][;,]|\}\))$
      | .*\w\(.*\);?$
    )""",
    re.VERBOSE,
)
_SETTING = re.compile(r"[\w.-]+\s?[=:]")
_OPENING = "[(*_`\"'“‘„«"
_PROSE_END = re.compile(r"[.!?…:]['\")\]”’]*$")
_WORDLIKE = re.compile(r"[\w ,.'’;:()-]")


def is_code(run: Sequence[TextLine]) -> bool:
    """Whether lines without a mark of code are code all the same. Comments do not count either way."""
    head = run[0]
    if head.match(_PROMPT):
        return True
    if head.content[0] == "|" or head.match(ITEM) or head.match(QUOTE) or any(fence_of(line) for line in run):
        return False
    relevant = [line for line in run if line.content[0] != "#" and not line.content.endswith(",")]
    return len(relevant) >= 2 and _code_share(relevant) >= CODE_SHARE


def is_prose(lines: Sequence[TextLine]) -> bool:
    """Whether indented lines are prose: filled ones, or one to a paragraph, and no sign of code in them."""
    if _code_share(lines) > 1 - CODE_SHARE:
        return False
    is_long = any(line.length > LONG_PROSE for line in lines)
    words = "".join(line.content for line in lines)
    is_worded = len(_WORDLIKE.findall(words)) >= 0.95 * len(words) and ends_sentence(words)
    return is_worded and (is_long or (len(lines) > 2 and is_filled(lines)))


def is_filled(run: Sequence[TextLine]) -> bool:
    """Whether these lines are prose that was broken to fit a width, so that its line breaks mean nothing.

    Such lines begin in the middle of a sentence, or none of them had room for the next word.
    """
    widths = [line.length for line in run]
    widest = max(widths)
    running = filled = 0
    for following, width in zip(run[1:], widths, strict=False):
        word = len(following.content.split(maxsplit=1)[0])
        filled += width >= FILLED_FROM and width + 1 + word > widest - RAGGED
        running += following.indent == run[0].indent and _continues_sentence(following.content)
    breaks = len(run) - 1
    if running and filled >= FILLED_SHARE * breaks:
        return True
    return running >= RUNNING_SHARE * breaks and sum(widths) >= FEWEST * len(run)


def all_continue(run: Sequence[TextLine]) -> bool:
    """Whether every line continues the sentence of the one before: how list items are wrapped."""
    return all(_is_in_sentence(line.content) for line in run[1:])


def ends_sentence(content: str) -> bool:
    return bool(_PROSE_END.search(content))


def code_before_fence(lines: Sequence[TextLine]) -> tuple[int, int] | None:
    """A text that was cut out of the middle of some code: the first line of code, and the fence that ends it.

    The fences of such a text do not pair up. What precedes the first fence and follows the last distinguishes it
    from a text whose last code block is cut off at the end.
    """
    opened: tuple[int, str] | None = None
    first = None
    for at, line in enumerate(lines):
        fence = fence_of(line)
        if opened is None and fence:
            first = at if first is None else first
            opened = at, fence
        elif opened is not None and fence and closes(line, opened[1]):
            opened = None
    if first is None or opened is None:
        return None
    is_bare = all(lines[at].content.strip("`~") == "" for at in (first, opened[0]))
    before, behind = not_blank(lines[:first]), not_blank(lines[opened[0] + 1 :])
    if not is_bare or not before or _code_share(before) <= _code_share(behind):
        return None
    start = next(at for at, line in enumerate(lines) if not line.is_blank)
    return start, first


def _code_share(lines: Sequence[TextLine]) -> float:
    hits = sum(line.length <= LONGEST_CODE and bool(line.match(_CODE_LINE)) for line in lines)
    return hits / len(lines) if lines else 0.0


def _continues_sentence(content: str) -> bool:
    """Whether a line begins in the middle of a sentence."""
    return _is_in_sentence(content) and content.count(" ") > 1 and not _CODE_LINE.match(content, 0, LONGEST_CODE)


def _is_in_sentence(content: str) -> bool:
    return content.lstrip(_OPENING)[:1].islower() and not _SETTING.match(content)
