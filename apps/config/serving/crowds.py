"""What web processes say in memory that they share: that they live, and how many connections each has.

The supervisor sees whether one of them is stuck, and clients spread over all of them. The processes listen on one
socket, and whoever is idle first takes all that wait there: thirty of thirty-two clients that come together, who then
wait for one processor while the other does nothing.
"""

import mmap

MOST_PROCESSES = 256
BYTES = 4


class Crowds:
    """Two counts for each web process: its connections, and its turns. They are made before the processes are forked.

    A process counts at a place of its own, from 0, and below `MOST_PROCESSES`. Each place has one writer, and a count
    that is read while it changes is one of the two.
    """

    def __init__(self) -> None:
        self._counts = memoryview(mmap.mmap(-1, MOST_PROCESSES * BYTES)).cast("i")
        self._turns = memoryview(mmap.mmap(-1, MOST_PROCESSES * BYTES)).cast("I")

    def beat(self, place: int) -> None:
        """The process at this place has come round once more."""
        self._turns[place] = (self._turns[place] + 1) % 2 ** (8 * BYTES)

    def pulse(self, place: int) -> int:
        """A number that changes as long as the process at this place comes round."""
        return self._turns[place]

    def say(self, place: int, connections: int) -> None:
        self._counts[place] = connections + 1  # 0 is nobody

    def leave(self, place: int) -> None:
        """The process at this place has ended."""
        self._counts[place] = 0

    def is_ahead(self, place: int) -> bool:
        """Whether another process has clearly fewer connections: two fewer, and one more for each eight that it has."""
        own = self._counts[place]
        return any(count > 0 and count + 1 + count // 8 < own for count in self._counts)
