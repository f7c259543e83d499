import mmap
import os
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.db import IntegrityError, connection, transaction

from apps.audit.actions import record
from apps.audit.execution import notify_sealer, tasks
from apps.audit.models import Event
from apps.common.hooks import load_celery
from apps.common.web.logs import reset_request_id, set_request_id
from tests.audit.factories import make_event
from tests.factories import AT, lead_of, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def celery():
    """With Celery loaded, as it is once the first message went out: before that a task is a promise of itself."""
    load_celery()


def test_an_event_says_who_did_what_to_which_object_before_and_after():
    project = make_project("Handbook")
    token = set_request_id("abc")

    event = record(
        project=project,
        actor=lead_of(project),
        action="project.renamed",
        obj=project,
        before={"name": "Hand"},
        after={"name": "Handbook"},
        at=AT,
    )
    reset_request_id(token)

    event.refresh_from_db()
    assert (event.project, event.actor, event.action) == (project, lead_of(project), "project.renamed")
    assert (event.object_type, event.object_id, event.object_label) == (
        "accounts.project",
        str(project.pk),
        "Handbook",
    )
    assert (event.before, event.after) == ({"name": "Hand"}, {"name": "Handbook"})
    assert (event.at, event.request_id) == (AT, "abc")


def test_times_and_decimals_are_stored_as_text():
    event = make_event(after={"at": datetime(2026, 3, 2, tzinfo=UTC), "share": Decimal("0.20")})

    assert event.after == {"at": "2026-03-02T00:00:00Z", "share": "0.20"}


def test_a_number_that_is_none_is_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        make_event(after={"kappa": float("nan")})


def test_an_event_shares_the_fate_of_its_change():
    with transaction.atomic():
        make_event(action="test.undone")
        transaction.set_rollback(True)

    assert not Event.objects.filter(action="test.undone").exists()


def test_an_event_without_an_action_is_refused():
    with pytest.raises(IntegrityError), transaction.atomic():
        make_event(action="")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_event SET action = 'other'",
        "UPDATE audit_event SET actor_id = NULL",
        "DELETE FROM audit_event",
    ],
)
def test_the_database_rejects_changes_of_events_from_any_client(statement):
    make_event()

    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)

    assert Event.objects.filter(action="test.happened").count() == 1


@pytest.mark.django_db(transaction=True)
def test_recording_requests_a_seal_at_most_once_per_interval(monkeypatch):
    asked = []
    monkeypatch.setattr(notify_sealer, "_not_before", [0.0])
    monkeypatch.setattr(tasks.seal, "apply_async", lambda **options: asked.append(options))

    for _ in range(20):
        make_event()

    assert len(asked) == 1


def test_processes_that_are_forked_request_a_seal_together(monkeypatch):
    asked = []
    monkeypatch.setattr(notify_sealer, "_not_before", memoryview(mmap.mmap(-1, 8)).cast("d"))
    monkeypatch.setattr(tasks.seal, "apply_async", lambda **options: asked.append(options))
    child = os.fork()
    if not child:
        notify_sealer.seal_soon()
        os._exit(len(asked))
    _, status = os.waitpid(child, 0)

    notify_sealer.seal_soon()

    assert (os.waitstatus_to_exitcode(status), asked) == (1, [])


@pytest.mark.django_db(transaction=True)
def test_an_unreachable_broker_is_tried_once_and_then_left_alone(monkeypatch):
    tries = []

    def broken(**options):
        tries.append(options)
        raise OSError("connection refused")

    monkeypatch.setattr(notify_sealer, "_not_before", [0.0])
    monkeypatch.setattr(tasks.seal, "apply_async", broken)

    for _ in range(20):
        make_event()

    assert len(tries) == 1
    assert Event.objects.count() == 20
