"""How the time of a call grows with its input, as a ratio: what no machine's speed decides."""

import time
from collections.abc import Callable


def doubled_time(call: Callable[[int], object], size: int, tries: int = 5) -> float:
    """Processor time with `2 * size` over that with `size`, each the least of some tries, in turns."""
    once, twice = [], []
    for _ in range(tries):
        once.append(_seconds(call, size))
        twice.append(_seconds(call, 2 * size))
    return min(twice) / min(once)


def _seconds(call: Callable[[int], object], size: int) -> float:
    start = time.process_time()
    call(size)
    return time.process_time() - start
