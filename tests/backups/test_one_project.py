"""One project as one file, restored as a server of its own beside the one that it came from."""

import json
from hashlib import sha256
from pathlib import Path

import pytest
from django.core.management import call_command
from django.utils import timezone

from apps.accounts.models import User
from apps.audit.models import Event
from apps.backups.actions.projects import STAYS, export_project
from apps.backups.formats.archive import Archive
from apps.backups.selectors.project_rows import count_rows, project_tables
from apps.common.errors import Refusal
from apps.goldsets.actions.versions import make_signing_key
from apps.goldsets.models import Version
from tests.backups.running import address_of_tests, done, empty_target, environment, karat, rows_in
from tests.factories import lead_of
from tests.querylogs.factories import as_csv, make_log, searches, upload


@pytest.fixture(scope="module")
def file(world, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    written = export_project(project=world.project, target=folder, at=timezone.now())
    assert isinstance(written.path, Path)
    return written.path


def exported(folder: Path, version: Version, env: dict[str, str]) -> dict[str, str]:
    name = f"{version.gold_set.slug}/{version.label}"
    done("export", "--project", version.gold_set.project.slug, "--version", name, "--out", folder, env=env)
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest() for path in files}


def test_it_has_all_rows_of_the_project_and_none_of_another_and_is_on_record(world, file):
    with Archive(file) as archive:
        for each in project_tables():
            expected = 0 if each.table in STAYS else count_rows(world.project.pk, each.table)
            if each.table != "audit_event":  # the export itself is on record
                assert archive.manifest.tables[each.table].state.rows == expected, each.table
        assert archive.manifest.files
        event = Event.objects.get(project=world.project, action="project.exported")
        assert event.after == {"rows": archive.manifest.rows, "digest": archive.manifest.digest}
    with pytest.raises(Refusal, match="nothing is overwritten"):
        call_command("project", "export", world.project.slug, str(file))


def test_people_come_without_passwords_and_nobody_as_operator(world, file):
    with Archive(file) as archive:
        people = rows_in(archive, "accounts_user")
    emails = {person["email"] for person in people}
    assert world.people["lead"].email in emails
    assert world.people["stranger"].email not in emails
    assert {(person["password"], person["is_operator"]) for person in people} == {("!", False)}
    assert User.objects.filter(is_operator=True).exists()


def test_it_has_what_was_drawn_from_search_logs_and_no_log_that_waits(world, tmp_path):
    project = world.other
    log = make_log(project)
    waiting = upload(project, as_csv(searches(100)))

    written = export_project(project=project, target=tmp_path, at=timezone.now()).path

    with Archive(written) as archive:
        assert waiting.upload.path not in archive.manifest.files
        dates = {row["first_week"] for row in rows_in(archive, "querylogs_offeredquery") if row["log_id"] == log.pk}
    assert dates == {"2026-08-03"}


@pytest.mark.slow
def test_restored_it_says_how_to_begin_and_exports_every_version_byte_for_byte(world, file, tmp_path):
    with empty_target(tmp_path) as address:
        there = environment(tmp_path / "data", address)
        told = done("restore", file, env=there)
        assert "whose history another server has signed: accept it with `karat verify-audit --sign`" in told
        assert "secret-key" not in told
        here = environment(tmp_path / "here", address_of_tests())
        versions = Version.objects.filter(gold_set__project=world.project, state="released")
        assert versions
        for n, version in enumerate(versions):
            assert exported(tmp_path / f"a{n}", version, here) == exported(tmp_path / f"b{n}", version, there)
        chains = json.loads(done("verify-audit", "--format", "json", env=there))
        own = next(chain for chain in chains if chain["name"] == world.project.slug)
        assert (own["broken"], own["faults"], own["links"] > 0) == (None, [], True)


@pytest.mark.slow
def test_who_has_the_file_cannot_sign_in_the_name_of_the_project(world, tmp_path):
    project = world.other
    key = make_signing_key(project=project, actor=lead_of(project), at=timezone.now())
    file = export_project(project=project, target=tmp_path, at=timezone.now()).path

    with Archive(file) as archive:
        [row] = rows_in(archive, "goldsets_signingkey")
    assert (row["public_key"], row["sealed"]) == (key.public_key, "")
    with empty_target(tmp_path) as address:
        there = environment(tmp_path / "data", address)
        done("restore", file, env=there)
        version = Version.objects.filter(gold_set__project=project, state="released").first()
        name = f"{version.gold_set.slug}/{version.label}"
        refused = karat("export", "--project", project.slug, "--version", name, "--out", tmp_path / "out", env=there)
    assert refused.returncode != 0
    assert "A lead can make a new one" in refused.stderr
