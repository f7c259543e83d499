"""What the database's password does not reach: the key that signs a head, and the notes of heads outside."""

import json
from contextlib import suppress

import pytest
from django.core.management import CommandError, call_command

from apps.audit.execution import signed_checkpoints
from apps.audit.execution.sealing import GENESIS, chain_digest, record_digest, seal_all
from apps.audit.execution.verification import verify_chain
from apps.audit.models import Chain, Event
from apps.audit.selectors.events import kind_named
from tests.audit.factories import make_event
from tests.audit.test_sealing import force
from tests.factories import make_project

pytestmark = pytest.mark.django_db
UNSIGNED = "its head is not signed with the audit key of this server"


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    settings.AUDIT_HEADS = tmp_path / "heads"
    return settings.AUDIT_HEADS


@pytest.fixture
def project(django_capture_on_commit_callbacks):
    """A project with three events, sealed and noted."""
    project = make_project()
    for _ in range(3):
        make_event(project)
    with django_capture_on_commit_callbacks(execute=True):
        seal_all()
    return project


def reason_of(project) -> str:
    broken = verify_chain(project).broken
    return broken.reason if broken else ""


def hash_anew(project) -> None:
    """Forge a record, and compute every digest of its chain again up to the head: all but the signature."""
    chain = Chain.objects.get(project=project)
    force("UPDATE audit_event SET action = 'forged' WHERE id = %s", [chain.links.first().record_id])
    digest = GENESIS
    for link in chain.links.order_by("position"):
        row = Event.objects.get(pk=link.record_id)
        record = record_digest(kind_named("event"), row, project.pk)
        digest = chain_digest(digest, link.position, record)
        values = [record, digest, link.pk]
        force("UPDATE audit_link SET record_digest = %s, chain_digest = %s WHERE id = %s", values)
    force("UPDATE audit_chain SET digest = %s WHERE id = %s", [digest, chain.pk])


def cut_tail(project) -> None:
    """Take the last record with its link away, and give the chain its former head with the signature of that day."""
    chain = Chain.objects.get(project=project)
    last = chain.links.get(position=chain.length)
    former = chain.links.get(position=chain.length - 1)
    chain.length, chain.digest = former.position, former.chain_digest
    signature = signed_checkpoints.signature_of(chain)
    force("DELETE FROM audit_link WHERE id = %s", [last.pk])
    force("DELETE FROM audit_event WHERE id = %s", [last.record_id])
    values = [former.position, former.chain_digest, signature, chain.pk]
    force("UPDATE audit_chain SET length = %s, digest = %s, signature = %s WHERE id = %s", values)


def test_a_sealed_chain_verifies_by_its_signature_and_its_note(project, folder):
    chain = Chain.objects.get(project=project)

    assert reason_of(project) == ""
    assert json.loads((folder / f"{chain.name}.json").read_text()) == {"length": chain.length, "digest": chain.digest}
    assert folder.stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir())


def test_a_rehashed_chain_is_detected_by_the_note_and_without_it(project, folder):
    hash_anew(project)

    assert "is not the one that was noted outside" in reason_of(project)
    for note in folder.iterdir():
        note.unlink()
    assert UNSIGNED in reason_of(project)


def test_a_tail_cut_with_its_records_is_detected(project):
    length = Chain.objects.get(project=project).length

    cut_tail(project)

    assert reason_of(project) == f"it has {length - 1:,} links and had {length:,}: its end was cut off"


def test_a_chain_that_was_deleted_whole_is_detected(project):
    chain = Chain.objects.get(project=project)
    force("DELETE FROM audit_link WHERE chain_id = %s", [chain.pk])
    force("DELETE FROM audit_chain WHERE id = %s", [chain.pk])

    assert reason_of(project) == f"the chain is missing, and had {chain.length:,} links"


@pytest.mark.parametrize("attack", [hash_anew, cut_tail])
def test_sealing_on_covers_nothing_up(project, folder, attack, django_capture_on_commit_callbacks, caplog):
    attack(project)
    noted = {path.name: path.read_text() for path in folder.iterdir()}
    for _ in range(3):
        make_event(project)

    with django_capture_on_commit_callbacks(execute=True):
        seal_all()

    assert reason_of(project) != ""
    assert {path.name: path.read_text() for path in folder.iterdir()} == noted
    assert "was changed outside of Karat" in caplog.text


def test_a_deleted_chain_that_is_sealed_again_from_the_start_is_not_signed(project, django_capture_on_commit_callbacks):
    chain = Chain.objects.get(project=project)
    force("DELETE FROM audit_link WHERE chain_id = %s", [chain.pk])
    force("DELETE FROM audit_chain WHERE id = %s", [chain.pk])
    force("UPDATE audit_event SET action = 'forged' WHERE project_id = %s", [project.pk])

    with django_capture_on_commit_callbacks(execute=True):
        seal_all(from_the_start=True)

    assert Chain.objects.get(project=project).signature == ""
    assert "is not the one that was noted outside" in reason_of(project)


def test_another_key_is_reported(project, settings):
    settings.AUDIT_KEY = "another key of more than thirty-two characters"

    assert UNSIGNED in reason_of(project)


def test_an_operator_signs_the_heads_after_a_restore(project, capsys, django_capture_on_commit_callbacks):
    cut_tail(project)

    with django_capture_on_commit_callbacks(execute=True), suppress(SystemExit):  # it looks before the test "commits"
        call_command("verify_audit", "--project", project.slug, "--sign")

    assert capsys.readouterr().err == f"{project.slug}: signed.\n"
    assert reason_of(project) == ""
    event = Event.objects.get(action="audit.signed")
    assert event.before["noted"]["length"] == event.after["length"] + 1
    assert "cut off" in event.before["fault"]


def test_a_chain_with_a_forged_record_is_not_signed(project, capsys):
    force("UPDATE audit_event SET action = 'forged' WHERE project_id = %s", [project.pk])

    with pytest.raises(SystemExit):
        call_command("verify_audit", "--project", project.slug, "--sign")

    assert capsys.readouterr().err == ""
    assert reason_of(project) == "the record has been changed"


def test_heads_in_a_note_are_compared(project, folder, tmp_path, capsys):
    call_command("verify_audit", "--format", "json")
    kept = tmp_path / "kept.json"
    kept.write_text(capsys.readouterr().out)
    make_event(project)
    seal_all()
    call_command("verify_audit", "--heads", kept)
    for note in folder.iterdir():
        note.unlink()

    cut_tail(project)
    call_command("verify_audit", "--heads", kept)  # what was cut was not in the file yet
    cut_tail(project)

    with pytest.raises(SystemExit):
        call_command("verify_audit", "--heads", kept)
    assert "it does not contain the stored head" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "[1]", "{}x", '[{"name": "site"}]'])
def test_a_file_without_heads_is_rejected(tmp_path, text):
    (tmp_path / "kept.json").write_text(text)

    with pytest.raises(CommandError, match="is not an output of"):
        call_command("verify_audit", "--heads", tmp_path / "kept.json")


def test_a_note_that_cannot_be_written_or_read_stops_nobody(folder, settings, tmp_path, caplog):
    (tmp_path / "file").write_text("x")
    settings.AUDIT_HEADS = tmp_path / "file"
    signed_checkpoints.note("site", signed_checkpoints.ChainHead(1, "x"))
    settings.AUDIT_HEADS = folder
    folder.mkdir()
    (folder / "site.json").write_text("no JSON")

    assert signed_checkpoints.noted_head("site") is None
    assert "could not be noted" in caplog.text
    assert "cannot be read" in caplog.text


def test_without_a_folder_nothing_is_noted(settings):
    settings.AUDIT_HEADS = None
    signed_checkpoints.note("site", signed_checkpoints.ChainHead(1, "x"))

    assert signed_checkpoints.noted_head("site") is None
