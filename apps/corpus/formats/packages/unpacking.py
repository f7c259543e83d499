"""Walks an upload file by file, within limits: a zip, or one file, which may be packed by gzip.

Files come in the order of their paths, one at a time, in a spool that can be read from any place. Memory holds one file
of a few megabytes, or none.
"""

import gzip
import json
import re
import shutil
import stat
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, NamedTuple, cast

from apps.common.errors import InputError
from apps.common.files.faults import fault
from apps.common.files.filekinds import DIRECTORY_BYTES, is_directory_too_long
from apps.corpus.core.documents import UnreadFile
from apps.corpus.formats.documents import SourceFile
from apps.corpus.formats.documents.recognition import ZIP, recognise

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


MEGABYTE = 1_000_000
GZIP_MAGIC = b"\x1f\x8b"
IN_MEMORY = 4 * MEGABYTE
PIECE = 1024 * 1024
_ENCRYPTED = 0x1
LEADS_OUT = "path that leads out of the archive"
ODD_NAME = "name with control characters"
TWICE = "path that is in the archive twice"
LINK = "link to another file"
LOCKED = "locked with a password"
DAMAGED = "damaged in the archive"
BOMB = "packed far too tightly"
HIDDEN = "hidden"


class PackageLimits(NamedTuple):
    """Of one upload. Archives beyond `files`, `total_bytes` or `directory_bytes` are refused; files beyond the others
    stay unread."""

    files: int = 50_000
    file_bytes: int = 500 * MEGABYTE
    total_bytes: int = 10_000 * MEGABYTE
    directory_bytes: int = DIRECTORY_BYTES
    ratio: int = 200
    ratio_floor: int = 5 * MEGABYTE

    @property
    def too_large(self) -> str:
        return f"larger than {self.file_bytes // MEGABYTE} MB"


LIMITS = PackageLimits()


class Package:
    """The files of an upload. `commit` is that of the Git checkout it was made from, "" when it was made from none."""

    def __init__(self, stream: BinaryIO, name: str, archive: zipfile.ZipFile | None, limits: PackageLimits) -> None:
        self.name = name
        self.limits = limits
        self._stream = stream
        self._archive = archive
        self._members, self._doubles = members_of(archive, name, limits) if archive else ({}, [])
        self._folder = common_folder(path for path in self._members if is_safe(path) and _is_shown(path))
        self.commit = commit_of(self._git_text) if archive else ""

    @property
    def is_archive(self) -> bool:
        """Whether it is a zip, and not one file."""
        return self._archive is not None

    @property
    def bytes(self) -> int:
        """The size of all files together, as the archive states it."""
        if self._archive is None:
            return self._stream.seek(0, 2)
        return sum(info.file_size for info in self._members.values())

    @property
    def paths(self) -> list[str]:
        """Of all files that are not hidden."""
        return [path for path in self._members if _is_shown(path)] if self._archive else [self.name]

    @property
    def inner_paths(self) -> list[str]:
        """The same, below the one folder that holds all of them, where there is one."""
        return [path.removeprefix(self._folder) for path in self.paths]

    def refused(self) -> Iterator[UnreadFile]:
        """Each file that is not unpacked, by what the archive states of it. Nothing is unpacked for it."""
        for path in sorted(self._members):
            if _is_shown(path) and (reason := refusal_of(path, self._members[path], self.limits)):
                yield UnreadFile(path.removeprefix(self._folder), reason)
        yield from self._twice()

    def hidden(self) -> Iterator[UnreadFile]:
        """The hidden files, one for all that one folder or one name hides."""
        if self._archive is None:
            return
        stated = in_comment(self._archive.comment)
        found = counted(path for path in self._members if not _is_shown(path)) if stated is None else stated
        for name, number in found.items():
            yield UnreadFile(name, HIDDEN, files=number)

    def files(self) -> Iterator[SourceFile | UnreadFile]:
        """Each file that is not hidden, by path. A file is closed when the next one is taken."""
        if self._archive is None:
            yield from self._the_only_one()
            return
        for path in sorted(self._members):
            if _is_shown(path):
                yield from self._member(path.removeprefix(self._folder), path, self._members[path])
        yield from self._twice()

    def file(self, inner_path: str) -> Iterator[SourceFile | UnreadFile]:
        """One file, by its path below the folder that holds all: it alone is unpacked. Closed when nothing follows."""
        if self._archive is None:
            yield from self._the_only_one()
            return
        path = f"{self._folder}{inner_path}"
        yield from self._member(inner_path, path, self._members[path])

    def _twice(self) -> Iterator[UnreadFile]:
        return (UnreadFile(path.removeprefix(self._folder), TWICE) for path in sorted(self._doubles))

    def _the_only_one(self) -> Iterator[SourceFile | UnreadFile]:
        self._stream.seek(0)
        is_packed = self._stream.read(2) == GZIP_MAGIC
        size = self._stream.seek(0, 2)
        self._stream.seek(0)
        if is_packed:
            yield from self._gunzipped(SourceFile(self.name, self._stream, size))
        elif size > self.limits.file_bytes:
            yield UnreadFile(self.name, self.limits.too_large)
        else:
            yield SourceFile(self.name, self._stream, size)

    def _member(self, path: str, stored: str, info: zipfile.ZipInfo) -> Iterator[SourceFile | UnreadFile]:
        if reason := refusal_of(stored, info, self.limits):
            yield UnreadFile(path, reason)
            return
        assert self._archive is not None
        with _spool() as spool:
            try:
                with self._archive.open(info) as member:
                    shutil.copyfileobj(member, spool, PIECE)
            except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError):
                yield UnreadFile(path, DAMAGED)
                return
            spool.seek(0)
            file = SourceFile(path, spool, info.file_size)
            if spool.read(2) == GZIP_MAGIC:
                yield from self._gunzipped(file)
                return
            spool.seek(0)
            yield file

    def _gunzipped(self, file: SourceFile) -> Iterator[SourceFile | UnreadFile]:
        name = file.path[:-3] if file.path.lower().endswith(".gz") else file.path
        file.stream.seek(0)
        most = min(self.limits.file_bytes, max(self.limits.ratio_floor, self.limits.ratio * file.size))
        with _spool() as spool:
            try:
                with gzip.GzipFile(fileobj=file.stream, mode="rb") as unpacked:
                    while piece := unpacked.read(PIECE):
                        spool.write(piece)
                        if spool.tell() > most:
                            is_large = most == self.limits.file_bytes
                            yield UnreadFile(file.path, self.limits.too_large if is_large else BOMB)
                            return
            except (OSError, EOFError, zlib.error):
                yield UnreadFile(file.path, DAMAGED)
                return
            size = spool.tell()
            spool.seek(0)
            yield SourceFile(name, spool, size)

    def _git_text(self, name: str) -> str:
        """A small text in the `.git` of the checkout; "" when it is not there."""
        assert self._archive is not None
        info = self._members.get(f"{self._folder}{GIT}/{name}") or self._members.get(f"{GIT}/{name}")
        if info is None or info.file_size > READ_BYTES or info.flag_bits & _ENCRYPTED:
            return ""
        try:
            return self._archive.read(info).decode("utf-8", "replace")
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError):
            return ""


@contextmanager
def open_package(path: Path, name: str, limits: PackageLimits = LIMITS) -> Iterator[Package]:
    """Open an upload on disk. Raises InputError for a zip that is damaged or beyond the limits."""
    with path.open("rb") as stream:
        if recognise(name, stream) != ZIP:
            yield Package(stream, name, None, limits)
            return
        if is_directory_too_long(stream, limits.directory_bytes):
            raise _too_many(name, limits)
        try:
            archive = zipfile.ZipFile(stream)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise fault(name, None, "", "", "the zip is damaged or cut off; make it again") from error
        with archive:
            yield Package(stream, name, archive, limits)


def members_of(
    archive: zipfile.ZipFile, name: str, limits: PackageLimits
) -> tuple[dict[str, zipfile.ZipInfo], list[str]]:
    """(the files by path, the paths that are there more than once)."""
    found: dict[str, zipfile.ZipInfo] = {}
    doubles = []
    total = 0
    for info in archive.infolist():
        path = tidy(info.filename)
        if info.is_dir():
            continue
        if path in found:
            doubles.append(path)
            continue
        found[path] = info
        if _is_shown(path) and not refusal_of(path, info, limits):
            total += info.file_size
        if len(found) > limits.files:
            raise _too_many(name, limits)
    if total > limits.total_bytes:
        limit = f"{limits.total_bytes // MEGABYTE:,} MB"
        raise fault(name, None, "", "", f"the zip unpacks to more than {limit}; divide it")
    return found, doubles


def _is_shown(path: str) -> bool:
    return not is_safe(path) or not hidden_by(path)


def refusal_of(path: str, info: zipfile.ZipInfo, limits: PackageLimits) -> str:
    """Why a file is not unpacked, by what the archive states of it; "" when it is."""
    if not is_safe(path):
        return LEADS_OUT
    if not is_plain(path):
        return ODD_NAME
    if stat.S_ISLNK(info.external_attr >> 16):
        return LINK
    if info.flag_bits & _ENCRYPTED:
        return LOCKED
    if info.file_size > limits.file_bytes:
        return limits.too_large
    is_bomb = info.file_size > max(limits.ratio_floor, limits.ratio * info.compress_size)
    return BOMB if is_bomb else ""


def _too_many(name: str, limits: PackageLimits) -> InputError:
    return fault(name, None, "", "", f"the zip has more than {limits.files:,} files; divide it")


def _spool() -> BinaryIO:
    return cast(BinaryIO, SpooledTemporaryFile(max_size=IN_MEMORY))
