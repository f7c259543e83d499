"""What the processes of `karat up` share. Freezing lasts as long as a process, so one of its own does it."""

import subprocess
import sys

from tests.conftest import REPO

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


def test_what_all_use_is_loaded_and_permanent_before_a_fork(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_DATA_DIR", str(tmp_path))

    done = subprocess.run([sys.executable, "-c", CODE], cwd=REPO, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[True, True, True, True]", "False", "True True"]
