"""Heads that were parsed before: the request is the same as the first time, but for its body and where it came from."""

import pytest
from gunicorn.config import Config
from gunicorn.http.errors import ParseException
from gunicorn.http.message import Request

from apps.config.serving import parsing
from apps.config.serving.parsing import Parser
from apps.config.serving.reading import Arrived

HERE = ("127.0.0.1", 40001)
GET = b"GET /p/tarnwick/?n=1 HTTP/1.1\r\nHost: karat.test\r\nCookie: karat-session=a\r\n\r\n"
POST = b"POST /judgements/ HTTP/1.1\r\nHost: karat.test\r\nContent-Length: 4\r\nX-CSRFToken: b\r\n\r\n"
CLOSES = b"GET / HTTP/1.1\r\nHost: karat.test\r\nConnection: close\r\n\r\n"
OLD = b"GET / HTTP/1.0\r\n\r\n"
FORWARDED = b"GET / HTTP/1.1\r\nHost: karat.test\r\nX-Forwarded-Proto: https\r\n\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nHost: karat.test\r\nTransfer-Encoding: chunked\r\n\r\n"
EXPECTING = b"POST / HTTP/1.1\r\nHost: karat.test\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"


@pytest.fixture
def parser() -> Parser:
    return Parser(Config())


def by_gunicorn(data: bytes, address, number: int) -> Request:
    source = Arrived()
    source.unread(data)
    return Request(Config(), source, address, number)


def facts(request: Request) -> dict:
    """All that a request says of itself, with the kind and the length of its body instead of the body."""
    reader = request.body.reader
    body = (type(reader), getattr(reader, "length", None))
    kept = {name: value for name, value in vars(request).items() if name not in ("cfg", "unreader", "body")}
    return {**kept, "body": body, "closes": request.should_close()}


@pytest.mark.parametrize("head", [GET, POST, CLOSES, OLD, FORWARDED, CHUNKED, EXPECTING, b"\r\n" + GET])
@pytest.mark.parametrize("address", [HERE, ("10.1.2.3", 5), ("::1", 6, 0, 0), "/run/karat.sock", b""])
def test_a_head_means_the_same_each_time(parser, head, address):
    for number in (1, 2, 3):
        request, _ = parser.parse(head, address, number)

        assert facts(request) == facts(by_gunicorn(head, address, number))


def test_what_came_after_the_head_is_given_back_each_time(parser):
    assert [parser.parse(POST + rest, HERE, 1)[1] for rest in (b"", b"a", b"body", b"")] == [b"", b"a", b"body", b""]


def test_a_head_of_another_address_is_its_own(parser):
    first, _ = parser.parse(FORWARDED, HERE, 1)
    second, _ = parser.parse(FORWARDED, ("10.1.2.3", 40001), 1)
    again, _ = parser.parse(FORWARDED, (HERE[0], 50000), 2)

    assert (first.scheme, second.scheme, again.scheme) == ("https", "http", "https")
    assert (again.peer_addr, again.remote_addr) == ((HERE[0], 50000),) * 2


def test_each_request_has_a_body_of_its_own(parser):
    requests = [parser.parse(POST, HERE, number)[0] for number in (1, 2, 3)]
    requests[0].body.reader.length = 0
    requests[0].force_close()
    requests[0].trailers.append(("A", "b"))

    assert [request.body.reader.length for request in requests[1:]] == [4, 4]
    assert [request.must_close for request in requests[1:]] == [False, False]
    assert parser.parse(POST, HERE, 4)[0].trailers == []


@pytest.mark.parametrize(
    "head",
    [
        b"GET /\r\nHost: karat.test\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
    ],
)
def test_a_head_that_is_refused_is_refused_each_time(parser, head):
    for _ in range(2):
        with pytest.raises(ParseException):
            parser.parse(head, HERE, 1)


def test_no_more_heads_are_remembered_than_there_is_room_for(parser, monkeypatch):
    monkeypatch.setattr(parsing, "MOST_HEADS", 3)
    for number in range(20):
        head = GET.replace(b"session=a", b"session=%d" % number)
        request, _ = parser.parse(head, HERE, 1)

        assert ("COOKIE", f"karat-session={number}") in request.headers
        assert len(parser._known) <= 3


def test_a_long_head_is_not_remembered(parser):
    parser.parse(GET.replace(b"session=a", b"session=" + b"a" * parsing.LONGEST_HEAD), HERE, 1)

    assert parser._known == {}
