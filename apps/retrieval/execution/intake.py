"""Taking in runs that were made elsewhere, and saying before what they would come to."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.database.bulk import insert_rows
from apps.common.digests import sha256_hex
from apps.common.errors import InputErrors
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import snapshot_in
from apps.jobs.actions.uploads import mark_used, remover
from apps.jobs.enums import UploadState
from apps.jobs.models import Upload
from apps.queries.actions import lock_queries
from apps.retrieval import rules, selectors
from apps.retrieval.enums import RUN_IMPORT, SystemKind
from apps.retrieval.execution.answers import complete_run, rankings_digest
from apps.retrieval.execution.registration import add_run, add_system
from apps.retrieval.execution.run_reading import draft_of_file, reading_beside, reading_of
from apps.retrieval.formats.runs import RunDraft, facts_of
from apps.retrieval.models import Ranking, Run, System
from apps.retrieval.rules import RunRefused


@dataclass(frozen=True)
class ImportedRun:
    """What an import came to. `is_new` is False when this very run was there already and nothing was written."""

    run: Run
    is_new: bool
    draft: RunDraft


@transaction.atomic
def import_run(
    *,
    project: Project,
    snapshot: Snapshot,
    draft: RunDraft,
    system: str = "",
    tag: str = "",
    origin: str = "",
    note: str = "",
    commit: str = "",
    skip_unknown: bool = False,
    actor: User,
    at: datetime,
) -> ImportedRun:
    """Take in somebody else's run, whole or not at all. Sent again, the same run changes nothing.

    The same is: rankings, system and tag, and commit and note where some are given. Equal rankings under another tag
    are a run of their own, since whoever measures a commit wants to find it. System and tag are the file's tag unless
    named. Rows that name an unknown query or block stop the import
    unless `skip_unknown` says to leave them out. Raises InputErrors with everything that does not fit.
    """
    check_draft(draft, skip_unknown=skip_unknown)
    if not draft.rankings:
        raise RunRefused("Nothing is left of this run: none of its queries is in the project.", code="run_empty")
    tag = tag.strip() or draft.tags[0]
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)  # or two requests at once would both be new
    twins = same_rankings(project=project, snapshot=snapshot, draft=draft, system=system.strip() or tag)
    if same := twins.filter(tag=tag).first():
        if reason := rules.other_line_refusal(same, note=note.strip(), commit=commit.strip()):
            raise RunRefused(reason, code="tag_taken")
        return ImportedRun(same, is_new=False, draft=draft)
    owner = _uploaded_system(project, system.strip() or tag, actor, at)
    run = add_run(owner, snapshot, draft.depth, tag, note, commit, actor, at, origin[:300])
    _store_rankings(run, draft)
    after = {"origin": run.origin, "rows": draft.rows, "left_out": draft.skipped}
    record(project=project, actor=actor, action="run.imported", obj=run, after=after, at=at)
    lock_queries([found.query for found in draft.rankings], at=at)
    return ImportedRun(complete_run(run, actor=actor, at=at), is_new=True, draft=draft)


def check_draft(draft: RunDraft, *, skip_unknown: bool) -> None:
    """Raises InputErrors with everything that stands against taking the run in."""
    if draft.is_spoilt or (draft.errors and not skip_unknown):
        raise InputErrors(list(draft.errors), capped=draft.errors.unlisted > 0)


def try_file(*, path: Path, project: Project, snapshot: Snapshot, skip_unknown: bool) -> RunDraft:
    """Read a file as for an import, and import nothing. Raises InputErrors where an import would, and OSError."""
    draft = draft_of_file(path, project=project, snapshot=snapshot)
    check_draft(draft, skip_unknown=skip_unknown)
    return draft


@transaction.atomic
def import_upload(*, upload: Upload, draft: RunDraft, skip_unknown: bool, actor: User, at: datetime) -> ImportedRun:
    """Take in the run of an uploaded file, with the system, tag and note given along with it."""
    upload = Upload.objects.select_for_update(of=("self",)).select_related("project").get(pk=upload.pk)
    check_open(upload)
    options = {key: upload.options[key] for key in ("system", "tag", "note", "commit")}
    imported = import_run(
        project=upload.project,
        snapshot=snapshot_in(upload.project, upload.options["snapshot"]),
        draft=draft,
        origin=f"{upload.filename}, sha256 {upload.sha256}",
        skip_unknown=skip_unknown,
        actor=actor,
        at=at,
        **options,
    )
    mark_used(upload_id=upload.pk, actor=actor, at=at)
    transaction.on_commit(remover(reading_beside(upload)), robust=True)
    return imported


def check_open(upload: Upload) -> None:
    """Refuse a file that holds no run, or was thrown away."""
    if upload.purpose != RUN_IMPORT or upload.state == UploadState.DISCARDED:
        raise RunRefused("This file is not a run waiting to be imported.", code="upload_closed")


def same_rankings(*, project: Project, snapshot: Snapshot, draft: RunDraft, system: str) -> QuerySet[Run]:
    """The runs of the system called `system` that have exactly the draft's rankings, oldest first."""
    digest = _draft_digest(snapshot, draft)
    runs = Run.objects.filter(project=project, system__name=system, snapshot=snapshot, digest=digest)
    return runs.order_by("pk")


def _uploaded_system(project: Project, name: str, actor: User, at: datetime) -> System:
    known = System.objects.filter(project=project, name=name).first()
    if known is None:
        return add_system(project, name, SystemKind.UPLOADED, {"name": name}, actor, at)
    if known.kind != SystemKind.UPLOADED:
        raise RunRefused(
            f"Karat runs {name} itself. Name another system for an uploaded run.", code="system_not_uploaded"
        )
    return known


def _draft_digest(snapshot: Snapshot, draft: RunDraft) -> str:
    return rankings_digest(snapshot.digest, [(found.outside_id, sha256_hex(found.packed)) for found in draft.rankings])


def _store_rankings(run: Run, draft: RunDraft) -> None:
    rows = ((run.pk, found.query, found.packed, found.length) for found in draft.rankings)
    insert_rows(Ranking, ("run_id", "query_id", "packed", "length"), rows)


def facts_of_upload(upload: Upload) -> dict[str, Any]:
    """What an uploaded file would come to: as a job has found, or from its reading here and now when it is small."""
    job = selectors.job_of_upload(upload)
    if job is not None:
        return job.result or {}
    check_open(upload)
    return facts_of_draft(upload, reading_of(upload))


def facts_of_draft(upload: Upload, draft: RunDraft) -> dict[str, Any]:
    """What the file would come to: the draft's figures, and the runs of the system that have exactly its rankings.

    `same_run` is the one of the same tag, which taking in would not change; `equal_run` is one of another tag.
    """
    facts = facts_of(draft)
    tag = upload.options["tag"] or facts["tag"]
    found: dict[bool, int] = {}
    if draft.rankings and not draft.is_spoilt:
        snapshot = snapshot_in(upload.project, upload.options["snapshot"])
        system = upload.options["system"] or tag
        twins = same_rankings(project=upload.project, snapshot=snapshot, draft=draft, system=system)
        for pk, other in twins.values_list("pk", "tag"):
            found.setdefault(other == tag, pk)
    return {**facts, "same_run": found.get(True), "equal_run": found.get(False)}
