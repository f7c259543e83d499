"""A project that another server has exported, taken in beside others: under other keys it is the same project."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from io import StringIO
from pathlib import Path
from time import monotonic
from typing import NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from apps.accounts.actions.people import create_user
from apps.accounts.models import Project, User
from apps.accounts.selectors import roles_of
from apps.audit.actions import sign_heads
from apps.audit.execution.sealing import seal_all
from apps.audit.execution.verification import former_chains, verify_chain, verify_former_chains
from apps.audit.models import Chain, Event
from apps.audit.selectors.sealed_kinds import kinds
from apps.backups.actions.arrivals import import_project
from apps.backups.actions.projects import delete_project, export_project
from apps.backups.enums import PeopleAs
from apps.backups.execution.arriving import LEFT_OUT
from apps.backups.execution.making import make_backup
from apps.backups.formats.archive import Archive, NoBackup
from apps.backups.management.commands.project import preview
from apps.backups.selectors.arrivals import arrival_of, rows_of
from apps.backups.selectors.belonging import belonging, count_rows
from apps.common.errors import Refusal
from apps.corpus.models import Block
from apps.corpus.selectors.search import search_latest
from apps.goldsets.models import Version
from apps.jobs.models import Job, Upload
from apps.judging.actions.placeholders import claim_placeholder
from apps.judging.actions.rounds import close_round
from apps.judging.models import Judgement, Round
from apps.judging.selectors.placeholders import placeholders_in, selves_of
from tests import database
from tests.audit.test_sealing import force
from tests.backups.running import done, empty_target, environment, karat
from tests.backups.test_keys import AS_WRITTEN, build_numbered_world, look_for_keys
from tests.backups.test_kills import killed
from tests.factories import lead_of
from tests.running_jobs import run_jobs
from tests.world import World

pytestmark = [pytest.mark.slow]


class Arrived(NamedTuple):
    """A project, the file that it was written to, and what was made of it on the same server."""

    before: Project
    file: Path
    project: Project
    lead: User


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker, database_cache) -> Iterator[World]:
    """Each table numbers its rows from a place of its own, so that a key is known wherever it stands."""
    with (
        django_db_blocker.unblock(),
        database.world("numbered-apart", build_numbered_world, database_cache) as world,
    ):
        for round_ in Round.objects.filter(project=world.project).exclude(state="closed"):
            close_round(round_id=round_.pk, actor=lead_of(world.project), at=timezone.now())
        seal_all()
        yield world


@pytest.fixture(scope="module")
def arrived(world, tmp_path_factory) -> Arrived:
    file = exported(world.project, tmp_path_factory.mktemp("exported"))
    lead = create_user(email="new.lead@elsewhere.example", name="New Lead", password=None, at=timezone.now())
    return Arrived(world.project, file, taken_in(file, lead), lead)


def exported(project: Project, folder: Path) -> Path:
    path = export_project(project=project, target=folder, at=timezone.now()).path
    assert isinstance(path, Path)
    return path


def taken_in(file: Path | str, lead: User, *, people: PeopleAs = PeopleAs.NAMES, slug: str = "") -> Project:
    with Archive(file) as archive:
        return import_project(archive=archive, lead=lead, people=people, slug=slug, at=timezone.now())


@contextmanager
def undone() -> Iterator[None]:
    """What is done within the block is taken back."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def files_of(version: Version, folder: Path) -> dict[str, str]:
    name = f"{version.gold_set.slug}/{version.label}"
    call_command("export", project=version.gold_set.project.slug, version=name, out=folder, verbosity=0)
    return digests(folder)


def digests(folder: Path) -> dict[str, str]:
    """Of the files in a folder; a signature is of a key that stays where it is."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".sig"]
    return {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest() for path in files}


def content() -> Counter:
    """How many rows each table has, and how many files there are."""
    counts: Counter = Counter(files=sum(1 for path in Path(Upload(path="").place).rglob("*") if path.is_file()))
    with connection.cursor() as cursor:
        for name in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT COUNT(*) FROM "{name}"')
            counts[name] = cursor.fetchone()[0]
    return counts


def test_every_released_version_is_exported_byte_for_byte_alike(arrived, tmp_path):
    versions = Version.objects.filter(gold_set__project=arrived.before, state="released").order_by("pk")
    here = Version.objects.filter(gold_set__project=arrived.project, state="released").order_by("pk")

    assert versions
    for n, (there, version) in enumerate(zip(versions, here, strict=True)):
        files = files_of(version, tmp_path / f"here{n}")
        assert files == files_of(there, tmp_path / f"there{n}")
        assert len(files) > 5


def test_every_row_came_along_but_those_that_belong_to_the_server(arrived):
    with Archive(arrived.file) as archive:
        for each in belonging():
            expected = 0 if each.table in LEFT_OUT else archive.manifest.tables[each.table].state.rows
            if each.table not in ("audit_event", "accounts_membership"):  # to which something is added here
                assert count_rows(arrived.project.pk, each.table) == expected, each.table


def test_every_key_in_it_is_that_of_a_row_of_its_own(arrived):
    ways = {arrived.before.pk: Counter(), arrived.project.pk: Counter()}
    for found in look_for_keys():
        if found.column in AS_WRITTEN:
            continue
        assert found.project in (None, found.owner), found
        if found.owner in ways and not {found.table, found.column.partition(".")[0]} & LEFT_OUT:
            ways[found.owner][found.column, found.way, found.table] += 1

    assert ways[arrived.project.pk] == ways[arrived.before.pk]
    assert len(ways[arrived.project.pk]) > 20


def test_history_from_there_is_verified_and_goes_on_here(arrived):
    seal_all()
    [former], own = verify_former_chains(arrived.project), verify_chain(arrived.project)
    before = Chain.objects.get(project=arrived.before, moves__isnull=True)

    assert former.holds
    assert own.holds
    assert (former.links, own.links > 0) == (count_links(arrived.file), True)
    assert before.links.filter(position=former.links, chain_digest=former.digest).exists()
    assert Event.objects.filter(project=arrived.project, action="project.imported").count() == 1


def count_links(file: Path) -> int:
    with Archive(file) as archive:
        return archive.manifest.tables["audit_link"].state.rows


@pytest.mark.parametrize(
    ("table", "forge"),
    [("audit_event", "action = 'forged'"), ("judging_judgement", "note = 'forged'"), ("review_verdict", "note = 'x'")],
)
def test_a_record_from_there_that_is_changed_here_is_found(arrived, table, forge):
    with undone():
        [kind] = [kind.name for kind in kinds() if kind.model._meta.db_table == table]
        link = former_chains(arrived.project).get().links.filter(kind=kind).first()
        force(f"UPDATE {table} SET {forge} WHERE id = %s", [link.record_id])

        [former] = verify_former_chains(arrived.project)

        assert (former.broken.record_id, former.broken.reason) == (link.record_id, "the record has been changed")


def test_who_is_who_in_the_history_from_there_cannot_be_changed(arrived):
    with undone():
        chain = former_chains(arrived.project).get()
        people = chain.moves[0]["people"]
        one, other = sorted(people)[:2]
        people[one], people[other] = people[other], people[one]
        chain.save(update_fields=["moves"])

        assert verify_former_chains(arrived.project)[0].broken is not None


def test_history_from_there_is_signed_again_with_another_key(arrived, settings):
    settings.AUDIT_KEY = "another key of more than thirty-two characters"
    with undone():
        assert verify_former_chains(arrived.project)[0].broken is not None

        sign_heads(projects=[arrived.project], at=timezone.now())

        assert verify_former_chains(arrived.project)[0].holds


def test_it_is_deleted_as_any_other_with_both_histories(arrived):
    project = taken_in(arrived.file, arrived.lead, slug="to-be-deleted")
    seal_all()

    delete_project(project=project, typed=project.name, actor=None, at=timezone.now())
    run_jobs()

    assert not Project.objects.filter(pk=project.pk).exists()
    assert not Chain.objects.filter(project_id=project.pk).exists()
    assert verify_former_chains(arrived.project)[0].holds


def test_people_are_names_without_an_account_and_the_lead_is_who_was_named(arrived):
    roles = {user: roles_of(user, arrived.project) for user in User.objects.all()}

    assert {user: held for user, held in roles.items() if held} == {arrived.lead: {"lead"}}
    graders = graders_of(arrived.project)
    assert graders
    assert all(user.is_stand_in and not user.is_active for user in graders)
    assert [user.name for user in graders] == [user.name for user in graders_of(arrived.before)]


def test_a_lead_says_which_member_the_judge_behind_a_name_is(arrived):
    names = [(each.user.name, each.grades) for each in placeholders_in(arrived.project)]
    assert [name for name, _ in names] == [user.name for user in graders_of(arrived.project)]

    with undone():
        first = placeholders_in(arrived.project)[0].user
        claim = claim_placeholder(
            project=arrived.project, placeholder=first, member_id=arrived.lead.pk, actor=arrived.lead, at=timezone.now()
        )
        assert claim.member == arrived.lead
        assert first in selves_of(arrived.lead)


def graders_of(project: Project) -> list[User]:
    graders = Judgement.objects.filter(round__project=project).values("annotator")
    return list(User.objects.filter(pk__in=graders).order_by("name", "pk"))


def test_guards_watch_over_its_rows_as_over_others(arrived):
    judgement = Judgement.objects.filter(round__project=arrived.project).first()
    with pytest.raises(DatabaseError, match="judgement"), transaction.atomic():
        Judgement.objects.filter(pk=judgement.pk).update(note="changed")


def test_its_files_are_beside_those_of_others(arrived):
    uploads = Upload.objects.filter(project=arrived.project, state="stored")

    assert uploads
    assert all(sha256(upload.place.read_bytes()).hexdigest() == upload.sha256 for upload in uploads)


def test_nothing_is_left_to_be_done_by_its_jobs(arrived):
    assert not Job.objects.open().filter(project=arrived.project).exists()


def test_its_texts_are_found(arrived):
    words = Block.objects.filter(corpus__project=arrived.before, current__isnull=False).first().current.text
    before, here = (
        [(entry.block.outside_id, entry.version.text_digest) for entry in search_latest(project, words, limit=5)]
        for project in (arrived.before, arrived.project)
    )

    assert here == before
    assert len(here) > 1


def test_it_goes_on_to_a_third_server_with_the_history_of_both(arrived, tmp_path):
    seal_all()
    third = taken_in(exported(arrived.project, tmp_path), arrived.lead, people=PeopleAs.PSEUDONYMS)

    chains = verify_former_chains(third)
    assert [chain.holds for chain in chains] == [True, True]
    assert [len(chain.moves) for chain in former_chains(third)] == [2, 1]
    assert {user.name.rpartition(" ")[0] for user in graders_of(third)} == {"Person"}


def test_people_who_are_matched_by_address_are_refused_their_own_grades_again(arrived):
    before = content()

    with pytest.raises(Refusal, match="as when a copy comes back"):
        taken_in(arrived.file, arrived.lead, people=PeopleAs.MEMBERS)

    assert content() == before


def test_a_project_with_an_open_round_stays_where_it_is(world, arrived, tmp_path):
    file = exported(world.other, tmp_path)
    before = content()

    with pytest.raises(Refusal, match=r"Rounds are open in Theirs: .*Hard queries"):
        taken_in(file, arrived.lead)

    assert content() == before


def test_an_address_that_is_taken_is_refused(arrived):
    with pytest.raises(Refusal, match=f"There is a project at {arrived.before.slug} already"):
        taken_in(arrived.file, arrived.lead, slug=arrived.before.slug)


@pytest.mark.parametrize("table", ["accounts_user", "judging_judgement"])
def test_rows_that_are_not_those_of_the_manifest_are_refused_and_nothing_is_kept(arrived, tmp_path, table):
    before = content()
    changed = without_last_row(arrived.file, tmp_path / "changed.zip", f"rows/{table}.jsonl")

    with pytest.raises(NoBackup, match=f"rows of {table} are not what was written"):
        taken_in(changed, arrived.lead)

    assert content() == before


def test_a_backup_of_a_whole_server_is_not_a_project(arrived, tmp_path):
    backup = make_backup(tmp_path, at=timezone.now()).path

    with pytest.raises(Refusal, match="is a backup of a whole server"):
        taken_in(backup, arrived.lead)


def test_nor_is_one_of_a_server_with_a_single_project(tmp_path):
    with empty_target(tmp_path) as address:
        env = environment(tmp_path / "single", address)
        done("migrate", env=env)
        done("user", "add", "ops@elsewhere.example", "--name", "Ops", "--operator", env=env)
        done("demo", env=env)
        done("backup", tmp_path / "single.zip", env=env)
        refused = karat("project", "import", tmp_path / "single.zip", "--lead", "ops@elsewhere.example", env=env)

    assert refused.returncode == 2
    assert "is a backup of a whole server" in refused.stderr


def without_last_row(file: Path, copy: Path, member: str) -> Path:
    with ZipFile(file) as source, ZipFile(copy, "w", ZIP_DEFLATED) as target:
        for name in source.namelist():
            content = source.read(name)
            target.writestr(name, content[: content.rstrip().rindex(b"\n") + 1] if name == member else content)
    return copy


@pytest.fixture
def elsewhere(world, tmp_path) -> Iterator[dict[str, str]]:
    """Another server, on which the lead and the viewer of the project have accounts, and somebody else who leads it."""
    with empty_target(tmp_path) as address:
        env = environment(tmp_path / "elsewhere", address)
        done("migrate", env=env)
        for person in ("lead", "viewer"):
            done("user", "add", world.people[person].email, "--name", "Same", env=env)
        done("user", "add", "new.lead@elsewhere.example", "--name", "New", env=env)
        yield env


def asked(file: Path, *more: str) -> list[object]:
    return ["project", "import", file, "--lead", "new.lead@elsewhere.example", *more]


def chains_of(env: dict[str, str]) -> list[dict]:
    """Of all projects, but not that of the server."""
    return json.loads(done("verify-audit", "--format", "json", env=env))[1:]


def test_another_server_shows_who_would_be_who_and_takes_it_in_when_that_is_confirmed(
    world, arrived, elsewhere, tmp_path
):
    lead, viewer, slug = world.people["lead"], world.people["viewer"], arrived.before.slug
    shown = done(*asked(arrived.file, "--people", "by-address"), env=elsewhere)
    assert f"{lead.name} <{lead.email}> (lead): the person here with this address" in shown
    assert "Nothing was imported" in shown
    assert chains_of(elsewhere) == []

    done(*asked(arrived.file, "--people", "by-address", "--confirm"), env=elsewhere)

    assert [(chain["name"], chain["broken"], chain["faults"]) for chain in chains_of(elsewhere)] == [
        (slug, None, []),
        (f"{slug}, former 1", None, []),
    ]
    version = Version.objects.filter(gold_set__project=arrived.before, state="released").first()
    name = f"{version.gold_set.slug}/{version.label}"
    done("export", "--project", slug, "--version", name, "--out", tmp_path / "there", env=elsewhere)
    assert digests(tmp_path / "there") == files_of(version, tmp_path / "here")
    assert live_roles(elsewhere, tmp_path / "there.zip") == {
        (lead.email, "lead"),
        (viewer.email, "viewer"),
        ("new.lead@elsewhere.example", "lead"),
    }


def test_the_people_are_shown_under_the_names_that_they_would_have(arrived):
    with Archive(arrived.file) as archive:
        arrival = arrival_of(archive)

    shown = list(preview(arrival, PeopleAs.PSEUDONYMS))[1:]

    assert [line.rpartition(": ")[2] for line in shown] == [
        f"Person {number}, without an account" for number in range(1, len(arrival.people) + 1)
    ]


def test_a_file_with_an_open_round_is_not_offered_for_confirmation(world, arrived, tmp_path):
    said = StringIO()

    call_command("project", "import", str(exported(world.other, tmp_path)), lead=arrived.lead.email, stdout=said)

    assert "The round Hard queries is open there" in said.getvalue()
    assert "run this again with one in which no round is open" in said.getvalue()
    assert "--confirm" not in said.getvalue()


def live_roles(env: dict[str, str], scratch: Path) -> set[tuple[str, str]]:
    done("backup", scratch, env=env)
    with Archive(scratch) as archive:
        emails = {row["id"]: row["email"] for row in rows_of(archive, "accounts_user")}
        memberships = rows_of(archive, "accounts_membership")
    return {(emails[row["user_id"]], row["role"]) for row in memberships if row["ended_at"] is None}


@pytest.mark.long
def test_an_import_that_is_killed_leaves_nothing_and_is_run_again(arrived, elsewhere):
    began = monotonic()
    done(*asked(arrived.file, "--confirm", "--slug", "first"), env=elsewhere)
    lasting, kills = monotonic() - began, 0
    for n in range(4):
        before, again = chains_of(elsewhere), asked(arrived.file, "--confirm", "--slug", f"again-{n}")
        if killed(lasting * (n + 1) / 5, *again, env=elsewhere) and chains_of(elsewhere) == before:
            kills += 1
            done(*again, env=elsewhere)
        assert [chain["name"] for chain in chains_of(elsewhere)[len(before) :]] == [
            f"again-{n}",
            f"again-{n}, former 1",
        ]

    assert kills >= 2
