"""Drift on Home: who sees it, from which weeks on, and what it says."""

from copy import deepcopy
from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse

from apps.accounts.actions.projects import set_roles
from apps.accounts.enums import Role
from apps.accounts.selectors import membership_in
from apps.agreement.selectors import grade_cache
from apps.corpus.models import Block, BlockVersion
from apps.dashboard.pages.drift import drift
from apps.judging.actions.rounds import close_round
from apps.judging.actions.seats import claim_seats
from tests.factories import AT, lead_of, make_member
from tests.judging.factories import give, make_round, people_of
from tests.running_jobs import run_jobs

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

WEEK = timedelta(weeks=1)


def judge_over_weeks(*, weeks=5, queries=24, people=2, again=1.0, second_look=lambda week, grade: grade, **more):
    """Everybody grades every pair, a part of them each week; pairs that come back are graded by `second_look`."""
    round_ = make_round(queries=queries, blocks=4, annotators=people, overlap=1.0, again=again, **more)
    for person in people_of(round_):
        given, turn = queries * 4 * (2 if again else 1), 0
        while seats := claim_seats(
            round_=round_, annotator=person, n=8, at=AT + min(weeks - 1, turn * 8 * weeks // given) * WEEK
        ):
            week = min(weeks - 1, turn * 8 * weeks // given)
            for seat in seats:
                grade = seat.entry_id % 4
                give(seat, person, second_look(week, grade) if seat.pass_number > 1 else grade, at=AT + week * WEEK)
            turn += 1
    return round_


@pytest.fixture(scope="module")
def _five_weeks(module_rows):
    return judge_over_weeks()


@pytest.fixture
def round_(db, _five_weeks):
    """Two people's grades of five weeks, with a second look at every pair."""
    return deepcopy(_five_weeks)


def seen_by(person, round_, *, weeks=5, snapshot=None):
    return drift(membership_in(person, round_.project.slug), snapshot, AT + (weeks - 1) * WEEK)


def as_lead(round_, **more):
    return seen_by(lead_of(round_.project), round_, **more)


def names(found):
    return [line.what for line in found.sparks]


def test_five_weeks_of_blind_duplicates_are_drawn_with_their_n(round_):
    found = as_lead(round_)

    assert names(found) == ["Self-consistency", "Mean grade"]
    assert "100\N{NO-BREAK SPACE}%, n " in found.sparks[0].drawing
    assert found.advice == ""
    assert "<details" in found.figures


def test_two_weeks_are_too_few():
    assert as_lead(judge_over_weeks(weeks=2, queries=12), weeks=2) is None


def test_without_duplicates_there_is_no_drift():
    assert as_lead(judge_over_weeks(again=0.0, queries=12)) is None


def test_weeks_long_past_are_not_shown(round_):
    assert as_lead(round_, weeks=30) is None


def test_declining_self_agreement_gives_the_advice_to_talk():
    round_ = judge_over_weeks(weeks=8, second_look=lambda week, grade: grade if week < 4 else (grade + 1) % 4)

    found = as_lead(round_, weeks=8)

    assert found.advice.startswith("People repeat their own grade less often: on 0")


def test_an_annotator_who_is_also_a_viewer_sees_nothing_of_an_open_round(round_):
    person = people_of(round_)[0]
    set_roles(
        project=round_.project, user=person, roles=[Role.ANNOTATOR, Role.VIEWER], actor=lead_of(round_.project), at=AT
    )

    assert seen_by(person, round_) is None
    close_round(round_id=round_.pk, actor=lead_of(round_.project), at=AT + 5 * WEEK)
    assert seen_by(person, round_) is not None


def test_a_lead_who_grades_in_an_open_round_sees_nothing_of_it(round_):
    person = people_of(round_)[0]
    set_roles(
        project=round_.project, user=person, roles=[Role.ANNOTATOR, Role.LEAD], actor=lead_of(round_.project), at=AT
    )

    assert seen_by(person, round_) is None
    assert as_lead(round_) is not None


def test_no_name_is_shown(round_):
    viewer = make_member(round_.project, Role.VIEWER)
    assert seen_by(viewer, round_) is None
    close_round(round_id=round_.pk, actor=lead_of(round_.project), at=AT)
    found = seen_by(viewer, round_)

    whole = found.figures + "".join(line.drawing for line in found.sparks)
    assert not any(person.name in whole for person in people_of(round_))


def test_grades_that_only_a_job_reads_wait_for_it(round_, monkeypatch):
    from apps.agreement.actions import have_grades_read

    monkeypatch.setattr(grade_cache, "MOST_AT_ONCE", 10)
    have_grades_read(project=round_.project, rounds=[round_], actor=lead_of(round_.project), at=AT)

    assert as_lead(round_) is None
    run_jobs()
    assert as_lead(round_) is not None


def change_blocks(snapshot, n, at):
    """New texts for the first `n` blocks, as an import brings them."""
    for block in Block.objects.filter(corpus=snapshot.corpus).select_related("current").order_by("pk")[:n]:
        digest = f"{block.pk:064}"
        block.current = BlockVersion.objects.create(
            block=block, digest=digest, text_digest=digest, text="Another text.", created_at=at
        )
        block.save(update_fields=["current"])


def test_blocks_that_changed_are_counted_from_the_day_on(round_):
    snapshot = round_.pool.snapshot
    change_blocks(snapshot, 2, AT + 2 * WEEK)

    found = as_lead(round_, snapshot=snapshot)

    (blocks,) = found.sparks[2:]
    assert (blocks.what, blocks.of) == ("Passages changed", f"since {snapshot}")
    assert [f"{n} of 4 passages" in blocks.drawing for n in (0, 1, 2)] == [True, False, True]
    assert found.advice == f"2 of 4 passages have changed since {snapshot}: base the next version on a newer snapshot."


@pytest.mark.parametrize("queries", [6, 12])
def test_few_and_many_grades_take_the_same_queries(queries, django_assert_num_queries):
    round_ = judge_over_weeks(queries=queries)
    member = membership_in(lead_of(round_.project), round_.project.slug)
    snapshot = round_.pool.snapshot
    at = AT + 4 * WEEK

    with django_assert_num_queries(9):
        drift(member, snapshot, at)
    with django_assert_num_queries(3):
        drift(member, snapshot, at)


def test_home_shows_it_to_leads_and_not_to_annotators(round_, client, monkeypatch):
    now = datetime.combine((AT + 4 * WEEK).date(), AT.time(), UTC)
    monkeypatch.setattr("apps.dashboard.pages.views.timezone.now", lambda: now)
    url = reverse("dashboard:home", args=[round_.project.slug])

    pages = []
    for person in (lead_of(round_.project), people_of(round_)[0]):
        client.force_login(person)
        pages.append(client.get(url).text)

    assert ["<summary>Drift</summary>" in page for page in pages] == [True, False]
    assert "Self-consistency</b> on blind duplicates" in pages[0]
