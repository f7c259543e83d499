"""The web server: waitress, in one process.

Its loop receives each request completely before a thread works on it, and sends what the client does not read at once,
so that slow clients hold no thread. What is ours is the stop: waitress alone drops what it is working on.
"""

import gc
import resource
import signal
import socket
import tempfile
import time
from contextlib import suppress
from logging import getLogger
from pathlib import Path
from typing import Any

from django.conf import settings
from waitress import create_server
from waitress.wasyncore import loop

from apps.common.web import request_counts
from apps.common.web.body_limits import FRAMING_BYTES
from apps.config.apps import startup_messages
from apps.config.database_timeouts import keep_open, wait_as_a_web_server
from apps.config.wsgi import application

log = getLogger(__name__)

THREADS = 8
MOST_CONNECTIONS = 1000
FILES_OF_A_CONNECTION = 3
"""Its socket, its body, its answer."""
SILENT_SECONDS = 30
STOP_SECONDS = 4.0
READ_NOTHING = -1
"""As waitress's `channel_request_lookahead`: it reads from a connection while no more requests of it wait than that."""
OBJECTS_BETWEEN_COLLECTIONS = 50_000, 20, 20
"""A large page makes some hundred thousand objects that stay to its end; looking at them again and again took a fifth
of its time."""
ANSWER_BYTES = 2**30
"""How far a client may be behind before the thread that answers waits for it. Beyond 1 MiB the answer is in a file."""


def serve(listener: socket.socket) -> None:
    """Answer requests on an open socket until SIGTERM or Ctrl-C, then finish those that have come."""
    wait_as_a_web_server()
    keep_open()
    gc.set_threshold(*OBJECTS_BETWEEN_COLLECTIONS)
    request_counts.THREADS.set(THREADS)
    for message in startup_messages():
        log.warning(message)
    _allow_open_files()
    tempfile.tempdir = _folder_for_bodies()
    connections: dict[int, Any] = {}
    server = create_server(
        application,
        map=connections,
        sockets=[listener],
        threads=THREADS,
        connection_limit=MOST_CONNECTIONS,
        asyncore_use_poll=True,
        channel_timeout=SILENT_SECONDS,
        cleanup_interval=SILENT_SECONDS // 3,
        outbuf_high_watermark=ANSWER_BYTES,
        max_request_body_size=settings.UPLOAD_MAX_BYTES + FRAMING_BYTES + 1,
        clear_untrusted_proxy_headers=False,  # Django's settings say whose are trusted
        log_socket_errors=False,
        ident=None,
    )
    signals: list[int] = []

    def stop(number: int, frame: object) -> None:
        signals.append(number)
        server.pull_trigger()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    while not signals:
        loop(use_poll=True, map=connections, count=1)
    _finish(server, connections)


def _finish(server: Any, connections: dict[int, Any]) -> None:
    """Take in nothing more, and close each connection once its last answer is sent, until STOP_SECONDS."""
    loop(0, use_poll=True, map=connections, count=1)  # what has come is read
    server.accepting = False
    server.adj.channel_request_lookahead = READ_NOTHING
    end = time.monotonic() + STOP_SECONDS
    while server.active_channels and time.monotonic() < end:
        for channel in server.active_channels.values():
            if not channel.requests and not channel.total_outbufs_len:
                channel.will_close = True
        loop(0.1, use_poll=True, map=connections, count=1)
    if server.active_channels:
        log.warning("%d requests were cut off, because they took too long to answer.", len(server.active_channels))


def _allow_open_files() -> None:
    """Allow this process the files of all its connections, as far as the system does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = (MOST_CONNECTIONS + 100) * FILES_OF_A_CONNECTION
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
        )


def _folder_for_bodies() -> str | None:
    """Long bodies and answers wait in unnamed files of the data directory, on a disk with room for them."""
    folder = Path(settings.INCOMING_DIR)
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return str(folder)
    return None
