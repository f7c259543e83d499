"""Periodic tasks: each once in its time, by one of several workers."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.db.models import DateTimeField, ExpressionWrapper, F

from apps.jobs.execution import periodic
from apps.jobs.execution.worker import do_periodic_tasks
from apps.jobs.models import PeriodicTask
from tests.factories import AT
from tests.races import at_once

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture
def registered(monkeypatch) -> Callable[[periodic.Work], None]:
    """Registers one task, “test.tidy”, once an hour; there is no other."""
    periodic._load_all()
    monkeypatch.setattr(periodic, "_kinds", {})
    return lambda work: periodic.periodic_task("test.tidy", every=HOUR)(work) and None


@pytest.fixture
def done(registered) -> list[datetime]:
    times: list[datetime] = []
    registered(times.append)
    return times


def pass_time(by: timedelta) -> None:
    """The database's clock cannot be set; what it wrote is moved instead."""
    PeriodicTask.objects.update(taken_at=ExpressionWrapper(F("taken_at") - by, output_field=DateTimeField()))


def test_a_periodic_task_that_was_never_done_is_due(done):
    assert periodic.due() == ["test.tidy"]
    assert periodic.do("test.tidy", at=AT) is True
    assert done == [AT]


def test_a_periodic_task_rests_until_its_time(done):
    periodic.do("test.tidy", at=AT)

    assert (periodic.due(), periodic.do("test.tidy", at=AT)) == ([], False)
    pass_time(timedelta(minutes=59))
    assert (periodic.due(), periodic.do("test.tidy", at=AT)) == ([], False)
    pass_time(timedelta(minutes=2))
    assert (periodic.due(), periodic.do("test.tidy", at=AT)) == (["test.tidy"], True)
    assert done == [AT, AT]


def test_a_clock_that_was_set_back_does_not_stop_a_periodic_task(done):
    periodic.do("test.tidy", at=AT)
    pass_time(timedelta(days=-400))

    assert periodic.due() == ["test.tidy"]
    assert periodic.do("test.tidy", at=AT) is True
    assert periodic.due() == []


def test_a_periodic_task_that_fails_is_logged_and_done_again_at_its_next_time(registered, caplog):
    def broken(at: datetime) -> None:
        raise RuntimeError("the disk is full")

    registered(broken)

    assert periodic.do("test.tidy", at=AT) is True
    assert "The task test.tidy failed. It is repeated in 1:00:00." in caplog.text
    assert periodic.due() == []
    pass_time(HOUR)
    assert periodic.due() == ["test.tidy"]


def test_a_periodic_task_that_nobody_knows_any_more_is_left_alone(registered):
    PeriodicTask.objects.create(name="test.tidy", taken_at=periodic.NEVER)

    assert (periodic.due(), periodic.do("test.tidy", at=AT)) == ([], False)


def test_looking_for_periodic_tasks_is_one_query(done, django_assert_num_queries):
    with django_assert_num_queries(1):
        periodic.due()


def test_a_worker_does_what_is_due(done):
    do_periodic_tasks()
    do_periodic_tasks()

    assert len(done) == 1


@pytest.mark.django_db(transaction=True)
def test_of_eight_workers_one_does_the_periodic_task(done):
    for _ in range(5):
        taken = at_once(*(lambda: periodic.do("test.tidy", at=AT) for _ in range(8)))
        assert sorted(map(str, taken)) == ["False"] * 7 + ["True"]
        pass_time(HOUR)

    assert len(done) == 5


@pytest.mark.django_db(transaction=True)
def test_of_eight_workers_that_see_a_periodic_task_for_the_first_time_one_does_it(done):
    taken = at_once(*(lambda: periodic.do("test.tidy", at=AT) for _ in range(8)))

    assert sorted(map(str, taken)) == ["False"] * 7 + ["True"]
    assert PeriodicTask.objects.count() == 1
