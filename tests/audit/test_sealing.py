import json
import threading
from datetime import timedelta, timezone

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from apps.audit.execution import sealing
from apps.audit.execution.sealing import GENESIS, chain_digest, has_unsealed, seal_all, seal_kind
from apps.audit.execution.verification import Break, count_unsealed, verify_chain
from apps.audit.models import Chain, Event, Link, SealMark
from apps.audit.selectors.events import event_payload, kind_named, kinds
from apps.common.database import triggers
from apps.common.digests import digest_of
from tests.audit.factories import make_event
from tests.factories import AT, make_project

pytestmark = pytest.mark.django_db


def force(statement: str, values: list) -> None:
    """What somebody with the database's own password can do: past the guards."""
    connection.check_constraints()  # nothing deferred may wait when the guards go
    kept = triggers.drop_all(connection)
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
    connection.check_constraints()
    triggers.restore_all(connection, kept)


def test_what_was_recorded_is_sealed_once(project):
    make_event(project)
    waiting = Event.objects.count()

    assert has_unsealed() is True
    assert seal_all() == waiting
    assert seal_all() == 0
    assert has_unsealed() is False
    assert Link.objects.count() == waiting


def test_a_link_digests_the_one_before_its_place_and_its_record():
    assert chain_digest(GENESIS, 12, "ab" * 32) == digest_of([GENESIS, 12, "ab" * 32])


def test_each_project_has_a_chain_of_its_own_and_the_rest_has_one(project):
    other = make_project()
    seal_all()

    chains = dict(Chain.objects.values_list("name", "length"))
    assert set(chains) == {"site", f"project-{project.pk}", f"project-{other.pk}"}
    assert chains[f"project-{project.pk}"] == Event.objects.filter(project=project).count()
    assert chains["site"] == Event.objects.filter(project=None).count()


def test_a_sealed_chain_verifies(project):
    for _ in range(3):
        make_event(project)
        seal_all()

    verdict = verify_chain(project)

    assert verdict.broken is None
    assert verdict.unsealed == 0
    assert verdict.links == Event.objects.filter(project=project).count()
    assert verify_chain(None).broken is None

    make_event(project)
    make_event(project)
    assert (verify_chain(project).unsealed, verify_chain(project).broken) == (2, None)
    assert count_unsealed(None) == 0


def test_batches_follow_each_other(project, monkeypatch):
    monkeypatch.setattr(sealing, "BATCH", 2)
    for _ in range(5):
        make_event(project)

    seal_all()

    assert verify_chain(project).broken is None
    assert verify_chain(project).unsealed == 0


def test_what_another_sealer_sealed_after_the_reading_is_not_sealed_again(project):
    for _ in range(3):
        make_event(project)
    kind = kind_named("event")
    lengths = dict(Chain.objects.values_list("name", "length"))
    read = sealing._read(kind, 0)
    seal_all()

    assert len(read) >= 3
    assert sealing._seal_batch(read, lengths) == 0
    assert verify_chain(project).broken is None


def test_statements_do_not_grow_with_records(project):
    def statements(count):
        for _ in range(count):
            make_event(project)
        with CaptureQueriesContext(connection) as queries:
            seal_all()
        return len(queries)

    statements(1)
    assert statements(3) == statements(60)


OF_EVENT = {"at": "2030-01-01", "after": '{"grade": 2}'}


@pytest.mark.parametrize("field", ["after", "actor_id", "project_id", "at", "action", "object_id", "request_id"])
def test_every_field_of_an_event_counts(project, field):
    make_event(project)
    event = make_event(project, after={"grade": 3})
    seal_all()
    force(f'UPDATE audit_event SET "{field}" = %s WHERE id = %s', [OF_EVENT.get(field, "4711"), event.pk])

    position = Link.objects.get(kind="event", record_id=event.pk).position
    assert verify_chain(project).broken == Break(position, "event", event.pk, "the record has been changed")


@pytest.mark.parametrize(
    ("removed", "reason"),
    [
        ("audit_event WHERE id = {event}", "the record is gone"),
        ("audit_link WHERE chain_id = {chain} AND position = 2", "link 2 is missing"),
        (
            "audit_link WHERE chain_id = {chain} AND position = {length}",
            "the head counts {length} links, the chain has {left}",
        ),
        ("audit_link WHERE chain_id = {chain}", "the head counts {length} links, the chain has 0"),
    ],
)
def test_what_is_removed_is_detected(project, removed, reason):
    event = make_event(project)
    make_event(project)
    seal_all()
    chain = Chain.objects.get(project=project)
    force("DELETE FROM " + removed.format(event=event.pk, chain=chain.pk, length=chain.length), [])

    assert verify_chain(project).broken.reason == reason.format(length=chain.length, left=chain.length - 1)


def test_a_link_forged_with_a_matching_record_digest_is_detected(project):
    first, second = make_event(project), make_event(project, after={"grade": 3})
    make_event(project)
    seal_all()
    force("UPDATE audit_event SET after = %s WHERE id = %s", ['{"grade": 2}', second.pk])
    forged = sealing.record_digest(kind_named("event"), Event.objects.get(pk=second.pk), project.pk)
    force("UPDATE audit_link SET record_digest = %s WHERE record_id = %s AND kind = 'event'", [forged, second.pk])

    broken = verify_chain(project).broken

    assert (broken.record_id, broken.reason) == (second.pk, "the link does not follow from the one before")
    assert first.pk < second.pk


def event_that_appears_late(project) -> Event:
    """A long transaction commits after others that took a higher key and are sealed."""
    first = make_event(project)
    Event.objects.bulk_create([Event(pk=first.pk + 10, project=project, action="note.made", at=AT)])
    seal_all()
    return Event.objects.create(pk=first.pk + 5, project=project, action="note.made", at=AT)


def test_a_record_that_appears_late_below_the_mark_is_sealed(project):
    late = event_that_appears_late(project)
    assert SealMark.objects.get(kind="event").record_id > late.pk

    seal_all()

    assert verify_chain(project).unsealed == 0


def test_a_record_older_than_the_look_back_is_found_from_the_start(project, monkeypatch):
    monkeypatch.setattr(sealing, "LOOK_BACK", 0)
    event_that_appears_late(project)

    assert seal_all() == 0
    assert seal_all(from_the_start=True) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE audit_sealmark SET record_id = record_id + 1000000", "stands on a sealed record"),
        ("UPDATE audit_sealmark SET record_id = record_id - 1", "only rises"),
        ("UPDATE audit_sealmark SET kind = 'other', record_id = 0", "only rises"),
        ("INSERT INTO audit_sealmark (kind, record_id) VALUES ('verdict', 1000000)", "stands on a sealed record"),
        ("DELETE FROM audit_sealmark", "never deleted"),
        ("UPDATE audit_chain SET length = length - 1", "only grows"),
        ("UPDATE audit_chain SET name = 'other'", "keeps its name"),
        ("DELETE FROM audit_chain", "never deleted"),
    ],
)
def test_the_database_protects_the_mark_and_the_head(project, change, said):
    make_event(project)
    seal_all()

    with pytest.raises(IntegrityError, match=said), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(change)


@pytest.mark.parametrize("table", ["audit_link", "audit_event"])
def test_the_database_protects_links_and_events(project, table):
    seal_all()

    for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET id = id + 1000"):
        with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


def test_a_record_is_sealed_at_one_place_only(project):
    make_event(project)
    seal_all()
    link = Link.objects.first()

    with pytest.raises(IntegrityError), transaction.atomic():
        Link.objects.create(
            chain=link.chain,
            position=10**6,
            kind=link.kind,
            record_id=link.record_id,
            record_digest="x",
            chain_digest="y",
        )


@pytest.mark.django_db(transaction=True)
def test_two_sealers_at_once_seal_everything_once():
    project = make_project()
    for _ in range(50):
        make_event(project)
    gate = threading.Barrier(4)
    problems = []

    def run():
        try:
            gate.wait(10)
            for kind in kinds():
                seal_kind(kind)
        except Exception as problem:
            problems.append(problem)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert problems == []
    assert verify_chain(project).broken is None
    assert verify_chain(project).unsealed == 0
    assert Link.objects.filter(kind="event").count() == Event.objects.count()


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_those_who_record_never_wait_for_the_sealer():
    project = make_project()
    seal_all()
    done = threading.Event()

    def write():
        make_event(project)
        done.set()
        connection.close()

    with transaction.atomic():
        Chain.objects.select_for_update().get(project=project)
        thread = threading.Thread(target=write)
        thread.start()
        assert done.wait(5), "the writer waited for the chain"
    thread.join(10)


def test_the_command_reports_that_chains_are_intact(project, capsys):
    make_event(project)
    seal_all()
    make_event(project)

    call_command("verify_audit", "--project", project.slug)

    count = Event.objects.filter(project=project).count() - 1
    assert capsys.readouterr().out.startswith(f"{project.slug}: {count} links intact, 1 not sealed yet, head ")


def test_the_command_fails_and_names_the_first_broken_link(project, capsys):
    event = make_event(project)
    seal_all()
    force("UPDATE audit_event SET action = 'other' WHERE id = %s", [event.pk])

    with pytest.raises(SystemExit) as end:
        call_command("verify_audit")

    position = Link.objects.get(kind="event", record_id=event.pk).position
    assert end.value.code == 1
    assert (
        f"{project.slug}: broken at link {position} (event {event.pk}): the record has been changed"
        in capsys.readouterr().out
    )


def test_the_command_answers_machines(project, capsys):
    seal_all()

    call_command("verify_audit", "--format", "json")

    answer = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in answer] == ["site", project.slug]
    assert all(entry["broken"] is None for entry in answer)


def test_the_digest_of_an_event_does_not_depend_on_the_zone_it_is_read_in():
    there = Event(at=AT.astimezone(timezone(timedelta(hours=5))))

    assert event_payload(there)["at"] == "2026-03-02T09:00:00.000000+00:00"
