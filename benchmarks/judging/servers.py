"""The servers that are measured: Karat as `karat up` runs it, and the floor beneath it."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent.parent
UP = "import sys; from apps.config.commandline import main; sys.exit(main())"
PATIENCE = 120


class Server:
    """One server process with its workers, from `with` to its end; `port` is where it answers."""

    def __init__(self, command: list[str], folder: str, port: int, url: str) -> None:
        self.command, self.folder, self.port, self.url = command, folder, port, url

    def __enter__(self) -> "Server":
        self.log = (Path(self.folder) / "server.log").open("ab")
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self) -> None:
        """Start it and wait until it answers; also after it was killed."""
        env = {**os.environ, "KARAT_DATA_DIR": self.folder, "DATABASE_URL": self.url, "PYTHONPATH": str(REPO)}
        env.pop("BROKER_URL", None)
        self.process = subprocess.Popen(
            self.command, cwd=REPO, env=env, start_new_session=True, stdout=self.log, stderr=subprocess.STDOUT
        )
        end = time.monotonic() + PATIENCE
        while not self._answers():
            if time.monotonic() > end or self.process.poll() is not None:
                raise SystemExit(f"the server did not start: {(Path(self.folder) / 'server.log').read_text()[-2000:]}")
            time.sleep(0.1)

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.log.close()

    def _answers(self) -> bool:
        """Asked without a request line of ours: a socket that accepts may belong to a server that still loads."""
        import http.client

        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            link.request("GET", "/healthz")
            return link.getresponse().status < 500
        except OSError:
            return False
        finally:
            link.close()


def karat(folder: str, url: str) -> Server:
    """The command people type."""
    port = free_port()
    words = ["up", "--port", str(port), "--data-dir", folder, "--no-demo", "--no-setup"]
    return Server([sys.executable, "-c", UP, *words], folder, port, url)


def floor(folder: str, url: str) -> Server:
    """The same web server in the same size with an application of one INSERT (see `floor`)."""
    port = free_port()
    size = ["--threads=8", "--connection-limit=1000", "--asyncore-use-poll", f"--listen=127.0.0.1:{port}"]
    command = [sys.executable, "-m", "waitress", *size, "benchmarks.judging.floor:application"]
    return Server(command, folder, port, url)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
