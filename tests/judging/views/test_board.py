import pytest

from apps.accounts.actions import projects
from apps.judging.enums import RoundState
from tests.factories import AT, lead_of
from tests.judging.factories import judge_all, make_round, people_of
from tests.judging.views.pages import page, url

pytestmark = pytest.mark.django_db


def test_the_round_page_shows_progress_by_person_and_query_but_no_grade(client, split):
    client.force_login(lead_of(split.project))

    answer = page(client, "round", split)

    text = answer.content.decode()
    assert "12 of 12 judgements given" in text
    assert all(person.name in text for person in people_of(split))
    assert 'class="grade"' not in text
    assert "Adjudicate 6 pairs" in text


def test_stuck_seats_are_shown(client):
    round_ = make_round(queries=1, blocks=2, annotators=3, overlap=1.0, judges=3)
    for person in people_of(round_)[:2]:
        judge_all(round_, person)
    projects.set_roles(
        project=round_.project, user=people_of(round_)[2], roles=[], actor=lead_of(round_.project), at=AT
    )
    client.force_login(lead_of(round_.project))

    assert "2 judgements cannot be made" in page(client, "round", round_).content.decode()


def test_a_lead_closes_a_round(client, round_):
    client.force_login(lead_of(round_.project))

    client.post(url("close", round_))

    round_.refresh_from_db()
    assert round_.state == RoundState.CLOSED
    client.force_login(people_of(round_)[0])
    assert "is closed" in page(client, "judge", round_).content.decode()
