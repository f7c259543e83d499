"""Uploads of many files: what is walked, what is left out, and what is told of files that are not read."""

import gzip
import io
import zipfile
from pathlib import Path

import pytest

from apps.common.errors import InputError
from apps.corpus.core.documents import UnreadFile
from apps.corpus.formats.packages.on_disk import files_at, pack, package_name
from apps.corpus.formats.packages.unpacking import LIMITS, PackageLimits, commit_at, open_package
from tests.corpus.factories import zipped


def walk(
    tmp_path: Path, content: bytes, name: str = "docs.zip", limits: PackageLimits = LIMITS
) -> dict[str, str | bytes]:
    """The files by path: their bytes, or the reason why one is not read."""
    path = tmp_path / "upload"
    path.write_bytes(content)
    with open_package(path, name, limits) as package:
        return {
            file.path: file.reason if isinstance(file, UnreadFile) else file.stream.read() for file in package.files()
        }


def test_files_come_by_path_without_the_folder_that_holds_them_all(tmp_path):
    found = walk(tmp_path, zipped({"docs/b.md": "b", "docs/a/c.md": "c"}))

    assert list(found.items()) == [("a/c.md", b"c"), ("b.md", b"b")]


HIDDEN = [
    ".git/config",
    ".git/objects/ab/cd",
    ".hidden.md",
    "__MACOSX/a.md",
    "x/Thumbs.db",
    "y/Thumbs.db",
    "node_modules/p/.bin/README.md",
    "~$a.docx",
]
BY_WHAT_HIDES = {
    ".git/": 2,
    ".hidden.md": 1,
    "__MACOSX/": 1,
    "Thumbs.db": 2,
    "node_modules/": 1,
    "~$a.docx": 1,
}


def hidden_in(path: Path) -> dict[str, int]:
    with open_package(path, "docs.zip") as package:
        return {file.path: file.files for file in package.hidden()}


def test_hidden_files_and_what_systems_leave_behind_are_not_read_and_are_counted_by_what_hides_them(tmp_path):
    found = walk(tmp_path, zipped(dict.fromkeys(["a.md", *HIDDEN], "x")))

    assert list(found) == ["a.md"]
    assert hidden_in(tmp_path / "upload") == BY_WHAT_HIDES


def test_a_package_of_a_folder_counts_the_hidden_files_that_it_leaves_there(tmp_path):
    folder = tmp_path / "docs"
    for name in ["a.md", ".git/HEAD", *HIDDEN]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("b" * 40)
    files, hidden = files_at([folder])

    with (tmp_path / "upload").open("wb") as out:
        pack(files, out, hidden)

    assert list(files) == ["docs/a.md", "docs/.git/HEAD"]
    assert hidden_in(tmp_path / "upload") == BY_WHAT_HIDES | {".git/": 3}


@pytest.mark.parametrize(
    "comment",
    [b"by hand", b"[]", b"{}", b'{"hidden": 3}', b"[" * 60_000, b'{"hidden": ["a"]}'],
)
def test_a_comment_of_somebody_else_counts_nothing(tmp_path, comment):
    with zipfile.ZipFile(tmp_path / "upload", "w") as archive:
        archive.writestr(".DS_Store", "x")
        archive.comment = comment

    assert hidden_in(tmp_path / "upload") == {".DS_Store": 1}


def test_many_hidden_names_and_odd_ones_are_counted_together(tmp_path):
    names = [".first", *(f".{number}-{'x' * 200}" for number in range(200)), ".odd\x1b[2J"]

    walk(tmp_path, zipped(dict.fromkeys(["a.md", *names], "x")))

    found = hidden_in(tmp_path / "upload")
    assert (sum(found.values()), found[".first"], found["others"] > 100) == (202, 1, True)
    assert max(map(len, found)) == 100


@pytest.mark.parametrize("number", ["-1", "0", "true", '"7"', "1e9", "9999999999"])
def test_a_forged_number_of_hidden_files_counts_nothing(tmp_path, number):
    with zipfile.ZipFile(tmp_path / "upload", "w") as archive:
        archive.comment = b'{"hidden": {".git/": %s, ".x": 2}}' % number.encode()

    assert hidden_in(tmp_path / "upload") == {".x": 2}


@pytest.mark.parametrize("path", ["../a.md", "/etc/passwd", "C:/a.md", "x/../../a.md", "x//a.md"])
def test_a_path_that_leads_out_is_not_read(tmp_path, path):
    found = walk(tmp_path, zipped({"docs/ok.md": "ok", path: "x"}))

    assert found.pop("ok.md") == b"ok"
    assert list(found.values()) == ["path that leads out of the archive"]


@pytest.mark.parametrize("path", ["a\n.md", "a\x1b[2J.md", "gpj.\u202ea.md"])
def test_a_name_that_cannot_be_shown_is_not_read(tmp_path, path):
    assert list(walk(tmp_path, zipped({path: "x"})).values()) == ["name with control characters"]


def test_a_name_with_blanks_of_any_width_is_read(tmp_path):
    assert list(walk(tmp_path, zipped({"a b\u00a0c.md": "x"}))) == ["a b\u00a0c.md"]


def test_a_path_that_is_there_twice_is_read_once(tmp_path):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.md", "first")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.md", "second")
    path = tmp_path / "upload"
    path.write_bytes(out.getvalue())

    with open_package(path, "docs.zip") as package:
        found = [file.reason if isinstance(file, UnreadFile) else file.stream.read() for file in package.files()]

    assert found == [b"first", "path that is in the archive twice"]


def with_a_link() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        link = zipfile.ZipInfo("a.md")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    return out.getvalue()


def locked() -> bytes:
    content = bytearray(zipped({"a.md": "x"}))
    content[6] |= 1  # the flag in the file's own head
    content[content.index(b"PK\x01\x02") + 8] |= 1  # and in the directory
    return bytes(content)


@pytest.mark.parametrize(
    ("content", "name", "reason"),
    [
        (with_a_link(), "docs.zip", "link to another file"),
        (zipped({"a.md": b"x" * 6_000_000}), "docs.zip", "packed far too tightly"),
        (gzip.compress(b"x" * 6_000_000), "a.md.gz", "packed far too tightly"),
        (locked(), "docs.zip", "locked with a password"),
    ],
    ids=["link", "bomb", "gzip bomb", "locked"],
)
def test_a_file_that_cannot_be_unpacked_stays_unread(tmp_path, content, name, reason):
    assert list(walk(tmp_path, content, name).values()) == [reason]


def test_a_file_beyond_the_limit_stays_unread(tmp_path):
    limits = PackageLimits(file_bytes=10, ratio_floor=10)

    assert walk(tmp_path, zipped({"a.md": "x" * 11}), limits=limits) == {"a.md": "larger than 0 MB"}


def test_gzip_is_unpacked_alone_and_in_a_zip(tmp_path):
    packed = gzip.compress(b"text")

    assert walk(tmp_path, packed, "a.md.gz") == {"a.md": b"text"}
    assert walk(tmp_path, zipped({"a.md.gz": packed})) == {"a.md": b"text"}


def test_a_damaged_file_leaves_the_others_whole(tmp_path):
    content = zipped({"a.md": "aaaa" * 50, "b.md": "b"})
    place = content.index(b"a.md") + 8
    damaged = content[:place] + b"\xff\xff" + content[place + 2 :]

    found = walk(tmp_path, damaged)

    assert (found["a.md"], found["b.md"]) == ("damaged in the archive", b"b")


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (PackageLimits(files=1), "the zip has more than 1 files; divide it"),
        (PackageLimits(directory_bytes=10), "the zip has more than 50,000 files; divide it"),
        (PackageLimits(total_bytes=3), "the zip unpacks to more than 0 MB; divide it"),
    ],
)
def test_a_zip_beyond_the_limits_is_refused(tmp_path, limits, message):
    with pytest.raises(InputError, match=message):
        walk(tmp_path, zipped({"a.md": "aa", "b.md": "bb"}), limits=limits)


def test_a_zip_that_is_cut_off_is_refused(tmp_path):
    with pytest.raises(InputError, match="the zip is damaged or cut off"):
        walk(tmp_path, zipped({"a.md": "aa"})[:-10])


def test_a_package_is_the_same_whatever_order_the_files_come_in():
    def packed(*names: str) -> bytes:
        out = io.BytesIO()
        pack({name: lambda name=name: io.BytesIO(name.encode()) for name in names}, out)
        return out.getvalue()

    assert packed("docs/a.md", "docs/b/c.md") == packed("docs/b/c.md", "docs/a.md")


def test_a_package_is_called_after_its_folder():
    assert package_name({"docs/a.md": 1, "docs/b.md": 1}) == "docs.zip"
    assert package_name({"a.md": 1, "b.md": 1}) == "2 files.zip"
    assert package_name({"a.md": 1, "b.md": 1, ".DS_Store": 1, "Thumbs.db": 1}) == "2 files.zip"


@pytest.mark.parametrize("packed", [False, True])
def test_the_commit_of_a_checkout_is_read_without_git(tmp_path, packed):
    git = tmp_path / "site" / ".git"
    (git / "refs" / "heads").mkdir(parents=True)
    (tmp_path / "site" / "docs").mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    if packed:
        (git / "packed-refs").write_text(f"# pack-refs\n{'b' * 40} refs/heads/main\n")
    else:
        (git / "refs" / "heads" / "main").write_text("b" * 40 + "\n")

    assert commit_at(tmp_path / "site" / "docs") == "b" * 40
    assert commit_at(tmp_path) == ""
