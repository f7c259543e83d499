"""What the file of an exported project would bring to this server."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models.functions import Lower

from apps.accounts.models import STAND_IN_DOMAIN, User
from apps.backups.core.rows import Lines
from apps.backups.formats.archive import Archive, NoBackup
from apps.backups.selectors.belonging import PEOPLE, PROJECTS
from apps.backups.selectors.tables import applied_migrations
from apps.common.errors import Refusal
from apps.judging.enums import RoundState

MEMBERSHIPS, ROUNDS, CHAINS = "accounts_membership", "judging_round", "audit_chain"


class Person(NamedTuple):
    """Somebody whom the project names. `key` is the one there, `roles` are those they have there.

    `account` is the key of the person here with the same address; None where there is none, or the file has none.
    """

    key: int
    name: str
    email: str
    roles: list[str]
    account: int | None


@dataclass(frozen=True)
class Arrival:
    """`open_rounds` are the names of rounds in which people could still grade, which keeps the project where it is."""

    name: str
    slug: str
    karat: str
    made_at: str
    rows: int
    files: int
    links: int
    people: list[Person]
    open_rounds: list[str]


def arrival_of(archive: Archive) -> Arrival:
    """What is in the file. Raises Refusal where it is not of one project, or of another version of Karat."""
    manifest = archive.manifest
    if sorted(manifest.migrations) != applied_migrations():
        raise Refusal(
            f"{archive.path} was written by Karat {manifest.karat}, whose tables are not those of this server. Upgrade "
            "both to one version, and export the project again.",
            code="other_schema",
        )
    projects = rows_of(archive, PROJECTS)
    if len(projects) != 1 or not archive.is_of_one_project():
        raise Refusal(
            f"{archive.path} is a backup of a whole server. On the server that made it, `karat project export SLUG "
            "FILE` writes one project.",
            code="no_project_file",
        )
    [project] = projects
    return Arrival(
        name=project["name"],
        slug=project["slug"],
        karat=manifest.karat,
        made_at=manifest.made_at,
        rows=manifest.rows,
        files=len(manifest.files),
        links=sum(chain["length"] for chain in rows_of(archive, CHAINS)),
        people=_people(archive),
        open_rounds=[row["name"] for row in rows_of(archive, ROUNDS) if row["state"] != RoundState.CLOSED],
    )


def rows_of(archive: Archive, table: str) -> list[dict[str, Any]]:
    """All rows of a small table, by the names of their columns, in the common form. Raises NoBackup for others."""
    if (stored := archive.manifest.tables.get(table)) is None:
        raise NoBackup(f"{archive.path} is damaged: it has no table {table}.", code="backup_damaged")
    lines, rows = Lines(stored.table), list(archive.rows(table))
    lines.of(rows)
    if lines.state != stored.state:
        raise NoBackup(
            f"{archive.path} is damaged: the rows of {table} are not what was written.", code="backup_damaged"
        )
    names = [column.name for column in stored.table.columns]
    return [dict(zip(names, row, strict=True)) for row in rows]


def _people(archive: Archive) -> list[Person]:
    roles = defaultdict(list)
    for row in rows_of(archive, MEMBERSHIPS):
        if row["ended_at"] is None:
            roles[row["user_id"]].append(row["role"])
    people = rows_of(archive, PEOPLE)
    accounts = _accounts([row["email"] for row in people])
    return [
        Person(row["id"], row["name"], row["email"], sorted(roles[row["id"]]), accounts.get(row["email"].lower()))
        for row in sorted(people, key=lambda row: (row["name"], row["id"]))
    ]


def _accounts(emails: list[str]) -> dict[str, int]:
    """The people here with these addresses, by address in small letters; a stand-in has none."""
    wanted = [email.lower() for email in emails if not email.endswith(STAND_IN_DOMAIN)]
    return dict(User.objects.annotate(small=Lower("email")).filter(small__in=wanted).values_list("small", "pk"))
