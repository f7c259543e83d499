"""How the time of a call grows with its input, as a ratio: what no machine's speed decides."""

import time
from collections.abc import Callable

FACTOR = 8
MOST = 22
"""Between what reads its input once, about 8 times as long for 8 times as much, and what reads it from every place
again, 64 times: as far from the one as from the other, on a scale of ratios."""


def time_for_eight_times(call: Callable[[int], object], size: int, tries: int = 10) -> float:
    """Processor time with `8 * size` over that with `size`, each the least of some tries, in turns.

    What disturbs a try only adds to it, so the tries end as soon as the ratio is at most `MOST`.
    """
    once = eight_times = float("inf")
    for _ in range(tries):
        once = min(once, _seconds(call, size))
        eight_times = min(eight_times, _seconds(call, FACTOR * size))
        if eight_times <= MOST * once:
            break
    return eight_times / once


def _seconds(call: Callable[[int], object], size: int) -> float:
    start = time.process_time()
    call(size)
    return time.process_time() - start
