"""Prepare, sign, publish and withdraw the public release of a version."""

from datetime import datetime

from django.db import transaction
from django.urls import reverse

from apps.accounts.models import User
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.goldsets import rules
from apps.goldsets.enums import PublicStep
from apps.goldsets.execution.publishing import Built, built, order_of, parts_of
from apps.goldsets.formats.public.files import Order
from apps.goldsets.models import PublicLook, PublicPart, PublicRelease, PublicStay, Version
from apps.goldsets.workflow import move_public
from apps.jobs.actions.notifications import notify

BATCH = 1_000


class PublicReleaseRefused(Refusal):
    """The public release is not in a state for the step, or something is still missing."""


@transaction.atomic
def prepare_public_release(*, version_id: int, order: Order, actor: User, at: datetime) -> PublicRelease:
    """Build what of a version goes out, and store what stays in with its reasons. A version has one live release."""
    version = _locked_version(version_id)
    if reason := rules.prepare_refusal(version):
        raise PublicReleaseRefused(reason, code="prepare_refused")
    with built(version, order, at=at) as files:
        _check_something_goes(files)
        release = PublicRelease.objects.create(
            version=version, prepared_by=actor, prepared_at=at, **_chosen(order), **_outcome(files)
        )
        _store_stays(release, files)
    _log(release, "public_release.prepared", actor, at)
    return release


@transaction.atomic
def prepare_again(*, release_id: int, order: Order, actor: User, at: datetime) -> PublicRelease:
    """Build it again with other choices, or because permissions, words or names changed; whoever looked looks again.

    The one who does so has prepared it from then on.
    """
    release = _locked(release_id)
    if reason := rules.change_public_refusal(release):
        raise PublicReleaseRefused(reason, code="not_prepared")
    with built(release.version, order, at=at) as files:
        _check_something_goes(files)
        release.stays.all().delete()
        changes = {**_chosen(order), **_outcome(files), "prepared_by": actor, "prepared_at": at}
        for name, value in changes.items():
            setattr(release, name, value)
        release.save(update_fields=list(changes))
        _store_stays(release, files)
    _log(release, "public_release.prepared", actor, at)
    return release


@transaction.atomic
def ask_to_sign(*, release_id: int, lead: User, actor: User, at: datetime) -> PublicRelease:
    """Ask another lead to read the preview and sign; it is on their Home and among their notifications."""
    release = _locked(release_id)
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
    """A second lead, who has opened the preview, signs what goes out."""
    release = _locked(release_id)
    if reason := rules.sign_refusal(release, actor):
        raise PublicReleaseRefused(reason, code="sign_refused")
    with built(release.version, order_of(release), at=at) as files:
        _check_is_as_prepared(release, files)
    return move_public(release, PublicStep.SIGN, actor=actor, at=at, signed_by=actor, signed_at=at)


@transaction.atomic
def publish_release(*, release_id: int, actor: User, at: datetime) -> PublicRelease:
    """Keep the bytes that were signed, for good. From then on the release can only be withdrawn."""
    release = _locked(release_id)
    if reason := rules.publish_refusal(release):
        raise PublicReleaseRefused(reason, code="publish_refused")
    with built(release.version, order_of(release), at=at) as files:
        _check_is_as_prepared(release, files)
        for number, data in enumerate(parts_of(files.path)):
            PublicPart.objects.create(release=release, number=number, data=data)
    return move_public(release, PublicStep.RELEASE, actor=actor, at=at, released_by=actor, released_at=at)


@transaction.atomic
def withdraw_public_release(*, release_id: int, reason: str, actor: User, at: datetime) -> PublicRelease:
    """Take a release back, in whatever state: nobody downloads it any more. Copies outside stay where they are."""
    release = _locked(release_id)
    if refusal := rules.withdraw_public_refusal(release, reason):
        raise PublicReleaseRefused(refusal, code="withdraw_refused")
    return move_public(
        release,
        PublicStep.WITHDRAW,
        actor=actor,
        at=at,
        withdrawn_by=actor,
        withdrawn_at=at,
        withdrawal_reason=reason.strip(),
    )


@transaction.atomic
def log_public_download(*, release: PublicRelease, actor: User, at: datetime) -> None:
    _log(release, "public_release.downloaded", actor, at)


def _check_something_goes(files: Built) -> None:
    if not files.selection.queries and not files.selection.triples:
        raise PublicReleaseRefused(rules.nothing_goes(files.selection.stays), code="nothing_goes")


def _check_is_as_prepared(release: PublicRelease, files: Built) -> None:
    if files.digest != release.digest:
        raise PublicReleaseRefused(rules.changed_since(release), code="changed_since")


def _chosen(order: Order) -> dict[str, object]:
    return {"title": order.title, "holder": order.holder, "licence": order.licence, "splits": sorted(order.splits)}


def _outcome(files: Built) -> dict[str, object]:
    return {"card": files.card, "report": files.report, "digest": files.digest, "size": files.size}


def _store_stays(release: PublicRelease, files: Built) -> None:
    rows = (
        PublicStay(release=release, kind=stay.kind, name=stay.name, reason=stay.reason, detail=stay.detail[:200])
        for stay in files.selection.stays
    )
    PublicStay.objects.bulk_create(rows, batch_size=BATCH)


def _locked_version(version_id: int) -> Version:
    list(Version.objects.select_for_update(no_key=True).filter(pk=version_id).values_list("pk", flat=True))
    return Version.objects.select_related("gold_set__project", "snapshot__corpus", "guideline").get(pk=version_id)


def _locked(release_id: int) -> PublicRelease:
    list(PublicRelease.objects.select_for_update().filter(pk=release_id).values_list("pk", flat=True))
    related = ("version__gold_set__project", "version__snapshot__corpus", "version__guideline", "prepared_by")
    return PublicRelease.objects.select_related(*related).get(pk=release_id)


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
