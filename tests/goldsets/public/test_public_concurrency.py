"""Two leads, or a lead and a worker, at once on real connections: one release, one outcome."""

import pytest

from apps.goldsets.actions import public
from apps.goldsets.actions.public import publish_release, withdraw_public_release
from apps.goldsets.enums import PublicState
from apps.goldsets.models import PublicRelease
from apps.goldsets.selectors.public import public_release
from apps.jobs.models import Job
from apps.queries.actions.sources import revoke_permission
from apps.queries.enums import PermissionScope
from apps.queries.models import Permission
from tests.factories import AT, lead_of
from tests.goldsets.public.factories import (
    ORDER,
    ask_to_prepare,
    ask_to_sign,
    make_public_release,
    make_publishable,
    make_second_lead,
)
from tests.races import at_once, overlapping, refusals
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db(transaction=True)


def withdraw(release: PublicRelease):
    return withdraw_public_release(release_id=release.pk, reason="No.", actor=release.prepared_by, at=AT)


def test_pressed_at_once_a_release_is_prepared_once():
    version = make_publishable()

    results = at_once(*[lambda: ask_to_prepare(version)] * 3)

    assert {one.pk for one in results} == {PublicRelease.objects.get().pk}
    assert Job.objects.filter(kind="goldsets.prepare_public").count() == 1


@pytest.mark.postgres
def test_a_second_press_that_meets_the_first_finds_its_release():
    version = make_publishable()

    first, second = overlapping(lambda: ask_to_prepare(version), lambda: ask_to_prepare(version))

    assert first == second


@pytest.mark.postgres
def test_of_two_leads_who_sign_at_once_one_signs():
    release = make_public_release(PublicState.PREPARED)
    one = make_second_lead(release.version)
    other = make_second_lead(release.version)

    results = overlapping(lambda: ask_to_sign(release, one), lambda: ask_to_sign(release, other))

    assert len(refusals(results)) == 1
    run_jobs()
    assert public_release(release.pk).signed_by == one


@pytest.mark.postgres
def test_a_signature_that_meets_a_withdrawal_is_not_given():
    release = make_public_release(PublicState.PREPARED)
    ask_to_sign(release, make_second_lead(release.version))

    overlapping(lambda: withdraw(release), run_jobs)

    release = public_release(release.pk)
    assert (release.state, release.signed_by) == (PublicState.WITHDRAWN, None)
    assert "withdrawn by now" in release.job.error


@pytest.mark.postgres
def test_a_withdrawal_that_meets_the_end_of_a_preparation_comes_after_it():
    release = ask_to_prepare(make_publishable())

    overlapping(run_jobs, lambda: withdraw(release))

    release = public_release(release.pk)
    assert (release.state, release.parts.count()) == (PublicState.WITHDRAWN, 0)


@pytest.mark.postgres
def test_a_second_preparation_that_meets_a_signature_is_refused():
    release = make_public_release(PublicState.PREPARED)
    second = make_second_lead(release.version)

    def prepare_again():
        return public.prepare_again(release_id=release.pk, order=ORDER, actor=release.prepared_by, at=AT)

    results = overlapping(lambda: ask_to_sign(release, second), prepare_again)

    assert refusals(results) == [
        "Karat is checking whether what goes out is still what was prepared. Wait until it is done."
    ]


def about_to_go_out() -> tuple[PublicRelease, Permission]:
    """A release whose job is queued, and the one permission that it rests on."""
    release = make_public_release(PublicState.SIGNED)
    revoke(Permission.objects.get(scope=PermissionScope.INTERNAL))
    publish_release(release_id=release.pk, actor=release.prepared_by, at=AT)
    return release, Permission.objects.get(revoked_at=None)


def revoke(permission: Permission):
    lead = lead_of(permission.source.project)
    return revoke_permission(permission_id=permission.pk, reason="Contract ended.", actor=lead, at=AT)


@pytest.mark.postgres
def test_what_is_let_out_while_a_permission_is_revoked_stays_in():
    release, permission = about_to_go_out()

    overlapping(lambda: revoke(permission), run_jobs)

    release = public_release(release.pk)
    assert (release.state, release.released_at) == (PublicState.SIGNED, None)
    assert "What would go out has changed since it was prepared: a permission" in release.job.error


@pytest.mark.postgres
def test_a_revocation_that_meets_a_public_release_says_that_it_is_out():
    release, permission = about_to_go_out()

    _, revoked = overlapping(run_jobs, lambda: revoke(permission))

    assert public_release(release.pk).state == PublicState.RELEASED
    assert "the public release of Handbook v1: marked, for you to withdraw" in revoked.sentence
