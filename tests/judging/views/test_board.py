import pytest
from django.urls import reverse

from apps.accounts.actions import projects
from apps.accounts.enums import Role
from apps.judging.enums import RoundState
from tests.factories import AT, lead_of, make_member, make_project
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
    assert "Decide 6 pairs" in text


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


def test_an_annotator_finds_their_rounds_and_nothing_of_others(client, round_):
    mara, sef = people_of(round_)
    judge_all(round_, sef)
    client.force_login(mara)

    text = client.get(reverse("judging:index", args=[round_.project.slug])).content.decode()

    assert "0 of 6 graded" in text
    assert f'href="{reverse("judging:judge", args=[round_.project.slug, round_.pk])}">Start</a>' in text
    assert "<h2>Rounds</h2>" not in text
    assert sef.name not in text


def test_a_lead_finds_every_round(client, round_, django_assert_num_queries):
    client.force_login(lead_of(round_.project))
    address = reverse("judging:index", args=[round_.project.slug])
    client.get(address)

    with django_assert_num_queries(9):
        client.get(address)
    for _ in range(2):
        make_round(round_.project)
    with django_assert_num_queries(9):
        assert client.get(address).content.decode().count("<tr>") == 4


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER, Role.ANNOTATOR])
def test_everybody_has_a_page_that_says_what_there_is(client, role):
    project = make_project()
    client.force_login(make_member(project, role))

    answer = client.get(reverse("judging:index", args=[project.slug]))

    assert answer.status_code == 200
    assert "Nothing" in answer.content.decode()
