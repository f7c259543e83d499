"""Files that somebody has forged: of a whole server and of one project, on the kind of database that the run tests."""

import hashlib
import json
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from django.utils import timezone

from apps.backups.actions.projects import export_project
from apps.backups.core.rows import Column, Kind, Table
from apps.backups.core.secrets import seal_keys
from apps.backups.execution import loading
from apps.backups.execution.making import make_backup
from apps.backups.formats.archive import Archive, NoBackup, StoredTable
from apps.common.digests import canonical_json
from apps.common.errors import Refusal
from apps.common.files import store
from tests.backups.running import command, done, empty_postgresql, empty_target, environment, karat
from tests.conftest import REPO
from tests.factories import make_project

pytestmark = pytest.mark.django_db(transaction=True)

SQL = "id\") FROM PROGRAM 'touch forged'; --"
KINDS = ("whole server", "one project")


@pytest.fixture(params=KINDS)
def file(request, tmp_path) -> Path:
    project = make_project()
    at, path = timezone.now(), tmp_path / "real.zip"
    if request.param == "one project":
        export_project(project=project, target=path, at=at)
    else:
        make_backup(path, at=at)
    return path


def forged(file: Path, change, **members: bytes) -> Path:
    """The same file with another manifest, whose digest is right."""
    with zipfile.ZipFile(file) as old:
        contents = {name: old.read(name) for name in old.namelist()} | members
    manifest = json.loads(contents.pop("manifest.json"))
    change(manifest)
    tables = {name: table["state"] for name, table in manifest["tables"].items()}
    files = {path: [each["size"], each["sha256"]] for path, each in manifest["files"].items()}
    manifest["digest"] = hashlib.sha256(canonical_json([tables, files])).hexdigest()
    with zipfile.ZipFile(file.with_name("forged.zip"), "w", zipfile.ZIP_DEFLATED) as new:
        for name, content in [*contents.items(), ("manifest.json", json.dumps(manifest).encode())]:
            new.writestr(name, content)
    return file.with_name("forged.zip")


def other_tables(table: Table) -> list[Table]:
    """The table with each of its names, and each kind, forged once, with a column more, and with one less."""
    columns = table.columns
    changed = [table._replace(name=SQL), table._replace(key=SQL), table._replace(key=columns[-1].name + "x")]
    for n, column in enumerate(columns):
        kind = Kind.TEXT if column.kind != Kind.TEXT else Kind.INTEGER
        for other in (Column(SQL, column.kind), Column(column.name, kind)):
            changed.append(table._replace(columns=(*columns[:n], other, *columns[n + 1 :])))
    changed += [table._replace(columns=columns[:-1]), table._replace(columns=(*columns, Column(SQL, Kind.TEXT)))]
    return changed


def test_no_table_is_taken_with_another_name_or_column_than_it_has_here(file, monkeypatch):
    tables = loading.tables_after
    known = cache(lambda migrations: tables([*migrations]))
    monkeypatch.setattr(loading, "tables_after", lambda migrations: known(tuple(migrations)))
    tried = 0
    with Archive(file) as archive:
        assert loading.tables_of(archive)
        there = archive.manifest.tables
        for name, stored in dict(there).items():
            for other in other_tables(stored.table):
                there[name] = StoredTable(other, stored.state, stored.next_key)
                with pytest.raises(NoBackup, match="damaged or forged: its table"):
                    loading.tables_of(archive)
                tried += 1
            del there[name]
            with pytest.raises(NoBackup, match=f"its table {name}"):
                loading.tables_of(archive)
            there[name] = stored
        there["forged"] = StoredTable(Table(SQL, "id", ()), stored.state, 1)
        with pytest.raises(NoBackup, match="its table forged"):
            loading.tables_of(archive)

    assert tried > 2_000


def test_names_of_migrations_are_those_that_this_version_knows(file):
    for change in (
        lambda manifest: manifest["migrations"].append(["judging", "9999_later"]),
        lambda manifest: manifest["migrations"].append([SQL, SQL]),
        lambda manifest: manifest["migrations"].clear(),
        lambda manifest: [manifest["migrations"].remove(each) for each in [*manifest["migrations"]][5:]],
    ):
        with pytest.raises(Refusal), Archive(forged(file, change)) as archive:
            loading.tables_of(archive)


def column_is_sql(manifest) -> None:
    manifest["tables"]["accounts_project"]["table"][2][0][0] = SQL


def test_the_restore_of_a_forged_file_writes_nothing_and_runs_no_sql(file, tmp_path):
    with empty_target(tmp_path) as address:
        env = environment(tmp_path / "data", address)

        refused = karat("restore", forged(file, column_is_sql), env=env)

        assert refused.returncode == 2
        assert "its table accounts_project is not that of Karat" in refused.stderr
        assert "Traceback" not in refused.stderr
        assert is_empty(tmp_path / "data", address)


def is_empty(folder: Path, address: str) -> bool:
    left = [path.name for path in folder.rglob("*") if path.is_file() and path.name != "up.lock"]
    if not address:
        return not left
    with psycopg.connect(address) as there:
        tables = there.execute("SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
    return not left and tables == (0,)


def rows_of(table: str, number: int):
    def change(manifest) -> None:
        manifest["tables"][table]["state"][0] = number

    return change


def endless_file(manifest) -> None:
    manifest["files"]["uploads/2026-03/ab"] = {"size": 10**15, "sha256": "0" * 64}


def nothing(manifest) -> None:
    pass


@pytest.mark.slow
@pytest.mark.parametrize("file", KINDS[:1], indirect=True)
def test_each_forgery_that_a_restore_finds_is_refused_in_words_and_leaves_nothing(file, tmp_path):
    with zipfile.ZipFile(file) as real:
        people, projects = real.read("rows/accounts_user.jsonl"), real.read("rows/accounts_project.jsonl")
    forgeries = [
        (rows_of("accounts_user", 0), {}, "is damaged: the table accounts_user"),
        (rows_of("accounts_user", 10**18), {}, "rows that are not the 1,000,000,000,000,000,000"),
        (endless_file, {}, "unpacks to 1,000,000,000 MB"),
        (nothing, {"rows/accounts_project.jsonl": projects * 2}, "is damaged: the table accounts_project"),
        (nothing, {"rows/accounts_user.jsonl": b"[" * 10**6 + b"\n"}, "is damaged: rows/accounts_user.jsonl"),
        (nothing, {"rows/accounts_user.jsonl": people.replace(b"example", b"ex\\u0000le")}, ""),
        (nothing, {"rows/accounts_user.jsonl": people.replace(b"example", b"\\ud800")}, ""),
    ]
    for n, (change, members, sentence) in enumerate(forgeries):
        with empty_target(tmp_path) as address:
            folder = tmp_path / f"data-{n}"

            refused = karat("restore", forged(file, change, **members), env=environment(folder, address))

            assert (refused.returncode, "Traceback" in refused.stderr) == (2, False), refused.stderr
            assert sentence in refused.stderr
            assert is_empty(folder, address)


@pytest.mark.slow
@pytest.mark.parametrize("file", KINDS[:1], indirect=True)
def test_a_key_that_is_too_low_is_raised_above_those_that_are_there(file, tmp_path):
    def lowered(manifest) -> None:
        for table in manifest["tables"].values():
            table["next_key"] = 1

    with empty_target(tmp_path) as address:
        env = environment(tmp_path / "data", address)
        done("restore", forged(file, lowered), env=env)

        assert "new@example.org" in done("user", "add", "new@example.org", "--name", "New", env=env)


@pytest.mark.parametrize("file", KINDS[:1], indirect=True)
def test_the_keys_of_a_forged_file_are_written_nowhere_else(file, tmp_path):
    sealed = seal_keys({"../secret-key": "forged"}, "a passphrase of twelve")

    path = forged(file, lambda manifest: manifest.update(has_secrets=True), secrets=sealed)
    env = environment(tmp_path / "data" / "deep", KARAT_BACKUP_PASSPHRASE="a passphrase of twelve")
    refused = karat("restore", path, env=env)

    assert (refused.returncode, "the keys of the server" in refused.stderr) == (2, True), refused.stderr
    assert not [*tmp_path.rglob("secret-key")]


def test_a_path_in_a_forged_row_leads_to_no_file_of_the_server():
    for name in ("../secret-key", "/etc/passwd", "uploads/../../secret-key"):
        with pytest.raises(store.FileGone, match="is not one that Karat has written"):
            store.path_of(name)


@pytest.mark.postgres
@pytest.mark.parametrize("file", KINDS[:1], indirect=True)
def test_an_account_that_is_no_superuser_restores_and_writes(file, tmp_path):
    name = f"karat_plain_{uuid4().hex[:12]}"
    with empty_postgresql() as address, psycopg.connect(address, autocommit=True) as server:
        database = address.rpartition("/")[2]
        server.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'plain'")
        server.execute(f"ALTER DATABASE {database} OWNER TO {name}")
        try:
            host = address.partition("@")[2]
            env = environment(tmp_path / "data", f"postgres://{name}:plain@{host}")
            done("restore", file, env=env)

            assert "new@example.org" in done("user", "add", "new@example.org", "--name", "New", env=env)
        finally:
            server.execute(f"ALTER DATABASE {database} OWNER TO CURRENT_USER")
            server.execute(f"REASSIGN OWNED BY {name} TO CURRENT_USER")
            server.execute(f"DROP OWNED BY {name}")
            server.execute(f"DROP ROLE {name}")


BOMB = 3_000_000_000
ENOUGH_MB = 500
MEASURED = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""
"""Runs a command and prints the most memory that it took. A process begins with the memory of the one that starts it,
which is that of all tests so far where they start it themselves."""


@pytest.mark.slow
@pytest.mark.parametrize("file", KINDS[:1], indirect=True)
@pytest.mark.parametrize("member", ["manifest.json", "rows/accounts_project.jsonl", "secrets", "audit-heads/site.json"])
def test_what_unpacks_to_three_gigabytes_is_refused_in_flat_memory(file, tmp_path, member):
    path, keyed = tmp_path / "bomb.zip", forged(file, lambda manifest: manifest.update(has_secrets=True))
    with zipfile.ZipFile(keyed) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
        for name in old.namelist():
            if name != member:
                new.writestr(name, old.read(name))
        with new.open(member, "w", force_zip64=True) as stream:
            for _ in range(BOMB // 10_000_000):
                stream.write(b" " * 10_000_000)
    assert path.stat().st_size < 30_000_000
    env = environment(tmp_path / "data", KARAT_BACKUP_PASSPHRASE="a passphrase of twelve")
    arguments = command("restore", path, "--data-dir", tmp_path / "data")

    ended = subprocess.run(
        [sys.executable, "-c", MEASURED, *arguments], cwd=REPO, env=env, capture_output=True, text=True, check=False
    )
    kilobytes = int(ended.stdout.split()[-1])

    assert (ended.returncode, "Traceback" in ended.stderr) == (2, False), ended.stderr
    assert kilobytes < ENOUGH_MB * 1024
