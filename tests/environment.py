"""The environment of every test, set before Django reads its settings.

Loaded by `-p tests.environment` in pyproject.toml, because pytest-django imports the settings before any conftest.
Tests never touch a real data directory. The processes of one run share a folder and a secret key, so that one may
take over what another has built; each has a data directory of its own in there.
"""

import atexit
import os
import secrets
import shutil
import sys
import tempfile
from pathlib import Path

if sys.dont_write_bytecode:
    # Some hundred processes import the same files. Nothing is put beside them, as was asked for.
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).resolve().parent.parent / ".pytest_cache" / "bytecode")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

MEMORY = Path("/dev/shm")
ROOM = 4 * 1024**3
"""Bytes that have to be free in memory before the files of the tests are kept there: nothing waits for a disk."""


def _folder() -> Path:
    in_memory = MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= ROOM
    return Path(tempfile.mkdtemp(prefix="karat-test-", dir=MEMORY if in_memory else None))


_owner = os.getpid()
_starts_the_run = "KARAT_TEST_RUN" not in os.environ
RUN = Path(os.environ.setdefault("KARAT_TEST_RUN", "") or _folder())
os.environ["KARAT_TEST_RUN"] = str(RUN)
DATA = RUN / f"data-{_owner}"
DATA.mkdir(mode=0o700)
(DATA / "static").mkdir()  # whitenoise warns when it is missing
if _starts_the_run:
    (RUN / "secret-key").write_text(secrets.token_urlsafe(48) + "\n")
shutil.copy(RUN / "secret-key", DATA / "secret-key")
os.environ["KARAT_DATA_DIR"] = str(DATA)
os.environ.setdefault("KARAT_AUDIT_KEY", "the-audit-key-of-every-process-of-the-tests")
os.environ.setdefault("KARAT_AUDIT_HEADS", "off")  # a database that is emptied has no history to hold against it
os.environ.setdefault("BROKER_URL", "memory://")
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")


@atexit.register
def _remove_folder() -> None:
    if os.getpid() == _owner:
        shutil.rmtree(RUN if _starts_the_run else DATA, ignore_errors=True)
