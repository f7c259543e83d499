"""Processes of a worker: how they are named, when they may be forked, and that they end when their parent ends."""

import ctypes
import os
import signal
import socket
import sys
import threading
import time

PR_SET_PDEATHSIG = 1

no_fork = threading.Lock()
"""Held by a thread beside the one that forks, while it uses the database or the broker.

A forked process inherits every lock as it is, without the thread that would release it: Celery's objects have many, and
a task that sends a message would wait for one of them for ever. An open connection would have two users. In the forked
process this lock stays held: nothing there takes it.
"""


def worker_name() -> str:
    """The name of this process: its machine and its number."""
    return f"{socket.gethostname()}:{os.getpid()}"


def die_with_parent(number: signal.Signals = signal.SIGKILL) -> None:
    """Send this process the signal `number` when its parent ends, however the parent ends.

    Linux does this itself; elsewhere a thread checks once a second whether the parent is still the same.
    """
    parent = os.getppid()
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, int(number))
        if os.getppid() != parent:
            os.kill(os.getpid(), number)
        return
    threading.Thread(target=_watch, args=(parent, number), daemon=True).start()


def _watch(parent: int, number: signal.Signals) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), number)
