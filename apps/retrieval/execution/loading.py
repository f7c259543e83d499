"""Loading a snapshot into an index of OpenSearch or Elasticsearch, and dropping the index, in a job."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from apps.accounts.actions.secrets import NoSecret, reveal
from apps.accounts.models import Project
from apps.common.web.addresses import BadAddress, parse_url
from apps.common.web.outbound import RequestLimits
from apps.jobs.execution.context import JobContext, JobFailed
from apps.retrieval.core.engines.base import BadParameters
from apps.retrieval.core.engines.dense import Dense
from apps.retrieval.core.engines.registry import make
from apps.retrieval.core.engines.remote.base import Auth, Locate, RemoteEngine, RemoteError
from apps.retrieval.core.engines.remote.loading import MOST_PASSAGES, Loader, PushedPassage, WrongIndex, first_piece
from apps.retrieval.core.engines.remote.opensearch import OpenSearch
from apps.retrieval.core.engines.remote.search import Pace, RemoteConnection, http_connection
from apps.retrieval.core.engines.remote.servers import Server, index_body, vectors_refusal
from apps.retrieval.core.engines.remote.templates import split_address
from apps.retrieval.enums import IndexState
from apps.retrieval.execution.indexes import using_system
from apps.retrieval.models import LoadedIndex, System
from apps.retrieval.selectors.systems import rows_to_load, sampled_digests

PACE = Pace(at_once=1, tries=8, first_wait=1.0, connect=10.0, read=60.0, whole=120.0)
COMPARED = 100
"""Most passages whose digests are compared at the end."""

Vectors = NDArray[np.float32] | None


def engine_at(url: str, name: str, auth: dict[str, str]) -> OpenSearch:
    """The index as plain searches see it: address and sign-in, checked. Raises BadParameters."""
    return OpenSearch(url=url, index=name, auth=Auth.of(auth))


def dense_engine_of(system: System) -> Dense:
    """The engine of a system with dense embeddings. Raises BadParameters."""
    engine: Any = make(system.kind, system.config["engine"], settings.MODELS_DIR)
    if not isinstance(engine, Dense):
        raise BadParameters(f"{system.name} has no vectors.")
    return engine


def fill_index(ctx: JobContext, index: LoadedIndex) -> int:
    """Create the index, send what is not noted yet, and compare it; returns how many digests were compared.

    Raises JobFailed, with the passage where it stopped. What the server has by then stays there.
    """
    try:
        return _fill(ctx, index)
    except WrongIndex as error:
        raise JobFailed(error.sentence) from None
    except RemoteError as error:
        where = f" after {index.noted:,} of {index.snapshot.block_count:,} passages" if index.noted else ""
        raise JobFailed(
            f"It stopped{where}: {error.sentence} Fix the cause, then retry: the job goes on from there."
        ) from None


def _fill(ctx: JobContext, index: LoadedIndex) -> int:
    with _loader(ctx, index) as loader, _vectors(ctx, index) as vectors:
        server = loader.server()
        if vectors is not None and (reason := vectors_refusal(server)):
            raise JobFailed(f"{reason} Drop this index, and load the snapshot without vectors.")
        dimensions = vectors.shape[1] if vectors is not None else 0
        is_new = loader.prepare(
            index_body(server, mark=index.mark, snapshot=index.snapshot.digest, dimensions=dimensions)
        )
        _note(ctx, index, server, 0 if is_new else index.noted)
        while index.noted < index.snapshot.block_count:
            _send_piece(ctx, index, loader, vectors)
        ctx.progress(index.noted, index.snapshot.block_count, "comparing what is there with the snapshot")
        digests = dict(sampled_digests(index.snapshot, COMPARED))
        loader.check(index.snapshot.block_count, digests)
        return len(digests)


def drop_loaded(ctx: JobContext, index: LoadedIndex) -> None:
    """Delete the index, if it is there and the one that was loaded. Raises JobFailed."""
    try:
        with _loader(ctx, index) as loader:
            loader.drop(index.mark)
    except WrongIndex as error:
        raise JobFailed(error.sentence) from None
    except RemoteError as error:
        raise JobFailed(f"The index was not dropped: {error.sentence} Fix the cause, then retry.") from None


@contextmanager
def connection_to(
    engine: RemoteEngine, project: Project, locate: Locate, pace: Pace, limits: RequestLimits | None = None
) -> Iterator[RemoteConnection]:
    """An open connection that signs in with the engine's secret. Raises NoSecret and BadAddress."""
    with connection_at(engine.address, engine.auth, project, pace, limits, locate=locate) as connection:
        yield connection


@contextmanager
def connection_at(
    address: str,
    auth: Auth,
    project: Project,
    pace: Pace,
    limits: RequestLimits | None = None,
    *,
    locate: Locate = lambda ids: {},
) -> Iterator[RemoteConnection]:
    """The same to any server, of which nothing is located by default."""
    target = parse_url(address)
    headers = auth.headers(reveal(project, auth.secret)) if auth.secret else {}
    openings = settings.OUTBOUND_ALLOW
    with http_connection(target, locate, pace, headers=headers, openings=openings, limits=limits) as connection:
        yield connection


@contextmanager
def _loader(ctx: JobContext, index: LoadedIndex) -> Iterator[Loader]:
    try:
        engine = engine_at(index.url, index.name, index.auth)
        path = split_address(index.url)[1]
        with connection_to(engine, index.project, lambda ids: {}, PACE) as connection:
            yield Loader(connection.send, path, index.name, PACE, lambda seconds: wait_in(ctx, seconds))
    except (BadParameters, BadAddress, NoSecret) as error:
        raise JobFailed(str(error)) from None


@contextmanager
def _vectors(ctx: JobContext, index: LoadedIndex) -> Iterator[Vectors]:
    """The vectors of the passages by position, which the dense system's own index has; None without such a system."""
    if index.dense is None:
        yield None
        return
    ctx.progress(index.noted, index.snapshot.block_count, f"making the vectors of {index.dense.name}")
    with using_system(index.dense, index.snapshot) as vectors:
        yield vectors


def wait_in(ctx: JobContext, seconds: float) -> None:
    """Wait, and notice meanwhile when the job is cancelled or another worker has it."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        ctx.check()
        ctx.lost.wait(min(left, 1.0))


def _note(ctx: JobContext, index: LoadedIndex, server: Server, noted: int) -> None:
    """Note which server it is, and that of its passages only so many are there for certain."""
    with ctx.chunk(f"attempt:{ctx.attempt}:begun") as fresh:
        if fresh:
            rows = LoadedIndex.objects.filter(pk=index.pk, state=IndexState.LOADING)
            rows.update(server=server.kind, server_version=server.version, noted=noted)
    index.server, index.server_version, index.noted = server.kind, server.version, noted


def _send_piece(ctx: JobContext, index: LoadedIndex, loader: Loader, vectors: Vectors) -> None:
    total, name = index.snapshot.block_count, Server(index.server, index.server_version).name
    ctx.progress(index.noted, total, f"loading passages into {name}")
    rows = rows_to_load(index.snapshot, index.noted, MOST_PASSAGES)
    piece = first_piece(
        [
            PushedPassage(place, block, title, "\n".join(section), text, digest, _numbers(vectors, place))
            for place, block, title, section, text, digest in rows
        ]
    )
    loader.load(piece)
    noted = piece[-1].place + 1
    with ctx.chunk(f"attempt:{ctx.attempt}:to:{noted}") as fresh:
        if fresh:
            LoadedIndex.objects.filter(pk=index.pk, state=IndexState.LOADING).update(noted=noted)
    index.noted = noted
    ctx.progress(noted, total, f"loading passages into {name}")


def _numbers(vectors: Vectors, place: int) -> list[float]:
    """The vector at a place in the fewest digits; empty for one without a direction, which servers refuse."""
    if vectors is None or not vectors[place].any():
        return []
    return [float(str(number)) for number in vectors[place]]
