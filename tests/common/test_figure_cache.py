"""The cache that processes share: what comes back equals what was put in, and nothing in a file is ever run."""

import json
import os
import pickle
import stat
import subprocess
import sys
import zlib
from collections import Counter
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import pytest
from django.core.cache import cache, caches

from apps.agreement.core.drift import FigureWeek
from apps.common.files import figure_cache
from apps.common.files.figure_cache import FigureCache, NotPlain
from apps.metrics.agreement.ratings import Rate
from apps.metrics.estimate import Estimate
from apps.review.enums import RateSide

VALUES = [
    None,
    0.1 + 0.2,
    float("inf"),
    ["a", ("b", (1, None))],
    {1: {2, 3}, ("x", 2): frozenset({"y"})},
    Counter({"a": 2}),
    date(2026, 3, 2),
    datetime(2026, 3, 2, 9, 30, 0, 5, UTC),
    RateSide.AUTHOR,
    np.float64(0.25),
    Estimate.of(0.5, (0.25, 0.75), 12, "bootstrap"),
    [FigureWeek(date(2026, 3, 2), 0.5, 4), Rate(1, 3)],
]


@pytest.fixture
def shared(tmp_path) -> FigureCache:
    return FigureCache(tmp_path / "figures", {"OPTIONS": {"MAX_ENTRIES": 4}})


def same(one, other) -> bool:
    return type(one) is type(other) and one == other and repr(one) == repr(other)


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_comes_back_with_its_types(value):
    assert same(figure_cache.load(figure_cache.dump(value)), value)


@pytest.mark.parametrize("kind", ["<f8", "<i4", "|b1", "|i1"])
def test_an_array_comes_back_bit_for_bit(kind):
    array = np.array([[0, 1, 1], [1, 0, 1]], dtype=kind)

    back = figure_cache.load(figure_cache.dump(array))

    assert (back.dtype, back.tolist()) == (array.dtype, array.tolist())
    back[0, 0] = 1


@pytest.mark.parametrize(
    "value",
    [object(), Path("/"), print, np.array([object()]), json.JSONDecoder()],
    ids=["object", "path", "function", "objects", "decoder"],
)
def test_what_is_no_plain_value_is_refused(value):
    with pytest.raises(NotPlain):
        figure_cache.dump(value)


@pytest.mark.parametrize(
    "held",
    [
        {"o": ["os:system", "true"]},
        {"o": ["subprocess:Popen", "true"]},
        {"o": ["apps.common.files.private:close_database", "x"]},
        {"o": ["apps.common.files.figure_cache:FigureCache", "x", "y"]},
        {"e": ["apps.common.files.figure_cache:FigureCache", "x"]},
        {"a": ["|O", [1], ""]},
    ],
    ids=str,
)
def test_a_file_can_name_nothing_but_a_plain_class_of_ours(held):
    with pytest.raises(NotPlain):
        figure_cache.load(json.dumps(held).encode())


def test_a_file_that_somebody_wrote_is_missing_and_never_run(shared, tmp_path):
    shared.set("k", 1)
    (file,) = shared._folder.iterdir()
    times = (file.stat().st_atime, file.stat().st_mtime)

    class Trap:
        def __reduce__(self):
            return Path.touch, (tmp_path / "sprung",)

    for words in (
        pickle.dumps(Trap()),
        zlib.compress(pickle.dumps(Trap())),
        b"",
        zlib.compress(b'{"o": ["os:system"]}'),
    ):
        file.write_bytes(words)
        os.utime(file, times)
        assert shared.get("k", "missing") == "missing"

    assert not (tmp_path / "sprung").exists()


def test_folder_and_files_are_private(shared):
    shared.set("k", 1)

    modes = {stat.S_IMODE(path.stat().st_mode) for path in shared._folder.iterdir()}
    assert (stat.S_IMODE(shared._folder.stat().st_mode), modes) == (0o700, {0o600})


def test_a_value_is_gone_after_its_time_and_its_file_with_the_next(shared):
    shared.set("old", 1, timeout=-1)

    assert shared.get("old") is None
    shared.set("new", 2)
    assert len(list(shared._folder.iterdir())) == 1


def test_the_number_of_files_is_bounded_and_the_newest_stay(shared):
    for n in range(9):
        shared.set(f"k{n}", n, timeout=100 + n)

    assert len(list(shared._folder.iterdir())) == 4
    assert [shared.get(f"k{n}") for n in range(9)] == [None] * 5 + [5, 6, 7, 8]


def test_a_value_that_would_take_as_long_to_read_is_not_kept(shared, monkeypatch):
    monkeypatch.setattr(figure_cache, "LARGEST", 20)
    shared.set("k", "short")
    shared.set("k", "long" * 20)

    assert shared.get("k") is None


def test_a_disk_that_takes_nothing_costs_no_page(tmp_path):
    (tmp_path / "figures").write_text("no folder")
    full = FigureCache(tmp_path / "figures", {})

    full.set("k", 1)

    assert full.get("k", "missing") == "missing"


@pytest.mark.slow
def test_two_processes_share_the_figures_and_each_has_its_grades():
    cache.set("from-here", Estimate.of(0.5, None, 3))
    caches["grades"].set("from-here", 1)
    asks = """
import django; django.setup()
from django.core.cache import cache, caches
print(cache.get("from-here").n, caches["grades"].get("from-here"))
cache.set("from-there", (1, 2))
"""
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "apps.config.settings"}
    there = subprocess.run([sys.executable, "-c", asks], env=environment, capture_output=True, text=True, check=True)

    assert there.stdout.split() == ["3", "None"]
    assert cache.get("from-there") == (1, 2)
