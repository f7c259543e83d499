"""The environment of every test, set before Django reads its settings.

Loaded by `-p tests.environment` in pyproject.toml, because pytest-django imports the settings before any conftest.
Tests never touch a real data directory and never share one between processes.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

_owner = os.getpid()
_data_dir = tempfile.mkdtemp(prefix="karat-test-")
(Path(_data_dir) / "static").mkdir()  # whitenoise warns when it is missing
os.environ["KARAT_DATA_DIR"] = _data_dir
os.environ.setdefault("KARAT_DB_POOL", "0")
os.environ.setdefault("BROKER_URL", "memory://")
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")


@atexit.register
def _remove_data_dir() -> None:
    if os.getpid() == _owner:
        shutil.rmtree(_data_dir, ignore_errors=True)
