"""Killing the whole server under load, as a power cut would, and starting it again on the same port."""

import os
import signal
import threading
import time

from benchmarks.judging.servers import Server
from benchmarks.memory import family


class Kills:
    """Kills `server` so many times within the seconds that follow `begin`, at even distances."""

    def __init__(self, server: Server, times: int, seconds: float) -> None:
        self.server, self.times, self.pause = server, times, seconds / (times + 1)
        self.thread = threading.Thread(target=self._kill_again_and_again)
        self.fault = ""

    def begin(self) -> None:
        self.thread.start()

    def join(self) -> str:
        """Wait for the last of them; return what went wrong."""
        self.thread.join()
        return self.fault

    def _kill_again_and_again(self) -> None:
        try:
            for _ in range(self.times):
                time.sleep(self.pause)
                self._kill()
                self.server.start()
        except (Exception, SystemExit) as problem:
            self.fault = f"the server was not started again: {problem}"

    def _kill(self) -> None:
        """Nobody of the family gets a word, the parents last: one who lives on would start the others again."""
        pids = family(self.server.process.pid)
        for pid in [pids[0], *reversed(pids[1:])]:
            os.kill(pid, signal.SIGSTOP)
        for pid in family(self.server.process.pid):
            os.kill(pid, signal.SIGKILL)
        self.server.process.wait(30)
