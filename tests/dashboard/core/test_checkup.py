"""Each part of a server, judged by figures, with what mends it."""

import pytest

from apps.dashboard.core import checkup
from apps.dashboard.core.checkup import Check, fine, headline, in_order, summary
from apps.dashboard.enums import CheckStanding
from apps.jobs.core.progress import Unsent

BROKEN, WARNING, FINE = CheckStanding.BROKEN, CheckStanding.WARNING, CheckStanding.FINE
GB = 1000**3
DISK = fine("Disk", "Half of it is free.")
MAIL = Check("Mail", BROKEN, "It does not go out.", "Mend it.", trouble="mail does not go out")
BACKUP = Check("Backup", WARNING, "It is old.", "Make one.", trouble="the backup is old")


def test_what_is_broken_comes_first_and_names_the_page():
    checks = [DISK, BACKUP, MAIL]

    assert in_order(checks) == [MAIL, BACKUP, DISK]
    assert headline(checks) == "Mail does not go out; the backup is old."
    assert headline([DISK, BACKUP]) == "Work goes on; the backup is old."
    assert headline([DISK]) == "Everything is all right."
    assert summary(checks) == "1 of 3 checks are fine."
    assert summary([DISK, DISK]) == "2 of 2 checks are fine."


@pytest.mark.parametrize(
    ("total", "free", "standing", "words"),
    [
        (200 * GB, 139 * GB, FINE, "61.0 GB of 200 GB are used, 139 GB are free."),
        (200 * GB, 4 * GB, WARNING, "196 GB of 200 GB are used, 4.0 GB are free."),
        (20 * GB, 4 * GB, FINE, "16.0 GB of 20.0 GB are used, 4.0 GB are free."),
        (20 * GB, GB // 10, BROKEN, "Uploads are rejected"),
        (0, 0, BROKEN, "Uploads are rejected"),
    ],
)
def test_a_disk_is_tight_by_what_is_free(total, free, standing, words):
    check = checkup.disk_check(total=total, free=free, folder="data")

    assert check.standing == standing
    assert words in check.sentence.replace("\N{NO-BREAK SPACE}", " ")
    assert bool(check.mend) is not check.is_fine


@pytest.mark.parametrize(
    ("off", "back", "standing"),
    [(0.2, -30.0, FINE), (-20.0, 0.0, WARNING), (90.0, 0.0, BROKEN), (0.0, 30.0, FINE), (0.0, 600.0, BROKEN)],
)
def test_a_clock_is_compared_with_the_databases_and_with_history(off, back, standing):
    assert checkup.clock_check(seconds_off=off, seconds_back=back).standing == standing


@pytest.mark.parametrize(
    ("workers", "seen", "oldest", "standing", "words"),
    [
        (2, 4.0, 0.0, FINE, "2 running; last seen 4 s ago."),
        (1, 0.0, 0.0, FINE, "1 running; last seen 0 s ago."),
        (1, 4.0, 3600.0, WARNING, "A job has waited for 60 min."),
        (0, 300.0, 0.0, BROKEN, "None is at work; last seen 5 min ago."),
        (0, None, 0.0, BROKEN, "None has been seen yet."),
    ],
)
def test_a_worker_is_at_work_when_it_was_seen_lately(workers, seen, oldest, standing, words):
    check = checkup.worker_check(workers=workers, seen_seconds=seen, missing_after=60, oldest_job=oldest)

    assert check.standing == standing
    assert words in check.sentence


def test_a_database_of_another_version_is_broken():
    facts = {"engine": "SQLite", "version": "3.40.1", "milliseconds": 0.2}

    assert checkup.database_check(**facts, schema="").sentence == "Answers in 1 ms; all migrations are applied."
    assert checkup.database_check(**facts, schema="newer than this version of Karat").standing == BROKEN


def test_a_broker_that_was_not_tried_says_so():
    assert "The button tries it." in checkup.broker_check(broker="Redis at queue", fault=None).sentence
    assert checkup.broker_check(broker="Redis at queue", fault="").sentence == "Redis at queue answers."
    assert checkup.broker_check(broker="Redis at queue", fault="It is away.").standing == BROKEN


FAILING = Unsent(waiting=14, failing=14, oldest_seconds=5280, reason="SMTPServerDisconnected: gone")


@pytest.mark.parametrize(
    ("queue", "server", "fault", "standing", "words"),
    [
        (Unsent(), "", None, FINE, "No mail server is set"),
        (Unsent(), "mail", None, FINE, "Nothing has failed."),
        (Unsent(waiting=1), "mail", "", FINE, "mail answers. Waiting: 1 message."),
        (
            Unsent(waiting=3),
            "mail",
            "It refuses the password.",
            BROKEN,
            "It refuses the password. Waiting: 3 messages.",
        ),
        (FAILING, "mail", None, BROKEN, "14 messages could not be sent, the first for 88 min. Each is tried again."),
        (FAILING, "mail", "", WARNING, "The last reason: SMTPServerDisconnected: gone. Now mail answers."),
        (
            Unsent(given_up=1, reason="no route."),
            "mail",
            "",
            WARNING,
            "Given up this week: 1 message. The last reason: no route.",
        ),
    ],
)
def test_mail_is_judged_by_what_waits_and_by_the_server(queue, server, fault, standing, words):
    check = checkup.mail_check(queue, server=server, fault=fault)

    assert check.standing == standing
    assert words in check.sentence


def test_webhooks_that_fail_are_a_warning_for_their_leads():
    assert checkup.webhooks_check(Unsent()).sentence == "Nothing waits."
    assert checkup.webhooks_check(Unsent(waiting=2)).sentence == "Nothing has failed. Waiting: 2 messages."
    check = checkup.webhooks_check(Unsent(failing=1, given_up=2, reason="elsewhere answered 500."))
    assert check.standing == WARNING
    assert check.sentence == (
        "Not delivered and tried again: 1 message. Given up this week: 2 messages."
        " The last reason: elsewhere answered 500."
    )


@pytest.mark.parametrize(
    ("notice", "age", "is_scheduled", "standing", "words"),
    [
        ("", 3600.0 * 7, True, FINE, "The last verified one was made 7 h ago. One is due every 24 h."),
        ("", None, True, FINE, "None was made yet. One is due every 24 h."),
        ("The last attempt failed: no folder.", None, True, BROKEN, "no folder"),
        ("", None, False, WARNING, "None is scheduled, and none was ever verified."),
        ("", 86_400.0 * 9, False, WARNING, "None is scheduled. The last verified one was made 9 days ago."),
        ("", 3600.0 * 7, False, FINE, "The last verified one was made 7 h ago. None is scheduled."),
    ],
)
def test_a_backup_counts_only_when_it_was_verified(notice, age, is_scheduled, standing, words):
    check = checkup.backup_check(notice=notice, age_seconds=age, every_hours=24, is_scheduled=is_scheduled)

    assert check.standing == standing
    assert words in check.sentence


def test_files_that_others_can_read_are_named_and_too_many_are_counted():
    paths = [f"data/{letter}" for letter in "abcde"]

    check = checkup.files_check(folder="data", open_to_others=paths, closed_to_us=[])
    assert (check.standing, check.mend) == (WARNING, "As their owner run `chmod -R go= data`.")
    assert "data/a, data/b, data/c and 2 more" in check.sentence
    assert checkup.files_check(folder="data", open_to_others=paths, closed_to_us=paths).standing == BROKEN
    assert checkup.files_check(folder="data", open_to_others=[], closed_to_us=[]).is_fine


def test_settings_that_contradict_each_other_are_a_warning():
    assert checkup.set_up_check(["A proxy is missing. Set it up."]).sentence == "A proxy is missing. Set it up."
    assert checkup.set_up_check([]).is_fine


@pytest.mark.parametrize(
    ("others", "store", "fault", "standing", "words"),
    [
        (0, "", None, FINE, "Web and workers use one data directory."),
        (2, "", None, BROKEN, "Workers use 3 data directories, and there is no store"),
        (2, "s3://b/karat", None, FINE, "s3://b/karat is not tried on this page"),
        (2, "s3://b/karat", "", FINE, "and share files in s3://b/karat"),
        (0, "s3://b/karat", "It is away.", BROKEN, "It is away."),
    ],
)
def test_hosts_need_a_store_that_answers(others, store, fault, standing, words):
    check = checkup.hosts_check(others=others, store=store, fault=fault)

    assert check.standing == standing
    assert words in check.sentence
    assert bool(check.mend) == (standing == BROKEN)
