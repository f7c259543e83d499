"""Counts of several processes in memory that they share: each adds to its own, and any of them reads the sums."""

import fcntl
import os
import tempfile
import threading
from array import array
from contextlib import closing
from mmap import mmap

MOST_PROCESSES = 64
BYTES = 8


class SharedCounts:
    """`size` whole numbers for each process, from 0. It is made before the processes are forked.

    The first `levels` of them say how something is now, such as how many threads are busy: they count while their
    process lives. The others only grow, and stay in the sums when their process ends, however it ends: the place of a
    dead process is given to a new one, which goes on from there.

    Nothing is written to a disk, and memory is taken only for what is counted. Of more than `MOST_PROCESSES` processes
    at a time the last ones are not counted.
    """

    def __init__(self, size: int, *, levels: int = 0) -> None:
        self._size = size
        self._levels = levels
        self._file = _unnamed_file(MOST_PROCESSES * (1 + size) * BYTES)
        numbers = memoryview(mmap(self._file, MOST_PROCESSES * (1 + size) * BYTES)).cast("q")
        self._pids = numbers[:MOST_PROCESSES]
        """Whose each place is; 0 where it has never been anybody's."""
        self._places = [numbers[MOST_PROCESSES + n * size :][:size] for n in range(MOST_PROCESSES)]
        self._lock = threading.Lock()
        self._own: memoryview | None = None
        os.register_at_fork(after_in_child=self._forget)

    def add(self, *steps: tuple[int, int]) -> None:
        """Add to numbers of this process: of each step the number, and how much."""
        with self._lock:
            own = self._take() if self._own is None else self._own
            for number, more in steps:
                own[number] += more

    def clear(self) -> None:
        """Forget what this process has counted, and give its place back: for one that forks those that are counted."""
        with self._lock:
            if self._own is not None:
                self._own[:] = memoryview(bytes(self._size * BYTES)).cast("q")
                self._own = None
                for place, pid in enumerate(self._pids):
                    if pid == os.getpid():
                        self._pids[place] = 0

    def sums(self) -> list[int]:
        """Each number, added up over the processes; levels only over those that live.

        A number that changes meanwhile is read as it was before or as it is after.
        """
        total = [0] * self._size
        for pid, place in zip(self._pids, self._places, strict=True):
            if pid:
                first = 0 if _lives(pid) else self._levels
                for number, value in enumerate(place[first:].tolist(), first):
                    total[number] += value
        return total

    def _take(self) -> memoryview:
        """The place of this process from now on: the first that is free. A lock keeps others from taking it too."""
        fcntl.lockf(self._file, fcntl.LOCK_EX)
        try:
            free = (n for n, pid in enumerate(self._pids) if pid == os.getpid() or not _lives(pid))
            place = next(free, None)
            if place is None:
                own = memoryview(array("q", bytes(self._size * BYTES)))
            else:
                own = self._places[place]
                own[: self._levels] = memoryview(bytes(self._levels * BYTES)).cast("q")
                self._pids[place] = os.getpid()
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN)
        self._own = own
        return own

    def _forget(self) -> None:
        """In a process that was forked: it has no place yet, and who holds the lock is not here."""
        self._lock = threading.Lock()
        self._own = None


def _unnamed_file(size: int) -> int:
    """The descriptor of a file without a name, in memory where the system can. A program that is started has it not."""
    try:
        file = os.memfd_create("karat-counts")
    except (AttributeError, OSError):  # another system than Linux, or a sandbox that forbids it
        with closing(tempfile.TemporaryFile()) as temporary:
            file = os.dup(temporary.fileno())
    os.ftruncate(file, size)
    return file


def _lives(pid: int) -> bool:
    """Whether this process is there. None has the number 0."""
    if not pid:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
