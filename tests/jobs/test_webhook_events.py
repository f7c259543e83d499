"""What webhooks are told of: each event once, in the transaction of what happened, with nothing that is blind."""

import json
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.backups.execution.jobs import warn
from apps.backups.models import Backup
from apps.common.database.functions import from_now
from apps.goldsets.enums import VersionState
from apps.jobs.actions.webhooks import add_webhook
from apps.jobs.execution.sweep import close_abandoned
from apps.jobs.models import Job, Outbox
from apps.jobs.selectors import jobs
from apps.queries.actions.sources import revoke_permission
from apps.review.actions.reminding import escalate
from apps.triples.models import Triple
from tests.agreement.factories import make_calibration, make_past
from tests.factories import AT, lead_of, make_member, make_project, make_user
from tests.goldsets.factories import make_bench, make_version
from tests.jobs.factories import make_job
from tests.queries.factories import make_permission, make_source
from tests.review.crawling import SAID, Rewind
from tests.review.factories import make_disputed, make_in_review, reviewers_of
from tests.running_jobs import run_jobs
from tests.triples.factories import make_snapshot

pytestmark = pytest.mark.django_db
LATER = AT + timedelta(days=30)


def watch(project) -> None:
    add_webhook(project=project, url="https://ci.example/karat", actor=lead_of(project), at=AT)


def told(event: str) -> list[dict]:
    """What was sent of these events, oldest first."""
    rows = Outbox.objects.filter(kind="webhook", payload__body__type=event).order_by("pk")
    return [row.payload["body"]["data"] for row in rows]


@pytest.fixture
def team():
    """A project with two reviewers and a webhook."""
    project = make_project()
    make_snapshot(project)
    for name in ("Rob", "Rita"):
        make_member(project, Role.REVIEWER, name=name)
    watch(project)
    return project


@pytest.fixture
def operators(settings):
    settings.WEBHOOK, settings.WEBHOOK_SECRETS = "https://ops.example/", ["sesame-open"]


def test_a_release_says_which_version_and_its_digest():
    bench = make_bench()
    watch(bench.project)

    version = make_version(VersionState.RELEASED, bench)

    (facts,) = told("version.released")
    assert (facts["gold_set"], facts["version"], facts["digest"]) == (version.gold_set.slug, 1, version.digest)
    assert facts["url"].endswith(f"/p/{bench.project.slug}/versions/{version.gold_set.slug}/v1/")


def test_a_calibration_says_how_much_there_is_to_do_and_nobody(monkeypatch):
    monkeypatch.setattr(
        "tests.agreement.factories.make_past", lambda project, *args, **past: _past(project, args, past)
    )

    made = make_calibration(confirmed=2, flagged=2)

    (facts,) = told("calibration.due")
    assert (facts["calibration"], facts["items"]) == (made.calibration.number, 4)
    assert not {word for person in User.objects.all() for word in (person.name,) if word in json.dumps(facts)}


def _past(project, args, past) -> None:
    make_past(project, *args, **past)
    watch(project)


def test_a_dispute_that_takes_too_long_is_told_once(team):
    disputed = make_disputed(team)

    for at in (LATER, LATER + timedelta(days=1)):
        escalate(project=team, at=at)

    (facts,) = told("dispute.escalated")
    assert [row["triple"] for row in facts["disputes"]] == [disputed.label]
    assert not {reviewer.name for reviewer in reviewers_of(disputed) if reviewer.name in json.dumps(facts)}


def test_of_a_long_review_nothing_is_told_whatever_one_reviewer_answered(team):
    triple = make_in_review(team)
    first, _ = reviewers_of(triple)
    counts = []
    for say in SAID.values():
        try:
            with transaction.atomic():
                say(triple, first)
                escalate(project=team, at=LATER)
                counts.append(Outbox.objects.filter(kind="webhook").count())
                raise Rewind
        except Rewind:
            pass

    assert counts == [0] * len(SAID)


def test_a_dispute_that_somebody_reviews_again_blindly_is_not_told(team, monkeypatch):
    first, second = make_disputed(team), make_disputed(team)
    monkeypatch.setattr(jobs, "hidden_objects", [lambda person: Triple.objects.filter(pk=first.pk).values("pk")])

    escalate(project=team, at=LATER)

    (facts,) = told("dispute.escalated")
    assert [row["triple"] for row in facts["disputes"]] == [second.label]


def test_a_revoked_permission_is_told_without_its_owner_and_reason():
    source = make_source()
    watch(source.project)
    first, second = make_permission(source, owner="First"), make_permission(source, owner="Second")

    for permission in (first, second):
        revoke_permission(permission_id=permission.pk, reason="asked back", actor=lead_of(source.project), at=AT)

    facts = told("permission.revoked")
    assert [row["has_another_permission"] for row in facts] == [True, False]
    assert {row["source"] for row in facts} == {source.slug}
    assert not [word for word in ("First", "Second", "asked back") if word in json.dumps(facts)]


def test_a_job_that_failed_for_good_is_told_once_without_its_reason(project):
    watch(project)
    make_job("test.breaks", project=project)

    (ended,) = run_jobs()

    (facts,) = told("job.failed")
    assert (facts["job"], facts["kind"], facts["title"]) == (ended.pk, "test.breaks", ended.title)
    assert facts["url"].endswith(f"/p/{project.slug}/jobs/{ended.pk}/")
    assert ended.error not in json.dumps(facts)


def test_a_job_whose_worker_died_too_often_is_told_as_well(project):
    watch(project)
    job = make_job(project=project)
    lapsed = {"attempt": 3, "lease_expires_at": from_now(-1), "started_at": AT, "worker": "gone"}
    Job.objects.filter(pk=job.pk).update(state="running", **lapsed)

    close_abandoned(at=AT)

    assert [facts["job"] for facts in told("job.failed")] == [job.pk]


def test_a_job_of_no_project_is_told_to_the_operators(operators):
    make_job("test.breaks")

    (ended,) = run_jobs()

    assert told("job.failed") == [{"job": ended.pk, "kind": "test.breaks", "title": ended.title}]
    assert Outbox.objects.get().payload["url"] == "https://ops.example/"


def test_an_old_backup_is_told_to_the_operators_once_a_day(operators, settings, tmp_path):
    make_user(is_operator=True)
    settings.BACKUP_TO, settings.BACKUP_HOURS = str(tmp_path), 24
    now = timezone.now()
    Backup.objects.create(
        path="a.zip", made_at=now - timedelta(hours=47), verified_at=now, size=1, rows=1, digest="0" * 64
    )
    warn(now)
    assert told("backup.old") == []
    Backup.objects.update(made_at=now - timedelta(hours=49))

    for hours in (0, 1, 23, 25):
        warn(now + timedelta(hours=hours))

    assert [facts["sentence"] for facts in told("backup.old")] == [
        f"The last verified backup was made {days} days ago; one is due every 24 h." for days in (2, 3)
    ]


def test_without_a_webhook_of_the_server_an_old_backup_is_told_to_nobody(settings, tmp_path):
    make_user(is_operator=True)
    settings.BACKUP_TO, settings.WEBHOOK = str(tmp_path), ""

    warn(timezone.now())

    assert not Outbox.objects.exists()
