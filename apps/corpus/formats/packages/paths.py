"""Paths of files in a package: which are safe, which can be shown, and the folder that holds all of them."""

import re
import unicodedata
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
