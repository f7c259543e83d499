"""Files that all hosts can read, with a bucket on a server of S3 that runs here, and without one."""

import os
import shutil
import time
from pathlib import Path
from queue import Queue

import pytest

from apps.common.digests import sha256_hex
from apps.common.files import buckets, store
from apps.common.files.buckets import BucketAway
from apps.common.files.store import FileGone

NAME = "uploads/2026-03/a1"
A_WEEK_AND_A_DAY = 8 * 86_400


@pytest.fixture(autouse=True)
def files(settings, tmp_path, monkeypatch) -> Path:
    """The folder of this host. Copies are cleared only where a test says so."""
    settings.MEDIA_ROOT, settings.STORE = tmp_path / "files", ""
    monkeypatch.setattr(store, "_cleared_at", time.monotonic())
    return settings.MEDIA_ROOT


@pytest.fixture
def shared(bucket, settings):
    settings.STORE = bucket.address
    return bucket


def write(content: bytes) -> None:
    path = store.path_of(NAME)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def go_to_another_host() -> None:
    """The folder of a host that has seen none of the files."""
    shutil.rmtree(store.path_of(""))


def test_without_a_store_the_data_directory_has_all_files():
    write(b"text")
    store.keep(NAME)

    assert store.here(NAME, sha256="").read_bytes() == b"text"
    with store.opened(NAME) as stream:
        assert stream.read() == b"text"
    store.remove(NAME)
    assert not store.path_of(NAME).exists()
    assert list(store.stored()) == []


def test_what_one_host_has_written_another_one_fetches_once(shared):
    write(b"text")
    store.keep(NAME)
    go_to_another_host()
    path = store.here(NAME, sha256=sha256_hex(b"text"))
    shared.put(f"files/{NAME}", b"what nobody asks for again")

    assert store.here(NAME, sha256=sha256_hex(b"text")).read_bytes() == b"text"
    assert [found.name for found in path.parent.iterdir()] == [path.name]
    assert path.stat().st_mode & 0o077 == 0


def test_what_is_read_through_needs_no_copy(shared):
    write(content := os.urandom(3 << 20))
    store.keep(NAME)
    go_to_another_host()

    with store.opened(NAME) as stream:
        assert stream.read() == content
    assert not store.path_of(NAME).exists()


def test_an_object_that_is_not_what_was_uploaded_is_refused_and_leaves_nothing(shared):
    shared.put(f"files/{NAME}", b"another text")

    with pytest.raises(FileGone, match="is not the file that was uploaded"):
        store.here(NAME, sha256=sha256_hex(b"text"))
    assert list(store.path_of(NAME).parent.iterdir()) == []


def test_a_file_that_nobody_has_is_named_with_what_to_do(shared):
    with pytest.raises(FileGone, match=f"{NAME} is neither on this host nor in .*karat fill-store"):
        store.here(NAME, sha256="")
    with pytest.raises(FileNotFoundError, match=NAME), store.opened(NAME):
        pass


def test_a_store_that_does_not_answer_is_said_to_be_away(shared, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(buckets, "RETRIES", 0)
    write(b"text")

    assert store.here(NAME, sha256="").read_bytes() == b"text"
    with pytest.raises(BucketAway):
        store.keep(NAME)
    go_to_another_host()
    with pytest.raises(BucketAway):
        store.here(NAME, sha256="")


def test_a_file_is_removed_from_this_host_and_the_store(shared):
    write(b"text")
    store.keep(NAME)
    assert [(each.name, each.size) for each in store.stored()] == [(NAME, 4)]
    store.remove(NAME)

    assert not store.path_of(NAME).exists()
    assert list(store.stored()) == []


@pytest.mark.parametrize(
    ("there", "age", "stays"),
    [
        (b"text", A_WEEK_AND_A_DAY, False),
        (b"text", 60, True),
        (None, A_WEEK_AND_A_DAY, True),
        (b"ha", A_WEEK_AND_A_DAY, True),
    ],
)
def test_what_was_here_before_the_store_is_cleared_only_where_the_store_has_it(shared, there, age, stays):
    write(b"text")
    if there is not None:
        shared.put(f"files/{NAME}", there)
    long_ago = time.time() - age
    os.utime(store.path_of(NAME), (long_ago, long_ago))
    store.clear_copies(store.bucket())

    assert store.path_of(NAME).exists() == stays


@pytest.mark.parametrize("is_fetched", [True, False])
def test_a_copy_of_what_another_host_has_removed_is_cleared(shared, is_fetched):
    write(b"text")
    store.keep(NAME)
    if is_fetched:
        go_to_another_host()
        store.here(NAME, sha256=sha256_hex(b"text"))
    store.bucket().remove(f"files/{NAME}")
    store.clear_copies(store.bucket())
    assert store.path_of(NAME).exists()
    os.utime(store.path_of(NAME), (0, 0))
    store.clear_copies(store.bucket())

    assert not store.path_of(NAME).exists()


@pytest.mark.parametrize("ending", [".reading", ".0a.fetched"])
def test_what_is_made_of_a_file_is_cleared_without_being_asked_for(shared, ending):
    write(b"text")
    beside = store.path_of(NAME + ending)
    beside.write_bytes(b"made of it")
    os.utime(beside, (0, 0))
    store.clear_copies(store.bucket())

    assert not beside.exists()
    assert store.path_of(NAME).exists()


def test_whoever_adds_a_file_clears_now_and_then(shared, monkeypatch):
    cleared = Queue()
    monkeypatch.setattr(store, "clear_copies", cleared.put)
    monkeypatch.setattr(store, "_cleared_at", 0.0)
    write(b"text")
    store.keep(NAME)
    store.keep(NAME)

    assert cleared.get(timeout=60).address == shared.address
    assert cleared.empty()


def test_a_file_that_is_read_is_not_old(shared):
    write(b"text")
    store.keep(NAME)
    os.utime(store.path_of(NAME), (0, 0))
    store.here(NAME, sha256="")
    store.clear_copies(store.bucket())

    assert store.path_of(NAME).exists()


def test_a_store_is_of_the_server_that_used_it_first(shared, settings):
    settings.AUDIT_KEY = "the key of one server"
    assert store.is_ours(store.bucket())
    assert store.is_ours(store.bucket())
    settings.AUDIT_KEY = "the key of another one"

    assert not store.is_ours(store.bucket())
