"""The commit of a Git checkout, read from its `.git` without Git."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

READ_BYTES = 2_000_000
"""Of a file in `.git`; `packed-refs` of large projects have some hundred kilobytes."""
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REFERENCE = re.compile(r"ref:\s*(refs/[^\s]+)")


def commit_of(read: Callable[[str], str]) -> str:
    """The commit that is checked out; "" when `.git` does not name one. `read` has the text of a file there, or ""."""
    head = read("HEAD").strip()
    if _COMMIT.fullmatch(head):
        return head
    found = _REFERENCE.fullmatch(head)
    if found is None or ".." in found[1]:
        return ""
    loose = read(found[1]).strip()
    if _COMMIT.fullmatch(loose):
        return loose
    packed = (line.split(" ", 1) for line in read("packed-refs").splitlines() if " " in line)
    return next((commit for commit, name in packed if name == found[1] and _COMMIT.fullmatch(commit)), "")


def commit_at(folder: Path) -> str:
    """The commit of the checkout that a folder is in; "" when it is in none."""
    for place in (folder, *folder.resolve().parents):
        git = place / ".git"
        if git.is_dir():
            return commit_of(partial(_in_either, git, git))
        if git.is_file():  # a worktree, or a submodule
            own = place / _text(git).removeprefix("gitdir:").strip()
            shared = own / (_text(own / "commondir").strip() or ".")
            return commit_of(partial(_in_either, own, shared))
    return ""


def _in_either(own: Path, shared: Path, name: str) -> str:
    return _text(own / name) or _text(shared / name)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(READ_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
