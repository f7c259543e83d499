"""How much is in a file is found out by unpacking no more than matters."""

import gzip

import pytest

from apps.common.files.linefiles import PIECE, Extent, is_within

MOST = Extent(1_000_000, 500)


@pytest.fixture
def unpacked(monkeypatch):
    """Counts the bytes that gzip hands out."""
    counts = []
    plain = gzip.GzipFile.read

    def read(self, size=-1):
        found = plain(self, size)
        counts.append(len(found))
        return found

    monkeypatch.setattr(gzip.GzipFile, "read", read)
    return counts


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize(
    ("content", "fits"),
    [
        (b"", True),
        (b"a\n" * 500, True),
        (b"a\n" * 501, False),
        (b"a\r\n" * 500, True),
        (b"a\r" * 501, False),
        (b"x" * 1_000_000, True),
        (b"x" * 1_000_001, False),
    ],
)
def test_bytes_and_lines_count_as_they_are_unpacked(tmp_path, pack, content, fits):
    path = tmp_path / "file"
    path.write_bytes(pack(content))

    assert is_within(path, MOST) == fits


def test_of_a_bomb_no_more_is_unpacked_than_the_limit(tmp_path, unpacked):
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b"x" * 50_000_000))

    assert not is_within(path, MOST)
    assert sum(unpacked) <= MOST.size + PIECE


def test_a_damaged_file_is_left_to_its_reader(tmp_path):
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(b"a\n" * 100)[:-9])

    assert is_within(path, MOST)
