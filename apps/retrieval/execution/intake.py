"""Importing runs that were made elsewhere, and the figures of their preview."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.database.bulk import insert_rows
from apps.common.errors import InputErrors
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import snapshot_in
from apps.jobs.actions.uploads import mark_used, remover
from apps.jobs.enums import UploadState
from apps.jobs.models import Upload
from apps.metrics.statistics.usage import checked_usage
from apps.queries.actions.queries import lock_queries
from apps.retrieval import rules
from apps.retrieval.enums import RUN_DETAILS, RUN_IMPORT, SystemKind
from apps.retrieval.execution.ranking import complete_run, rankings_digest
from apps.retrieval.execution.run_reading import NUMBERED, add_run, add_system, reading_of, reading_path
from apps.retrieval.formats import RunDraft, facts_of
from apps.retrieval.models import Ranking, Run, System
from apps.retrieval.rules import RunRefused
from apps.retrieval.selectors.runs import job_of_upload


@dataclass(frozen=True)
class ImportedRun:
    """The outcome of an import. `is_new` is False when exactly this run existed already and nothing was written."""

    run: Run
    is_new: bool
    draft: RunDraft


class UnknownIds(InputErrors):
    """All mistakes of a run are unknown ids: without the rows that name them it can be imported."""


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
    as_role: str = "",
    usage: Mapping[str, Any] | None = None,
    abstains_below: float | None = None,
    skip_unknown: bool = False,
    actor: User,
    at: datetime,
) -> ImportedRun:
    """Import a run, completely or not at all. An empty system or tag is replaced by the tag in the file.

    `usage` is what the run used; without it, what its file says of that. `as_role` is the role for whom it searched. A
    query whose best score is below `abstains_below` gets no answer.

    Importing the same run again changes nothing. It is the same when rankings, system and tag are equal, and commit,
    note, role and usage where given; without a given tag also when it was imported as `tag@2`, `tag@3` and so on. Equal
    rankings under another tag are a run of their own, such as that of another commit.

    With `skip_unknown`, rows with an unknown query or block are left out; otherwise they raise InputErrors, as all
    other mistakes do. Raises RunRefused for a run without rankings or with a tag that another run has.
    """
    check_draft(draft, skip_unknown=skip_unknown)
    if not draft.rankings:
        raise RunRefused(
            "None of the queries of this run is in the project, by id, exact text or Q&A. Import the queries first.",
            code="run_empty",
        )
    if reason := rules.abstention_refusal(draft.returns, abstains_below):
        raise RunRefused(reason, code="no_scores")
    given, tag = tag.strip(), tag.strip() or draft.tags[0]
    details: dict[str, Any] = {"note": note.strip(), "commit": commit.strip(), "as_role": as_role.strip()}
    details["usage"] = checked_usage(usage or draft.usage)
    details["abstains_below"] = abstains_below
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)  # otherwise two requests could both be new
    equal_runs = same_rankings(project=project, snapshot=snapshot, draft=draft, system=system.strip() or tag)
    if not given and (earlier := _numbered(equal_runs, tag)):
        tag = earlier.tag if rules.ledger_refusal(earlier, **details) is None else tag
    if same := equal_runs.filter(tag=tag).first():
        if reason := rules.ledger_refusal(same, **details):
            raise RunRefused(reason, code="tag_taken")
        return ImportedRun(same, is_new=False, draft=draft)
    owner = _uploaded_system(project, system.strip() or tag, actor, at)
    of_file: dict[str, Any] = {"origin": origin[:300], "returns": draft.returns}
    run = add_run(owner, snapshot, draft.depth, tag, actor=actor, at=at, **details, **of_file)
    _store_rankings(run, draft)
    after = {"origin": run.origin, "rows": draft.rows, "left_out": draft.skipped, "usage": run.usage or {}}
    record(project=project, actor=actor, action="run.imported", obj=run, after=after, at=at)
    lock_queries([one.query for one in draft.rankings], at=at)
    return ImportedRun(complete_run(run, actor=actor, at=at), is_new=True, draft=draft)


def check_draft(draft: RunDraft, *, skip_unknown: bool) -> None:
    """Raises InputErrors with all mistakes that prevent the import: UnknownIds where `skip_unknown` would allow it."""
    if draft.is_spoilt or (draft.errors and not skip_unknown):
        kind = InputErrors if draft.is_spoilt or not draft.rankings else UnknownIds
        raise kind(list(draft.errors), capped=draft.errors.unlisted > 0)


@transaction.atomic
def import_upload(*, upload: Upload, draft: RunDraft, skip_unknown: bool, actor: User, at: datetime) -> ImportedRun:
    """Import the run in an uploaded file, with what was said of it at the upload."""
    upload = Upload.objects.select_for_update(of=("self",)).select_related("project").get(pk=upload.pk)
    check_open(upload)
    options = {key: upload.options.get(key, "") for key in RUN_DETAILS}
    imported = import_run(
        project=upload.project,
        snapshot=snapshot_in(upload.project, upload.options["snapshot"]),
        draft=draft,
        origin=f"{upload.filename}, sha256 {upload.sha256}",
        usage=upload.options.get("usage"),
        abstains_below=upload.options.get("abstains_below"),
        skip_unknown=skip_unknown,
        actor=actor,
        at=at,
        **options,
    )
    mark_used(upload_id=upload.pk, actor=actor, at=at)
    transaction.on_commit(remover(reading_path(upload)), robust=True)
    return imported


def check_open(upload: Upload) -> None:
    """Raises RunRefused for a file that is not a run, or was discarded."""
    if upload.purpose != RUN_IMPORT or upload.state == UploadState.DISCARDED:
        raise RunRefused("This file is not a run file, or it was discarded. Upload it again.", code="upload_closed")


def same_rankings(*, project: Project, snapshot: Snapshot, draft: RunDraft, system: str) -> QuerySet[Run]:
    """The runs of the system called `system` that have exactly the draft's rankings, oldest first."""
    digest = rankings_digest(snapshot.digest, [(one.outside_id, one.digest) for one in draft.rankings])
    runs = Run.objects.filter(project=project, system__name=system, snapshot=snapshot, digest=digest)
    return runs.order_by("pk")


def _numbered(equal_runs: Iterable[Run], tag: str) -> Run | None:
    """The oldest of the runs that is called `tag`, or `tag` with a number."""
    return next((run for run in equal_runs if run.tag == tag or NUMBERED.sub("", run.tag) == tag), None)


def _uploaded_system(project: Project, name: str, actor: User, at: datetime) -> System:
    known = System.objects.filter(project=project, name=name).first()
    if known is None:
        return add_system(project, name, SystemKind.UPLOADED, {"name": name}, actor, at)
    if known.kind != SystemKind.UPLOADED:
        raise RunRefused(
            f"Karat runs {name} itself. Choose another system for an uploaded run.", code="system_not_uploaded"
        )
    return known


def _store_rankings(run: Run, draft: RunDraft) -> None:
    latency = draft.latency
    rows = (
        (
            run.pk,
            one.query,
            one.packed,
            one.length,
            None if one.passages is None else json.dumps(one.passages),
            latency.get(one.outside_id),
        )
        for one in draft.rankings
    )
    insert_rows(Ranking, ("run_id", "query_id", "packed", "length", "passages", "latency_ms"), rows)


def facts_of_upload(upload: Upload) -> dict[str, Any]:
    """The preview of an uploaded file: of a large one as its job stored it, of a small one from its reading."""
    job = job_of_upload(upload)
    if job is not None:
        return job.result or {}
    check_open(upload)
    return facts_of_draft(upload, reading_of(upload))


def facts_of_draft(upload: Upload, draft: RunDraft) -> dict[str, Any]:
    """The figures of a draft, and the ids of the system's runs with the same rankings, or None.

    `same_run` has the same tag, so an import would change nothing; `equal_run` is the oldest with another tag.
    """
    facts = facts_of(draft)
    given, tag = upload.options["tag"], upload.options["tag"] or facts["tag"]
    by_same_tag: dict[bool, int] = {}
    if draft.rankings and not draft.is_spoilt:
        snapshot = snapshot_in(upload.project, upload.options["snapshot"])
        system = upload.options["system"] or tag
        equal_runs = list(same_rankings(project=upload.project, snapshot=snapshot, draft=draft, system=system))
        details = {key: upload.options.get(key, "").strip() for key in ("note", "commit", "as_role")}
        details["usage"] = upload.options.get("usage") or draft.usage
        details["abstains_below"] = upload.options.get("abstains_below")
        if not given and (earlier := _numbered(equal_runs, tag)) and not rules.ledger_refusal(earlier, **details):
            tag = earlier.tag
        for run in equal_runs:
            by_same_tag.setdefault(run.tag == tag, run.pk)
    return {**facts, "same_run": by_same_tag.get(True), "equal_run": by_same_tag.get(False)}
