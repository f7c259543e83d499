"""The jobs of a public release, which build its files to keep or to compare them, and listeners to every release."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Protocol

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import roles_of
from apps.common.discovery import Registered
from apps.corpus.models import SnapshotBlock
from apps.goldsets import rules
from apps.goldsets.enums import (
    PREPARE_PUBLIC,
    RELEASE_PUBLIC,
    SIGN_PUBLIC,
    PublicState,
    PublicStep,
    StayReason,
)
from apps.goldsets.execution.publishing import Built, built, keep_files, order_of
from apps.goldsets.models import PublicRelease, Version
from apps.goldsets.selectors.public import locked_release, public_release, terms_of
from apps.goldsets.workflow import move_public
from apps.jobs.enums import JobState
from apps.jobs.execution.context import JobContext, JobFailed
from apps.jobs.models import Job
from apps.jobs.selectors.job_kinds import job_kind


class OnRelease(Protocol):
    def __call__(self, *, version: Version, actor: User, at: datetime) -> object: ...


on_release: Registered[OnRelease] = Registered()
"""What happens when a version has been released, in the same transaction."""


def follow_preparing(job: Job, at: datetime) -> None:
    """Change the state of the release when the job that prepares it fails, is cancelled, or is queued again."""
    release = locked_release(job.params["release_id"])
    if release.job_id != job.pk:
        return
    if job.state in {JobState.FAILED, JobState.CANCELLED} and release.state == PublicState.PREPARING:
        move_public(release, PublicStep.FAIL, actor=None, at=at)
    elif job.state == JobState.QUEUED and release.state == PublicState.FAILED:
        move_public(release, PublicStep.PREPARE, actor=None, at=at)


@job_kind(PREPARE_PUBLIC, title="Prepare a public release", follower=follow_preparing)
def prepare_public(ctx: JobContext) -> dict[str, Any]:
    """Build the files of the release `release_id`, and store them with what stays in and why, in one commit."""
    with _rebuilt(ctx) as files:
        if not files.selection.queries and not files.selection.triples:
            raise JobFailed(rules.nothing_goes(files.selection.stays))
        with ctx.finish() as result:
            at, release = ctx.at, _locked(ctx)
            if not release.is_preparing:
                raise JobFailed(rules.overtaken(release))
            _check_nothing_decides_otherwise(release, files, at=at)
            keep_files(release, files)
            built_facts = {"card": files.card, "report": files.report, "digest": files.digest, "size": files.size}
            move_public(release, PublicStep.BUILD, actor=ctx.actor, at=at, prepared_at=at, **built_facts)
            result.update(release_id=release.pk, digest=files.digest)
    return ctx.result


@job_kind(SIGN_PUBLIC, title="Sign a public release")
def sign_public(ctx: JobContext) -> dict[str, Any]:
    """Build the files of the release `release_id` again; when they are those that were prepared, they are signed."""
    with _rebuilt(ctx) as files, ctx.finish() as result:
        at, release, signer = ctx.at, _locked(ctx), _lead(ctx)
        if reason := rules.sign_refusal(release, signer):
            raise JobFailed(reason)
        _check_is_as_prepared(release, files, at=at)
        move_public(release, PublicStep.SIGN, actor=signer, at=at, signed_by=signer, signed_at=at)
        result.update(release_id=release.pk, digest=files.digest)
    return ctx.result


@job_kind(RELEASE_PUBLIC, title="Release to the public")
def release_public(ctx: JobContext) -> dict[str, Any]:
    """Build the files of the release `release_id` again; when they are those that were signed, they are released."""
    with _rebuilt(ctx) as files, ctx.finish() as result:
        at, release, lead = ctx.at, _locked(ctx), _lead(ctx)
        if reason := rules.publish_refusal(release):
            raise JobFailed(reason)
        _check_is_as_prepared(release, files, at=at)
        move_public(release, PublicStep.RELEASE, actor=lead, at=at, released_by=lead, released_at=at)
        result.update(release_id=release.pk, digest=files.digest)
    return ctx.result


@contextmanager
def _rebuilt(ctx: JobContext) -> Iterator[Built]:
    release = public_release(ctx.params["release_id"])
    if _is_overtaken(release, ctx):
        raise JobFailed(rules.overtaken(release))
    with built(release.version, order_of(release), at=ctx.at, progress=ctx.progress) as files:
        yield files


def _locked(ctx: JobContext) -> PublicRelease:
    """The release, with what decides about its items: permissions, roles and words are not changed until the commit."""
    release = locked_release(ctx.params["release_id"])
    project = release.version.gold_set.project
    list(Project.objects.select_for_update(no_key=True).filter(pk=project.pk).values_list("pk"))
    if _is_overtaken(release, ctx):
        raise JobFailed(rules.overtaken(release))
    return release


def _is_overtaken(release: PublicRelease, ctx: JobContext) -> bool:
    """Whether another job has taken over, or the release was withdrawn."""
    return release.job_id != ctx.job_id or release.state == PublicState.WITHDRAWN


def _lead(ctx: JobContext) -> User:
    """Who asked for the job, who must still be a lead when it takes effect."""
    release = public_release(ctx.params["release_id"])
    assert ctx.actor is not None  # a person pressed the button, or their token did
    if Role.LEAD not in roles_of(ctx.actor, release.version.gold_set.project):
        raise JobFailed(f"{ctx.actor} is not a lead of this project any more.")
    return ctx.actor


def _check_is_as_prepared(release: PublicRelease, files: Built, *, at: datetime) -> None:
    if files.digest != release.digest:
        raise JobFailed(rules.changed_since(release))
    _check_nothing_decides_otherwise(release, files, at=at)


def _check_nothing_decides_otherwise(release: PublicRelease, files: Built, *, at: datetime) -> None:
    """Building takes its time: fail where a permission, a name or a word has changed, or a text was redacted, since."""
    version = release.version
    passages = SnapshotBlock.objects.filter(snapshot=version.snapshot_id)
    redacted = passages.filter(version__redacted_at__isnull=False).count()
    seen = sum(stay.reason == StayReason.REDACTED for stay in files.selection.stays)
    if terms_of(version, release.splits, at=at) != files.terms or redacted != seen:
        raise JobFailed(rules.changed_since(release))
