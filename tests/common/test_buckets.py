"""A bucket, with a server of S3 that runs here: what is cut off is not there, and what is there is whole."""

import os
import signal
import subprocess
import sys

import pytest

from apps.common.errors import Refusal
from apps.common.files import buckets
from apps.common.files.buckets import Bucket, BucketAway, NoObject
from tests.backups.running import environment
from tests.conftest import REPO
from tests.remote_server import OK, answering, body, for_ever, once
from tests.s3 import variables

LARGE = 6 << 20
"""More bytes than the smallest part that S3 takes."""
WRITES_WITHOUT_END = """
import os
from apps.common.files.buckets import Bucket
with Bucket(os.environ["ADDRESS"]).appearing("karat-20260301-090000.zip") as stream:
    while True:
        stream.write(os.urandom(1 << 20))
"""


def test_what_fails_while_it_is_uploaded_leaves_nothing(bucket, monkeypatch):
    monkeypatch.setattr(buckets, "PART", LARGE)
    seen = []
    with pytest.raises(RuntimeError), Bucket(bucket.address).appearing("a.zip") as stream:  # noqa: PT012
        for _ in range(4):
            stream.write(os.urandom(LARGE))
        seen += bucket.unfinished()
        raise RuntimeError("the disk of the server is gone")

    assert seen == ["karat/nightly/a.zip"]
    assert (bucket.objects(), bucket.unfinished()) == ([], [])


def test_a_kill_while_it_is_uploaded_leaves_nothing_that_looks_like_a_backup(bucket):
    env = environment(REPO) | {"ADDRESS": bucket.address, "PYTHONPATH": str(REPO)}
    process = subprocess.Popen([sys.executable, "-c", WRITES_WITHOUT_END], env=env, cwd=REPO)
    while not bucket.unfinished():
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()

    assert bucket.objects() == []
    assert Bucket(bucket.address).names() == []


def test_it_is_read_anywhere_as_it_was_written(bucket, monkeypatch):
    monkeypatch.setattr(buckets, "PART", LARGE)
    content = os.urandom(3 * LARGE + 17)
    with Bucket(bucket.address).appearing("a.zip") as stream:
        stream.write(content)

    with Bucket(bucket.address).opened("a.zip") as stream:
        stream.seek(-100, os.SEEK_END)
        assert stream.read() == content[-100:]
        stream.seek(LARGE - 3)
        assert stream.read(LARGE) == content[LARGE - 3 : 2 * LARGE - 3]
        stream.seek(0)
        assert stream.read() == content


def test_an_address_without_a_bucket_is_refused():
    with pytest.raises(Refusal, match="names no bucket"):
        Bucket("s3://")


@pytest.mark.parametrize("size", [0, 17, 3 * LARGE + 17])
def test_a_file_is_sent_and_comes_in_pieces_as_it_was(bucket, tmp_path, monkeypatch, size):
    monkeypatch.setattr(buckets, "PART", LARGE)
    (tmp_path / "here").write_bytes(content := os.urandom(size))
    there = Bucket(bucket.address)
    there.send("files/a", tmp_path / "here")

    assert b"".join(there.pieces("files/a")) == content
    [listed] = there.listed("files")
    assert (listed.name, listed.size) == ("files/a", size)


def test_what_is_sent_again_takes_the_place_of_what_was_there(bucket, tmp_path):
    there = Bucket(bucket.address)
    for content in (b"one", b"two"):
        (tmp_path / "here").write_bytes(content)
        there.send("a", tmp_path / "here")

    assert bucket.content("a") == b"two"


def test_an_object_that_is_not_there_is_named(bucket):
    with pytest.raises(NoObject, match=f"There is no {bucket.address}/files/a"):
        list(Bucket(bucket.address).pieces("files/a"))


def test_objects_are_removed_also_those_that_are_not_there(bucket):
    bucket.put("files/a", b"a")
    bucket.put("files/b", b"b")
    Bucket(bucket.address).remove("files/a", "files/never")

    assert bucket.objects() == ["files/b"]


def test_a_server_that_does_not_answer_is_away(bucket, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(buckets, "RETRIES", 0)

    with pytest.raises(BucketAway, match="AWS_ENDPOINT_URL right"):
        Bucket(bucket.address).size("a")


XML = OK + b"Content-Type: application/xml\r\n"
NESTED = b"".join(b'<!ENTITY a%d "%s">' % (n, b"&a%d;" % (n - 1) * 50) for n in range(1, 8))
SAME_PAGE = b"""<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>more</NextContinuationToken>
<Contents><Key>nightly/a.zip</Key><Size>1</Size><LastModified>2024-01-01T00:00:00Z</LastModified></Contents>
</ListBucketResult>"""
HOSTILE = {
    "the same page for ever": body(SAME_PAGE, XML),
    "a header without end": for_ever(OK + b"X: ", b"a" * 65_536),
    "another protocol": once(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "a redirect inside": body(b"", b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\n"),
    "a length that is too long": once(OK + b"Content-Length: 1000\r\n\r\n{}"),
    "entities that grow": body(b"<!DOCTYPE l [" + NESTED + b"]><ListBucketResult>&a7;</ListBucketResult>", XML),
    "elements a hundred thousand deep": body(b"<a>" * 100_000, XML),
    "no list": body(b"null", XML),
    "no text": body(b"\xff\xfe\x00", XML),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_no_store_would_answer_is_a_sentence_that_names_the_bucket(monkeypatch, name):
    monkeypatch.setattr(buckets, "RETRIES", 1)
    with answering(HOSTILE[name]) as port:
        for variable, value in variables(f"http://127.0.0.1:{port}").items():
            monkeypatch.setenv(variable, value)

        with pytest.raises(BucketAway) as away:
            Bucket("s3://there/nightly").names()

    assert away.value.sentence.startswith("s3://there/nightly cannot be read: ")
    assert len(away.value.sentence) < 600


def test_an_object_that_is_shorter_than_it_says_is_not_read_as_whole(monkeypatch):
    head = OK + b'Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\nETag: "a"\r\nContent-Length: 1000\r\n\r\n'
    with answering(once(head + b"abc")) as port:
        for variable, value in variables(f"http://127.0.0.1:{port}").items():
            monkeypatch.setenv(variable, value)

        with pytest.raises(BucketAway):
            list(Bucket("s3://there/nightly").pieces("a.zip"))
