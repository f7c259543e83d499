"""All checks of a server, as the operator's page and `karat doctor` make them."""

from datetime import timedelta

import pytest
from django.db import DatabaseError, connection
from django.utils import timezone

from apps.audit.actions import record
from apps.backups.models import Backup
from apps.common.database.functions import from_now
from apps.common.database.schema import SchemaGap
from apps.common.web import requests
from apps.dashboard.enums import CheckStanding
from apps.dashboard.pages import health
from apps.dashboard.pages.health import check_up
from apps.jobs.execution.outbox import deliver_due, post_mail
from apps.jobs.execution.sweep import beat
from apps.jobs.models import WorkerBeat
from tests.factories import AT

pytestmark = pytest.mark.django_db(transaction=True)

NAMES = {
    "Database", "Worker", "Hosts", "Clock", "Mail", "Webhooks", "Backup",
    "Broker", "Deletions", "Disk", "File permissions", "Set-up",
}  # fmt: skip


@pytest.fixture(autouse=True)
def place(settings, tmp_path):
    """A data directory of its own, with room, and a worker that was just seen."""
    settings.DATA_DIR, settings.BACKUP_TO, settings.EMAIL_HOST = tmp_path, "", ""
    tmp_path.chmod(0o700)
    beat("one")
    return tmp_path


def checks(**how):
    return {check.name: check for check in check_up(**{"at": timezone.now(), "thoroughly": False} | how)}


def test_every_part_is_checked_and_what_is_fine_comes_last():
    found = check_up(at=timezone.now(), thoroughly=False)

    assert {check.name for check in found} == NAMES
    assert (found[0].name, found[0].standing) == ("Backup", CheckStanding.WARNING)
    assert {check.standing for check in found[1:]} == {CheckStanding.FINE}


def test_a_database_that_does_not_answer_leaves_what_this_machine_knows(monkeypatch):
    def away():
        raise DatabaseError("connection refused")

    monkeypatch.setattr(health, "schema_gap", away)
    found = checks()

    assert found["Database"].sentence == "It does not answer: connection refused"
    assert set(found) == {"Database", "Broker", "Disk", "File permissions", "Set-up"}


def test_tables_of_another_version_are_not_read(monkeypatch):
    monkeypatch.setattr(health, "schema_gap", lambda: SchemaGap([("jobs", "9999_of_tomorrow")], []))
    found = checks()

    assert found["Database"].standing == CheckStanding.BROKEN
    assert "Worker" not in found


def test_a_worker_that_is_gone_is_broken():
    WorkerBeat.objects.update(seen_at=from_now(-300))

    assert checks()["Worker"].standing == CheckStanding.BROKEN


def test_mail_that_fails_is_seen_in_the_outbox_and_the_server_is_asked_only_thoroughly(settings, monkeypatch):
    settings.EMAIL_HOST = "mail.example.org"
    monkeypatch.setattr("apps.jobs.execution.outbox.EmailMessage.send", lambda self: 1 / 0)
    monkeypatch.setattr(health, "mail_server_fault", lambda: "The mail server refuses the password.")
    post_mail(to=["ada@example.org"], subject="Invited", body="Come in.", project=None, at=AT)
    deliver_due(at=timezone.now())

    assert "1 message could not be sent" in checks()["Mail"].sentence
    assert "ZeroDivisionError" in checks()["Mail"].sentence
    assert checks(thoroughly=True)["Mail"].sentence.startswith("The mail server refuses the password.")


def test_another_broker_than_the_folder_is_asked_only_thoroughly(settings, monkeypatch):
    settings.BROKER_URL = "redis://queue.example.org/0"
    monkeypatch.setattr(health, "broker_fault", lambda: "It is away.")

    assert checks()["Broker"].figure == "not tried"
    assert checks(thoroughly=True)["Broker"].sentence == "It is away."


def test_files_that_others_can_read_are_found(place):
    (place / "secret-key").write_text("a key")
    (place / "secret-key").chmod(0o644)

    assert str(place / "secret-key") in checks()["File permissions"].sentence


def test_a_verified_backup_counts_and_one_that_is_old_is_broken_where_one_is_scheduled(settings, tmp_path):
    now = timezone.now()
    made = Backup.objects.create(
        path="backup", made_at=now - timedelta(hours=7), verified_at=now, size=1, rows=1, digest="0" * 64
    )
    assert checks()["Backup"].sentence == "The last verified one was made 7 h ago. None is scheduled."

    settings.BACKUP_TO = str(tmp_path)
    assert checks()["Backup"].is_fine
    Backup.objects.filter(pk=made.pk).update(made_at=now - timedelta(days=9))
    assert checks()["Backup"].standing == CheckStanding.BROKEN


def test_history_from_the_future_shows_that_the_clock_was_set_back():
    record(project=None, actor=None, action="test.happened", obj=None, at=timezone.now() + timedelta(hours=3))

    assert checks()["Clock"].trouble == "the clock was set back"


def test_settings_and_proxy_that_do_not_fit_are_a_warning(settings, monkeypatch):
    settings.PRODUCTION, settings.ALLOWED_HOSTS = True, ["*"]
    monkeypatch.setitem(requests.seen, "The proxy sends no address.", None)

    sentence = checks()["Set-up"].sentence
    assert "KARAT_ALLOWED_HOSTS contains" in sentence
    assert sentence.endswith("The proxy sends no address.")


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has no other clock")
def test_the_database_of_the_tests_is_on_this_machine_so_its_clock_agrees():
    assert checks()["Clock"].is_fine, connection.vendor


def test_workers_with_another_data_directory_need_a_store(settings, bucket, monkeypatch):
    WorkerBeat.objects.create(worker="two", host="the id of another", started_at=AT, seen_at=from_now(0))
    assert checks()["Hosts"].sentence.startswith("Workers use 2 data directories, and there is no store")
    settings.STORE = bucket.address

    assert "is not tried on this page" in checks()["Hosts"].sentence
    assert checks(thoroughly=True)["Hosts"].sentence.endswith("which answers.")
    assert bucket.objects() == ["server"]
    settings.AUDIT_KEY = "the key of another server"
    assert "the store of another server" in checks(thoroughly=True)["Hosts"].sentence
