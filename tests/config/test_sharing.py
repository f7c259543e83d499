"""What the processes of `karat up` share. Freezing lasts as long as a process, so one of its own does it."""

import os
import platform
import sqlite3
import subprocess
import sys
from contextlib import closing
from types import SimpleNamespace

import pytest

from apps.config import sharing
from tests.conftest import REPO

pytestmark = pytest.mark.slow

CODE = """
import gc, sys, django
django.setup()
from apps.config import sharing
sharing.load_all()
sharing.save_memory()
sharing.freeze()
needed = ("apps.judging.pages.urls", "apps.reports.execution.stability", *sharing.USED_BY_ALL)
print([name in sys.modules for name in needed])
print("pyarrow" in sys.modules)
print(gc.get_freeze_count() > 100_000, len(gc.get_objects()) < 1_000)
"""
GAPS = """
import ctypes
from apps.config import sharing
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
libc.mallinfo2.restype = sharing._Allocated
pieces = [libc.malloc(1_500) for _ in range(4_000)]
for piece in pieces[::2]:
    libc.free(piece)
before = libc.mallinfo2()
sharing.freeze()
after = libc.mallinfo2()
print(before.free - before.at_the_end > 2_500_000, after.free - after.at_the_end < 300_000)
"""


def test_what_all_use_is_loaded_and_permanent_before_a_fork(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_DATA_DIR", str(tmp_path))

    done = subprocess.run([sys.executable, "-c", CODE], cwd=REPO, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[True, True, True, True]", "False", "True True"]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc says what is free")
def test_the_gaps_between_objects_are_filled_before_a_fork(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_DATA_DIR", str(tmp_path))

    done = subprocess.run([sys.executable, "-c", GAPS], cwd=REPO, capture_output=True, text=True)

    assert (done.stdout, done.stderr) == ("True True\n", "")


def test_a_web_server_keeps_few_pages_in_each_connection(monkeypatch):
    database = {"ENGINE": "apps.common.database.sqlite", "OPTIONS": {"init_command": "PRAGMA cache_size=-32768;"}}
    other = {"ENGINE": "django.db.backends.postgresql", "OPTIONS": {}}
    monkeypatch.setattr(sharing, "connections", SimpleNamespace(settings={"default": database, "other": other}))

    sharing.cache_little()

    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(database["OPTIONS"]["init_command"])
        assert connection.execute("PRAGMA cache_size").fetchone() == (-sharing.CACHE_KIB,)
    assert other["OPTIONS"] == {}


LESS = """
import sys, django
django.setup()
from apps.config import sharing
sharing.load_less()
print([name for name in (*sharing.NOT_USED, "psycopg") if name in sys.modules])
import rest_framework.compat, docutils.core, psycopg
print(rest_framework.compat.pygments, rest_framework.compat.postgres_fields)
"""
WARM = """
from apps.config.wsgi import application
from apps.config import sharing
from django.urls import get_resolver
sharing.load_all()
before = get_resolver()._populated
sharing.warm_up(application)
print(before, get_resolver()._populated)
"""


def said(code, tmp_path, **environment):
    """What a process of its own prints."""
    settings = {"KARAT_DATA_DIR": str(tmp_path), "DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "apps.config.settings"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=REPO,
        env={**os.environ, **settings, **environment},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_what_others_load_and_nobody_uses_is_left_out_and_can_be_loaded_later(tmp_path):
    assert said(LESS, tmp_path) == ["[]", "None None"]


@pytest.mark.parametrize("hosts", ["localhost", ".example.org", "*"])
@pytest.mark.parametrize("https", ["0", "1"])
def test_one_request_is_answered_before_the_fork(tmp_path, hosts, https):
    assert said(WARM, tmp_path, KARAT_ALLOWED_HOSTS=hosts, KARAT_HTTPS=https) == ["False True"]
