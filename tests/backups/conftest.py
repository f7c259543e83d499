"""An old server, and two projects of this version."""

import lzma
from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.audit.execution.sealing import seal_all
from tests import database
from tests.backups.running import DATA, done, on
from tests.world import World, build_world


@pytest.fixture(scope="module")
def older(tmp_path_factory) -> Path:
    """A server of the oldest version that this one upgrades, on which this one has only made a backup."""
    folder = tmp_path_factory.mktemp("older")
    (folder / "data").mkdir()
    (folder / "data" / "karat.sqlite3").write_bytes(lzma.decompress((DATA / "e3b857af.sqlite3.xz").read_bytes()))
    done("backup", folder / "older.zip", env=on(folder / "data"))
    return folder


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker, database_cache) -> Iterator[World]:
    """Two demo projects, whose history is sealed."""
    with django_db_blocker.unblock(), database.world("two-demos", build_world, database_cache) as world:
        seal_all()
        yield world
