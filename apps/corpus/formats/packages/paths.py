"""Paths of files in a package: which are safe, which are left out, and the folder that holds all of them."""

import re
import unicodedata
from collections.abc import Iterable

SKIPPED_FOLDERS = frozenset({"__MACOSX", "node_modules", "__pycache__"})
SKIPPED_FILES = frozenset({"Thumbs.db", "desktop.ini"})
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


def is_skipped(path: str) -> bool:
    """Whether a file is left out without a word: hidden ones, and those that systems and tools leave behind."""
    *folders, name = path.split("/")
    if name in SKIPPED_FILES or name.startswith((".", "~$")):
        return True
    return any(folder.startswith(".") or folder in SKIPPED_FOLDERS for folder in folders)


def common_folder(paths: Iterable[str]) -> str:
    """The one folder at the top that all these files are in, with its slash; "" when there is none."""
    tops = {path.partition("/")[0] if "/" in path else "" for path in paths}
    top = tops.pop() if len(tops) == 1 else ""
    return f"{top}/" if top else ""
