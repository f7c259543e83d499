"""Taking in runs that were made elsewhere."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.digests import sha256_hex
from apps.common.errors import InputErrors
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import snapshot_in
from apps.jobs.actions.uploads import mark_used
from apps.jobs.models import Upload
from apps.queries.actions import lock_queries
from apps.queries.models import Query
from apps.retrieval import rules, selectors
from apps.retrieval.core import ranking
from apps.retrieval.enums import SystemKind
from apps.retrieval.execution.answers import complete_run, rankings_digest
from apps.retrieval.execution.pool_building import ROWS_AT_ONCE
from apps.retrieval.execution.registration import add_run, add_system
from apps.retrieval.formats import RunDraft, facts_of
from apps.retrieval.models import Ranking, Run, System
from apps.retrieval.rules import RunRefused


@dataclass(frozen=True)
class ImportedRun:
    """What an import came to. `is_new` is False when this very run was there already and nothing was written."""

    run: Run
    is_new: bool


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
    if draft.is_spoilt or (draft.errors and not skip_unknown):
        listed = list(draft.errors)
        raise InputErrors(listed, capped=draft.errors.unlisted > 0)
    if not draft.rankings:
        raise RunRefused("Nothing is left of this run: none of its queries is in the project.", code="run_empty")
    tag = tag.strip() or draft.tags[0]
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)  # or two requests at once would both be new
    twins = same_rankings(project=project, snapshot=snapshot, draft=draft, system=system.strip() or tag)
    if same := twins.filter(tag=tag).first():
        if reason := rules.other_line_refusal(same, note=note.strip(), commit=commit.strip()):
            raise RunRefused(reason, code="tag_taken")
        return ImportedRun(same, is_new=False)
    owner = _uploaded_system(project, system.strip() or tag, actor, at)
    run = add_run(owner, snapshot, draft.depth, tag, note, commit, actor, at, origin[:300])
    _store_rankings(run, draft)
    after = {"origin": run.origin, "rows": draft.rows, "left_out": draft.skipped}
    record(project=project, actor=actor, action="run.imported", obj=run, after=after, at=at)
    lock_queries([found.query for found in draft.rankings], at=at)
    return ImportedRun(complete_run(run, actor=actor, at=at), is_new=True)


@transaction.atomic
def import_upload(*, upload: Upload, draft: RunDraft, skip_unknown: bool, actor: User, at: datetime) -> ImportedRun:
    """Take in the run of an uploaded file, with the system, tag and note given along with it."""
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
    return imported


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
    outside_ids: dict[int, str] = {}
    for part in selectors.in_parts([found.query for found in draft.rankings]):
        outside_ids.update(Query.objects.filter(pk__in=part).values_list("pk", "outside_id"))
    lines = [
        (outside_ids[found.query], sha256_hex(ranking.pack(found.positions, found.scores))) for found in draft.rankings
    ]
    return rankings_digest(snapshot.digest, lines)


def _store_rankings(run: Run, draft: RunDraft) -> None:
    rows = (
        Ranking(
            run=run,
            query_id=found.query,
            packed=ranking.pack(found.positions, found.scores),
            length=len(found.positions),
        )
        for found in draft.rankings
    )
    Ranking.objects.bulk_create(rows, batch_size=ROWS_AT_ONCE)


def facts_of_upload(upload: Upload, draft: RunDraft) -> dict[str, Any]:
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
