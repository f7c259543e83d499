"""The same files and seed give the same bytes, whatever the threads, hashes, language, clock and folder of a process.

Each command runs as a process of its own, as a pipeline runs it. OpenBLAS and NumPy choose kernels by the processor;
their own variables make them choose as on another one. A name that this machine does not know changes nothing.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

pytestmark = [pytest.mark.slow, pytest.mark.once]

KARAT = str(Path(sys.executable).with_name("karat"))
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
PLAIN = {**dict.fromkeys(THREADS, "1"), "PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C"}
PLACES = {
    "two threads": {
        **dict.fromkeys(THREADS, "2"),
        "PYTHONHASHSEED": "1",
        "TZ": "Asia/Tokyo",
        "LC_ALL": "de_DE.UTF-8",
        "OPENBLAS_CORETYPE": "Haswell",
    },
    "four threads": {
        **dict.fromkeys(THREADS, "4"),
        "PYTHONHASHSEED": "random",
        "TZ": "America/St_Johns",
        "LC_ALL": "tr_TR.UTF-8",
        "OPENBLAS_CORETYPE": "Nehalem",
    },
}
CHOSEN_KERNELS = " ".join(name for name in __cpu_dispatch__ if __cpu_features__.get(name))
OLD_PROCESSOR = {**PLAIN, "OPENBLAS_CORETYPE": "Sandybridge", "NPY_DISABLE_CPU_FEATURES": CHOSEN_KERNELS}

MEASURES = (
    "nDCG@10 nDCG(dcg='exp-log2')@10 AP RR P@10 ERR@10 RBP(p=0.8) infAP Bpref alpha_nDCG@10 TD_nDCG(rate=0.01)@10 "
    "ILD(by='type')@10"
)
SCORE = ["score", "--qrels", "qrels.txt", "--run", "base.run", "--run", "other.run", "--by", "strata.csv"]
SCORE += ["--blocks", "blocks.csv", "--query-attributes", "queries.csv", "--per-query", "--measures", MEASURES]
AGAINST = ["--compare", "base.run", "--stratify", "kind"]
AGREE = ["--resamples", "500"]
COMMANDS = {
    "score, json": [*SCORE, *AGAINST, "--format", "json", "--html", "report.html", "--markdown", "report.md"],
    "score, table": [*SCORE, *AGAINST, "--bounds"],
    "score, csv": [*SCORE, "--bounds", "--format", "csv"],
    "agree, long": ["agree", "long.csv", *AGREE, "--by", "halves.csv", "--label-model", "--format", "json"],
    "agree, wide": ["agree", "wide.csv", *AGREE, "--level", "ratio", "--format", "json"],
    "agree, table": ["agree", "wide.csv", *AGREE, "--level", "interval"],
    "agree, clusters": ["agree", "grouped.csv", "--level", "ordinal", "--by", "halves.csv", "--format", "json"],
    "agree, csv": ["agree", "wide.csv", *AGREE, "--format", "csv"],
}
REPORTS = ("report.html", "report.md")
KINDS, TYPES, DOMAINS, HALVES = ("easy", "hard", "odd"), ("text", "table"), ("beds", "water"), ("first", "second")


# What is read


def write_collection(folder: Path, chance: np.random.Generator, queries: int = 90, blocks: int = 60) -> None:
    """Judgements with facets, two runs with ties, strata, and attributes of blocks and queries."""
    lines: dict[str, list[str]] = {"qrels.txt": [], "base.run": [], "other.run": []}
    for query in range(queries):
        for block in chance.choice(blocks, 25, replace=False):
            lines["qrels.txt"].append(f"q{query} {chance.integers(1, 4)} b{block} {chance.integers(0, 4)}")
        for name in ("base.run", "other.run"):
            scores = chance.integers(0, 40, blocks) / 10
            lines[name] += [f"q{query} Q0 b{block} 0 {scores[block]} {name[:-4]}" for block in range(blocks)]
    kinds = [f"q{query},{KINDS[query % 3]}" for query in range(queries)]
    days = [f"b{block},{TYPES[block % 2]},2026-0{block % 9 + 1}-11" for block in range(blocks)]
    times = [f"q{query},2026-11-{query % 28 + 1:02},{DOMAINS[query % 2]}" for query in range(queries)]
    lines["strata.csv"] = ["query,kind", *kinds]
    lines["blocks.csv"] = ["block,type,time", *days]
    lines["queries.csv"] = ["query,time,domain", *times]
    for name, rows in lines.items():
        (folder / name).write_text("\n".join(rows) + "\n")


def write_labels(folder: Path, chance: np.random.Generator, items: int = 200, people: int = 5) -> None:
    """Grades of five people with gaps and second passes; measurements of the same items, with and without queries."""
    true = chance.integers(0, 5, items)
    said = np.where(chance.random((items, people)) < 0.6, true[:, None], chance.integers(0, 5, (items, people)))
    missing = chance.random((items, people)) < 0.15
    cells = [(item, who) for item in range(items) for who in range(people) if not missing[item, who]]
    long = [f"i{item},p{who},{said[item, who]},1" for item, who in cells]
    long += [f"i{item},p{who},{chance.integers(0, 5)},2" for item, who in cells[::9]]
    values = np.array(["0", "0.7", "1.3", "2.1", "3.9"])[said]
    wide = [",".join([f"i{item}", *np.where(missing[item], "", values[item])]) for item in range(items)]
    halves = [f"i{item},{HALVES[item % 2]}" for item in range(items)]
    (folder / "long.csv").write_text("\n".join(["item,annotator,label,pass", *long]) + "\n")
    (folder / "wide.csv").write_text("\n".join(["item,ann,bob,eva,kim,lou", *wide]) + "\n")
    grouped = [row.replace(",", f",q{number // 4},", 1) for number, row in enumerate(wide)]
    (folder / "grouped.csv").write_text("\n".join(["item,query,ann,bob,eva,kim,lou", *grouped]) + "\n")
    (folder / "halves.csv").write_text("\n".join(["item,half", *halves]) + "\n")


def printed(folder: Path, variables: dict[str, str], commands: Iterable[str] = COMMANDS) -> dict[str, bytes]:
    """What each command prints, from files made anew in this folder."""
    chance = np.random.Generator(np.random.PCG64(7))
    write_collection(folder, chance)
    write_labels(folder, chance)
    own = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "OPENBLAS_", "NPY_"))}
    found = {}
    for words in commands:
        command = [KARAT, *COMMANDS[words]]
        done = subprocess.run(command, cwd=folder, env=own | variables, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        found[words] = done.stdout
    return found


def with_reports(folder: Path, variables: dict[str, str]) -> dict[str, bytes]:
    """What every command prints and writes."""
    return printed(folder, variables) | {name: (folder / name).read_bytes() for name in REPORTS}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return with_reports(tmp_path_factory.mktemp("plain"), PLAIN)


# What is the same


@pytest.mark.parametrize("place", PLACES)
def test_every_command_prints_the_same_bytes(tmp_path, expected, place):
    found = with_reports(tmp_path, PLACES[place])

    assert [words for words in expected if found[words] != expected[words]] == []


def test_another_processor_changes_a_last_digit_at_most(tmp_path, expected):
    """Powers and logarithms are rounded as NumPy's kernel for the processor rounds them, all else by the standard."""
    found = printed(tmp_path, OLD_PROCESSOR, ("score, json", "agree, long", "agree, wide"))

    assert found["agree, wide"] == expected["agree, wide"]
    for words in ("score, json", "agree, long"):
        ours, theirs = ([], []), ([], [])
        divide(json.loads(found[words]), *ours)
        divide(json.loads(expected[words]), *theirs)
        assert ours == (pytest.approx(theirs[0], rel=1e-12, abs=1e-12), theirs[1])


def divide(value: object, numbers: list[float], words: list[object]) -> None:
    """Puts the broken numbers that JSON holds into one list and all else, the names of fields too, into another."""
    if isinstance(value, dict):
        words += value
        value = list(value.values())
    if isinstance(value, list):
        for own in value:
            divide(own, numbers, words)
    elif isinstance(value, float):
        numbers.append(value)
    else:
        words.append(value)


def test_the_compared_output_contains_resampled_figures(expected):
    """Bytes without any chance in them would be the same anywhere."""
    scored, agreed = (json.loads(expected[words]) for words in ("score, json", "agree, wide"))

    assert scored["seed"] == agreed["seed"] == 20
    assert agreed["coefficients"]["krippendorff_alpha_ratio"]["low"]
    assert b"95 %" in expected["report.md"]
    assert b"svg" in expected["report.html"]
