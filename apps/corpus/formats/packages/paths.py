"""Paths of files in a package: which are safe, hidden or can be shown, and the folder that holds all of them."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

GIT = ".git"
_DRIVE = re.compile(r"[A-Za-z]:")


def tidy(path: str) -> str:
    """The path with forward slashes and composed letters, as all programs should write it."""
    return unicodedata.normalize("NFC", path.replace("\\", "/"))


def is_safe(path: str) -> bool:
    """Whether a path stays inside its package."""
    parts = path.split("/")
    return not path.startswith("/") and not _DRIVE.match(path) and ".." not in parts and all(parts)


def is_plain(path: str) -> bool:
    """Whether a path can be shown and stored as text: without control characters and signs that turn a text round."""
    return all(letter.isprintable() or unicodedata.category(letter) == "Zs" for letter in path)


def common_folder(paths: Iterable[str]) -> str:
    """The one folder at the top that all these files are in, with its slash; "" when there is none."""
    tops = {path.partition("/")[0] if "/" in path else "" for path in paths}
    top = tops.pop() if len(tops) == 1 else ""
    return f"{top}/" if top else ""


FOLDERS = frozenset({"__MACOSX", "node_modules", "__pycache__"})
FILES = frozenset({"Thumbs.db", "desktop.ini"})
MOST_NAMES = 50
"""That are told apart, each by its first letters: a comment has at most 65,535 bytes."""
NAME_LETTERS = 100
OTHERS = "others"
MOST_FILES = 1_000_000_000


def hidden_by(path: str) -> str:
    """The folder, with its slash, or the name that hides a file; "" when it is not hidden.

    What systems and tools leave behind is hidden too.
    """
    *folders, name = path.split("/")
    for folder in folders:
        if folder.startswith(".") or folder in FOLDERS:
            return f"{folder}/"
    return name if name in FILES or name.startswith((".", "~$")) else ""


def counted(paths: Iterable[str]) -> Counter[str]:
    """The number of hidden files by what hides them; those beyond a few names, and odd ones, together."""
    return _few(Counter(filter(None, map(hidden_by, paths))))


def as_comment(hidden: Counter[str]) -> bytes:
    return json.dumps({"hidden": hidden}).encode()


def in_comment(comment: bytes) -> Counter[str] | None:
    """The numbers in the comment of a zip; None when who made it wrote none."""
    try:
        written = json.loads(comment)["hidden"]
        numbers = {name: number for name, number in written.items() if type(number) is int and 0 < number < MOST_FILES}
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return None
    return _few(Counter(numbers))


def _few(hidden: Counter[str]) -> Counter[str]:
    few: Counter[str] = Counter()
    for name, number in hidden.most_common():
        is_own = is_plain(name) and len(few) < MOST_NAMES
        few[name[:NAME_LETTERS] if is_own else OTHERS] += number
    return few
