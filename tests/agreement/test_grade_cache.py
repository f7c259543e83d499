"""Grades of more than a page can wait for: a job reads them, and figures say as of when they are."""

from datetime import date, datetime, timedelta

import numpy as np
import pytest
from django.core.cache import cache, caches
from django.urls import reverse

from apps.accounts.selectors import membership_in
from apps.agreement.actions import have_grades_read
from apps.agreement.core.weeks import columns_from, date_of, mondays, packed, unpacked
from apps.agreement.models import ReadGrades
from apps.agreement.selectors import grade_cache
from apps.agreement.selectors.breakdowns import overview_of
from apps.agreement.selectors.grade_cache import GradesNotRead, columns_in, dated_in
from apps.dashboard.pages import progress
from apps.jobs.models import Job
from apps.judging.actions.rounds import close_round
from apps.judging.models import Round
from tests.agreement.factories import make_noisy_round
from tests.factories import AT, lead_of, make_project
from tests.judging.factories import give, later, people_of
from tests.module_rows import rows_of_module
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db

MONDAY = date(2026, 3, 2)
PAGES = ("overview", "differences", "improve", "items", "people")


@pytest.fixture(autouse=True)
def _empty_cache():
    cache.clear()
    caches["grades"].clear()


@rows_of_module
def judged() -> Round:
    return make_noisy_round(make_project())


@pytest.fixture
def many(judged, monkeypatch) -> Round:
    """A round of more grades than are read at once."""
    monkeypatch.setattr(grade_cache, "MOST_AT_ONCE", 10)
    return judged


def request_grades(round_: Round, at: datetime = AT) -> ReadGrades | None:
    return have_grades_read(project=round_.project, rounds=[round_], actor=lead_of(round_.project), at=at)


def page(client, round_: Round, name: str = "overview") -> str:
    client.force_login(lead_of(round_.project))
    answer = client.get(reverse(f"agreement:{name}", args=[round_.project.slug]))
    assert answer.status_code == 200
    return answer.content.decode()


def api(client, round_: Round, name: str):
    return client.get(reverse(f"agreement-api:{name}", args=[round_.project.slug]))


def grade_again(round_: Round, at: datetime = AT) -> None:
    """One more judgement: somebody thinks again."""
    person = people_of(round_)[0]
    seat = round_.seats.filter(annotator=person).first()
    give(seat, person, (seat.judgements.latest("pk").grade + 2) % 4, at=at)


# Columns


def test_columns_come_back_as_they_were_packed():
    columns = columns_from([(5, 9, 7, 3, "2026-03-04"), (2**40, 9, 8, -1, "2026-03-01")])

    found = unpacked(packed(columns))

    assert found.table.tolist() == [[5, 9, 7, 3], [2**40, 9, 8, -1]]
    assert [date_of(day) for day in found.days.tolist()] == [date(2026, 3, 4), date(2026, 3, 1)]


def test_no_grades_are_columns_too():
    found = unpacked(packed(columns_from([]))).rated([0, 1])

    assert (found.ratings.people, found.ratings.codes.shape) == ((), (0, 0))


def test_of_two_grades_of_a_person_the_last_counts_with_its_day():
    found = columns_from([(1, 1, 7, 0, "2026-03-01"), (1, 1, 7, 3, "2026-03-09")]).rated([0, 1, 2, 3])

    assert (found.ratings.codes.tolist(), date_of(int(found.days[0, 0]))) == ([[3]], date(2026, 3, 9))


def test_every_day_of_a_week_has_the_same_monday():
    days = np.array([(MONDAY - date_of(0)).days + more for more in range(-7, 14)], dtype=np.int32)

    found = [date_of(day) for day in mondays(days).tolist()]

    assert found == [MONDAY + timedelta(days=7 * week) for week in (-1, 0, 1) for _ in range(7)]


# Few and many


def test_few_grades_are_read_at_once(client, judged):
    html = page(client, judged)

    assert "24 pairs" in html
    assert "Grades as they stood" not in html
    assert not ReadGrades.objects.exists()


@pytest.mark.parametrize("name", PAGES)
def test_while_many_are_read_each_page_shows_how_far_that_is(client, many, name):
    html = page(client, many, name)

    assert "Loading the grades" in html
    assert f'id="job-{Job.objects.get().pk}"' in html


@pytest.mark.parametrize("name", PAGES)
def test_once_they_are_read_the_pages_say_as_of_when(client, many, name):
    page(client, many, name)
    assert [job.state for job in run_jobs()] == ["done"]

    html = page(client, many, name)

    assert "Grades as they stood on" in html
    assert "Newer grades are loading" not in html


def test_figures_are_those_of_grades_read_at_once(judged, monkeypatch):
    at_once = overview_of(judged.project, [judged])
    monkeypatch.setattr(grade_cache, "MOST_AT_ONCE", 10)
    cache.clear()
    caches["grades"].clear()
    request_grades(judged)
    run_jobs()

    assert overview_of(judged.project, [judged]) == at_once


def test_before_they_are_read_there_are_no_figures(many):
    with pytest.raises(GradesNotRead):
        dated_in(many.project, [many])


def test_simultaneous_visitors_queue_one_job(client, many):
    page(client, many)
    page(client, many, "differences")

    assert Job.objects.count() == 1


def test_a_newer_grade_is_read_when_somebody_looks_a_while_later(many):
    request_grades(many)
    run_jobs()
    grade_again(many)

    soon, late = request_grades(many, later(1)), request_grades(many, later(3))

    assert (soon.is_waiting, late.is_waiting) == (False, True)


def test_figures_stay_until_the_newer_grades_are_read(client, many):
    request_grades(many)
    run_jobs()
    before = overview_of(many.project, [many])
    grade_again(many)

    html = page(client, many)  # years after AT

    assert "Newer grades are loading" in html
    assert overview_of(many.project, [many]) == before
    run_jobs()
    assert overview_of(many.project, [many]) != before


def test_closed_rounds_are_read_once(many):
    other = make_noisy_round(many.project, seed=2)
    close_round(round_id=many.pk, actor=lead_of(many.project), at=AT)
    many.refresh_from_db()
    request_grades(many, later(1))
    run_jobs()
    grade_again(other)

    assert not request_grades(many, later(60)).is_waiting


def test_a_failed_reading_is_tried_again_at_a_later_look(many):
    row = request_grades(many)
    Job.objects.filter(pk=row.job_id).update(state="failed", finished_at=AT)

    assert request_grades(many, later(1)).job_id == row.job_id
    assert request_grades(many, later(3)).job_id != row.job_id


def test_grades_that_arrive_while_the_job_reads_make_it_run_again(many, monkeypatch):
    def read_meanwhile(project, rounds):
        found = columns_in(project, rounds)
        grade_again(many)
        return found

    monkeypatch.setattr("apps.agreement.actions.columns_in", read_meanwhile)
    request_grades(many)
    run_jobs()

    assert request_grades(many, later(3)).is_waiting


# Who sees what


def test_what_was_read_of_an_open_round_is_not_for_its_annotators(client, many):
    request_grades(many)
    run_jobs()
    client.force_login(people_of(many)[0])

    html = client.get(reverse("agreement:overview", args=[many.project.slug])).content.decode()

    assert "No closed round has pairs with two grades" in html
    assert "24 pairs" not in html


# Elsewhere


def test_the_api_says_that_grades_are_being_read(client, many):
    client.force_login(lead_of(many.project))

    found = [api(client, many, name) for name in ("agreement", "pairs", "differences")]

    assert {(answer.status_code, answer.json()["code"]) for answer in found} == {(503, "grades_not_read")}
    run_jobs()
    assert api(client, many, "agreement").json()["pairs_judged_twice"] == 24


def test_home_shows_agreement_of_annotators_once_their_grades_are_read(many):
    lead = membership_in(lead_of(many.project), many.project.slug)

    def shown():
        return [progress.WHO[name] for people, name, _ in progress.coefficients(lead, [many]) if not people]

    assert shown() == ["Reviewers"]
    run_jobs()
    assert shown() == ["All annotators", "Reviewers"]
