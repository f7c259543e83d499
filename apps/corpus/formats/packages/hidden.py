"""Hidden files, which stay out of a package: what hides one, and how many there are by that.

Who packs a folder leaves them out, because `.git/` has thousands, and writes their number into the comment of the zip.
"""

import json
from collections import Counter
from collections.abc import Iterable

from apps.corpus.formats.packages.paths import is_plain

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
