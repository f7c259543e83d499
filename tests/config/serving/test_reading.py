"""When a request is whole, told without waiting for more."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from gunicorn.config import Config
from gunicorn.http.errors import ChunkMissingTerminator, InvalidChunkSize, LimitRequestHeaders
from gunicorn.http.message import Request

from apps.common.web.body_limits import FRAMING_BYTES, MOST_BYTES
from apps.config.serving import sending
from apps.config.serving.limits import Limits
from apps.config.serving.reading import Arrived, Body, ChunkCounter, Head, NoRoom, TooLarge

CHUNKED = b"5\r\nhello\r\n1;note=x\r\n \r\nA\r\nwide world\r\n0\r\n\r\n"
WITH_TRAILERS = b"2\r\nhi\r\n0\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n"
STEPS = pytest.mark.parametrize("step", [1, 2, 3, 7, 1000])


@pytest.fixture
def limits(tmp_path: Path) -> Limits:
    return Limits(folder=tmp_path, file_bytes=1000, memory_bytes=10, disk_reserve=0)


def head_of(*headers: str, path: str = "/") -> Request:
    source = Arrived()
    source.unread("\r\n".join([f"POST {path} HTTP/1.1", "Host: a", *headers, "", ""]).encode())
    return Request(Config(), source, ("127.0.0.1", 1))


def feed(take: Callable, data: bytes, step: int):
    """What `take` answers first that is neither None nor False, and how many bytes it was given till then."""
    for at in range(0, len(data), step):
        answer = take(data[at : at + step])
        if answer is not None and answer is not False:
            return answer, at
    return None, len(data)


@STEPS
def test_a_head_ends_with_an_empty_line(step):
    head = b"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"

    assert feed(Head().feed, head, step)[0] is True
    assert feed(Head().feed, head[:-1], step)[0] is None


@STEPS
@pytest.mark.parametrize("body", [CHUNKED, WITH_TRAILERS])
def test_a_chunked_body_ends_where_it_says(step, body):
    counter = ChunkCounter()

    end, fed = feed(counter.feed, body + b"GET /next", step)

    assert fed + end == len(body)
    assert counter.total == {CHUNKED: 16, WITH_TRAILERS: 2}[body]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"x\r\n", InvalidChunkSize),
        (b"-1\r\n", InvalidChunkSize),
        (b"0x5\r\n", InvalidChunkSize),
        (b"5\n", InvalidChunkSize),
        (b"5" * 9000, InvalidChunkSize),
        (b"2\r\nhello\r\n", ChunkMissingTerminator),
        (b"0\r\n" + b"X-More: yes\r\n" * 6000, LimitRequestHeaders),
    ],
)
def test_a_chunked_body_that_breaks_its_rules_is_refused(body, error):
    with pytest.raises(error):
        ChunkCounter().feed(body)


@STEPS
def test_the_application_reads_what_was_collected(limits, step):
    body = Body(head_of("Content-Length: 26"), limits)

    behind, _ = feed(body.feed, b"abcdefghijklmnopqrstuvwxyzGET", step)
    body.finish()

    assert b"GET".startswith(behind)
    assert body.request.body.read() == b"abcdefghijklmnopqrstuvwxyz"


@STEPS
def test_a_chunked_body_reaches_the_application_with_its_length(limits, step):
    body = Body(head_of("Transfer-Encoding: chunked"), limits)

    feed(body.feed, CHUNKED, step)
    body.finish()

    assert body.request.headers == [("HOST", "a"), ("CONTENT-LENGTH", "16")]
    assert body.request.body.read() == b"hello wide world"


def test_a_request_without_a_body_is_whole_at_once(limits):
    body = Body(head_of(), limits)

    assert body.feed(b"GET /next") == b"GET /next"
    body.finish()
    assert body.request.body.read() == b""


def test_a_body_beyond_the_limit_is_refused(limits):
    with pytest.raises(TooLarge):
        Body(head_of(f"Content-Length: {MOST_BYTES + 1}"), limits)
    with pytest.raises(TooLarge):
        Body(head_of("Transfer-Encoding: chunked"), limits).feed(b"%x\r\n" % (MOST_BYTES + 1))


def test_where_files_are_taken_a_body_may_be_as_long_as_the_largest(limits):
    longest = 1000 + FRAMING_BYTES

    assert Body(head_of(f"Content-Length: {longest}", path="/p/hut/corpus/import/corpus/"), limits).missing == longest
    with pytest.raises(TooLarge):
        Body(head_of(f"Content-Length: {longest + 1}", path="/p/hut/corpus/import/corpus/"), limits)


def test_a_body_is_refused_before_it_fills_the_disk(limits, monkeypatch):
    full = SimpleNamespace(free=5)
    monkeypatch.setattr(sending.shutil, "disk_usage", lambda folder: full)
    body = Body(head_of("Content-Length: 26"), limits)

    assert body.feed(b"0123456789") is None  # this much is kept in memory
    with pytest.raises(NoRoom):
        body.feed(b"0123456789")
