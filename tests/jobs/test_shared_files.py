"""The store and the rows that name its files: what has no row ends, what has one is there."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.common.errors import Refusal
from apps.common.files import buckets
from apps.common.files.buckets import BucketAway
from apps.jobs.actions.uploads import UNNAMED_FOR, discard_upload, fill_store, remove_unnamed
from apps.jobs.models import NEAR_BYTES, Upload
from tests.factories import AT, lead_of
from tests.jobs.test_uploads import store

pytestmark = pytest.mark.django_db

MUCH_LATER = timezone.now() + UNNAMED_FOR + timedelta(days=1)


@pytest.fixture(autouse=True)
def files(settings, tmp_path):
    settings.MEDIA_ROOT, settings.STORE = tmp_path / "files", ""
    return settings.MEDIA_ROOT


@pytest.fixture
def shared(bucket, settings):
    settings.STORE = bucket.address
    return bucket


def in_store(shared) -> list[str]:
    return [name.removeprefix("files/") for name in shared.objects() if name.startswith("files/")]


def test_an_upload_is_in_the_store_when_its_row_is_written(shared):
    upload = store(b"some bytes")

    assert in_store(shared) == [upload.path]
    upload.place.unlink()
    assert upload.file_here().read_bytes() == b"some bytes"


def test_what_is_not_kept_is_not_in_the_store(shared, monkeypatch):
    def fails(**said):
        raise RuntimeError("the job cannot be queued")

    monkeypatch.setattr("tests.jobs.test_uploads.keep_upload", fails)
    with pytest.raises(RuntimeError):
        store(b"some bytes")

    assert in_store(shared) == []


def test_a_store_that_is_away_keeps_an_upload_from_being_taken(shared, files, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(buckets, "RETRIES", 0)
    with pytest.raises(BucketAway):
        store(b"some bytes")

    assert not Upload.objects.exists()
    assert [path for path in files.rglob("*") if path.is_file()] == []


def test_a_discarded_file_is_gone_from_the_store(shared, django_capture_on_commit_callbacks):
    upload = store()
    with django_capture_on_commit_callbacks(execute=True):
        discard_upload(upload_id=upload.pk, actor=lead_of(upload.project), at=AT)

    assert in_store(shared) == []


def test_what_no_row_names_is_removed_after_a_week(shared, django_capture_on_commit_callbacks):
    kept, discarded = store(b"kept"), store(b"discarded")
    discard_upload(upload_id=discarded.pk, actor=lead_of(discarded.project), at=AT)  # and then the process was killed
    shared.put("files/uploads/2026-03/left", b"what a killed process has left")
    shared.put("indexes/a.tar", b"no file")
    remove_unnamed(timezone.now())
    assert len(in_store(shared)) == 3
    remove_unnamed(MUCH_LATER)

    assert in_store(shared) == [kept.path]
    assert "indexes/a.tar" in shared.objects()


def test_nothing_is_removed_from_the_store_of_another_server(shared, settings):
    settings.AUDIT_KEY = "the key of one server"
    store(b"kept")
    remove_unnamed(timezone.now())
    settings.AUDIT_KEY = "the key of its copy, which has no rows"
    Upload.objects.all().delete()

    with pytest.raises(Refusal, match="the store of another server"):
        remove_unnamed(MUCH_LATER)
    with pytest.raises(Refusal, match="Nothing was sent"):
        fill_store()
    assert len(in_store(shared)) == 1


def test_without_a_store_there_is_nothing_to_remove(files):
    upload = store(b"kept")
    remove_unnamed(MUCH_LATER)

    assert upload.place.exists()


def test_a_host_sends_what_it_had_before_there_was_a_store(bucket, settings):
    here, elsewhere = store(b"here"), store(b"elsewhere")
    elsewhere.place.unlink()
    settings.STORE = bucket.address
    sent = store(b"sent")
    told, missing = StringIO(), StringIO()
    with pytest.raises(SystemExit):
        call_command("fill_store", stdout=told, stderr=missing)

    assert in_store(bucket) == sorted([here.path, sent.path])
    assert told.getvalue() == "1 files were sent; 1 were in the store already.\n"
    assert elsewhere.path in missing.getvalue()
    assert fill_store() == (0, 2, [elsewhere.path])


def test_without_a_store_the_command_says_which_variable_to_set():
    with pytest.raises(CommandError, match="Set KARAT_STORE"):
        call_command("fill_store")


@pytest.mark.parametrize(
    ("size", "is_here", "near"),
    [(NEAR_BYTES, False, True), (NEAR_BYTES + 1, False, False), (NEAR_BYTES + 1, True, True)],
)
def test_a_request_waits_for_small_files_and_for_those_that_are_here(size, is_here, near):
    upload = store()
    upload.size = size
    if not is_here:
        upload.place.unlink()

    assert upload.is_near == near
