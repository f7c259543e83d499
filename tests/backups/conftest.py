"""An old server."""

import lzma
from pathlib import Path

import pytest

from tests.backups.running import DATA, done, on


@pytest.fixture(scope="module")
def older(tmp_path_factory) -> Path:
    """A server of the oldest version that this one upgrades, on which this one has only made a backup."""
    folder = tmp_path_factory.mktemp("older")
    (folder / "data").mkdir()
    (folder / "data" / "karat.sqlite3").write_bytes(lzma.decompress((DATA / "e3b857af.sqlite3.xz").read_bytes()))
    done("backup", folder / "older.zip", env=on(folder / "data"))
    return folder
