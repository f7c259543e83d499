import pytest

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.accounts.selectors import membership_in
from apps.agreement.selectors import agreement
from apps.metrics.agreement.ratings import Rate, pairs_of, ratings_from
from apps.review.enums import VerdictChoice
from tests.agreement.factories import make_noisy_round, make_team
from tests.factories import lead_of, make_member, make_project
from tests.judging.factories import give, judge_all, make_round, people_of
from tests.module_rows import rows_of_module
from tests.review.factories import answer, make_in_review, reviewers_of

pytestmark = pytest.mark.django_db


@rows_of_module
def team():
    """Three annotators grade 24 pairs; of six Q&As, three were confirmed twice, two once, and one not at all."""
    return make_team(both=3, one=2, none=1)


# Ratings, without a database


def test_the_last_grade_of_a_person_for_a_pair_counts():
    ratings = ratings_from([(1, 1, 7, 0), (1, 1, 8, 3), (1, 1, 7, 3)], [0, 1, 2, 3])

    assert ratings.people == (7, 8)
    assert ratings.codes.tolist() == [[3, 3]]


def test_grades_outside_the_scale_are_categories_of_their_own():
    assert ratings_from([(1, 1, 7, 9)], [0, 1]).grades == (0, 1, 9)


def test_no_grade_at_all_is_an_empty_matrix():
    ratings = ratings_from([], [0, 1])

    assert (ratings.people, ratings.shared, pairs_of(ratings)) == ((), 0, [])


def test_people_who_share_nothing_make_no_pair():
    rows = [(1, 1, 7, 0), (2, 1, 8, 0), (3, 1, 9, 1), (3, 1, 7, 1)]

    assert [(pair.first, pair.second, pair.n) for pair in pairs_of(ratings_from(rows, [0, 1]))] == [(7, 9, 1)]


# Grades


def test_every_pair_of_annotators_is_counted_over_the_pairs_they_share(team):
    found = agreement.grade_agreement(team)

    assert [pair.n for pair in found.pairs] == [24, 24, 24]
    assert found.overall.n == found.ratings.shared == 24
    assert 0 < found.overall.value < 1
    low, high = found.overall.interval
    assert low < found.overall.value < high


def test_a_second_thought_replaces_the_first_grade():
    round_ = make_round(queries=1, blocks=2, overlap=1.0)
    one, two = people_of(round_)
    first = judge_all(round_, one, lambda seat: 3)
    judge_all(round_, two, lambda seat: 0)

    give(first[0].seat, one, 0)

    pair = agreement.grade_agreement(round_.project).pairs[0]
    assert (pair.n, pair.percent.value) == (2, 0.5)


def test_cant_judge_is_not_a_grade():
    round_ = make_round(queries=1, blocks=2, overlap=1.0)
    one, two = people_of(round_)
    judge_all(round_, one, lambda seat: 3)
    judge_all(round_, two, lambda seat: None)

    found = agreement.grade_agreement(round_.project)

    assert found.pairs == []
    assert found.overall.reason == "No item was rated by two people."


def test_rounds_can_be_looked_at_one_by_one():
    project = make_project()
    first, second = make_noisy_round(project, queries=2), make_noisy_round(project, queries=4, seed=2)

    assert agreement.grade_agreement(project, [first]).ratings.shared == 6
    assert agreement.grade_agreement(project, [second]).ratings.shared == 12
    assert agreement.grade_agreement(project).ratings.shared == 18


def test_another_project_is_never_counted(team):
    assert agreement.grade_agreement(make_project()).ratings.shared == 0


# Verdicts


def test_verdicts_are_counted_when_both_are_in(team):
    found = agreement.verdict_agreement(team)

    assert found.alike == Rate(4, 6)
    assert found.kappa.n == 6
    assert [row.rate for row in found.received] == [Rate(4, 12)]
    assert sorted(row.rate.n for row in found.given) == [6, 6]
    assert sum(row.rate.hits for row in found.given) == 4


@pytest.mark.parametrize("choice", [VerdictChoice.CONFIRM, VerdictChoice.FLAG])
def test_one_answer_alone_moves_no_figure(team, choice):
    triple = make_in_review(team)
    before = agreement.verdict_agreement(team)

    answer(triple, reviewers_of(triple)[0], choice)

    assert agreement.verdict_agreement(team) == before


def test_no_verdict_at_all_is_a_sentence():
    found = agreement.verdict_agreement(make_project())

    assert found.kappa.reason == "No item was rated by two people."
    assert (found.received, found.given, found.alike.value) == ([], [], None)


# Names


def test_leads_see_names_and_others_letters(team):
    people = [row.person for row in agreement.verdict_agreement(team).given]
    lead = membership_in(lead_of(team), team.slug)
    viewer = membership_in(make_member(team, Role.VIEWER), team.slug)
    reviewer = membership_in(User.objects.get(pk=people[0]), team.slug)

    assert set(agreement.names_for(lead, people).values()) == {"Petra Lomas", "Sef Arden"}
    assert [agreement.names_for(viewer, people)[pk] for pk in sorted(people)] == ["Person A", "Person B"]
    assert agreement.names_for(reviewer, people)[people[0]] == "You"


def test_letters_go_on_after_z():
    viewer = membership_in(make_member(project := make_project(), Role.VIEWER), project.slug)

    names = agreement.names_for(viewer, range(1_000_000, 1_000_028))

    assert [names[pk] for pk in (1_000_000, 1_000_025, 1_000_026, 1_000_027)] == [
        "Person A",
        "Person Z",
        "Person AA",
        "Person AB",
    ]
