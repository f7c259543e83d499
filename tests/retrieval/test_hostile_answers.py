"""A system elsewhere that answers with malice: its run fails in a sentence, in bounded time, and keeps nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

import pytest
from django.test import override_settings

from apps.common.web.addresses import parse_openings
from apps.jobs.models import Job
from apps.retrieval.core.engines.remote.base import MOST_VALUES, RemoteError, Reply, retry_after
from apps.retrieval.core.engines.remote.http_json import HttpJson
from apps.retrieval.core.engines.remote.search import MOST_HITS
from apps.retrieval.models import LoadedIndex, Ranking
from tests.remote_server import OK, Sends, answering, body, for_ever, once
from tests.retrieval.factories import make_run
from tests.retrieval.test_loading import load
from tests.retrieval.test_remote_queries import http, make_remote_system
from tests.search_cluster import Cluster

CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
WHOLE = 0.6
"""Seconds that a request may take here."""


def hit(id: bytes = b'"doc:a"', score: bytes = b"1") -> Sends:
    return body(b'{"hits": [{"doc": {"id": %s}, "score": %s}]}' % (id, score))


def busy_until(when: bytes) -> Sends:
    date = b"Date: Mon, 01 Jan 2024 00:00:00 GMT\r\n"
    return body(b"", b"HTTP/1.1 503 Busy\r\nRetry-After: " + when + b"\r\n" + date)


NO_HTTP, TOO_LATE = "answered with something that is not HTTP", f"not answered completely after {WHOLE:g} seconds"
CLOSED, NO_JSON, TOO_LONG = "closed the connection", "The answer is not JSON", "The answer is longer than 16,777,216"
PACKED = "compressed its answer although the request did not allow it"
ANSWERS: dict[str, tuple[Sends, str]] = {
    "a status line without end": (for_ever(b"", b"H" * 65_536), NO_HTTP),
    "a header without end": (for_ever(OK + b"X: ", b"a" * 65_536), NO_HTTP),
    "headers without end": (for_ever(OK, b"X: a\r\n"), NO_HTTP),
    "a header byte by byte": (for_ever(OK, b"a", 0.05), TOO_LATE),
    "one more moment, for ever": (for_ever(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), TOO_LATE),
    "the size of a chunk without end": (for_ever(CHUNKED, b"0" * 65_536), NO_HTTP),
    "an extension of a chunk without end": (for_ever(CHUNKED + b"1;", b"a" * 65_536), NO_HTTP),
    "trailers without end": (for_ever(CHUNKED + b"0\r\n", b"a: b\r\n"), TOO_LATE),
    "a chunk of a negative size": (once(CHUNKED + b"-5\r\nabc"), CLOSED),
    "a chunk that is never whole": (for_ever(CHUNKED + b"FFFFFFFFFFFFFFFF\r\n", b"a" * 65_536), TOO_LONG),
    "a body without end": (for_ever(OK + b"\r\n", b" " * 65_536), TOO_LONG),
    "a body byte by byte": (for_ever(OK + b"\r\n", b" ", 0.05), TOO_LATE),
    "a length that is too long": (once(OK + b"Content-Length: 1000\r\n\r\n{}"), CLOSED),
    "a length that is too short": (once(OK + b'Content-Length: 3\r\n\r\n{"hits": []}'), NO_JSON),
    "two lengths": (once(OK + b"Content-Length: 2\r\nContent-Length: 5\r\n\r\n{}"), NO_HTTP),
    "a bomb of gzip": (body(b"\x1f\x8b\x08" + b"0" * 1_000, OK + b"Content-Encoding: gzip\r\n"), PACKED),
    "a bomb of deflate": (body(b"x\x9c" + b"0" * 1_000, OK + b"Content-Encoding: deflate\r\n"), PACKED),
    "gzip as a transfer": (
        once(OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n3\r\n\x1f\x8b\x08\r\n0\r\n\r\n"),
        NO_JSON,
    ),
    "a redirect inside": (body(b"", b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n"), "with a redirect (302)"),
    "a redirect to metadata": (
        body(b"", b"HTTP/1.1 307 Here\r\nLocation: http://169.254.169.254/\r\n"),
        "with a redirect (307)",
    ),
    "another protocol": (once(b"SSH-2.0-OpenSSH_9.6\r\n"), NO_HTTP),
    "a status that is none": (once(b"HTTP/1.1 999999 OK\r\n\r\n"), NO_HTTP),
    "another protocol from here on": (once(b"HTTP/1.1 101 Switching\r\n\r\n"), "refused the request (101)"),
    "no content": (once(b"HTTP/1.1 204 No Content\r\n\r\n"), NO_JSON),
    "a time that no clock shows": (busy_until(b"Mon, 01 Jan 99999999999 00:00:00 GMT"), "The server answered 503"),
    "a zone that is nowhere": (busy_until(b"Mon, 01 Jan 2024 00:00:00 +99999999"), "The server answered 503"),
    "bytes that are no text": (body(b'{"hits": ["\xff\xfe"]}'), NO_JSON),
    "half of a wide letter": (body(b"\xff\xfe\x00"), NO_JSON),
    "lists a hundred thousand deep": (body(b"[" * 100_000), NO_JSON),
    "objects a hundred thousand deep": (body(b'{"a":' * 100_000), NO_JSON),
    "no number": (hit(score=b"NaN"), NO_JSON),
    "no end": (hit(score=b"-Infinity"), NO_JSON),
    "a number beyond all": (hit(score=b"1e999"), "The score of item 1 is not a finite number"),
    "four thousand digits": (hit(score=b"9" * 4_000), "The score of item 1 is not a finite number"),
    "five thousand digits": (hit(score=b"9" * 5_000), NO_JSON),
    "a score that is yes": (hit(score=b"true"), "The score of item 1 is not a number"),
    "an id that is half a letter": (hit(b'"\\ud800"'), "a character that is not allowed in an id"),
    "an id with a zero byte": (hit(b'"\\u0000"'), "a character that is not allowed in an id"),
    "an id that is a fraction": (hit(b"1.5"), "The id of item 1 is neither"),
    "an id that is a list": (hit(b'["doc:a"]'), "The id of item 1 is neither"),
    "hits that are an object": (body(b'{"hits": {}}'), "The answer has no list at hits"),
    "hits that are numbers": (body(b'{"hits": [1, 2]}'), "Item 1 of the answer has nothing at doc"),
    "nothing": (body(b"null"), "The answer has nothing at hits"),
    "lists without number": (body(b"[" + b"[]," * 5_000_000 + b"[]]"), f"has more than {MOST_VALUES:,} values"),
    "more hits than anybody asks for": (
        body(b'{"hits": [' + b'{"doc": {"id": 1}, "score": 1},' * 20_000 + b'{"doc": {"id": 1}, "score": 1}]}'),
        f"has 20,001 results; at most {MOST_HITS:,} are read",
    ),
}


@contextmanager
def allowed(send: Sends) -> Iterator[int]:
    """The port of a server that sends this, on the operator's list."""
    with answering(send) as port, override_settings(OUTBOUND_ALLOW=parse_openings([f"127.0.0.1:{port}"])):
        yield port


@pytest.mark.parametrize("name", ANSWERS)
def test_a_run_that_is_answered_so_fails_in_words_and_keeps_nothing(project, snapshot, name):
    send, words = ANSWERS[name]
    began = monotonic()

    with allowed(send) as port:
        system = make_remote_system(project, http(port), tries=1, read=WHOLE, whole=WHOLE, at_once=1, stop_after=1)
        run = make_run(project, snapshot, system)

    assert (run.state, words in run.failure) == ("failed", True), run.failure
    assert "queries to Elsewhere" in run.failure
    assert not Ranking.objects.exists()
    assert monotonic() - began < 5


@pytest.mark.usefixtures("quick_loads")
@pytest.mark.parametrize("name", ["a header without end", "lists a hundred thousand deep", "no content", "nothing"])
def test_an_index_whose_server_answers_so_is_not_loaded(project, snapshot, name):
    with allowed(ANSWERS[name][0]) as port:
        index = load(project, snapshot, Cluster(port=port))

    assert (index.state, index.noted) == ("failed", 0)
    assert index.failure == Job.objects.get().error
    assert LoadedIndex.objects.get().server == ""


def test_of_ids_that_come_twice_the_first_counts(project, snapshot):
    hits = b'{"doc": {"id": "doc:a"}, "score": 2}, {"doc": {"id": "doc:a"}, "score": 9}'
    with allowed(body(b'{"hits": [%s]}' % hits)) as port:
        run = make_run(project, snapshot, make_remote_system(project, http(port)))

    assert (run.state, run.report) == ("complete", {"repeated": 3})


def test_a_list_is_refused_before_it_is_read():
    engine = HttpJson(url="http://x.test/", body='{"q": "{{query}}"}', ids="[*]")

    with pytest.raises(RemoteError, match="values"):
        engine.read(Reply(200, {}, b"[" * (MOST_VALUES + 1), 0.0))


def test_a_time_that_no_clock_shows_is_no_time_to_wait():
    assert retry_after({"Retry-After": "Mon, 01 Jan 99999999999 00:00:00 GMT", "Date": ""}) is None
