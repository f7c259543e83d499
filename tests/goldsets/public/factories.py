"""Versions whose sources and passages may be published, and public releases walked by the real actions."""

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.corpus.actions.corpora import allow_public_texts
from apps.goldsets.actions import public
from apps.goldsets.actions.public import (
    log_public_look,
    prepare_public_release,
    publish_release,
    sign_public_release,
    withdraw_public_release,
)
from apps.goldsets.enums import PublicState, VersionState
from apps.goldsets.formats.public.files import Order
from apps.goldsets.models import PublicRelease, Version
from apps.goldsets.selectors.public import public_release
from apps.queries.enums import PermissionScope
from apps.queries.models import Permission
from tests.factories import AT, make_member
from tests.goldsets.factories import Bench, make_bench, make_version, permit
from tests.running_jobs import run_jobs

ORDER = Order("Handbook", "Tarnwick", "CC-BY-4.0", ("dev", "test"))


def make_publishable(bench: Bench | None = None, state: VersionState = VersionState.RELEASED, **inputs) -> Version:
    """A version of which everything may go out."""
    bench = bench or make_bench()
    permit(bench.source, scope=PermissionScope.PUBLIC)
    bench.project.triples.update(source=bench.source)
    allow_texts(bench)
    return make_version(state, bench, **inputs)


def allow_texts(bench: Bench) -> None:
    corpus = bench.snapshot.corpus
    if not corpus.public_texts.filter(ended_at=None).exists():
        allow_public_texts(corpus_id=corpus.pk, owner="Tarnwick", evidence="Handbook, page 1", actor=bench.lead, at=AT)


def make_second_lead(version: Version) -> User:
    return make_member(version.gold_set.project, Role.LEAD, name="Ines Okonjo-Vale")


def done(release: PublicRelease) -> PublicRelease:
    """The release once a worker has done what it waits for."""
    run_jobs()
    return public_release(release.pk)


def ask_to_prepare(version: Version, order: Order = ORDER) -> PublicRelease:
    return prepare_public_release(version_id=version.pk, order=order, actor=version.created_by, at=AT)


def prepare(version: Version, order: Order = ORDER) -> PublicRelease:
    return done(ask_to_prepare(version, order))


def prepare_again(release: PublicRelease, order: Order = ORDER) -> PublicRelease:
    return done(public.prepare_again(release_id=release.pk, order=order, actor=release.prepared_by, at=AT))


def ask_to_sign(release: PublicRelease, signer: User) -> PublicRelease:
    log_public_look(release=release, actor=signer, at=AT)
    return sign_public_release(release_id=release.pk, actor=signer, at=AT)


def sign(release: PublicRelease, signer: User) -> PublicRelease:
    return done(ask_to_sign(release, signer))


def publish(release: PublicRelease) -> PublicRelease:
    return done(publish_release(release_id=release.pk, actor=release.prepared_by, at=AT))


def fail_to_prepare(version: Version) -> PublicRelease:
    """A release that could not be prepared, since all of its sources are internal by the time."""
    release = ask_to_prepare(version)
    Permission.objects.filter(source__project=version.gold_set.project).update(scope=PermissionScope.INTERNAL)
    release = done(release)
    Permission.objects.filter(source__project=version.gold_set.project).update(scope=PermissionScope.PUBLIC)
    return release


def make_public_release(state: PublicState, version: Version | None = None) -> PublicRelease:
    version = version or make_publishable()
    if state == PublicState.PREPARING:
        return ask_to_prepare(version)
    if state == PublicState.FAILED:
        return fail_to_prepare(version)
    release = prepare(version)
    if state == PublicState.PREPARED:
        return release
    release = sign(release, make_second_lead(version))
    if state == PublicState.SIGNED:
        return release
    release = publish(release)
    if state == PublicState.WITHDRAWN:
        return withdraw_public_release(release_id=release.pk, reason="A mistake.", actor=version.created_by, at=AT)
    return release


def revoke_all(bench: Bench) -> None:
    Permission.objects.filter(source=bench.source).update(revoked_at=AT, revoked_by=bench.lead)
