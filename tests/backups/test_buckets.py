"""Backups in a bucket, with a server of S3 that runs here: written, verified, restored and kept."""

import os
from io import BytesIO
from pathlib import Path

import pytest
from django.utils import timezone

from apps.backups.execution import jobs
from apps.backups.execution.jobs import schedule
from apps.backups.execution.places import opened
from apps.backups.formats.archive import Archive, NoBackup
from apps.backups.models import Backup
from apps.common.errors import Refusal
from apps.jobs.enums import JobState
from tests.backups.running import done, karat, on
from tests.factories import make_project
from tests.running_jobs import run_jobs


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


def test_half_a_backup_is_none_and_so_is_what_is_not_there(bucket):
    bucket.put("half.zip", os.urandom(6 << 20))

    with opened(f"{bucket.address}/half.zip") as stream, pytest.raises(NoBackup, match="not a whole one"):
        Archive(f"{bucket.address}/half.zip", stream)
    with pytest.raises(Refusal, match="There is no backup"), opened(f"{bucket.address}/karat-20260301-090000.zip"):
        pass
