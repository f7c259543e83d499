"""Backups in a bucket, with a server of S3 that runs here: written, verified, restored, kept, and interrupted."""

import os
import signal
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest
from django.utils import timezone

from apps.backups.actions.backups import back_up
from apps.backups.execution import buckets, jobs
from apps.backups.execution.buckets import Bucket, opened
from apps.backups.execution.jobs import schedule
from apps.backups.formats.archive import Archive, NoBackup
from apps.backups.models import Backup
from apps.common.errors import Refusal
from apps.jobs.enums import JobState
from tests.backups.running import done, environment, karat, on
from tests.conftest import REPO
from tests.factories import make_project
from tests.running_jobs import run_jobs

LARGE = 6 << 20
"""More bytes than the smallest part that S3 takes."""
WRITES_WITHOUT_END = """
import os
from apps.backups.execution.buckets import Bucket
with Bucket(os.environ["ADDRESS"]).appearing("karat-20260301-090000.zip") as stream:
    while True:
        stream.write(os.urandom(1 << 20))
"""


@pytest.mark.once
@pytest.mark.slow
def test_the_commands_write_verify_and_restore_it(bucket, older, tmp_path):
    env = on(older / "data") | {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    done("backup", f"{bucket.address}/all.zip", "--verify", env=env)
    assert bucket.objects() == ["all.zip"]
    assert "every digest the same" in done("verify-backup", f"{bucket.address}/all.zip", env=env)

    there = env | {"KARAT_DATA_DIR": str(tmp_path / "data")}
    restored = done("restore", f"{bucket.address}/all.zip", env=there)
    with Archive(Path("all.zip"), BytesIO(bucket.content("all.zip"))) as archive:
        assert f"digest {archive.manifest.digest[:12]}" in restored
    assert "intact" in done("verify-audit", env=there)
    refused = karat("backup", f"{bucket.address}/all.zip", env=env)
    assert (refused.returncode, "nothing is overwritten" in refused.stderr) == (2, True)


@pytest.mark.django_db(transaction=True)
def test_a_worker_keeps_the_newest_and_what_is_not_ours(bucket, settings, monkeypatch):
    monkeypatch.setattr(jobs, "verify_backup", lambda *_, **__: None)
    settings.BACKUP_TO, settings.BACKUP_HOURS, settings.BACKUP_KEEP = bucket.address, 24, 2
    for name in ("karat-20250101-090000.zip", "karat-20250102-090000.zip", "notes.txt"):
        bucket.put(name, b"")
    make_project()
    schedule(timezone.now())
    [job] = run_jobs()

    assert job.state == JobState.DONE, job.error
    made = Backup.objects.get()
    name = made.path.removeprefix(f"{bucket.address}/")
    assert bucket.objects() == ["karat-20250102-090000.zip", name, "notes.txt"]
    assert (made.size, made.removed_at) == (len(bucket.content(name)), None)


@pytest.mark.django_db
def test_a_worker_says_what_is_wrong_with_the_bucket(bucket, settings):
    settings.BACKUP_TO = "s3://there-is-no-such-bucket-here/karat"
    make_project()
    schedule(timezone.now())
    [job] = run_jobs()

    assert job.state == JobState.FAILED
    assert "AWS_SECRET_ACCESS_KEY" in job.error
    assert "sesame" not in job.error


@pytest.mark.django_db
def test_it_is_on_record_by_its_address(bucket):
    make_project()
    made, _ = back_up(target=f"{bucket.address}/", at=timezone.now())

    assert Backup.objects.get().path == made.path
    assert str(made.path).startswith(f"{bucket.address}/karat-")


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
    with pytest.raises(Refusal, match="There is no backup"), opened(f"{bucket.address}/karat-20260301-090000.zip"):
        pass


def test_half_a_backup_is_none(bucket):
    bucket.put("half.zip", os.urandom(LARGE))

    with opened(f"{bucket.address}/half.zip") as stream, pytest.raises(NoBackup, match="not a whole one"):
        Archive(f"{bucket.address}/half.zip", stream)


def test_it_is_read_anywhere_as_it_was_written(bucket, monkeypatch):
    monkeypatch.setattr(buckets, "PART", LARGE)
    content = os.urandom(3 * LARGE + 17)
    with Bucket(bucket.address).appearing("a.zip") as stream:
        stream.write(content)

    with opened(f"{bucket.address}/a.zip") as stream:
        stream.seek(-100, os.SEEK_END)
        assert stream.read() == content[-100:]
        stream.seek(LARGE - 3)
        assert stream.read(LARGE) == content[LARGE - 3 : 2 * LARGE - 3]
        stream.seek(0)
        assert stream.read() == content


def test_an_address_without_a_bucket_is_refused():
    with pytest.raises(Refusal, match="names no bucket"):
        Bucket("s3://")
