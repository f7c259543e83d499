"""Prepare, sign, publish and withdraw the public release of a version."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from django.db import transaction
from django.urls import reverse

from apps.accounts.actions.projects import change_project
from apps.accounts.models import User
from apps.accounts.selectors import policy
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.goldsets import rules
from apps.goldsets.actions.versions import locked_version
from apps.goldsets.enums import PREPARE_PUBLIC, RELEASE_PUBLIC, SIGN_PUBLIC, PublicStep
from apps.goldsets.execution.publishing import order_of
from apps.goldsets.formats.public.files import Order
from apps.goldsets.models import PublicLook, PublicRelease, Version
from apps.goldsets.selectors.public import live_release, locked_release
from apps.goldsets.workflow import move_public
from apps.jobs.actions.jobs import enqueue
from apps.jobs.actions.notifications import notify
from apps.jobs.selectors.job_kinds import kind_named

TITLE_LENGTH = 200


class PublicReleaseRefused(Refusal):
    """The public release is not in a state for the step, or something is still missing."""


@transaction.atomic
def prepare_public_release(*, version_id: int, order: Order, actor: User, at: datetime) -> PublicRelease:
    """Have a worker build what of a version goes out. A version has one live release.

    While one with the same choices is being prepared, it is that one.
    """
    version = locked_version(version_id)
    live = live_release(version)
    if live is not None and _is_being_prepared_so(live, order):
        return live
    if reason := rules.prepare_refusal(version):
        raise PublicReleaseRefused(reason, code="prepare_refused")
    release = PublicRelease(version=version, prepared_by=actor, prepared_at=at, **_chosen(order))
    release.save()
    _log(release, "public_release.preparing", actor, at)
    return _queue(release, PREPARE_PUBLIC, actor, at)


@transaction.atomic
def prepare_again(*, release_id: int, order: Order, actor: User, at: datetime) -> PublicRelease:
    """Have it built again with other choices, or because permissions, words or names changed.

    The one who does so has prepared it from then on. Whoever has opened the preview has to open it again when what goes
    out is not the same.
    """
    release = locked_release(release_id)
    if _is_being_prepared_so(release, order):
        return release
    if reason := rules.change_public_refusal(release) or rules.texts_refusal(release.version):
        raise PublicReleaseRefused(reason, code="not_prepared")
    changes = {**_chosen(order), "report": {}, "digest": "", "size": 0, "prepared_by": actor, "prepared_at": at}
    move_public(release, PublicStep.PREPARE, actor=actor, at=at, **changes)
    return _queue(release, PREPARE_PUBLIC, actor, at)


@transaction.atomic
def decide_public_texts(
    *, release_id: int, texts: Collection[str], allowed: bool, reason: str, actor: User, at: datetime
) -> PublicRelease:
    """Let texts that were found go out all the same, in this release and in later ones; or take that back.

    Each with its reason is on the record. The release is prepared again, by whoever decided.
    """
    release = locked_release(release_id)
    project = release.version.gold_set.project
    known = set(release.found_texts) if allowed else {one["text"] for one in policy(project, "allowed_public")}
    if refusal := rules.decide_texts_refusal(release, texts, known, reason):
        raise PublicReleaseRefused(refusal, code="texts_refused")
    kept = [one for one in policy(project, "allowed_public") if one["text"] not in texts]
    added = [{"text": text, "reason": reason.strip()} for text in sorted(texts)] if allowed else []
    change_project(project_id=project.pk, policies={"allowed_public": [*kept, *added]}, actor=actor, at=at)
    decided = {"texts": sorted(texts), "allowed": allowed, "reason": reason.strip()}
    _log(release, "public_release.texts_decided", actor, at, **decided)
    return prepare_again(release_id=release_id, order=order_of(release), actor=actor, at=at)


@transaction.atomic
def ask_to_sign(*, release_id: int, lead: User, actor: User, at: datetime) -> PublicRelease:
    """Ask another lead to read the preview and sign; it is on their Home and among their notifications."""
    release = locked_release(release_id)
    if reason := rules.ask_refusal(release, lead):
        raise PublicReleaseRefused(reason, code="ask_refused")
    release.asked, release.asked_at = lead, at
    release.save(update_fields=["asked", "asked_at"])
    _log(release, "public_release.asked", actor, at, asked=lead.name)
    notify(
        person=lead,
        project=release.version.gold_set.project,
        kind="public_release.asked",
        sentence=f"{actor.name} asks you to read and sign the public release of {release.version}.",
        path=_page_of(release.version),
        key=f"public-release:{release.pk}:{release.digest[:16]}",
        at=at,
    )
    return release


@transaction.atomic
def log_public_look(*, release: PublicRelease, actor: User, at: datetime) -> None:
    """Record that a person has opened the preview of what goes out; once for each build."""
    _, is_new = PublicLook.objects.get_or_create(
        release=release, person=actor, digest=release.digest, defaults={"at": at}
    )
    if is_new:
        _log(release, "public_release.seen", actor, at)


@transaction.atomic
def sign_public_release(*, release_id: int, actor: User, at: datetime) -> PublicRelease:
    """A second lead, who has opened the preview, signs what goes out: once a worker has seen that it is still that."""
    release = locked_release(release_id)
    if _is_waiting_for(release, SIGN_PUBLIC, actor):
        return release
    if reason := rules.busy_refusal(release) or rules.sign_refusal(release, actor):
        raise PublicReleaseRefused(reason, code="sign_refused")
    return _queue(release, SIGN_PUBLIC, actor, at)


@transaction.atomic
def publish_release(*, release_id: int, actor: User, at: datetime) -> PublicRelease:
    """Release what was signed, once a worker has seen that it is still that. Then it can only be withdrawn."""
    release = locked_release(release_id)
    if _is_waiting_for(release, RELEASE_PUBLIC, actor):
        return release
    if reason := rules.busy_refusal(release) or rules.publish_refusal(release):
        raise PublicReleaseRefused(reason, code="publish_refused")
    return _queue(release, RELEASE_PUBLIC, actor, at)


@transaction.atomic
def withdraw_public_release(*, release_id: int, reason: str, actor: User, at: datetime) -> PublicRelease:
    """Take a release back, in whatever state: nobody downloads it any more. Copies outside stay where they are.

    The files of one that was never out are removed. A job that works on it ends without an effect.
    """
    release = locked_release(release_id)
    if refusal := rules.withdraw_public_refusal(release, reason):
        raise PublicReleaseRefused(refusal, code="withdraw_refused")
    changes = {"withdrawn_by": actor, "withdrawn_at": at, "withdrawal_reason": reason.strip()}
    move_public(release, PublicStep.WITHDRAW, actor=actor, at=at, **changes)
    if release.released_at is None:
        release.parts.all().delete()
    return release


@transaction.atomic
def log_public_download(*, release: PublicRelease, actor: User, at: datetime) -> None:
    _log(release, "public_release.downloaded", actor, at)


def _queue(release: PublicRelease, kind: str, actor: User, at: datetime) -> PublicRelease:
    """Queue the job that builds the files, in the transaction in which the release waits for it."""
    project = release.version.gold_set.project
    title = f"{kind_named(kind).title}: {release.version}"
    release.job = enqueue(
        kind=kind, params={"release_id": release.pk}, project=project, actor=actor, at=at, title=title[:TITLE_LENGTH]
    )
    release.save(update_fields=["job"])
    return release


def _is_being_prepared_so(release: PublicRelease, order: Order) -> bool:
    """Whether it is being prepared with these choices: pressed twice, it is prepared once."""
    wanted = replace(order, splits=tuple(sorted(order.splits)), card=order.card or None)
    return release.is_preparing and order_of(release) == wanted


def _is_waiting_for(release: PublicRelease, kind: str, actor: User) -> bool:
    job = release.open_job
    return job is not None and job.kind == kind and job.created_by_id == actor.pk


def _chosen(order: Order) -> dict[str, object]:
    return {
        "title": order.title,
        "holder": order.holder,
        "licence": order.licence,
        "splits": sorted(order.splits),
        "card": order.card or {},
    }


def _page_of(version: Version) -> str:
    gold_set = version.gold_set
    return reverse("goldsets:public", args=[gold_set.project.slug, gold_set.slug, version.number])


def _log(release: PublicRelease, action: str, actor: User, at: datetime, **facts: object) -> None:
    record(
        project=release.version.gold_set.project,
        actor=actor,
        action=action,
        obj=release,
        after={"version": release.version.label, "digest": release.digest, **facts},
        at=at,
    )
