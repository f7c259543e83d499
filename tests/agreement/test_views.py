import re

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.agreement.selectors import agreement
from apps.agreement.selectors.breakdowns import overview_of
from apps.judging.actions.rounds import close_round
from tests.agreement.factories import NAMES, make_noisy_round, make_reviewed, make_team
from tests.agreement.tables import as_row, figures_by_row
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import give
from tests.module_rows import rows_of_module

pytestmark = pytest.mark.django_db


@rows_of_module
def team():
    return make_team()


def overview(client, project, **query) -> str:
    answer = client.get(reverse("agreement:overview", args=[project.slug]), query)
    assert answer.status_code == 200
    return answer.content.decode()


def pair_url(project, **query) -> str:
    pair = agreement.grade_agreement(project).pairs[0]
    return reverse("agreement:pair", args=[project.slug, pair.first, pair.second])


def test_empty_page_says_what_is_missing(client):
    project = make_project()
    client.force_login(lead_of(project))

    page = overview(client, project)

    assert "No pair has two grades yet" in page
    assert "No Q&amp;A has two verdicts yet" in page


def test_a_lead_sees_each_pair_by_name_with_interval_and_n(client, team):
    project = team
    client.force_login(lead_of(project))

    page = overview(client, project)

    for name in NAMES:
        assert name in page
    assert "n 24" in page
    assert "24 pairs graded by both" in client.get(pair_url(project)).text
    assert "Jun Hallam" in page
    assert "1 of 8" in page


def test_the_table_of_pairs_shows_each_coefficient_with_its_interval(client, team):
    grades = overview_of(team, list(team.rounds.all()))
    client.force_login(lead_of(team))

    rows = figures_by_row(overview(client, team), "Figures by pair of annotators")

    assert rows == [as_row(*pair) for pair in zip(grades.pairs, grades.pair_alphas, strict=True)]
    assert len(rows) == 3


def test_agreement_is_over_queries_and_few_of_them_are_named_here_and_on_home(client, team):
    alpha = overview_of(team, list(team.rounds.all())).alpha
    client.force_login(lead_of(team))

    home = client.get(reverse("dashboard:home", args=[team.slug])).content.decode()
    for page in (overview(client, team), home):
        assert "The interval comes from 8 queries only; with fewer than 15 it is a rough guide." in page
    assert (alpha.clusters, alpha.method) == (8, "jackknife over clusters")
    assert "95 % intervals over queries" in overview(client, team)
    assert "Krippendorff asks for α of 0.8, and 0.667 for tentative conclusions" in overview(client, team)


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.REVIEWER, Role.VIEWER])
def test_nobody_else_sees_a_name_or_the_matrix(client, team, role):
    project = team
    close_round(round_id=project.rounds.get().pk, actor=lead_of(project), at=AT)
    client.force_login(make_member(project, role, name="Newcomer"))

    page = overview(client, project)

    assert "Person A and Person B" in page
    # Whole words: a form's token is random letters, and three of them are now and then somebody's first name.
    words = set(re.findall(r"\w+", page))
    assert words.isdisjoint(name.split()[0] for name in (*NAMES, "Jun Hallam", "Petra Lomas", "Sef Arden"))
    assert client.get(pair_url(project)).status_code == 403


@pytest.mark.parametrize("roles", [[Role.VIEWER], [Role.REVIEWER], [Role.ANNOTATOR, Role.VIEWER]])
def test_grades_of_an_open_round_are_added_up_for_leads_alone(client, roles):
    project = make_project()
    round_ = make_noisy_round(project, queries=2)
    client.force_login(make_member(project, *roles))
    before = overview(client, project).partition("<main")[2]

    seat = round_.seats.first()
    give(seat, seat.annotator, 0)

    assert "shown once a lead closes it" in before
    assert overview(client, project).partition("<main")[2] == before
    assert client.get(reverse("agreement:overview", args=[project.slug]), {"round": round_.pk}).status_code == 404
    numbers = client.get(reverse("agreement-api:agreement", args=[project.slug])).json()
    assert numbers["pairs_judged_twice"] == 0
    assert numbers["grades"]["value"] is None
    close_round(round_id=round_.pk, actor=lead_of(project), at=AT)
    assert "Person A and Person B" in overview(client, project)


@pytest.mark.parametrize("is_closed", [True, False])
@pytest.mark.parametrize("is_lead", [True, False])
@pytest.mark.parametrize("is_asked", [True, False])
def test_who_may_see_grades_added_up(is_closed, is_lead, is_asked):
    """Of a closed round everybody; of an open one a lead who does not grade there."""
    reason = agreement.grades_refusal(is_closed=is_closed, is_lead=is_lead, is_asked=is_asked)

    assert (reason is None) == (is_closed or (is_lead and not is_asked))


def test_undefined_is_a_sentence(client):
    project = make_project()
    make_reviewed(project, both=2, one=0)
    client.force_login(lead_of(project))

    page = overview(client, project)

    assert "Fleiss&#x27; κ is not defined.</b> Only one category was used" in page or (
        "Fleiss' κ is not defined.</b> Only one category was used" in page
    )


def test_matrix_of_strangers_is_not_there(client, team):
    project, other = team, make_project()
    make_noisy_round(other, queries=2)
    client.force_login(lead_of(project))
    elsewhere = agreement.grade_agreement(other).pairs[0]
    mine = agreement.grade_agreement(project).pairs[0]

    for first, second in ((elsewhere.first, elsewhere.second), (mine.first, elsewhere.second), (mine.first,) * 2):
        assert client.get(reverse("agreement:pair", args=[project.slug, first, second])).status_code == 404


@pytest.mark.parametrize("number", ["x", "0", "-1", "9" * 30, "²", None])  # None: of another project
def test_unknown_rounds_are_not_there(client, number):
    project = make_project()
    client.force_login(lead_of(project))
    number = number or make_noisy_round(make_project(), queries=1).pk

    assert client.get(reverse("agreement:overview", args=[project.slug]), {"round": number}).status_code == 404


@pytest.mark.parametrize("reviewed", [1, 3])
def test_page_costs_the_same_number_of_queries(client, django_assert_num_queries, reviewed):
    project = make_project()
    make_noisy_round(project, queries=reviewed)
    make_reviewed(project, both=reviewed)
    client.force_login(lead_of(project))

    with django_assert_num_queries(14):
        overview(client, project)


def test_api_names_nobody(client, team):
    project = team
    client.force_login(lead_of(project))

    answer = client.get(reverse("agreement-api:agreement", args=[project.slug])).json()

    assert answer["pairs_judged_twice"] == 24
    assert (answer["grades"]["queries"], answer["verdicts"]["queries"]) == (8, None)
    assert answer["grades"]["low"] < answer["grades"]["value"] < answer["grades"]["high"]
    assert not any(name in str(answer) for name in NAMES)
