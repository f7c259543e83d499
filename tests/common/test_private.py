import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from apps.common.files.private import close_data_dir, close_database, closed_to_us, open_to_others

REPO = Path(__file__).resolve().parents[2]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def folder(tmp_path) -> Path:
    """A data directory that everybody could read."""
    folder = tmp_path / "data"
    for name in ("backups", "files", "audit-heads", "broker"):
        (folder / name).mkdir(parents=True)
        (folder / name).chmod(0o755)
    for name in ("secret-key", "audit-key", "karat.sqlite3", "karat.sqlite3-wal", "backups/karat-old.sqlite3"):
        (folder / name).write_text("x" * 40)
        (folder / name).chmod(0o666)
    folder.chmod(0o777)
    return folder


def test_a_data_directory_is_closed_whatever_was_there(folder):
    close_data_dir(folder)

    assert mode(folder) == 0o700
    assert {mode(path) for path in folder.rglob("*") if path.is_dir()} == {0o700}
    assert {mode(path) for path in folder.rglob("*") if path.is_file()} == {0o600}


def test_a_folder_that_all_share_stays_open_and_its_files_do_not(folder):
    folder.chmod(0o1777)

    close_data_dir(folder)

    assert mode(folder) == 0o1777
    assert mode(folder / "secret-key") == mode(folder / "karat.sqlite3") == 0o600


def test_a_link_to_a_file_elsewhere_leaves_that_file_alone(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("x")
    elsewhere.chmod(0o644)
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "secret-key").symlink_to(elsewhere)

    close_data_dir(folder)

    assert mode(elsewhere) == 0o644


def test_a_folder_that_is_not_there_is_not_made(tmp_path):
    close_data_dir(tmp_path / "none")

    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("is_there", [True, False])
def test_a_database_and_its_companions_are_closed(tmp_path, is_there):
    path = tmp_path / "karat.sqlite3"
    before = os.umask(0)
    try:
        if is_there:
            path.touch(0o666)
        close_database(path)
        with closing(sqlite3.connect(path)) as there:
            there.execute("PRAGMA journal_mode = WAL")
            there.execute("CREATE TABLE t (x)")
            there.commit()
            modes = {name.name: mode(name) for name in tmp_path.iterdir()}
    finally:
        os.umask(before)

    assert modes == {"karat.sqlite3": 0o600, "karat.sqlite3-wal": 0o600, "karat.sqlite3-shm": 0o600}


@pytest.mark.slow
def test_every_command_closes_what_it_finds_and_what_it_makes(folder):
    """A database that another command made under a lax umask, and one that this command makes."""
    (folder / "karat.sqlite3").unlink()
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("KARAT_AUDIT", "DATABASE_URL"))},
        "KARAT_DATA_DIR": str(folder),
    }
    code = "import os; os.umask(0); from django.core.management import execute_from_command_line as run;"
    code += "run(['manage.py', 'showmigrations', '--plan'])"
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        cwd=REPO,
        env=environment | {"DJANGO_SETTINGS_MODULE": "apps.config.settings"},
    )

    assert mode(folder) == 0o700
    assert {path.name: mode(path) for path in folder.iterdir() if path.is_file() and mode(path) != 0o600} == {}
    assert (folder / "karat.sqlite3").exists()


def test_what_is_open_or_closed_is_found_where_it_is_made_private(tmp_path, monkeypatch):
    data = tmp_path / "data"
    (data / "files").mkdir(parents=True)
    (data / "secret-key").write_text("a key")
    (data / "notes.txt").write_text("not ours")
    for path in (data / "files", data / "secret-key", data / "notes.txt"):
        path.chmod(0o755)
    data.chmod(0o700)

    assert open_to_others(data) == [data / "files", data / "secret-key"]
    assert closed_to_us(data) == []
    close_data_dir(data)
    assert open_to_others(data) == []
    assert open_to_others(tmp_path / "missing") == []

    monkeypatch.setattr(os, "access", lambda path, mode: path != data / "files")
    assert closed_to_us(data) == [data / "files"]
