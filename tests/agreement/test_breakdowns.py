"""Where people agree, what to tighten, and the pairs behind a figure: figures, and who may see them."""

import pytest
from django.core.cache import cache, caches
from django.urls import reverse

from apps.accounts.enums import Role
from apps.accounts.selectors import membership_in
from apps.agreement.core.weeks import monday_of
from apps.agreement.selectors import agreement
from apps.agreement.selectors.breakdowns import overview_of, parts_in, tight_spots
from apps.agreement.selectors.differing_pairs import Which, differences
from apps.judging.actions.rounds import close_round
from apps.judging.enums import ErrorType
from apps.judging.models import Round
from apps.metrics.agreement.grouped_alpha import places_for
from apps.queries.models import Query
from apps.retrieval.models import PoolEntry
from tests.agreement.factories import NAMES, make_noisy_round
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import decide, judge_all, later, make_pool, make_round, people_of
from tests.module_rows import rows_of_module

pytestmark = pytest.mark.django_db

NEXT_WEEK = later(8 * 24 * 60)


@rows_of_module
def split_round() -> Round:
    """Two judges of four queries: alike but for the second query, where one says 1 and the other 2 to everything."""
    round_ = make_round(queries=4, blocks=4, overlap=1.0)
    one, two = people_of(round_)
    queries = sorted({seat.query_id for seat in round_.seats.all()})

    def grade_of(step: int):
        return lambda seat: 1 + step if seat.query_id == queries[1] else 3 * (seat.entry_id % 2)

    judge_all(round_, one, grade_of(0))
    judge_all(round_, two, grade_of(1), at=NEXT_WEEK)
    return round_


def page(client, project, name: str, status: int = 200, **query) -> str:
    answer = client.get(reverse(f"agreement:{name}", args=[project.slug]), query)
    assert answer.status_code == status
    return answer.content.decode()


def second_query(project) -> Query:
    return Query.objects.filter(project=project).order_by("outside_id")[1]


# Figures


def test_queries_that_cost_most_come_first(split_round):
    project = split_round.project

    found = parts_in(project, list(project.rounds.all()), "query")

    worst = found.shown[0]
    assert (found.total, worst.label.key, worst.n, worst.differing) == (4, second_query(project).pk, 4, (4, 4))


def test_weeks_are_those_of_the_last_grade_of_a_pair(split_round):
    project = split_round.project

    found = parts_in(project, list(project.rounds.all()), "week")

    assert [(part.label.name, part.n) for part in found.shown] == [(f"{monday_of(NEXT_WEEK.date()):%Y-%m-%d}", 16)]


@pytest.mark.parametrize(("costs", "places"), [([], 3), ([0.2, 0.01], 3), ([0.012], 3), ([0.0004, 0.0001], 5)])
def test_what_a_query_costs_has_two_figures_however_little_it_is(costs, places):
    assert places_for(costs) == places


def test_weeks_are_labelled_under_the_chart_as_short_dates(split_round, client):
    project = split_round.project
    client.force_login(lead_of(project))

    monday = monday_of(NEXT_WEEK.date())
    html = page(client, project, "differences", by="week")

    assert f">{monday.day} {monday:%b}</text>" in html
    assert f">{monday:%Y-%m-%d}</text>" not in html


@pytest.mark.parametrize(("by", "value"), [("domain", "billing"), ("difficulty", "hard"), ("query_type", "how-to")])
def test_strata_come_from_the_queries(split_round, by, value):
    project = split_round.project
    query = second_query(project)
    Query.objects.filter(pk=query.pk).update(**{by: value})

    found = parts_in(project, list(project.rounds.all()), by)

    assert [(part.label.name, part.n) for part in found.shown] == [("none named", 12), (value, 4)]


def test_what_to_tighten_names_boundary_and_query(split_round):
    project = split_round.project

    found = tight_spots(project, list(project.rounds.all()))

    worst = found.queries[0]
    assert (found.worst.below, found.worst.above, found.worst.share) == (1, 2, 1.0)
    assert [row.query for row in found.queries] == [second_query(project)]
    assert worst.change.value > 0
    assert (worst.worst.below, worst.worst.above) == (1, 2)


def test_queries_of_equal_cost_are_sorted_by_decisions_that_call_the_guideline_unclear():
    round_ = make_alike_round()
    one, two = [row.query for row in tight_spots(round_.project, [round_]).queries]
    decide_first(round_, one, ErrorType.SLIP)
    decide_first(round_, two, ErrorType.UNCLEAR_GUIDELINE)

    found = tight_spots(round_.project, [round_])

    assert [row.query for row in found.queries] == [two, one]
    assert [row.unclear for row in found.queries] == [(1, 1), (0, 1)]
    assert found.rulings.all == (1, 2)
    assert found.rulings.by_boundary == {2: (1, 2)}


def make_alike_round() -> Round:
    """Two judges of four queries, who differ on one pair of two queries: there one says 1 and the other 2."""
    round_ = make_round(queries=4, blocks=4, overlap=1.0)
    one, two = people_of(round_)
    queries = sorted({seat.query_id for seat in round_.seats.all()})
    apart = {round_.pool.entries.filter(query=query).order_by("pk").first().pk for query in queries[:2]}

    def grade_of(step: int):
        return lambda seat: 1 + step if seat.entry_id in apart else 3 * (seat.entry_id % 2)

    judge_all(round_, one, grade_of(0))
    judge_all(round_, two, grade_of(1))
    return round_


def decide_first(round_: Round, query: Query, why: str) -> None:
    decide(round_, round_.pool.entries.filter(query=query).order_by("pk").first(), error_type=why)


def test_figures_are_cached_until_the_next_grade():
    round_ = make_round(queries=2, overlap=1.0)
    one, two = people_of(round_)
    judge_all(round_, one, lambda seat: 3)
    before = overview_of(round_.project, [round_])

    judge_all(round_, two, lambda seat: 0)

    assert (before.shared, overview_of(round_.project, [round_]).shared) == (0, 8)


# Pages


@pytest.mark.parametrize("by", ["boundary", "query", "week", "source", "query_type", "difficulty", "domain"])
def test_every_way_has_a_page_with_intervals_and_n(split_round, client, by):
    project = split_round.project
    client.force_login(lead_of(project))

    found = page(client, project, "differences", by=by)

    assert "16 pairs graded by two people or more" in found
    assert "<svg" in found
    assert "overall α: 0." in found


@rows_of_module
def project():
    return make_project()


def test_an_uninformative_interval_is_described_in_words(project, client):
    make_noisy_round(project, queries=4)
    client.force_login(lead_of(project))
    few = parts_in(project, list(project.rounds.all()), "query").shown[0]

    html = page(client, project, "differences", by="query")

    assert few.alpha.is_defined
    assert not few.alpha.is_informative
    assert "interval too wide" in html
    assert "<td>too little to tell</td>" in html
    assert f"{few.alpha.interval[0]:.2f} to 1.00".replace("-", "−") not in html


def test_an_unknown_way_is_not_there(project, client):
    client.force_login(lead_of(project))

    page(client, project, "differences", 404, by="shoe_size")


@pytest.mark.parametrize("name", ["differences", "improve", "items", "people"])
def test_without_grades_a_page_says_so(project, client, name):
    client.force_login(lead_of(project))

    found = page(client, project, name)

    assert "No pair has two grades yet" in found or "No such pair" in found


def test_the_page_to_improve_the_guideline_quotes_and_links_it(split_round, client):
    project = split_round.project
    client.force_login(lead_of(project))

    found = page(client, project, "improve")

    assert "People differ most between 1 and 2" in found
    assert "What related means." in found
    assert f"{reverse('judging:guideline-new', args=[project.slug])}#id_definition_2" in found
    assert second_query(project).outside_id in found


def test_the_page_to_improve_the_guideline_says_which_signal_applies(client):
    round_ = make_alike_round()
    client.force_login(lead_of(round_.project))
    silent = page(client, round_.project, "improve")
    worst = tight_spots(round_.project, [round_]).queries[1].query

    decide_first(round_, worst, ErrorType.UNCLEAR_GUIDELINE)

    assert "No decision calls the guideline unclear either." in silent
    found = page(client, round_.project, "improve")
    said = "But in 1 of 1 a lead called the guideline unclear, most often between 1 and 2, 1 of 1."
    assert said in found


def test_where_nobody_differs_there_is_nothing_to_tighten(client):
    round_ = make_round(queries=2, overlap=1.0)
    for person in people_of(round_):
        judge_all(round_, person, lambda seat: 3 * (seat.entry_id % 2))
    client.force_login(lead_of(round_.project))

    assert "Nobody differs" in page(client, round_.project, "improve")


# The pairs behind a figure


def test_a_cell_of_the_matrix_opens_its_pairs(split_round, client):
    project = split_round.project
    one, two = people_of(split_round)
    client.force_login(lead_of(project))
    matrix = client.get(reverse("agreement:pair", args=[project.slug, one.pk, two.pk])).content.decode()
    link = f"?first={one.pk}&amp;row=1&amp;second={two.pk}&amp;column=2"

    found = page(client, project, "items", first=one.pk, row=1, second=two.pk, column=2)

    assert link in matrix
    assert "<h1>4 pairs</h1>" in found
    assert found.count(second_query(project).outside_id) == 4
    assert "Judge 0 gave 1; Judge 1 gave 2" in found


def test_a_boundary_opens_the_pairs_astride_it(split_round):
    project = split_round.project
    lead = membership_in(lead_of(project), project.slug)

    astride = [differences(lead, [split_round], Which(boundary=grade)).total for grade in (1, 2, 3)]

    assert astride == [0, 4, 0]


def test_decisions_are_shown_with_their_pair(split_round):
    project = split_round.project
    lead = lead_of(project)
    which = Which(query=second_query(project).pk)
    entry = split_round.pool.entries.filter(query=which.query).first()
    decide(split_round, entry)

    found = differences(membership_in(lead, project.slug), [split_round], which)

    decided = [row.decision.grade for row in found.shown if row.decision]
    assert (found.total, decided) == (4, [2])


def test_people_of_other_projects_are_not_named(split_round, client):
    project, stranger = split_round.project, make_member(make_project(), Role.ANNOTATOR, name="Elsewhere")
    client.force_login(lead_of(project))

    page(client, project, "items", 404, first=stranger.pk)
    page(client, project, "items", 404, query=0)
    page(client, project, "items", 404, row="x")


# Who sees what


def test_a_lead_who_grades_in_an_open_round_sees_nothing_of_it(project, client):
    chief = make_member(project, Role.LEAD, Role.ANNOTATOR, name="Chief")
    other = make_member(project, Role.ANNOTATOR, name="Other")
    third = make_member(project, Role.ANNOTATOR, name="Third")
    round_ = make_round(project, queries=2, annotators=[chief, other, third], overlap=1.0, judges=2)
    judge_all(round_, other, lambda seat: 3)
    judge_all(round_, third, lambda seat: 0)
    client.force_login(chief)

    before = page(client, project, "overview")
    pair = reverse("agreement:pair", args=[project.slug, other.pk, third.pk])

    assert "No closed round has pairs with two grades" in before
    assert client.get(pair).status_code == 404
    assert "<h1>0 pairs</h1>" in page(client, project, "items")
    client.force_login(lead_of(project))
    assert "8 pairs" in page(client, project, "items")


def test_pairs_that_the_reader_may_still_be_given_are_hidden(project):
    chief = make_member(project, Role.LEAD, Role.ANNOTATOR, name="Chief")
    pool = make_pool(project, queries=2)
    first = make_noisy_round(project, pool=pool, share=1.0)
    close_round(round_id=first.pk, actor=lead_of(project), at=AT)
    make_round(project, pool=pool, annotators=[chief], overlap=0.0, judge_again=True)

    found = differences(membership_in(chief, project.slug), [first], Which())

    assert (found.shown, found.total, found.hidden) == ([], 0, PoolEntry.objects.filter(pool=pool).count())


def test_annotators_see_closed_rounds_without_names(project, client):
    round_ = make_noisy_round(project, queries=2)
    client.force_login(make_member(project, Role.ANNOTATOR, name="Newcomer"))

    before = page(client, project, "differences", by="query")
    close_round(round_id=round_.pk, actor=lead_of(project), at=AT)
    after = page(client, project, "differences", by="query")

    assert "No closed round has pairs with two grades" in before
    assert "α, ordinal" in after
    assert not any(name in after for name in NAMES)
    assert reverse("agreement:items", args=[project.slug]) not in after


def test_a_round_is_looked_at_alone(project, client):
    first, second = make_noisy_round(project, queries=2), make_noisy_round(project, queries=3, seed=2)
    client.force_login(lead_of(project))

    for round_ in (first, second):
        shared = agreement.fresh_ratings(project, [round_]).shared
        assert f"{shared} pairs graded by two people or more" in page(client, project, "differences", round=round_.pk)
    page(client, project, "differences", 404, round=0)


# What a process keeps


def test_a_cached_figure_equals_what_another_process_computes(split_round):
    project = split_round.project
    rounds = list(project.rounds.all())

    def computed():
        strata = {by: parts_in(project, rounds, by) for by in ("domain", "source", "difficulty", "query", "week")}
        return overview_of(project, rounds), strata, tight_spots(project, rounds)

    computed()  # keeps
    Query.objects.filter(pk=second_query(project).pk).update(domain="huts", difficulty="hard")
    here = computed()
    cache.clear()
    caches["grades"].clear()

    assert repr(here) == repr(computed())
    assert "huts" in [part.label.name for part in here[1]["domain"].shown]
