"""The states of a public release as a product, and what holds them below the application."""

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from apps.audit.models import Event
from apps.common.errors import IllegalStep
from apps.goldsets.actions.public import (
    PublicReleaseRefused,
    ask_to_sign,
    log_public_look,
    sign_public_release,
    withdraw_public_release,
)
from apps.goldsets.enums import PublicState, PublicStep, VersionState
from apps.goldsets.models import PublicRelease
from apps.goldsets.selectors.public import public_release
from apps.goldsets.workflow import move_public
from apps.jobs.models import Notification
from tests.factories import AT
from tests.goldsets.factories import make_bench, make_version
from tests.goldsets.public.factories import (
    done,
    make_public_release,
    make_publishable,
    make_second_lead,
    prepare,
)

pytestmark = pytest.mark.django_db


LEGAL = {
    (PublicState.PREPARING, PublicStep.BUILD): PublicState.PREPARED,
    (PublicState.PREPARING, PublicStep.FAIL): PublicState.FAILED,
    (PublicState.PREPARING, PublicStep.WITHDRAW): PublicState.WITHDRAWN,
    (PublicState.FAILED, PublicStep.PREPARE): PublicState.PREPARING,
    (PublicState.FAILED, PublicStep.WITHDRAW): PublicState.WITHDRAWN,
    (PublicState.PREPARED, PublicStep.PREPARE): PublicState.PREPARING,
    (PublicState.PREPARED, PublicStep.SIGN): PublicState.SIGNED,
    (PublicState.SIGNED, PublicStep.RELEASE): PublicState.RELEASED,
    (PublicState.PREPARED, PublicStep.WITHDRAW): PublicState.WITHDRAWN,
    (PublicState.SIGNED, PublicStep.WITHDRAW): PublicState.WITHDRAWN,
    (PublicState.RELEASED, PublicStep.WITHDRAW): PublicState.WITHDRAWN,
}


def changes(step: PublicStep, release: PublicRelease) -> dict:
    if step == PublicStep.BUILD:
        if release.is_preparing:
            release.parts.create(number=0, data=b"zip")
        return {"digest": "0" * 64}
    if step in {PublicStep.PREPARE, PublicStep.FAIL}:
        return {}
    if step == PublicStep.SIGN:
        return {"signed_by": make_second_lead(release.version), "signed_at": AT}
    if step == PublicStep.RELEASE:
        return {"released_by": release.prepared_by, "released_at": AT}
    return {"withdrawn_by": release.prepared_by, "withdrawn_at": AT}


@pytest.mark.parametrize("state", PublicState)
def test_every_state_by_every_step(state, version):
    pk = make_public_release(state, version).pk

    for step in PublicStep:
        before = transaction.savepoint()
        release = public_release(pk)
        if (state, step) in LEGAL:
            moved = move_public(release, step, actor=release.prepared_by, at=AT, **changes(step, release))
            assert moved.state == LEGAL[state, step]
        else:
            with pytest.raises(IllegalStep, match=f"is {PublicState(state).label}: “{step}” is no step"):
                move_public(release, step, actor=release.prepared_by, at=AT, **changes(step, release))
        transaction.savepoint_rollback(before)


@pytest.mark.parametrize(
    ("state", "asker", "opened", "reason"),
    [
        (PublicState.PREPARED, "preparer", True, "You prepared it, so somebody else has to sign"),
        (PublicState.PREPARED, "second", False, "Open the preview first"),
        (PublicState.PREPARED, "second", True, None),
        (PublicState.PREPARING, "second", True, "Karat is preparing this public release"),
        (PublicState.FAILED, "second", True, "This public release is not prepared"),
        (PublicState.SIGNED, "second", True, "This public release is signed"),
        (PublicState.RELEASED, "second", True, "This public release is released"),
        (PublicState.WITHDRAWN, "second", True, "This public release is withdrawn"),
    ],
)
def test_who_signs_is_another_lead_who_has_opened_the_preview(state, asker, opened, reason, version):
    release = make_public_release(state, version)
    person = release.prepared_by if asker == "preparer" else make_second_lead(release.version)
    if opened:
        log_public_look(release=release, actor=person, at=AT)

    if reason is None:
        assert done(sign_public_release(release_id=release.pk, actor=person, at=AT)).signed_by == person
    else:
        with pytest.raises(PublicReleaseRefused, match=reason):
            sign_public_release(release_id=release.pk, actor=person, at=AT)


def test_the_database_refuses_a_signature_by_the_preparer(version):
    release = make_public_release(PublicState.PREPARED, version)

    with pytest.raises(IntegrityError), transaction.atomic():
        PublicRelease.objects.filter(pk=release.pk).update(
            state=PublicState.SIGNED, signed_by=release.prepared_by, signed_at=AT
        )


def refused(statement: str, *values) -> None:
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, values)


@pytest.mark.parametrize("state", [PublicState.SIGNED, PublicState.RELEASED, PublicState.WITHDRAWN])
def test_what_was_signed_never_changes_by_any_client(state, version):
    pk = make_public_release(state, version).pk

    refused("UPDATE goldsets_publicrelease SET digest = %s WHERE id = %s", "0" * 64, pk)
    refused("UPDATE goldsets_publicrelease SET title = 'Other' WHERE id = %s", pk)
    refused("UPDATE goldsets_publicrelease SET state = 'prepared' WHERE id = %s", pk)
    refused("DELETE FROM goldsets_publicrelease WHERE id = %s", pk)
    refused(
        "INSERT INTO goldsets_publicstay (release_id, kind, name, reason, detail)"
        " VALUES (%s, 'queries', 'Q', 'internal', '')",
        pk,
    )
    refused("DELETE FROM goldsets_publiclook WHERE release_id = %s", pk)


def test_the_bytes_of_a_release_never_change_and_are_not_added_to(version):
    release = make_public_release(PublicState.RELEASED, version)

    refused("UPDATE goldsets_publicpart SET number = 7 WHERE release_id = %s", release.pk)
    refused("DELETE FROM goldsets_publicpart WHERE release_id = %s", release.pk)
    with pytest.raises(DatabaseError), transaction.atomic():
        release.parts.create(number=99, data=b"more")


def test_an_unreleased_version_cannot_go_out():
    version = make_publishable(state=VersionState.FROZEN)

    with pytest.raises(PublicReleaseRefused, match=r"v1 is frozen. Release it inside first"):
        prepare(version)


def test_passages_go_out_only_when_somebody_says_so():
    version = make_version(VersionState.RELEASED, make_bench())

    with pytest.raises(PublicReleaseRefused, match=r"Nobody has said that the texts of .* may be published"):
        prepare(version)


def test_a_version_has_one_live_public_release(version):
    release = make_public_release(PublicState.PREPARED, version)

    with pytest.raises(PublicReleaseRefused, match="v1 has a public release already"):
        prepare(release.version)
    withdraw_public_release(release_id=release.pk, reason="Again.", actor=release.prepared_by, at=AT)
    assert prepare(release.version).state == PublicState.PREPARED


def test_asking_a_lead_notifies_them_and_asking_the_preparer_is_refused(version):
    release = make_public_release(PublicState.PREPARED, version)
    second = make_second_lead(release.version)
    ask_to_sign(release_id=release.pk, lead=second, actor=release.prepared_by, at=AT)

    assert Notification.objects.get(person=second).sentence.endswith("public release of Handbook v1.")
    with pytest.raises(PublicReleaseRefused, match="only a lead who did not prepare it can"):
        ask_to_sign(release_id=release.pk, lead=release.prepared_by, actor=second, at=AT)


def test_every_step_is_on_the_record(version):
    make_public_release(PublicState.WITHDRAWN, version)

    steps = Event.objects.filter(action__startswith="public_release.").order_by("pk").values_list("action", flat=True)
    assert list(steps) == [
        f"public_release.{step}" for step in ("preparing", "prepared", "seen", "signed", "released", "withdrawn")
    ]
