"""HTTP connections to systems elsewhere."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from apps.common.web.addresses import Opening, Target
from apps.common.web.outbound import Blocked, Client, OutboundError, RequestLimits, Unreachable
from apps.retrieval.core.engines.remote.base import RemoteError, Reply, Request
from apps.retrieval.core.engines.remote.search import Locate, Pace, RemoteConnection


@contextmanager
def http_connection(
    target: Target,
    locate: Locate,
    pace: Pace,
    *,
    headers: Mapping[str, str],
    openings: Sequence[Opening],
    limits: RequestLimits | None = None,
) -> Iterator[RemoteConnection]:
    """A connection that sends `headers` with every request; time limits are those of the pace, or `limits`."""
    limits = limits or RequestLimits(connect=pace.connect, read=pace.read, whole=pace.whole)
    client = Client(target, openings=openings, limits=limits)

    def send(request: Request) -> Reply:
        sent = {**request.headers, **headers}
        try:
            return Reply(*client.ask(request.method, request.path, headers=sent, body=request.body))
        except OutboundError as error:
            is_passing, is_final = isinstance(error, Unreachable), isinstance(error, Blocked)
            raise RemoteError(str(error), is_passing=is_passing, is_final=is_final) from None

    try:
        yield RemoteConnection(send, locate, pace)
    finally:
        client.close()
