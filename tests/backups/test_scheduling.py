"""Backups by a worker: when they are made, how many are kept, and what operators are told."""

import math
import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from apps.audit.models import Event
from apps.backups.actions.backups import back_up
from apps.backups.enums import BACK_UP
from apps.backups.execution import jobs as scheduled
from apps.backups.execution.jobs import schedule
from apps.backups.execution.making import OWN_NAME, remove_oldest
from apps.backups.formats.archive import Archive
from apps.backups.models import Backup
from apps.backups.selectors.backups import backup_metrics, notice_asked
from apps.common.database.batched_reads import answer_to
from apps.jobs.enums import JobState
from apps.jobs.models import Job
from tests.factories import AT, make_project, make_user
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db(transaction=True)
DAY = timedelta(days=1)


@pytest.fixture
def folder(tmp_path, settings) -> Path:
    """Where a worker backs up, every day, and keeps two."""
    settings.BACKUP_TO, settings.BACKUP_HOURS, settings.BACKUP_KEEP = str(tmp_path), 24, 2
    return tmp_path


@pytest.fixture
def trusting(monkeypatch):
    """Without the restore that verifies, which takes some seconds and has tests of its own."""
    monkeypatch.setattr(scheduled, "verify_backup", lambda *_, **__: None)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.slow
def test_a_worker_makes_a_backup_verifies_it_and_puts_it_on_record(folder):
    make_project("Handbook")
    schedule(timezone.now())
    [job] = run_jobs()

    made = Backup.objects.get()
    assert (job.state, job.result) == (JobState.DONE, {"backup": made.pk})
    assert names(folder) == [Path(made.path).name]
    assert made.verified_at is not None
    with Archive(Path(made.path)) as archive:
        assert (archive.manifest.digest, archive.manifest.rows) == (made.digest, made.rows)
    assert Event.objects.get(action="backup.made").after["verified"] is True


def test_the_next_one_is_queued_when_the_interval_has_passed_and_not_twice(folder, trusting, settings):
    now, settings.BACKUP_TO = timezone.now(), ""
    schedule(now)
    assert not Job.objects.exists(), "without a folder there is none"
    settings.BACKUP_TO = str(folder)
    schedule(now)
    schedule(now)
    assert Job.objects.filter(kind=BACK_UP).count() == 1
    run_jobs()

    schedule(now + timedelta(hours=23))
    assert Job.objects.filter(kind=BACK_UP).count() == 1
    schedule(now + timedelta(hours=25))
    assert Job.objects.filter(kind=BACK_UP).count() == 2


def test_the_newest_are_kept_with_everything_that_is_not_ours(folder):
    ours = [f"karat-2026030{n}-090000.zip" for n in range(1, 6)]
    for name in [*ours, "karat-old.zip", "notes.txt", "karat-20260301-090000.zip.unfinished"]:
        (folder / name).write_text("")
    os.utime(folder / "karat-20260301-090000.zip.unfinished", (0, 0))
    (folder / "karat-20260309-090000.zip.unfinished").write_text("being written")

    removed = remove_oldest(folder, keep=2, at=timezone.now())

    assert [path.name for path in removed] == ours[:3]
    assert names(folder) == [*ours[3:], "karat-20260309-090000.zip.unfinished", "karat-old.zip", "notes.txt"]


def test_what_was_removed_stays_on_record(folder, trusting):
    for name in ("karat-20250101-090000.zip", "karat-20250102-090000.zip"):
        (folder / name).write_text("")
    old = Backup.objects.create(
        path=str(folder / "karat-20250101-090000.zip"), made_at=AT, size=1, rows=1, digest="0" * 64
    )
    schedule(timezone.now())
    run_jobs()

    old.refresh_from_db()
    assert old.removed_at is not None
    assert Event.objects.filter(action="backup.removed", object_id=str(old.pk)).exists()
    assert [bool(OWN_NAME.fullmatch(name)) for name in names(folder)] == [True, True]


def test_a_folder_that_is_not_there_is_said_to_operators_and_in_the_log_and_tried_again_soon(folder, settings, caplog):
    settings.BACKUP_TO = str(folder / "missing")
    operator, mara, now = make_user(is_operator=True), make_user(), timezone.now()
    schedule(now)
    [job] = run_jobs()

    assert job.state == JobState.FAILED
    sentence = f"There is no verified backup yet. The last attempt failed: {job.error}"
    assert answer_to(operator, notice_asked(operator)) == sentence
    assert "Make it, or set KARAT_BACKUP_TO to another one." in sentence
    assert answer_to(mara, notice_asked(mara)) == ""
    [line] = [record for record in caplog.records if record.name == scheduled.__name__]
    assert (line.levelname, line.getMessage()) == ("ERROR", f"The scheduled backup failed: {job.error}")
    schedule(now + timedelta(minutes=10))
    assert Job.objects.count() == 1
    schedule(now + timedelta(minutes=20))
    assert Job.objects.count() == 2


def test_a_name_is_free_again_when_somebody_removed_the_file(tmp_path):
    for _ in range(2):
        back_up(target=tmp_path / "nightly.zip", at=timezone.now())
        (tmp_path / "nightly.zip").unlink()

    assert [made.removed_at is None for made in Backup.objects.order_by("pk")] == [False, True]


def test_a_monitor_sees_the_age_of_the_last_verified_one():
    def age() -> float:
        return backup_metrics(AT)[0].samples[0].value

    made = {"size": 1, "rows": 1, "digest": "0" * 64}
    assert age() == math.inf
    Backup.objects.create(path="a", made_at=AT - timedelta(hours=3), verified_at=AT, **made)
    Backup.objects.create(path="b", made_at=AT, **made)  # nobody has verified it

    assert age() == 3 * 3600


@pytest.mark.parametrize(("age", "sentence"), [
    (timedelta(hours=30), ""),
    (3 * DAY, "The last verified backup was made 3 days ago; one is due every 24 h."),
])  # fmt: skip
def test_operators_are_told_when_the_last_good_one_is_old(folder, client, age, sentence):
    operator = make_user(is_operator=True)
    made = {"size": 1, "rows": 1, "digest": "0" * 64}
    Backup.objects.create(path="a", made_at=timezone.now() - age, verified_at=timezone.now(), **made)
    Backup.objects.create(path="b", made_at=timezone.now(), **made)  # nobody has verified it

    assert answer_to(operator, notice_asked(operator)) == sentence
    client.force_login(operator)
    page = client.get("/projects/").content.decode()
    assert (sentence in page) if sentence else ("verified backup" not in page)
