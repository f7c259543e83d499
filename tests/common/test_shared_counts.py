"""Counts that several processes share: each adds to its own, whoever asks reads the sum."""

import os
import signal
import threading
from collections.abc import Callable

from apps.common.web import shared_counts
from apps.common.web.shared_counts import SharedCounts

TIMES = 20_000


def forked(work: Callable[[], object]) -> int:
    """The number of a new process that does this and ends."""
    pid = os.fork()
    if not pid:
        try:
            work()
        finally:
            os._exit(0)
    return pid


def ended(*pids: int) -> None:
    for pid in pids:
        os.waitpid(pid, 0)


def living(counts: SharedCounts, *steps: tuple[int, int]) -> int:
    """The number of a process that has counted this and lives on."""
    ready, say = os.pipe()

    def count_and_wait() -> None:
        counts.add(*steps)
        os.write(say, b"!")
        signal.pause()

    pid = forked(count_and_wait)
    os.read(ready, 1)
    os.close(ready)
    os.close(say)
    return pid


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    ended(pid)


def test_the_sum_of_two_processes_that_count_at_the_same_time_is_exact():
    counts = SharedCounts(3)

    def count() -> None:
        for _ in range(TIMES):
            counts.add((0, 1), (2, 5))

    ended(forked(count), forked(count))

    assert counts.sums() == [2 * TIMES, 0, 2 * TIMES * 5]


def test_threads_of_a_process_lose_nothing():
    counts = SharedCounts(1)

    def count() -> None:
        for _ in range(TIMES):
            counts.add((0, 1))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert counts.sums() == [4 * TIMES]


def test_what_a_killed_process_has_counted_stays_in_the_sum():
    counts = SharedCounts(1)
    counts.add((0, 1))
    pid = living(counts, (0, 7))

    kill(pid)

    assert counts.sums() == [8]


def test_a_new_process_goes_on_in_the_place_of_a_dead_one(monkeypatch):
    monkeypatch.setattr(shared_counts, "MOST_PROCESSES", 4)
    counts = SharedCounts(1)
    for _ in range(3 * 4):
        ended(forked(lambda: counts.add((0, 1))))

    assert counts.sums() == [3 * 4]
    assert sum(pid > 0 for pid in counts._pids) == 1


def test_a_level_ends_with_its_process_and_the_next_begins_anew():
    counts = SharedCounts(2, levels=1)
    pid = living(counts, (0, 4), (1, 4))

    assert counts.sums() == [4, 4]
    kill(pid)
    assert counts.sums() == [0, 4]
    pid = living(counts, (0, 1))
    assert counts.sums() == [1, 4]
    kill(pid)


def test_processes_beyond_the_most_are_not_counted_and_disturb_nobody(monkeypatch):
    monkeypatch.setattr(shared_counts, "MOST_PROCESSES", 2)
    counts = SharedCounts(1)
    pids = [living(counts, (0, 1)) for _ in range(3)]

    assert counts.sums() == [2]
    for pid in pids:
        kill(pid)
    counts.add((0, 1))
    assert counts.sums() == [3]


def test_a_process_that_forks_others_can_forget_what_it_did_itself():
    counts = SharedCounts(1)
    counts.add((0, 1))

    counts.clear()
    ended(forked(lambda: counts.add((0, 2))))

    assert counts.sums() == [2]


def test_where_the_system_has_no_files_in_memory_an_unnamed_one_does(monkeypatch):
    def forbidden(name: str) -> int:
        raise PermissionError(name)

    monkeypatch.setattr(os, "memfd_create", forbidden)
    counts = SharedCounts(1)

    ended(forked(lambda: counts.add((0, 2))))

    assert counts.sums() == [2]


def test_counts_have_no_name_on_a_disk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    SharedCounts(1).add((0, 1))

    assert list(tmp_path.iterdir()) == []
