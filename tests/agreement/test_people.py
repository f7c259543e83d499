"""Annotators' pages: beside others, decisions and themselves, over weeks; for leads, and for oneself alone."""

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.accounts.selectors import membership_in
from apps.agreement.selectors.people import diagnoses_in, sheet_of
from apps.agreement.selectors.people import people_of as people_in
from apps.judging.actions.rounds import close_round
from apps.judging.actions.seats import claim_seats
from apps.judging.models import Round
from apps.metrics.agreement.ratings import Rate
from apps.review.enums import VerdictChoice
from tests.agreement.factories import make_noisy_round, make_reviewed, review_once
from tests.agreement.tables import as_row, figures_by_row
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import decide, give, judge_all, later, make_pool, make_round, people_of
from tests.module_rows import rows_of_module

pytestmark = pytest.mark.django_db

WEEK = 7 * 24 * 60


def lead_in(project):
    return membership_in(lead_of(project), project.slug)


def person_page(client, project, person, status: int = 200, **query) -> str:
    answer = client.get(reverse("agreement:person", args=[project.slug, person.pk]), query)
    assert answer.status_code == status
    return answer.content.decode()


# Figures


@rows_of_module
def round_() -> Round:
    """Two judges of eight pairs: the first gives 0 and 2 in turn, the second one grade more a week later."""
    round_ = make_round(queries=2, blocks=4, overlap=1.0)
    one, two = people_of(round_)
    judge_all(round_, one, lambda seat: 2 * (seat.entry_id % 2))
    judge_all(round_, two, lambda seat: 2 * (seat.entry_id % 2) + 1, at=later(WEEK))
    return round_


@rows_of_module
def noisy() -> Round:
    """Three judges of 24 pairs who all slip."""
    return make_noisy_round(make_project())


def test_the_person_effect_shows_who_grades_higher(round_):
    found = people_in(lead_in(round_.project), [round_])

    assert [(line.graded, line.shared, line.lean.value) for line in found.lines] == [(8, 8, -1.0), (8, 8, 1.0)]


def test_a_person_is_compared_with_each_other_with_most_shared_pairs_first(noisy):
    person = people_of(noisy)[1]

    found = sheet_of(lead_in(noisy.project), [noisy], person.pk).comparison

    assert (found.graded, found.other_count) == (24, 2)
    assert [(pair.first, pair.n) for pair in found.others] == [(person.pk, 24)] * 2


def test_decisions_are_compared_with_what_the_person_gave(round_):
    for entry in round_.pool.entries.order_by("pk")[:4]:
        decide(round_, entry)
    one, _ = people_of(round_)

    found = people_in(lead_in(round_.project), [round_])

    assert [line.decisions for line in found.lines] == [Rate(2, 4), Rate(0, 4)]
    assert sheet_of(lead_in(round_.project), [round_], one.pk).decisions.percent.value == 0.5


def test_a_decision_that_a_pair_cannot_be_judged_is_not_a_grade(round_):
    decide(round_, round_.pool.entries.first(), grade=None, error_type="unreadable")

    assert people_in(lead_in(round_.project), [round_]).lines[0].decisions == Rate(0, 0)


def test_repeated_pairs_are_shown_with_the_first_grade():
    round_ = make_round(queries=2, blocks=4, annotators=1, overlap=0.0, again=1.0)
    (mara,) = people_of(round_)
    while seats := claim_seats(round_=round_, annotator=mara, n=1, at=AT):
        give(seats[0], mara, 2 if seats[0].pass_number == 1 else 2 + seats[0].entry_id % 2)

    sheet = sheet_of(lead_in(round_.project), [round_], mara.pk)

    assert (sheet.repeats.n, sheet.repeats.percent.value) == (8, 0.5)
    assert sheet.repeats.kappa.value == 0.0


def test_pairs_that_came_back_and_decisions_are_matched_in_memory(round_, client, django_assert_max_num_queries):
    """SelectedRounds up one by one, the first grades took SQLite minutes for 200,000 judgements."""
    client.force_login(lead_of(round_.project))

    with django_assert_max_num_queries(25) as asked:
        client.get(reverse("agreement:people", args=[round_.project.slug]))

    of_grades = [one["sql"] for one in asked if 'FROM "judging_judgement"' in one["sql"]]
    assert of_grades
    assert [sql for sql in of_grades if 'EXISTS(SELECT 1 AS "a" FROM "judging_judgement"' in sql] == []


def test_weeks_show_pace_and_person_effect(round_):
    _, two = people_of(round_)
    seat = round_.seats.filter(annotator=two).first()
    give(seat, two, 3, at=later(2 * WEEK), active_ms=90_000)

    weeks = sheet_of(lead_in(round_.project), [round_], two.pk).comparison.weeks

    assert [week.lean.n for week in weeks] == [7, 1]
    assert [week.pace.value for week in weeks] == [None, 90_000]


def test_a_reviewer_is_compared_on_the_three_questions():
    project = make_project()
    make_reviewed(project, both=2, one=0)
    author = make_member(project, Role.ANNOTATOR, name="Other author")
    review_once(project, author, VerdictChoice.CONFIRM, VerdictChoice.FLAG)
    reviewer = User.objects.get(name="Petra Lomas")

    found = sheet_of(lead_in(project), [], reviewer.pk).questions

    assert [(row.aspect, row.alike) for row in found] == [
        ("question", Rate(3, 3)),
        ("block", Rate(3, 3)),
        ("answer", Rate(2, 3)),
    ]


# Pages


def test_a_lead_reads_every_annotators_page(round_, client):
    project = round_.project
    client.force_login(lead_of(project))
    listing = client.get(reverse("agreement:people", args=[project.slug])).content.decode()

    for person in people_of(round_):
        assert reverse("agreement:person", args=[project.slug, person.pk]) in listing
        found = person_page(client, project, person)
        assert "Compared with others" in found
        assert "Higher or lower, by week" in found
        assert "no pair was repeated for them" in found


def test_the_table_of_others_shows_each_coefficient_with_its_interval(noisy, client):
    project = noisy.project
    person = people_of(noisy)[0]
    comparison = sheet_of(lead_in(project), [noisy], person.pk).comparison
    client.force_login(lead_of(project))

    rows = figures_by_row(person_page(client, project, person), "Compared with each other person")

    assert rows == [as_row(*pair) for pair in zip(comparison.others, comparison.alphas, strict=True)]
    assert len(rows) == 2


def test_a_label_model_is_fitted_when_a_lead_requests_it(client):
    project = make_project()
    round_ = make_noisy_round(project, queries=12, share=0.3)
    people = reverse("agreement:people", args=[project.slug])
    client.force_login(lead_of(project))

    plain = client.get(people).content.decode()
    asked = client.get(people, {"diagnose": 1}).content.decode()

    found = diagnoses_in(project, [round_])
    assert "Likely right" not in plain
    assert "Likely right" in asked
    assert [row.n for row in found.rows] == [36, 36, 36]
    assert all(row.interval[0] <= row.right <= row.interval[1] for row in found.rows)
    client.force_login(people_of(round_)[0])
    assert "Likely right" not in client.get(people, {"diagnose": 1}).content.decode()


def test_a_label_model_without_grades_says_why():
    assert diagnoses_in(make_project(), []).reason


def test_a_person_sees_their_own_page_and_nobody_elses(round_, client):
    project = round_.project
    one, two = people_of(round_)
    close_round(round_id=round_.pk, actor=lead_of(project), at=AT)
    client.force_login(one)

    found = person_page(client, project, one)
    listing = client.get(reverse("agreement:people", args=[project.slug])).content.decode()

    assert "8 pairs graded in closed rounds" in found
    assert "Judge 1" not in found + listing
    assert "Person A" in found
    person_page(client, project, two, 403)


def test_an_open_round_shows_an_annotator_nothing_of_others(client):
    round_ = make_round(queries=2, overlap=1.0)
    project = round_.project
    one, two = people_of(round_)
    judge_all(round_, one, lambda seat: 2)
    client.force_login(one)
    before = person_page(client, project, one).partition("<main")[2]

    judge_all(round_, two, lambda seat: 0)

    assert person_page(client, project, one).partition("<main")[2] == before
    assert "0 pairs graded in closed rounds" in before


def test_a_decision_on_a_pair_still_to_be_graded_is_not_shown():
    project = make_project()
    pool = make_pool(project, queries=1)
    first = make_round(project, pool=pool, overlap=1.0)
    one, two = people_of(first)
    judge_all(first, one, lambda seat: 2)
    judge_all(first, two, lambda seat: 0)
    lead = lead_of(project)
    decide(first, pool.entries.first())
    close_round(round_id=first.pk, actor=lead, at=AT)
    make_round(project, pool=pool, annotators=[one], overlap=0.0, judge_again=True)

    own = sheet_of(membership_in(one, project.slug), [first], one.pk)

    assert (own.comparison.graded, own.decisions.n) == (4, 0)


def test_people_of_other_projects_are_not_there(round_, client):
    project = make_project()
    client.force_login(lead_of(project))

    person_page(client, project, people_of(round_)[0], 404)


@pytest.mark.parametrize("queries", [1, 3])
def test_a_page_costs_the_same_number_of_queries(client, django_assert_num_queries, queries):
    round_ = make_round(queries=queries, overlap=1.0)
    for person in people_of(round_):
        judge_all(round_, person, lambda seat: seat.entry_id % 4)
    client.force_login(lead_of(round_.project))

    with django_assert_num_queries(18):
        person_page(client, round_.project, people_of(round_)[0])
