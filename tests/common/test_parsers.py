"""Bodies of the API: how long and how deep they may be, and in which words a body beyond that is refused."""

import io
import json

import pytest
from django.core.exceptions import RequestDataTooBig
from django.test import RequestFactory
from rest_framework.exceptions import ParseError

from apps.common.web.body_limits import MOST_BYTES
from apps.common.web.parsers import DEEPEST, JSONParser, PayloadTooLarge, depth_exceeds, read_body
from apps.dashboard.pages.errors import bad_request
from tests.factories import lead_of, make_project


def parse(body: bytes, path: str = "/api/v1/projects/hut/systems/"):
    return JSONParser().parse(io.BytesIO(body), "application/json", {"request": RequestFactory().post(path)})


class Endless(io.RawIOBase):
    """A body that never ends; `given` is how much of it was asked for."""

    given = 0

    def read(self, size: int = -1) -> bytes:
        assert size > 0, "somebody reads it to its end"
        self.given += size
        return b" " * size


def test_a_body_is_read_as_json():
    assert parse('{"grade": 3, "note": "é"}'.encode()) == {"grade": 3, "note": "é"}
    assert parse(b"\xef\xbb\xbf[1]") == [1]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"{", "The body is not JSON: "),
        (b"[NaN]", "The body is not JSON: "),
        (b'["\xe9"]', "The body is not UTF-8: byte 2 cannot be read."),
        (b"[" * 33 + b"]" * 33, "The body is nested more than 32 levels deep."),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(body, says):
    with pytest.raises(ParseError) as caught:
        parse(body)

    assert str(caught.value).startswith(says)


@pytest.mark.parametrize("levels", [100, 100_000, 1_000_000])
@pytest.mark.parametrize(("start", "end"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_a_body_nested_a_hundred_thousand_deep_is_refused_and_breaks_nothing(levels, start, end):
    inner = b"" if start == b"[" else b"0"

    with pytest.raises(ParseError, match="nested more than 32 levels deep"):
        parse(start * levels + inner + end * levels, "/api/v1/projects/hut/runs/")


def test_a_body_beyond_the_cap_of_its_address_is_refused():
    with pytest.raises(PayloadTooLarge):
        parse(b" " * (MOST_BYTES + 1))


def test_depth_counts_nesting_and_not_length():
    deep: list = []
    for _ in range(DEEPEST - 1):
        deep = [deep, {"a": 1}]

    assert not depth_exceeds(deep, DEEPEST)
    assert depth_exceeds([deep], DEEPEST)
    assert not depth_exceeds([{"a": 1}] * 1_000, 2)


def test_no_more_is_read_than_the_cap_whatever_the_content_length_says():
    stream = Endless()

    with pytest.raises(PayloadTooLarge, match="A body here has at most 1,000 bytes"):
        read_body(stream, 1_000)

    assert stream.given == 1_001


# At the doors --------------------------------------------------------------------------------------------------------


@pytest.fixture
def lead(client, db):
    project = make_project()
    client.force_login(lead_of(project))
    client.project = project
    return client


def post(lead, path: str, body: bytes, **extra):
    address = f"/api/v1/projects/{lead.project.slug}/{path}"
    return lead.post(address, body, content_type="application/json", **extra)


def test_a_pushed_run_of_six_megabytes_is_read(lead):
    body = json.dumps({"snapshot": "ghost@1", "tag": "t", "trec": "x" * 6_000_000}).encode()

    answer = post(lead, "runs/", body)

    assert (answer.status_code, answer.json()["errors"]) == (
        400,
        {"snapshot": ["No snapshot, or more than one, is called that."]},
    )


@pytest.mark.parametrize(
    ("path", "told"), [("runs/", "64 MiB"), ("systems/", "5,000,000 bytes"), ("queries/source/", "5,000,000 bytes")]
)
def test_a_longer_body_is_a_413_in_words_and_is_not_read(lead, path, told):
    answer = post(lead, path, b"{}", CONTENT_LENGTH=str(65 * 1024**2))

    assert (answer.status_code, answer["Content-Type"]) == (413, "application/problem+json")
    assert answer.json()["detail"].startswith(f"A body here has at most {told}.")


def test_a_body_that_says_it_is_packed_is_refused_in_words(lead):
    answer = post(lead, "systems/", b"\x1f\x8b", headers={"Content-Encoding": "gzip"})

    assert answer.status_code == 415
    assert answer.json()["detail"] == "Send the body uncompressed, not as gzip."


def test_deep_json_is_a_400_problem_at_the_api(lead):
    answer = post(lead, "systems/", b"[" * 100_000 + b"]" * 100_000)

    assert (answer.status_code, answer.json()["code"]) == (400, "parse_error")
    assert "nested more than 32 levels deep" in answer.json()["detail"]


def test_a_page_says_what_is_too_large_for_it():
    answer = bad_request(RequestFactory().post("/api/v1/"), RequestDataTooBig())

    assert answer.status_code == 413
    assert "larger than this page takes" in answer.content.decode()
