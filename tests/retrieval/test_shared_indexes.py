"""Indexes that one host builds and others fetch, with a server of S3 that runs here."""

import io
import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from apps.common.files import buckets
from apps.retrieval.core.engines.store import open_index
from apps.retrieval.execution import indexes
from apps.retrieval.execution.indexes import (
    UNKNOWN_FOR,
    Damaged,
    Fetched,
    NotShared,
    Shared,
    fetch,
    fetch_beside,
    name_of,
    pack,
    tidy_shared,
    unpack,
)
from tests.factories import make_project
from tests.jobs.workers import wait_until
from tests.retrieval.factories import make_snapshot, make_system

pytestmark = pytest.mark.slow

DIGEST = "d1"


class Counted:
    """An index of the number of texts. `built` tells how often it was built."""

    def __init__(self) -> None:
        self.built = 0

    def build(self, blocks, folder: Path) -> None:
        self.built += 1
        (folder / "texts").write_text("\n".join(blocks))
        (folder / "empty").touch()

    def load(self, folder: Path) -> str:
        return (folder / "texts").read_text()


@pytest.fixture
def shared(bucket, settings):
    settings.STORE = bucket.address
    return bucket


@pytest.fixture
def hosts(tmp_path) -> tuple[Path, Path]:
    """The index folders of two hosts."""
    return tmp_path / "one", tmp_path / "two"


def texts():
    return iter(["red", "green"])


def opened(root: Path, engine: Counted) -> str:
    return open_index(root, DIGEST, Shared(engine, DIGEST), texts)


def test_one_host_builds_and_the_other_fetches(shared, hosts):
    engine = Counted()

    assert [opened(host, engine) for host in hosts] == ["red\ngreen", "red\ngreen"]
    assert engine.built == 1
    assert shared.objects() == [name_of(DIGEST)]
    assert sorted(path.name for path in (hosts[1] / DIGEST).iterdir()) == ["empty", "texts"]


def test_without_a_store_each_host_builds(hosts, settings):
    settings.STORE = ""
    engine = Counted()

    assert [opened(host, engine) for host in hosts] == ["red\ngreen", "red\ngreen"]
    assert engine.built == 2


def packed(tmp_path: Path) -> bytes:
    folder = tmp_path / "packed"
    folder.mkdir()
    Counted().build(texts(), folder)
    stream = io.BytesIO()
    pack(folder, stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: b"no archive",
        lambda content: content[:1_536],
        lambda content: content[:2_050],
        lambda content: content.replace(b"red", b"bad"),
        lambda content: content.replace(b"digests.json", b"another.json"),
    ],
)
def test_an_archive_that_is_not_whole_is_built_instead(shared, hosts, tmp_path, damage, caplog):
    shared.put(name_of(DIGEST), damage(packed(tmp_path)))
    engine = Counted()

    assert opened(hosts[0], engine) == "red\ngreen"
    assert engine.built == 1
    assert "could not be fetched" in caplog.text
    assert opened(hosts[1], engine) == "red\ngreen"
    assert engine.built == 1


def test_an_archive_writes_only_into_the_folder(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    content = packed(tmp_path).replace(b"texts\0\0\0\0\0\0\0\0", b"../texts\0\0\0\0\0")

    with pytest.raises(Damaged):
        unpack(io.BytesIO(content), folder)
    assert not (tmp_path / "texts").exists()


def test_an_archive_gives_back_every_file(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    unpack(io.BytesIO(packed(tmp_path)), folder)

    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"empty": b"", "texts": b"red\ngreen"}


def test_a_store_that_is_away_costs_nothing_but_the_building(shared, hosts, monkeypatch, caplog):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(buckets, "RETRIES", 0)

    assert opened(hosts[0], Counted()) == "red\ngreen"
    assert "could not be put in the store" in caplog.text


def test_nothing_is_built_by_who_only_fetches(shared, hosts):
    engine = Counted()
    fetch(hosts[0], DIGEST, engine)
    assert not (hosts[0] / DIGEST).exists()
    opened(hosts[1], engine)
    fetch(hosts[0], DIGEST, engine)

    assert (hosts[0] / DIGEST / "texts").read_text() == "red\ngreen"
    assert engine.built == 1
    with pytest.raises(NotShared):
        Fetched(engine, "another").build(texts(), hosts[0])


def test_a_request_does_not_wait_and_the_next_one_finds_it(shared, hosts, monkeypatch):
    monkeypatch.setattr(indexes, "_begun", {})
    begun = []
    monkeypatch.setattr(indexes, "_fetch_and_tell", lambda *asked: begun.append(asked) or fetch(*asked))
    engine = Counted()
    opened(hosts[1], engine)
    fetch_beside(hosts[0], DIGEST, engine)
    fetch_beside(hosts[0], DIGEST, engine)

    wait_until((hosts[0] / DIGEST).is_dir, "fetching the index")
    assert len(begun) == 1


def test_what_nothing_can_use_any_more_leaves_the_store_a_day_later(shared):
    for digest in ("known", "unknown"):
        shared.put(name_of(digest), b"index")
    shared.put("files/uploads/a", b"no index")
    assert tidy_shared({"known"}, timezone.now()) == []

    assert tidy_shared({"known"}, timezone.now() + UNKNOWN_FOR + timedelta(hours=1)) == [name_of("unknown")]
    assert name_of("known") in shared.objects()
    assert "files/uploads/a" in shared.objects()


def test_an_index_is_not_removed_from_the_store_of_another_server(shared, settings):
    settings.AUDIT_KEY = "the key of one server"
    tidy_shared(set(), timezone.now())
    shared.put(name_of("unknown"), b"index")
    settings.AUDIT_KEY = "the key of another one"

    assert tidy_shared(set(), timezone.now() + UNKNOWN_FOR + timedelta(hours=1)) == []


@pytest.mark.django_db
def test_systems_and_signatures_come_from_another_host(shared, settings, tmp_path, monkeypatch):
    monkeypatch.setattr(indexes, "_begun", {})
    project = make_project()
    snapshot, system = make_snapshot(project), make_system(project)
    settings.DATA_DIR = tmp_path / "one"
    indexes.open_system(system, snapshot)
    built = indexes.open_signatures(snapshot)
    settings.DATA_DIR = tmp_path / "two"
    monkeypatch.setattr(indexes, "_open", type(indexes._open)())

    assert indexes.open_built(system, snapshot) is None
    wait_until((indexes.folder() / indexes.digest_of_index(system, snapshot)).is_dir, "fetching the index")
    assert indexes.open_built(system, snapshot) is not None
    assert (indexes.signatures_if_any(snapshot).minima == built.minima).all()
    shutil.rmtree(tmp_path / "two")
