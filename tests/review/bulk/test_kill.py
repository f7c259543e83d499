"""Killing the worker in the middle of a bulk step: each Q&A is done once, and given back once."""

import pytest
from django.utils import timezone

from apps.audit.models import Event
from apps.jobs.models import Job
from apps.review.actions.bulk import undo_step
from apps.review.enums import BulkKind
from apps.review.models import BulkItem
from apps.triples.enums import State
from apps.triples.models import Triple
from tests.jobs.workers import wait_until
from tests.review.bulk.walking import begin, chosen
from tests.review.factories import make_accepted, make_in_review
from tests.triples.factories import make_team

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

NUMBER = 40


def has_done(job, state, number):
    assert not Job.objects.get(pk=job.pk).is_ended, "the kill came too late"
    return BulkItem.objects.filter(state=state).count() >= number


def with_two_kills(workers, job, state):
    for kill in (1, 2):
        worker = workers.start()
        wait_until(lambda kill=kill: has_done(job, state, 8 * kill), "a part of the work")
        workers.kill(worker)
    workers.start()
    wait_until(lambda: Job.objects.get(pk=job.pk).is_ended, "the end of the job")
    workers.stop()
    assert Job.objects.get(pk=job.pk).state == "done"


def test_each_is_retired_once_and_given_back_once_after_kills(workers):
    project = make_team()
    triples = [make_accepted(project) for _ in range(NUMBER)]
    step = begin(project, BulkKind.RETIRE, chosen(triples), at=timezone.now())

    with_two_kills(workers, step.job, "done")

    keys = sorted(str(triple.pk) for triple in triples)
    told = Event.objects.filter(action="triple.retire").values_list("object_id", flat=True)
    assert sorted(told) == keys
    assert Triple.objects.filter(state=State.RETIRED).count() == NUMBER

    undone = undo_step(project=project, step_id=step.pk, lead=step.begun_by, at=timezone.now())
    with_two_kills(workers, undone.undo_job, "undone")

    told = Event.objects.filter(action="triple.undo_retire").values_list("object_id", flat=True)
    assert sorted(told) == keys
    assert Triple.objects.filter(state=State.ACCEPTED).count() == NUMBER


def test_each_is_assigned_once_after_kills(workers):
    project = make_team(reviewers=4)
    triples = [make_in_review(project) for _ in range(NUMBER)]
    step = begin(project, BulkKind.ASSIGN, chosen(triples), at=timezone.now())

    with_two_kills(workers, step.job, "done")

    assert Event.objects.filter(action="triple.reseat").count() == 2 * NUMBER
    assert Triple.objects.get(pk=triples[0].pk).revision.seats.filter(released_at=None).count() == 2
