import io
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import Http404

from apps.audit.models import Event
from apps.common.digests import sha256_hex
from apps.jobs.actions.uploads import (
    UploadRefused,
    discard_upload,
    keep_upload,
    mark_used,
    shown_name,
    upload_in,
    written,
)
from apps.jobs.models import Upload
from tests.factories import AT, lead_of, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def files(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "files"
    return settings.MEDIA_ROOT


def store(content: bytes = b"text", *, name: str = "corpus.jsonl", project=None) -> Upload:
    project = project or make_project()
    return store_upload(
        project=project,
        kind="corpus",
        purpose="import",
        file=SimpleUploadedFile(name, content),
        options={"format": "jsonl"},
        actor=lead_of(project),
        at=AT,
    )


def store_upload(*, file, at, filename="", **said) -> Upload:
    with written(file, filename=filename, at=at) as on_disk:
        return keep_upload(file=on_disk, at=at, **said)


def stored_files(files: Path) -> list[Path]:
    return [path for path in files.rglob("*") if path.is_file()]


def test_a_file_is_stored_with_its_digest_under_a_generated_name(files):
    upload = store(b"some bytes")

    assert upload.place.read_bytes() == b"some bytes"
    assert (upload.sha256, upload.size) == (sha256_hex(b"some bytes"), 10)
    assert (upload.filename, upload.state) == ("corpus.jsonl", "stored")
    assert "corpus" not in upload.path
    assert upload.place.stat().st_mode & 0o077 == 0
    assert upload.place.parent.stat().st_mode & 0o077 == 0
    event = Event.objects.get(action="upload.stored")
    assert event.after == {"kind": "corpus", "sha256": upload.sha256, "size": 10}


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("/etc/passwd", "passwd"),
        ("C:\\Users\\ada\\a.csv", "a.csv"),
        ("a/../../b", "b"),
        ("nul\x00byte.csv", "nulbyte.csv"),
        ("two\nlines.csv", "twolines.csv"),
        ("..", ".."),
        ("", "unnamed"),
        ("x" * 300, "x" * 255),
        ("<script>alert(1)</script>.csv", "script>.csv"),
    ],
)
def test_what_people_call_a_file_is_only_shown(given, shown, files, project):
    upload = store_upload(
        project=project, kind="run", purpose="import", file=io.BytesIO(b"x"), filename=given, actor=None, at=AT
    )

    assert upload.filename == shown
    assert shown_name(given) == shown
    assert upload.place.resolve().is_relative_to(files.resolve())


@pytest.mark.parametrize(("size", "words"), [(3 * 1024 * 1024 + 1, "larger than 3 MiB"), (0, "empty")])
def test_a_file_above_the_cap_and_an_empty_one_are_refused_and_nothing_stays(settings, files, size, words):
    settings.UPLOAD_MAX_BYTES = 3 * 1024 * 1024

    with pytest.raises(UploadRefused, match=words):
        store(b"x" * size)

    assert stored_files(files) == []
    assert not Upload.objects.exists()


def test_a_row_that_cannot_be_written_leaves_no_file(files, monkeypatch):
    def broken(**fields):
        raise RuntimeError("the database is away")

    monkeypatch.setattr("apps.jobs.actions.uploads.record", broken)

    with pytest.raises(RuntimeError):
        store()

    assert stored_files(files) == []


def test_a_large_file_is_not_read_at_once(files):
    class Pieces(io.RawIOBase):
        """Ten pieces, and a reader that must never ask for more than one."""

        left = 10

        def read(self, size=-1):
            assert 0 < size <= 1024 * 1024
            self.left -= 1
            return b"x" * size if self.left >= 0 else b""

    upload = store_upload(project=make_project(), kind="corpus", purpose="import", file=Pieces(), actor=None, at=AT)

    assert upload.size == 10 * 1024 * 1024


def test_a_used_file_stays_and_cannot_be_discarded():
    upload = store()

    used = mark_used(upload_id=upload.pk, actor=None, at=AT)

    assert used.state == "used"
    assert used.place.exists()
    with pytest.raises(UploadRefused, match="has been used"):
        discard_upload(upload_id=upload.pk, actor=None, at=AT)


def test_a_discarded_file_is_gone_and_its_row_stays(django_capture_on_commit_callbacks):
    upload = store()

    with django_capture_on_commit_callbacks(execute=True):
        discarded = discard_upload(upload_id=upload.pk, actor=None, at=AT)

    assert discarded.state == "discarded"
    assert not discarded.place.exists()


def test_a_file_of_another_project_is_not_found():
    upload = store()

    assert upload_in(upload.project, upload.pk) == upload
    with pytest.raises(Http404):
        upload_in(make_project(), upload.pk)
