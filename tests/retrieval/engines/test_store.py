import multiprocessing
from pathlib import Path

import pytest

from apps.retrieval.engines import make
from apps.retrieval.engines.store import open_index

BLOCKS = ["red key", "red door", "green"]


def test_an_index_is_built_once_and_found_again(tmp_path):
    asked = []

    def blocks():
        asked.append(1)
        return BLOCKS

    engine = make("bm25")
    first = open_index(tmp_path, "a1", engine, blocks)
    again = open_index(tmp_path, "a1", engine, blocks)

    assert len(asked) == 1
    assert engine.search(first, ["red"], 5).scores.tobytes() == engine.search(again, ["red"], 5).scores.tobytes()


def test_a_build_that_fails_leaves_no_index_and_the_next_one_cleans_up(tmp_path):
    def broken():
        yield "red key"
        raise OSError("disk gone")

    with pytest.raises(OSError, match="disk gone"):
        open_index(tmp_path, "a1", make("bm25"), broken)
    assert not (tmp_path / "a1").exists()

    open_index(tmp_path, "a1", make("bm25"), lambda: BLOCKS)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["a1", "a1.lock"]


def _build(root, barrier):
    def blocks():
        with (Path(root) / "built").open("a") as log:
            log.write("x")
        return BLOCKS * 2000

    barrier.wait()
    open_index(Path(root) / "indexes", "a1", make("bm25"), blocks)


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
