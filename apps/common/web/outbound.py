"""HTTP requests to addresses that people typed: resolved once, checked, and sent to the checked address."""

import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from http.client import HTTPException, IncompleteRead, RemoteDisconnected
from queue import Empty, LifoQueue
from typing import NamedTuple

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError, InvalidHeader
from urllib3.response import HTTPResponse

from apps.common.web.addresses import Address, Opening, Target, first_closed

PIECE = 65_536
NO_HTTP, CUT_OFF = (HTTPException, InvalidHeader), (IncompleteRead, RemoteDisconnected)
Lookup = Callable[[str, int], Sequence[Address]]
Connection = HTTPConnection | HTTPSConnection


class OutboundError(Exception):
    """A request without a usable answer. The message is a sentence to show, with nothing from the other side in it."""


class Blocked(OutboundError):
    """Requests to this address are not allowed. Do not retry."""


class Unreachable(OutboundError):
    """No answer, or not in time. A retry may help."""


class TimedOut(Unreachable):
    """No answer in the time allowed."""


class BrokenOff(Unreachable):
    """The connection could not be opened, or ended before the answer did."""


class BadAnswer(OutboundError):
    """The answer cannot be read: too long, compressed, or a redirect."""


@dataclass(frozen=True)
class RequestLimits:
    """Timeouts in seconds (connect, each wait, the whole request) and the most bytes of an answer."""

    connect: float = 5.0
    read: float = 10.0
    whole: float = 30.0
    size: int = 16 * 1024**2


class HttpAnswer(NamedTuple):
    """`seconds` is from sending the request until the last byte, including the opening of a connection."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float


def look_up(host: str, port: int) -> list[Address]:
    """Every address of a host, in the order to try them. Raises OSError."""
    infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [ipaddress.ip_address(str(row[4][0]).partition("%")[0]) for row in infos]


class Client:
    """Keeps connections to one origin open, each to an address that was checked when it was made.

    Safe to use from several threads. Redirects are not followed and proxies of the environment not used: both would
    reach unchecked addresses. Certificates are checked against the name in the address.
    """

    def __init__(
        self,
        target: Target,
        *,
        openings: Sequence[Opening] = (),
        limits: RequestLimits | None = None,
        lookup: Lookup = look_up,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.target = target
        self.limits = limits or RequestLimits()
        self._openings = tuple(openings)
        self._lookup = lookup
        self._given_tls = tls
        self._idle: LifoQueue[Connection] = LifoQueue()

    def ask(self, method: str, path: str, *, headers: Mapping[str, str], body: bytes | None = None) -> HttpAnswer:
        """Send one request and read its whole answer. Raises Blocked, Unreachable or BadAnswer."""
        sent = {"Host": self.target.authority, "Accept-Encoding": "identity", "User-Agent": "Karat", **headers}
        with _Watch(self.limits.whole) as watch:
            idle = self._take_idle()
            if idle is not None:
                # The server may have closed an idle connection meanwhile, so a failure here is not an error yet.
                with suppress(BrokenOff):
                    return self._exchange(idle, watch, method, path, sent, body, time.perf_counter())
            began = time.perf_counter()
            return self._exchange(self._opened(watch), watch, method, path, sent, body, began)

    def close(self) -> None:
        while connection := self._take_idle():
            connection.close()

    def _exchange(
        self,
        connection: Connection,
        watch: "_Watch",
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes | None,
        began: float,
    ) -> HttpAnswer:
        try:
            watch.guard(connection)
            connection.request(method, path, body=body, headers=headers, preload_content=False, decode_content=False)
            response = connection.getresponse()
            self._check_head(response)
            answer = HttpAnswer(response.status, response.headers, self._body(response), time.perf_counter() - began)
        except OutboundError:
            connection.close()
            raise
        except (HTTPError, HTTPException, OSError) as broken:
            connection.close()
            raise self._sentence(broken, watch) from broken
        if watch.is_late:
            raise self._sentence(None, watch)
        if connection.sock is not None:
            self._idle.put(connection)
        return answer

    @staticmethod
    def _check_head(response: HTTPResponse) -> None:
        if 300 <= response.status < 400:
            raise BadAnswer(
                f"The server answered with a redirect ({response.status}), and redirects are not followed. "
                "Write the address it leads to."
            )
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise BadAnswer("The server compressed its answer although the request did not allow it.")

    def _body(self, response: HTTPResponse) -> bytes:
        pieces, size = [], 0
        while piece := response.read1(PIECE):
            pieces.append(piece)
            size += len(piece)
            if size > self.limits.size:
                raise BadAnswer(f"The answer is longer than {self.limits.size:,} bytes.")
        return b"".join(pieces)

    def _take_idle(self) -> Connection | None:
        try:
            return self._idle.get_nowait()
        except Empty:
            return None

    def _opened(self, watch: "_Watch") -> Connection:
        """A connection to the first checked address that takes it."""
        failure: Exception | None = None
        for address in self._checked():
            connection = self._towards(str(address))
            try:
                watch.guard(connection)
                connection.connect()
            except (HTTPError, OSError) as error:
                connection.close()
                failure = error
                if watch.is_late or _certificate_error(error):
                    break
            else:
                connection.timeout = self.limits.read
                return connection
        raise self._sentence(failure, watch) from failure

    def _checked(self) -> list[Address]:
        host = self.target.host
        try:
            addresses = list(dict.fromkeys(self._lookup(host, self.target.port)))
        except (OSError, UnicodeError):
            addresses = []
        if not addresses:
            raise Unreachable(f"The name {host} is not known. Check the address for a typo.")
        if first_closed(self.target, addresses, self._openings) is not None:
            raise Blocked(
                f"{host} is inside the network of this server, where requests are not allowed. "
                f"If it is intended, the operator adds {host}:{self.target.port} to KARAT_OUTBOUND_ALLOW."
            )
        return addresses

    def _towards(self, address: str) -> Connection:
        if self.target.scheme == "http":
            return HTTPConnection(address, self.target.port, timeout=self.limits.connect)
        return HTTPSConnection(
            address,
            self.target.port,
            timeout=self.limits.connect,
            server_hostname=self.target.host,
            ssl_context=self._tls,
        )

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return self._given_tls or ssl.create_default_context()

    def _sentence(self, broken: BaseException | None, watch: "_Watch") -> OutboundError:
        host = self.target.host
        if watch.is_late:
            return TimedOut(f"{host} had not answered completely after {self.limits.whole:g} seconds.")
        if _certificate_error(broken):
            return BadAnswer(f"The certificate of {host} is not one that this server trusts for that name.")
        if any(isinstance(cause, TimeoutError) for cause in _causes(broken)):
            return TimedOut(f"{host} did not answer in time.")
        if any(isinstance(cause, ConnectionRefusedError) for cause in _causes(broken)):
            return BrokenOff(f"{host} refused the connection: nothing listens at its port {self.target.port}.")
        if any(isinstance(cause, NO_HTTP) and not isinstance(cause, CUT_OFF) for cause in _causes(broken)):
            return BrokenOff(f"{host} answered with something that is not HTTP.")
        return BrokenOff(f"{host} could not be reached, or closed the connection.")


class _Watch:
    """Closes a connection when the whole request takes too long: a server that sends a byte now and then never reaches
    the timeout of a single wait.
    """

    def __init__(self, seconds: float) -> None:
        self.is_late = False
        self._connection: Connection | None = None
        self._socket: socket.socket | None = None
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def __enter__(self) -> "_Watch":
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def guard(self, connection: Connection) -> None:
        # Keep the socket: a connection that the server will close drops its own before the answer is read.
        self._connection, self._socket = connection, connection.sock

    def _cut(self) -> None:
        self.is_late = True
        open_socket = self._socket or (self._connection.sock if self._connection else None)
        if open_socket is not None:
            with suppress(OSError):
                open_socket.shutdown(socket.SHUT_RDWR)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _certificate_error(error: BaseException | None) -> bool:
    return any(isinstance(cause, ssl.SSLCertVerificationError) for cause in _causes(error))
