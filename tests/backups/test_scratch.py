"""What a verification that was ended by a signal has left behind."""

import signal
import subprocess
import sys

import pytest

from apps.backups.execution.verification import IN_USE, SCRATCH, remove_abandoned
from tests.backups.running import environment
from tests.conftest import REPO

STAYS = """
import os, sys, time
from pathlib import Path
import django
django.setup()
from apps.backups.execution.verification import _scratch_place
with _scratch_place(Path(os.environ["FOLDER"])) as (place, lock):
    print(place, flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
def test_the_next_one_removes_it_and_leaves_what_is_in_use(tmp_path):
    env = environment(tmp_path / "data", FOLDER=str(tmp_path))
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", STAYS], env=env, cwd=REPO, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for _ in range(2)
    ]
    places = [process.stdout.readline().strip() for process in processes if process.stdout]
    processes[0].send_signal(signal.SIGKILL)
    processes[0].wait()

    remove_abandoned(tmp_path)

    assert [str(path) for path in tmp_path.glob(f"{SCRATCH}*")] == places[1:]
    processes[1].communicate("")
    assert list(tmp_path.glob(f"{SCRATCH}*")) == []


def test_a_folder_that_is_just_being_made_is_left_alone(tmp_path):
    (tmp_path / f"{SCRATCH}new").mkdir()
    (tmp_path / f"{SCRATCH}mine").write_text("a file that has such a name")

    remove_abandoned(tmp_path)

    assert len(list(tmp_path.iterdir())) == 2
    assert not (tmp_path / f"{SCRATCH}new" / IN_USE).exists()
