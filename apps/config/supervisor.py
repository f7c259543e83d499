"""Child processes: started, watched, restarted, and all ended at the end."""

import ctypes
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

log = logging.getLogger(__name__)

GRACE_SECONDS = 5.0
"""Longer than the web server takes to finish its requests."""
STEADY_SECONDS = 10.0
LONGEST_WAIT_SECONDS = 10.0
TICK_SECONDS = 0.1
PR_SET_PDEATHSIG = 1


class Child:
    """One forked process in its own process group, so that it and its children can be ended together.

    `after_death` is called when it has ended by itself.
    """

    def __init__(
        self, name: str, run: Callable[[], object], *, after_death: Callable[[], object] | None = None
    ) -> None:
        self.name = name
        self.run = run
        self.after_death = after_death
        self.pid: int | None = None
        self.started_at = 0.0
        self.start_at = 0.0
        self.wait = 0.0

    def start(self) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            os._exit(self._live())
        self.pid = pid
        self.started_at = time.monotonic()

    def _live(self) -> int:
        try:
            os.setsid()
            die_with_parent()
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            self.run()
            return 0
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else 1
        except BaseException:
            log.critical("The %s ended by an error.", self.name, exc_info=True)
            return 1

    def has_ended(self) -> bool:
        """Whether the process has ended; the rest of its group is then killed."""
        if self.pid is None:
            return True
        pid, _ = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0:
            return False
        self._signal_group(signal.SIGKILL)
        self.pid = None
        return True

    def schedule(self) -> None:
        """Schedule the next start: at once after a steady run, with growing delays when it keeps dying."""
        now = time.monotonic()
        steady = now - self.started_at > STEADY_SECONDS
        self.wait = 0.0 if steady else min(max(0.5, self.wait * 2), LONGEST_WAIT_SECONDS)
        self.start_at = now + self.wait

    def terminate(self) -> None:
        if self.pid is not None:
            os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        if self.pid is not None:
            self._signal_group(signal.SIGKILL)
            os.kill(self.pid, signal.SIGKILL)  # in case it has not created its group yet

    def _signal_group(self, number: signal.Signals) -> None:
        assert self.pid is not None
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)


class Supervisor:
    """Keeps its children running until it is stopped, then ends every one of them."""

    def __init__(self, *, say: Callable[[str], None]) -> None:
        self.children: list[Child] = []
        self.say = say
        self.is_stopping = False

    def listen(self) -> None:
        """From here on Ctrl-C, a closed terminal and SIGTERM stop it."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._stop)

    def _stop(self, number: int, frame: object) -> None:
        self.is_stopping = True

    def start(self, name: str, run: Callable[[], object], *, after_death: Callable[[], object] | None = None) -> Child:
        """Start a child, as `Child` describes it."""
        child = Child(name, run, after_death=after_death)
        self.children.append(child)
        child.start()
        return child

    def watch(self) -> None:
        """Restart children that end, until stopped."""
        while not self.is_stopping:
            for child in self.children:
                self._look_after(child)
            time.sleep(TICK_SECONDS)

    def _look_after(self, child: Child) -> None:
        if child.pid is not None:
            if not child.has_ended():
                return
            if self.is_stopping:
                return
            self.say(f"The {child.name} ended and is started again.")
            self._tidy_up_after(child)
            child.schedule()
        if time.monotonic() >= child.start_at:
            child.start()

    def _tidy_up_after(self, child: Child) -> None:
        """Run `after_death`; its errors are logged, so that the supervisor goes on."""
        if child.after_death is None:
            return
        try:
            child.after_death()
        except Exception:
            log.exception("The clean-up after the end of the %s failed. It is restarted all the same.", child.name)

    def stop(self) -> None:
        """Send every child SIGTERM, and kill those that have not ended after five seconds."""
        for child in self.children:
            if not child.has_ended():
                child.terminate()
        end = time.monotonic() + GRACE_SECONDS
        while time.monotonic() < end and not all(child.has_ended() for child in self.children):
            time.sleep(TICK_SECONDS / 2)
        for child in self.children:
            child.kill()
        while not all(child.has_ended() for child in self.children):
            time.sleep(TICK_SECONDS / 2)


def die_with_parent() -> None:
    """Send this process SIGTERM when its parent ends, however the parent ends.

    Linux does this itself; elsewhere a thread checks once a second whether the parent is still the same.
    """
    parent = os.getppid()
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM))
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGTERM)
        return
    threading.Thread(target=_watch, args=[parent], daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)
