"""Taking in a project that another server has exported."""

from collections.abc import Collection, Mapping
from datetime import datetime

from django.db import IntegrityError, OperationalError

from apps.accounts.actions.people import add_stand_ins
from apps.accounts.actions.projects import appoint_lead, free_slug
from apps.accounts.models import Project, User
from apps.audit.actions import accept_former_chains, record
from apps.audit.core.numbering import Numbering
from apps.audit.execution.verification import verify_chain
from apps.backups.enums import PeopleAs
from apps.backups.execution.arriving import distances_here, only_writer, refuse_incomplete, take_rows
from apps.backups.execution.arriving_rows import Newcomer
from apps.backups.execution.files import take_file
from apps.backups.execution.writing import Progress, silently
from apps.backups.formats.archive import Archive
from apps.backups.selectors.arrivals import Arrival, arrival_of
from apps.common.errors import Refusal
from apps.common.files import store
from apps.corpus.execution.search_index import index_project

COLLIDES = (
    "People who are matched by address have given the very grades in the file here already, as when a copy comes back "
    "to its own server. Import it without matching people. Nothing was imported."
)
DO_NOT_FIT = "The file is damaged: its rows name others that are not in it, or are there twice. Nothing was imported."
BUSY = "The database was busy for too long. Nothing was imported: try again when no job is running."
SHOWN_FAULTS = 3


def import_project(
    *,
    archive: Archive,
    lead: User,
    people: PeopleAs,
    at: datetime,
    slug: str = "",
    progress: Progress = silently,
) -> Project:
    """Take in everything of the project, in one transaction, and return it. `lead` leads it here.

    People who are matched by address keep their roles, and everybody else comes as a stand-in. An address in a file
    proves nothing, so an operator has to say so. Until the end nobody else can save anything. Raises Refusal and
    NoBackup, and leaves nothing behind then.
    """
    arrival = arrival_of(archive)
    if arrival.open_rounds:
        raise Refusal(
            f"Rounds are open in {arrival.name}: {', '.join(arrival.open_rounds)}. Close them where it is, since which "
            "pair comes next depends on that server, and export it again.",
            code="rounds_open",
        )
    if slug and Project.objects.filter(slug=slug).exists():
        raise Refusal(f"There is a project at {slug} already. Choose another address with --slug.", code="slug_taken")
    accounts = {each.key: each.account for each in arrival.people if each.account is not None}
    matched = accounts if people == PeopleAs.MEMBERS else {}
    newcomer = Newcomer(slug or free_slug(arrival.slug), archive.manifest.digest, matched.keys(), at)
    try:
        _take_files(archive, newcomer, progress)
        with only_writer():
            stand_ins = _stand_ins(arrival, newcomer, matched, under_names=people != PeopleAs.PSEUDONYMS)
            numbering = Numbering(distances_here(), {**matched, **{key: user.pk for key, user in stand_ins.items()}})
            project = take_rows(archive, numbering, newcomer, progress=progress)
            refuse_incomplete(archive, project)
            _refuse_what_was_changed(project)
            index_project(project)
            _record(project, arrival, newcomer, stand_ins)
            appoint_lead(project=project, user=lead, at=at)
            return project
    except BaseException as problem:
        store.remove(*map(newcomer.path_of, archive.manifest.files))
        if isinstance(problem, IntegrityError):
            raise Refusal(COLLIDES if matched else DO_NOT_FIT, code="rows_collide") from problem
        if isinstance(problem, OperationalError):
            raise Refusal(BUSY, code="database_busy") from problem
        raise


def _stand_ins(arrival: Arrival, newcomer: Newcomer, matched: Collection[int], *, under_names: bool) -> dict[int, User]:
    strangers = [each for each in arrival.people if each.key not in matched]
    names = {each.key: each.name if under_names else f"Person {n}" for n, each in enumerate(strangers, 1)}
    return add_stand_ins(names=names, mark=f"{newcomer.digest}\0{newcomer.slug}", at=newcomer.at)


def _record(project: Project, arrival: Arrival, newcomer: Newcomer, stand_ins: Mapping[int, User]) -> None:
    for user in stand_ins.values():
        after = {"name": user.name}
        record(project=project, actor=None, action="stand_in.named", obj=user, after=after, at=newcomer.at)
    imported = {
        "karat": arrival.karat,
        "exported_at": arrival.made_at,
        "digest": newcomer.digest,
        "rows": arrival.rows,
        "links": arrival.links,
        "people": {"members": len(newcomer.members), "stand_ins": len(stand_ins)},
    }
    record(project=project, actor=None, action="project.imported", obj=project, after=imported, at=newcomer.at)


def _refuse_what_was_changed(project: Project) -> None:
    """Raises Refusal where the history in the file, or what was frozen in it, is not as it was sealed."""
    broken = accept_former_chains(project=project)
    if faults := [*broken, *verify_chain(project).faults]:
        shown = " ".join(faults[:SHOWN_FAULTS])
        raise Refusal(f"The file was changed after it was sealed: {shown} Nothing was imported.", code="file_changed")


def _take_files(archive: Archive, newcomer: Newcomer, progress: Progress) -> None:
    paths = list(archive.manifest.files)
    for n, path in enumerate(paths, 1):
        take_file(archive, path, name=newcomer.path_of(path))
        progress("files taken in", n, len(paths))
