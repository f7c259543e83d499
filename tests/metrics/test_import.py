"""`apps.metrics` on its own: the script of the documentation, run as it is printed there, without Django."""

import math
import os
import subprocess
import sys

import pytest

import apps.metrics
from tests.conftest import REPO
from tests.house import imports, modules
from tests.test_docs import FENCE, after

SEEN = (
    "\nimport sys\nprint(sorted({name.split('.')[0] for name in sys.modules} & {'django', 'rest_framework', 'celery'}))"
)


@pytest.fixture(scope="module")
def printed(tmp_path_factory) -> list[str]:
    """What the documented script prints, line by line, and then which frameworks it loaded."""
    folder = tmp_path_factory.mktemp("script")
    qrels, run, *_ = FENCE.findall((REPO / "docs" / "score.md").read_text())
    (folder / "qrels.txt").write_text(qrels)
    (folder / "bm25.txt").write_text(run)
    script, _ = FENCE.findall(section())
    environment = {key: value for key, value in os.environ.items() if not key.startswith("DJANGO")}
    done = subprocess.run(
        [sys.executable, "-c", script + SEEN],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(REPO)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def section() -> str:
    return after((REPO / "docs" / "reference" / "measures.md").read_text(), "In a script")


def test_the_documented_script_has_five_lines_and_prints_what_the_page_says(printed):
    script, output = FENCE.findall(section())

    assert len(script.splitlines()) == 5
    assert printed[:-1] == output.splitlines()


def test_the_script_computes_what_one_computes_by_hand(printed):
    first = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))  # grades 1, 3, 0 in the order of the run
    second = (2 / math.log2(4)) / 2  # grade 2 at rank 3

    values = {line.split()[0]: float(line.split()[1]) for line in printed[:-1]}

    assert values == pytest.approx(
        {"nDCG@10": (first + second) / 2, "RR": (1 / 1 + 1 / 3) / 2, "P@3": (2 / 3 + 1 / 3) / 2}
    )


def test_the_script_loads_no_framework(printed):
    assert printed[-1] == "[]"


def test_all_names_what_is_there():
    assert [name for name in apps.metrics.__all__ if not hasattr(apps.metrics, name)] == []
    assert apps.metrics.__all__ == sorted(apps.metrics.__all__)


ORDER = (
    *("estimate", "vocabulary", "columns", "statistics", "agreement", "measures", "expected", "by_text", "files"),
    *("scoring", "comparison", "scorecard"),
)
"""The parts of `metrics`, from the ground up."""


def test_each_part_imports_only_the_parts_before_it():
    parts = {name: name.split(".")[2] for name in modules() if name.startswith("apps.metrics.")}
    wrong = [
        f"{name} imports {other}"
        for name, part in parts.items()
        for other in imports()[name]
        if other in parts and ORDER.index(parts[other]) > ORDER.index(part)
    ]

    assert set(parts.values()) == set(ORDER)
    assert wrong == []
