"""gunicorn's worker with threads, made safe against slow clients.

gunicorn gives a connection to a thread as soon as one byte has arrived, and that thread waits for the rest of the head,
for the body, and for a client that reads its answer slowly: a few idle sockets stop the site. Here the event loop
collects the whole request, then a thread works on it without waiting, and the event loop sends what the client did not
accept at once. Waiting needs a socket and no thread. Every wait has a deadline.
"""

import errno
import logging
import selectors
import socket
import time
from enum import Enum
from functools import partial
from typing import Any, ClassVar

from django.db import connection, connections
from gunicorn import http, util
from gunicorn.errors import ConfigError
from gunicorn.http.message import Request
from gunicorn.workers.gthread import ThreadWorker

from apps.common.web.process_counts import count_threads
from apps.config.checks import startup_messages
from apps.config.patience import keep_open, wait_as_a_web_server
from apps.config.serving import refusals
from apps.config.serving.crowds import MOST_PROCESSES, Crowds
from apps.config.serving.limits import Limits, limits_from_settings, room_for_clients
from apps.config.serving.parsing import Parser
from apps.config.serving.reading import PIECE, Body, Head, NoRoom, TooLarge
from apps.config.serving.sending import Outgoing
from apps.config.serving.threads import Threads

log = logging.getLogger(__name__)
crowds = Crowds()

SWEEP_SECONDS = 0.5
STOP_SECONDS = 1.0
LEFT_SECONDS = 0.005
"""For how long a new connection is left to a process that has fewer."""
NO_FILES_LEFT = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}


class Phase(Enum):
    """What a connection waits for, in the order in which connections are dropped when there are too many."""

    IDLE = "the next request"
    HEAD = "the rest of a head"
    GOODBYE = "the client to close"
    BODY = "the rest of a body"
    ANSWER = "the client to read"
    WORK = "a thread"


def leave() -> None:
    """At the end of a thread: close its connections, and return their memory."""
    from apps.config.sharing import return_memory

    connections.close_all()
    return_memory()


class Client:
    """One connection: what it has sent, what is still to be sent to it, and its deadline."""

    def __init__(self, sock: socket.socket, address: Any, server: Any, limits: Limits) -> None:
        self.sock: Any = Outgoing(sock, limits)  # gunicorn's response writes to `sock`
        self.wire = sock
        self.client = address
        self.server = server
        self.phase = Phase.IDLE
        self.deadline = 0.0
        self.since = 0.0
        self.events = 0
        self.requests = 0
        self.stays = True
        self.head = Head()
        self.request: Request | None = None
        self.body: Body | None = None
        self.ahead = b""
        self.discarded = 0

    def forget_request(self) -> None:
        if self.body is not None:
            self.body.close()
        self.head, self.body, self.request = Head(), None, None


class Worker(ThreadWorker):
    """gunicorn's threaded worker with the changes that the module describes."""

    limits: Limits
    parser: Parser
    clients: dict[int, Client]
    swept_at: float
    left_until: float
    alive: bool
    worker_connections: int

    HANDLED: ClassVar[set[int]] = {errno.EPIPE, errno.ECONNRESET, errno.ENOTCONN}

    @classmethod
    def check_config(cls, cfg: Any, log: Any) -> None:
        if cfg.is_ssl:
            raise ConfigError("Karat's web server speaks plain HTTP. End TLS in a proxy in front of it.")

    def notify(self) -> None:
        super().notify()
        crowds.beat(self._place())

    def get_thread_pool(self) -> Threads[Client]:
        return Threads(self.cfg.threads, self._answer, leave)

    def init_process(self) -> None:
        self.clients = {}
        self.swept_at = time.monotonic()
        self.left_until = 0.0
        self._count()
        self.worker_connections = min(self.worker_connections, room_for_clients())
        super().init_process()

    def load_wsgi(self) -> None:
        super().load_wsgi()
        wait_as_a_web_server()
        keep_open()
        count_threads(self.cfg.threads)
        if self.age == 1:  # only the first web process logs them
            for message in startup_messages():
                log.warning(message)
        if connection.vendor != "sqlite":  # a thread waits for a server without holding the interpreter
            self.tpool.pace_seconds = 0.0
        self.limits = limits_from_settings(idle_seconds=float(self.cfg.keepalive))
        # gunicorn looks each setting up by a method, some twenty times for a request; plain attributes are found first.
        self.cfg.__dict__.update({name: setting.get() for name, setting in self.cfg.settings.items()})
        self.parser = Parser(self.cfg)

    # The loop -------------------------------------------------------------------------------------------

    def run(self) -> None:
        self.poller.register(self.method_queue.fileno(), selectors.EVENT_READ, self.method_queue.run_callbacks)
        while self.alive:
            self._turn()
        self.alive = False
        self.set_accept_enabled(False)
        now = time.monotonic()
        end = now + self.cfg.graceful_timeout
        for client in self.clients.values():
            if client.phase in (Phase.IDLE, Phase.GOODBYE):
                client.deadline = min(client.deadline, now + STOP_SECONDS)
        while self.clients and time.monotonic() < end:
            self._turn()
        self.tpool.shutdown(wait=False)
        for client in list(self.clients.values()):
            self._drop(client)
        for listener in self.sockets:
            listener.close()

    def _turn(self) -> None:
        left = self.left_until - time.monotonic()
        if left < -SWEEP_SECONDS:
            self.left_until = 0.0  # another process took it
        if self.alive:
            self.set_accept_enabled(left <= 0 and self._has_place())
        self.wait_for_and_dispatch_events(timeout=self._pause(left))
        now = time.monotonic()
        if now - self.swept_at >= SWEEP_SECONDS:
            self.swept_at = now
            self.notify()
            self.alive = self.alive and self.is_parent_alive()
            self._sweep(now)

    def _pause(self, left: float) -> float:
        """For how long to wait for events: until a connection is left no longer, or a request has waited too long."""
        waits = [SWEEP_SECONDS, left if left > 0 else SWEEP_SECONDS]
        hasten = self.tpool.hasten()
        return min(waits if hasten is None else [*waits, hasten])

    def _has_place(self) -> bool:
        """Whether one more connection can be accepted: there is room, or a waiting one can be dropped."""
        is_full = len(self.clients) >= self.worker_connections
        return not is_full or any(client.phase is not Phase.WORK for client in self.clients.values())

    def _sweep(self, now: float) -> None:
        for client in list(self.clients.values()):
            if client.phase is Phase.WORK or client.deadline > now:
                continue
            if client.phase is Phase.HEAD or client.phase is Phase.BODY:
                self._refuse(client, refusals.TOO_SLOW)
            else:
                self._drop(client)

    # Coming in ------------------------------------------------------------------------------------------

    def accept(self, listener: Any) -> None:
        if self._leaves_it():
            return
        if len(self.clients) >= self.worker_connections:
            self._make_place()
        try:
            sock, address = listener.accept()
        except OSError as problem:
            if problem.errno in NO_FILES_LEFT:
                self._make_place()
            elif problem.errno not in (errno.EAGAIN, errno.ECONNABORTED, errno.EWOULDBLOCK):
                raise
            return
        sock.setblocking(False)
        client = Client(sock, address, listener.getsockname(), self.limits)
        client.deadline = time.monotonic() + self.limits.head_seconds
        self.clients[sock.fileno()] = client
        self._count()
        self._watch(client, selectors.EVENT_READ)

    def _leaves_it(self) -> bool:
        """Whether a new connection is left to a process that has fewer. One that is still there then is taken."""
        if self.left_until or not crowds.is_ahead(self._place()):
            self.left_until = 0.0
            return False
        self.left_until = time.monotonic() + LEFT_SECONDS
        self.set_accept_enabled(False)
        return True

    def _place(self) -> int:
        return int(self.age) % MOST_PROCESSES

    def _count(self) -> None:
        crowds.say(self._place(), len(self.clients))

    def _make_place(self) -> None:
        """Drop the connection that has waited longest, of those in the lowest phase."""
        waiting = [client for client in self.clients.values() if client.phase is not Phase.WORK]
        if waiting:
            order = list(Phase)
            self._drop(min(waiting, key=lambda client: (order.index(client.phase), client.since)))

    def _ready(self, client: Client, _wire: Any) -> None:
        """The client sent something, or accepts more."""
        try:
            if client.phase is Phase.WORK:
                self._watch(client, 0)  # more than the request: it has to wait
                return
            if client.phase is Phase.ANSWER:
                self._send_more(client)
                return
            data = client.wire.recv(PIECE)
            if not data:
                self._drop(client)
            elif client.phase is Phase.GOODBYE:
                client.discarded += len(data)
                if client.discarded > self.limits.linger_bytes:
                    self._drop(client)
            else:
                self._take(client, data)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self._drop(client)
        except Exception:
            log.exception("A connection is closed because the server failed to read it.")
            self._drop(client)

    def _take(self, client: Client, data: bytes) -> None:
        if client.phase is Phase.IDLE:
            client.phase = Phase.HEAD
            client.since = time.monotonic()
            client.deadline = client.since + self.limits.head_seconds
        try:
            if client.body is not None:
                self._take_body(client, data)
            elif client.head.feed(data):
                self._begin(client)
            elif len(client.head.data) > self.limits.head_bytes:
                self._refuse(client, refusals.LONG_HEAD)
        except TooLarge as fault:
            self._refuse(client, refusals.too_large(fault.most))
        except NoRoom:
            log.error("No room on the disk for the request of a client (%s). It was told to retry.", client.client)
            self._refuse(client, refusals.NO_ROOM)
        except (StopIteration, http.errors.NoMoreData):
            self._refuse(client, refusals.UNREADABLE)
        except http.errors.ParseException as problem:
            self.handle_error(client.request, client.sock, client.client, problem)
            self._end(client)

    def _begin(self, client: Client) -> None:
        """The head is complete: parse it, and see whether a body follows."""
        client.requests += 1
        request, rest = self.parser.parse(bytes(client.head.data), client.client, client.requests)
        client.request = request
        client.body = Body(request, self.limits)
        client.phase = Phase.BODY
        client.since = time.monotonic()
        if request._expected_100_continue:
            request._expected_100_continue = False
            if not rest:
                client.sock.sendall(refusals.CONTINUE)
                client.sock.push()
        self._take_body(client, rest)

    def _take_body(self, client: Client, data: bytes) -> None:
        assert client.body is not None
        ahead = client.body.feed(data)
        client.deadline = self.limits.deadline(client.since, client.body.received)
        if ahead is None:
            return
        client.body.finish()
        client.ahead = ahead
        client.phase = Phase.WORK
        self.tpool.submit(client)

    # Work, in a thread ----------------------------------------------------------------------------------

    def _answer(self, client: Client) -> None:
        """Answer the request, and tell the event loop."""
        client.stays = False
        try:
            stays = self.handle(client)
            client.sock.push()
            client.stays = stays
        except OSError as problem:
            log.debug("%s: the client is gone: %s", client.client, problem)
        except BaseException:
            log.exception("A connection is closed because the server failed to answer it.")
        finally:
            self.method_queue.defer(self.finish_request, client)

    def handle(self, conn: Client) -> bool:
        """Answer the request. True when the connection stays open for the next one."""
        request = conn.request
        try:
            return bool(self.handle_request(request, conn))
        except StopIteration:
            pass  # the answer was cut off, and the log has the reason
        except OSError as problem:
            if problem.errno not in self.HANDLED:
                self.log.exception("Socket error processing request.")
        except Exception as problem:
            self.handle_error(request, conn.sock, conn.client, problem)
        return False

    # Going out ------------------------------------------------------------------------------------------

    def finish_request(self, conn: Client, fs: Any = None) -> None:
        """Back in the event loop: send the rest of the answer, then wait for the next request or close."""
        try:
            conn.forget_request()
            conn.phase = Phase.ANSWER
            conn.since = time.monotonic()
            self._send_more(conn)
        except OSError:
            self._drop(conn)
        except Exception:
            log.exception("A connection is closed because the server failed to answer it.")
            self._drop(conn)

    def _send_more(self, client: Client) -> None:
        client.sock.push()
        if not client.sock.flush():
            client.deadline = client.sock.deadline
            self._watch(client, selectors.EVENT_WRITE)
        elif client.stays:
            self._listen_again(client)
        else:
            self._close_gently(client)

    def _listen_again(self, client: Client) -> None:
        client.phase = Phase.IDLE
        client.since = time.monotonic()
        client.deadline = client.since + (self.limits.idle_seconds if self.alive else STOP_SECONDS)
        self._watch(client, selectors.EVENT_READ)
        if client.ahead:
            ahead, client.ahead = client.ahead, b""
            self._take(client, ahead)

    def _refuse(self, client: Client, refusal: refusals.Refusal) -> None:
        """Send a refusal without a thread, and close."""
        path = client.request.path if client.request is not None else refusals.path_in(client.head.data)
        log.info("%s: %s %s", client.client, refusal.status, refusal.title)
        try:
            client.sock.sendall(refusal.as_answer(path))
        except OSError:
            self._drop(client)
        else:
            self._end(client)

    def _end(self, client: Client) -> None:
        """Read nothing more; send what is buffered, then close."""
        client.forget_request()
        client.phase = Phase.ANSWER
        client.stays = False
        try:
            self._send_more(client)
        except OSError:
            self._drop(client)

    def _close_gently(self, client: Client) -> None:
        """Close as RFC 9112, 9.6 requires: the answer is not lost while the client is still sending."""
        client.phase = Phase.GOODBYE
        client.since = time.monotonic()
        client.deadline = client.since + (self.limits.linger_seconds if self.alive else STOP_SECONDS)
        client.wire.shutdown(socket.SHUT_WR)
        self._watch(client, selectors.EVENT_READ)

    def _drop(self, client: Client) -> None:
        self._watch(client, 0)
        self.clients.pop(client.wire.fileno(), None)
        self._count()
        client.forget_request()
        client.sock.abandon()
        util.close(client.wire)

    def _watch(self, client: Client, events: int) -> None:
        if events == client.events:
            return
        if not events:
            self.poller.unregister(client.wire)
        elif client.events:
            self.poller.modify(client.wire, events, partial(self._ready, client))
        else:
            self.poller.register(client.wire, events, partial(self._ready, client))
        client.events = events
