import multiprocessing
import os
from math import inf
from pathlib import Path

import pytest

from apps.retrieval.core.engines.registry import make as make_engine
from apps.retrieval.core.engines.store import open_index, remove, stored_indexes, tidy, touch, using_index

BLOCKS = ["red key", "red door", "green"]


def test_an_index_is_built_once_and_found_again(tmp_path):
    asked = []

    def blocks():
        asked.append(1)
        return BLOCKS

    engine = make_engine("bm25")
    first = open_index(tmp_path, "a1", engine, blocks)
    again = open_index(tmp_path, "a1", engine, blocks)

    assert len(asked) == 1
    assert engine.search(first, ["red"], 5).scores.tobytes() == engine.search(again, ["red"], 5).scores.tobytes()


def test_a_build_that_fails_leaves_no_index_and_the_next_one_cleans_up(tmp_path):
    def broken():
        yield "red key"
        raise OSError("disk gone")

    with pytest.raises(OSError, match="disk gone"):
        open_index(tmp_path, "a1", make_engine("bm25"), broken)
    assert not (tmp_path / "a1").exists()

    open_index(tmp_path, "a1", make_engine("bm25"), lambda: BLOCKS)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["a1", "a1.lock"]


def _build(root, barrier):
    def blocks():
        with (Path(root) / "built").open("a") as log:
            log.write("x")
        return BLOCKS * 2000

    barrier.wait()
    open_index(Path(root) / "indexes", "a1", make_engine("bm25"), blocks)


def test_of_many_processes_one_builds(tmp_path):
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(4)
    workers = [context.Process(target=_build, args=(str(tmp_path), barrier)) for _ in range(4)]

    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)

    assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]
    assert (tmp_path / "built").read_text() == "x"


def make(root, *digests):
    """Indexes, each used an hour after the one before it, the first a day after the beginning of time."""
    for number, digest in enumerate(digests):
        open_index(root, digest, make_engine("bm25"), lambda: BLOCKS)
        used = 86_400 + number * 3_600
        os.utime(root / f"{digest}.lock", (used, used))


def names(root):
    return sorted(path.name for path in root.iterdir())


def cleared(root, *, known=("a", "b", "c"), max_bytes=inf, used_since=-inf):
    gone = tidy(root, stored_indexes(root), known=known, max_bytes=max_bytes, used_since=used_since)
    return [index.digest for index in gone]


def test_indexes_are_listed_by_their_last_use(tmp_path):
    make(tmp_path, "b", "a")

    assert [(index.digest, index.used_at) for index in stored_indexes(tmp_path)] == [("b", 86_400), ("a", 90_000)]
    assert stored_indexes(tmp_path)[0].size == sum(file.stat().st_size for file in (tmp_path / "b").iterdir())
    assert stored_indexes(tmp_path / "nowhere") == []


def test_an_index_that_nothing_leads_to_is_removed_with_its_lock(tmp_path):
    make(tmp_path, "a", "b")

    assert cleared(tmp_path, known={"b"}) == ["a"]
    assert names(tmp_path) == ["b", "b.lock"]


def test_an_index_too_long_unused_is_removed(tmp_path):
    make(tmp_path, "a", "b", "c")

    assert cleared(tmp_path, used_since=90_000) == ["a"]


@pytest.mark.parametrize(("room", "gone"), [(3.0, []), (2.9, ["a"]), (1.0, ["a", "b"]), (0.5, ["a", "b", "c"])])
def test_the_longest_unused_give_way_until_the_rest_fits(tmp_path, room, gone):
    make(tmp_path, "a", "b", "c")
    one = stored_indexes(tmp_path)[0].size

    assert cleared(tmp_path, max_bytes=room * one) == gone


def test_an_index_in_use_stays(tmp_path):
    make(tmp_path, "a", "b")

    with using_index(tmp_path, "a", make_engine("bm25")):
        assert cleared(tmp_path, known=()) == ["b"]

    assert cleared(tmp_path, known=()) == ["a"]
    assert names(tmp_path) == []


def test_opening_an_index_is_using_it(tmp_path):
    make(tmp_path, "a", "b")

    with using_index(tmp_path, "a", make_engine("bm25")):
        pass

    assert [index.digest for index in stored_indexes(tmp_path)] == ["b", "a"]


def test_touching_an_index_is_using_it(tmp_path):
    make(tmp_path, "a", "b")

    touch(tmp_path, "a")
    touch(tmp_path, "nothing")

    assert [index.digest for index in stored_indexes(tmp_path)] == ["b", "a"]


def test_an_index_that_is_not_there_is_none_where_nothing_can_be_built(tmp_path):
    with using_index(tmp_path, "a", make_engine("bm25")) as handle:
        assert handle is None


def test_an_open_index_answers_although_it_is_removed(tmp_path):
    engine = make_engine("bm25")
    handle = open_index(tmp_path, "a", engine, lambda: BLOCKS)

    assert remove(tmp_path, "a")

    assert engine.search(handle, ["green"], 5).positions.tolist() == [2]


def test_what_a_killed_build_has_left_is_swept_up_and_a_living_one_is_not(tmp_path):
    make(tmp_path, "a")
    for name in ("b.part-x", "c.part-y", "a.part-z"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "half.npy").touch()
    (tmp_path / "d.lock").touch()

    def building():
        assert cleared(tmp_path) == []
        yield from BLOCKS

    open_index(tmp_path, "c", make_engine("bm25"), building)

    assert names(tmp_path) == ["a", "a.lock", "c", "c.lock"]


def _use_and_remove(root, barrier, remover):
    engine = make_engine("bm25")
    barrier.wait()
    for _ in range(60):
        if remover:
            cleared(Path(root), known=())
        else:
            with using_index(Path(root), "a", engine, lambda: BLOCKS) as handle:
                assert engine.search(handle, ["green"], 5).positions.tolist() == [2]
                assert (Path(root) / "a").is_dir()


def test_an_index_in_use_is_never_removed(tmp_path):
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(4)
    crew = [context.Process(target=_use_and_remove, args=(str(tmp_path), barrier, n < 2)) for n in range(4)]

    for process in crew:
        process.start()
    for process in crew:
        process.join(60)

    assert [process.exitcode for process in crew] == [0, 0, 0, 0]
