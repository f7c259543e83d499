"""What changes in the rows of a project that comes from another server, besides the keys in them."""

import hashlib
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from apps.audit.core.numbering import Numbering
from apps.audit.execution.former_keys import table_of
from apps.audit.execution.sealing import former_chain_name
from apps.audit.selectors.sealed_kinds import kind_named
from apps.backups.selectors.belonging import PROJECTS
from apps.jobs.actions.uploads import FOLDER
from apps.jobs.enums import ENDED, JobState

Fields = dict[str, Any]


class Newcomer(NamedTuple):
    """What is decided about a project that comes.

    `digest` is that of the file, and `members` are the people, by their keys there, who have an account here and keep
    their roles.
    """

    slug: str
    digest: str
    members: Collection[int]
    at: datetime

    def path_of(self, path: str) -> str:
        """Where a file of the project is here. An attempt that was killed had the same path, so it leaves nothing."""
        name = hashlib.sha256(f"{self.digest}\0{self.slug}\0{path}".encode()).hexdigest()[:32]
        return f"{FOLDER}/{self.at:%Y-%m}/{name}"


def _project(there: Fields, numbering: Numbering, newcomer: Newcomer) -> Fields:
    return {"slug": newcomer.slug}


def _membership(there: Fields, numbering: Numbering, newcomer: Newcomer) -> Fields:
    """A role is for somebody who can sign in: that of a stand-in ends."""
    if there["ended_at"] is not None or there["user_id"] in newcomer.members:
        return {}
    return {"ended_at": _stored_time(newcomer.at)}


def _job(there: Fields, numbering: Numbering, newcomer: Newcomer) -> Fields:
    """The server that it comes from does what was to be done."""
    if there["state"] in ENDED:
        return {}
    ended = {"state": JobState.CANCELLED.value, "finished_at": _stored_time(newcomer.at)}
    return {**ended, "lease_expires_at": None, "next_at": None}


def _upload(there: Fields, numbering: Numbering, newcomer: Newcomer) -> Fields:
    return {"path": newcomer.path_of(there["path"])}


def _event(there: Fields, numbering: Numbering, newcomer: Newcomer) -> Fields:
    return {"object_id": numbering.name_here(table_of(there["object_type"]), there["object_id"])}


def _link(there: Fields, numbering: Numbering, newcomer: Newcomer) -> Fields:
    if (kind := kind_named(there["kind"])) is None:
        raise KeyError(there["kind"])
    return {"record_id": numbering.here(kind.model._meta.db_table, there["record_id"])}


def _chain(there: Fields, numbering: Numbering, newcomer: Newcomer) -> Fields:
    """Signed by the key of this server when it has been verified, not by the one there."""
    [earlier] = there["moves"] or [None]
    name = former_chain_name(numbering.here(PROJECTS, there["project_id"]), there["id"])
    return {"name": name, "signature": "", "moves": [[numbering.stored(), *(earlier or [])]]}


CHANGED: Mapping[str, Callable[[Fields, Numbering, Newcomer], Fields]] = {
    PROJECTS: _project,
    "accounts_membership": _membership,
    "audit_chain": _chain,
    "audit_event": _event,
    "audit_link": _link,
    "jobs_job": _job,
    "jobs_upload": _upload,
}
"""What changes in a row besides its keys, from the row as it is there, by its table."""


def _stored_time(at: datetime) -> str:
    return str(at.astimezone(UTC).replace(tzinfo=None))
