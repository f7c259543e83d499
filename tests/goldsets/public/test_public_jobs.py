"""Preparing, signing and releasing are jobs: once each, whatever is killed, pressed twice or changed meanwhile."""

from contextlib import contextmanager
from zipfile import is_zipfile

import pytest
from django.urls import reverse

from apps.accounts.actions.projects import set_roles
from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.corpus.actions.corpora import end_public_texts, redact_version
from apps.goldsets.actions import public
from apps.goldsets.actions.public import (
    PublicReleaseRefused,
    log_public_look,
    sign_public_release,
    withdraw_public_release,
)
from apps.goldsets.enums import PublicState, VersionState
from apps.goldsets.execution import public_jobs, publishing
from apps.goldsets.models import PublicPart, PublicRelease
from apps.goldsets.selectors.public import public_release
from apps.jobs.actions.jobs import retry_job
from apps.jobs.enums import JobState
from apps.jobs.models import Job
from tests.factories import AT
from tests.goldsets.factories import make_version
from tests.goldsets.public.factories import (
    ORDER,
    ask_to_prepare,
    ask_to_sign,
    done,
    make_public_release,
    make_second_lead,
    prepare,
    prepare_again,
    publish,
    revoke_all,
    sign,
)
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db


def is_whole(release: PublicRelease) -> bool:
    """Whether its zip is stored, in however many parts: anything but the bytes with its digest is refused."""
    with publishing.stored_zip(release) as stream:
        return is_zipfile(stream)


def test_preparing_answers_at_once_and_a_worker_builds(version):
    release = ask_to_prepare(version)

    assert (release.state, release.digest, release.parts.count()) == (PublicState.PREPARING, "", 0)
    release = done(release)
    assert (release.state, len(release.digest), is_whole(release)) == (PublicState.PREPARED, 64, True)


def test_preparing_twice_prepares_once_and_other_choices_wait_until_it_is_done(version):
    first, second = ask_to_prepare(version), ask_to_prepare(version)
    third = public.prepare_again(release_id=first.pk, order=ORDER, actor=version.created_by, at=AT)

    assert first == second == third
    assert Job.objects.filter(kind="goldsets.prepare_public").count() == 1
    other = ORDER.__class__("Another title", "", "CC0-1.0", ("dev",))
    with pytest.raises(PublicReleaseRefused, match="Wait until it is done"):
        public.prepare_again(release_id=first.pk, order=other, actor=version.created_by, at=AT)


def test_signing_twice_signs_once(version):
    release = make_public_release(PublicState.PREPARED, version)
    second = make_second_lead(release.version)
    ask_to_sign(release, second)
    ask_to_sign(release, second)

    assert Job.objects.filter(kind="goldsets.sign_public").count() == 1
    assert done(release).signed_by == second


def test_while_a_signature_is_checked_nothing_else_is_done_but_a_withdrawal(version):
    release = make_public_release(PublicState.PREPARED, version)
    ask_to_sign(release, make_second_lead(release.version))

    with pytest.raises(PublicReleaseRefused, match="Karat is checking"):
        public.prepare_again(release_id=release.pk, order=ORDER, actor=release.prepared_by, at=AT)
    withdraw_public_release(release_id=release.pk, reason="No.", actor=release.prepared_by, at=AT)
    release = done(release)
    assert (release.state, release.signed_by) == (PublicState.WITHDRAWN, None)
    assert "withdrawn by now" in release.job.error


class Killed(BaseException):
    """A worker that is killed: no handler of errors runs."""


def test_a_worker_that_is_killed_while_it_stores_leaves_nothing_and_the_next_one_finishes(monkeypatch, version):
    release = ask_to_prepare(version)

    def killed(release, files):
        publishing.keep_files(release, files)
        raise Killed

    monkeypatch.setattr(public_jobs, "keep_files", killed)
    with pytest.raises(Killed):
        run_jobs()
    assert public_release(release.pk).state == PublicState.PREPARING
    assert not release.parts.exists()
    assert not release.stays.exists()

    monkeypatch.undo()
    Job.objects.update(state=JobState.QUEUED, lease_expires_at=None)
    release = done(release)
    assert release.state == PublicState.PREPARED
    assert is_whole(release)


def test_a_failed_preparation_says_why_and_its_job_can_be_retried(version):
    release = make_public_release(PublicState.FAILED, version)

    assert "Nothing would go out." in release.job.error
    retry_job(job_id=release.job_id, actor=release.prepared_by, at=AT)
    assert public_release(release.pk).state == PublicState.PREPARING
    assert done(release).state == PublicState.PREPARED


def test_a_failed_preparation_is_shown_with_its_reason_has_no_preview_and_can_be_prepared_again(client, version):
    release = make_public_release(PublicState.FAILED, version)
    client.force_login(release.prepared_by)
    gold_set = release.version.gold_set
    where = [gold_set.project.slug, gold_set.slug, 1]
    page = client.get(reverse("goldsets:public", args=where)).content.decode()
    preview = client.get(reverse("goldsets:public-preview", args=[*where, "queries", 1]))

    assert preview.status_code == 409
    assert "is not prepared, so it has no files" in preview.content.decode()
    assert "v1 could not be prepared for the public." in page
    assert "Nothing would go out." in page
    assert "Prepare again" in page
    assert prepare_again(release).state == PublicState.PREPARED


def test_what_is_prepared_again_has_to_be_read_again_where_it_changed(version):
    release = make_public_release(PublicState.PREPARED, version)
    second = make_second_lead(release.version)
    log_public_look(release=release, actor=second, at=AT)
    release = prepare_again(release, ORDER.__class__("Another title", "", "CC0-1.0", ("dev",)))
    with pytest.raises(PublicReleaseRefused, match="Open the preview first"):
        sign_public_release(release_id=release.pk, actor=second, at=AT)

    release = prepare_again(release)

    assert done(sign_public_release(release_id=release.pk, actor=second, at=AT)).signed_by == second


def meanwhile(monkeypatch, change) -> None:
    """Make a change after the files are built, and before the job has finished."""
    built = public_jobs.built

    @contextmanager
    def built_and_changed(*args, **kwargs):
        with built(*args, **kwargs) as files:
            change()
            yield files

    monkeypatch.setattr(public_jobs, "built", built_and_changed)


def redact_a_passage(release: PublicRelease) -> None:
    passage = release.version.snapshot.entries.order_by("position").last().version
    redact_version(version_id=passage.pk, reason="A name.", actor=release.prepared_by, at=AT)


CHANGES = {
    "a permission": lambda bench, release: revoke_all(bench),
    "a name": lambda bench, release: User.objects.filter(pk=bench.lead.pk).update(name="Somebody Else"),
    "a text": lambda bench, release: redact_a_passage(release),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_changes_while_the_files_are_built_again_is_not_signed(what, monkeypatch, bench, version):
    release = prepare(version)
    second = make_second_lead(release.version)
    release = prepare_again(release)
    meanwhile(monkeypatch, lambda: CHANGES[what](bench, release))
    release = sign(release, second)

    assert release.state == PublicState.PREPARED
    assert "has changed since it was prepared" in release.job.error


def test_a_release_is_refused_once_a_permission_has_changed_what_goes_out(bench, version):
    release = make_public_release(PublicState.SIGNED, version)
    revoke_all(bench)
    release = publish(release)

    assert (release.state, release.released_at) == (PublicState.SIGNED, None)
    assert "withdraw it and prepare another" in release.job.error


def test_somebody_who_is_no_lead_any_more_does_not_sign(version):
    release = make_public_release(PublicState.PREPARED, version)
    second = make_second_lead(release.version)
    ask_to_sign(release, second)
    project = release.version.gold_set.project
    set_roles(project=project, user=second, roles=[Role.VIEWER], actor=release.prepared_by, at=AT)
    release = done(release)

    assert release.signed_by is None
    assert "is not a lead of this project any more" in release.job.error


def test_without_a_word_for_the_passages_nothing_is_signed(version):
    release = make_public_release(PublicState.PREPARED, version)
    corpus = release.version.snapshot.corpus
    end_public_texts(corpus_id=corpus.pk, actor=release.prepared_by, at=AT)

    with pytest.raises(PublicReleaseRefused, match="Nobody has said"):
        sign(release, make_second_lead(release.version))


def test_the_files_of_a_withdrawn_release_stay_only_where_it_was_out(bench, version):
    release = make_public_release(PublicState.SIGNED, version)
    withdraw_public_release(release_id=release.pk, reason="No.", actor=release.prepared_by, at=AT)
    assert not PublicPart.objects.exists()

    assert is_whole(make_public_release(PublicState.WITHDRAWN, make_version(VersionState.RELEASED, bench)))
