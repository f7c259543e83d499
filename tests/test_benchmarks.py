"""The benchmarks that need no database run to their end, with so little to do that their figures mean nothing."""

import subprocess
import sys

import pytest

from tests.house import REPO

pytestmark = pytest.mark.slow

SMALL = {
    "agreement": "--items 200 --repeats 1",
    "evidence": "--questions 6 --passages 4 --words 60 --compared 2 --repeats 1",
    "eval_smoke": "--queries 60 --blocks 200 --pause 1 --repeats 1",
    "scoring": "--queries 20 --depth 20 --repeats 1",
    "start_up": "--repeats 1",
}


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize("name", SMALL)
def test_a_benchmark_runs_to_its_end(name, tmp_path):
    command = [sys.executable, REPO / f"benchmarks/{name}.py", *SMALL[name].split()]

    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
