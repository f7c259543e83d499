import stat
from contextlib import suppress

from apps.common.files.private import whole_file


def test_a_file_is_private_and_in_its_place_once_it_is_whole(tmp_path):
    path = tmp_path / "reading"

    with whole_file(path) as out:
        out.write(b"one")
        assert not path.exists()

    assert path.read_bytes() == b"one"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_fails_leaves_the_earlier_one_and_nothing_else(tmp_path):
    path = tmp_path / "reading"
    path.write_bytes(b"earlier")

    with suppress(KeyboardInterrupt), whole_file(path) as out:
        out.write(b"half")
        raise KeyboardInterrupt

    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"earlier"]
