"""How many connections each web process has, so that clients spread over all of them.

The processes listen on one socket, and whoever is idle first takes all that wait there: thirty of thirty-two clients
that come together, who then wait for one processor while the other does nothing.
"""

import mmap

MOST_PROCESSES = 256
BYTES = 4


class Crowds:
    """A count for each web process in memory that they share. It is made before they are forked.

    A process counts at a place of its own, from 0, and below `MOST_PROCESSES`. Each place has one writer, and a count
    that is read while it changes is one of the two.
    """

    def __init__(self) -> None:
        self._counts = memoryview(mmap.mmap(-1, MOST_PROCESSES * BYTES)).cast("i")

    def say(self, place: int, connections: int) -> None:
        self._counts[place] = connections + 1  # 0 is nobody

    def leave(self, place: int) -> None:
        """The process at this place has ended."""
        self._counts[place] = 0

    def is_ahead(self, place: int) -> bool:
        """Whether another process has clearly fewer connections: two fewer, and one more for each eight that it has."""
        own = self._counts[place]
        return any(count > 0 and count + 1 + count // 8 < own for count in self._counts)
