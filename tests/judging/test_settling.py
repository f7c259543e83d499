"""Settling trivial disagreements by a rule: exactly what was seen, never a mean, never one's own, on the record."""

import pytest
from django.urls import reverse

from apps.accounts.actions import projects
from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.common.errors import Refusal
from apps.judging.actions.adjudication import settle_bulk
from apps.judging.core.resolution import Resolution, ResolutionRule
from apps.judging.models import Adjudication
from apps.judging.selectors.deciding import adjudicable
from apps.judging.selectors.pairs import resolved_grades
from apps.judging.selectors.propagation import mark_of, trivial
from tests.factories import AT, lead_of, make_member
from tests.judging.factories import decide, entries_of, give, judge_all, judge_pairs, make_round, people_of
from tests.module_rows import rows_of_module

pytestmark = pytest.mark.django_db

GRADES = [(0, 1, 2), (1, 2, 3), (0, 1, 3), (2, 2, 3), (1, 2, None)]


@rows_of_module
def round_():
    """Five pairs judged three times: two with a near middle, one apart, one majority, one that somebody can't judge."""
    round_ = make_round(queries=1, blocks=5, annotators=3, overlap=1.0, judges=3)
    judge_pairs(round_, *zip(*GRADES, strict=True))
    return round_


def settle(round_, person=None, rule=ResolutionRule.NEAR_MEDIAN, **more):
    person = person or lead_of(round_.project)
    seen = more.pop("seen", None) or mark_of(trivial(round_, person, rule))
    return settle_bulk(
        round_=round_, rule=rule, adjudicator=person, seen=seen, at=AT, **{"error_type": "ambiguity", **more}
    )


def test_near_grades_get_their_middle_one_and_the_others_stay_open(round_):
    first, second, apart, majority, cant = (entry.pk for entry in entries_of(round_))

    settle(round_)

    found = {pair.entry_id: (pair.grade, pair.resolution) for pair in resolved_grades(round_)}
    assert found == {
        first: (1, Resolution.ADJUDICATED),
        second: (2, Resolution.ADJUDICATED),
        apart: (None, Resolution.UNRESOLVED),
        majority: (2, Resolution.MAJORITY),
        cant: (None, Resolution.UNRESOLVED),
    }
    assert {pair.entry_id for pair in adjudicable(round_, lead_of(round_.project))} == {apart, cant}


def test_each_decision_names_the_rule_and_one_event_records_all(round_):
    decisions = settle(round_, words="Agreed in the team.")

    assert {decision.error_type for decision in decisions} == {"ambiguity"}
    assert all("the middle grade of an odd number" in decision.reason for decision in decisions)
    assert all(decision.reason.endswith("Agreed in the team.") for decision in decisions)
    event = Event.objects.get(action="pairs.settled")
    assert (event.after["rule"], event.after["pairs"]) == ("near-median", 2)


def test_two_judges_one_grade_apart_have_no_middle_but_a_lower_grade():
    round_ = make_round(queries=1, blocks=2, overlap=1.0)
    judge_pairs(round_, (1, 0), (2, 3))

    with pytest.raises(Refusal, match="No open pair"):
        settle(round_)
    settle(round_, rule=ResolutionRule.LOWER)

    assert [pair.grade for pair in resolved_grades(round_)] == [1, None]


@pytest.mark.parametrize(
    ("judges", "grades", "rule"), [(2, (1, 2), ResolutionRule.LOWER), (3, (0, 1, 2), ResolutionRule.NEAR_MEDIAN)]
)
def test_the_page_opens_on_a_rule_that_settles_something(client, judges, grades, rule):
    round_ = make_round(queries=1, blocks=1, annotators=judges, overlap=1.0, judges=judges)
    for grade, person in zip(grades, people_of(round_), strict=True):
        judge_all(round_, person, lambda seat, g=grade: g)
    client.force_login(lead_of(round_.project))

    page = client.get(reverse("judging:settle", args=[round_.project.slug, round_.pk]))

    assert [value for value, _, _, is_chosen, _ in page.context["rules"] if is_chosen] == [rule]
    assert page.context["settled"] == 1


def test_pairs_that_changed_since_they_were_seen_are_not_settled(round_):
    lead = lead_of(round_.project)
    seen = mark_of(trivial(round_, lead, ResolutionRule.NEAR_MEDIAN))
    person = people_of(round_)[2]
    give(round_.seats.get(entry=entries_of(round_)[0], annotator=person), person, 1)

    with pytest.raises(Refusal, match="changed since you looked at them"):
        settle(round_, seen=seen)

    assert not Adjudication.objects.exists()


def test_a_pair_somebody_decided_meanwhile_counts_as_changed(round_):
    lead = lead_of(round_.project)
    seen = mark_of(trivial(round_, lead, ResolutionRule.NEAR_MEDIAN))
    decide(round_, entries_of(round_)[0], grade=0, person=make_member(round_.project, Role.LEAD))

    with pytest.raises(Refusal, match="changed since you looked at them"):
        settle(round_, seen=seen)


def test_a_lead_does_not_settle_pairs_they_judged(round_):
    judge = people_of(round_)[0]
    projects.set_roles(
        project=round_.project, user=judge, roles=[Role.LEAD, Role.ANNOTATOR], actor=lead_of(round_.project), at=AT
    )

    with pytest.raises(Refusal, match="No open pair"):
        settle(round_, judge)


@pytest.mark.parametrize(
    ("wrong", "code"),
    [({"rule": ResolutionRule.MAJORITY}, "rule_unknown"), ({"error_type": "not_recorded"}, "error_type_missing")],
)
def test_settling_needs_a_rule_and_an_error_type(round_, wrong, code):
    with pytest.raises(Refusal) as refusal:
        settle(round_, **{"seen": "x", **wrong})

    assert refusal.value.code == code


def test_a_rule_chosen_with_the_plan_is_the_only_one(client):
    round_ = make_round(queries=1, blocks=1, overlap=1.0, rule=ResolutionRule.LOWER)
    for grade, person in enumerate(people_of(round_)):
        judge_all(round_, person, lambda seat, g=grade: g)
    client.force_login(lead_of(round_.project))

    page = client.get(reverse("judging:settle", args=[round_.project.slug, round_.pk]) + "?rule=near-median")

    assert [rule for rule, *_ in page.context["rules"]] == [ResolutionRule.LOWER]
    with pytest.raises(Refusal, match="planned with another rule"):
        settle(round_)
    settle(round_, rule=ResolutionRule.LOWER)


def test_a_lead_sees_exactly_what_would_happen_before_one_press(round_, client):
    client.force_login(lead_of(round_.project))
    url = reverse("judging:settle", args=[round_.project.slug, round_.pk])

    page = client.get(url)
    assert [row["grade"] for row in page.context["rows"]] == [1, 2]
    assert not Adjudication.objects.exists()
    sent = page.context["form"].initial | {"error_type": "ambiguity"}
    done = client.post(url, sent, follow=True)

    assert "2 pairs are settled by the rule" in done.content.decode()
    assert Adjudication.objects.count() == 2
    assert "No open pair matches this rule" in client.post(url, sent, follow=True).content.decode()


@pytest.mark.parametrize("blocks", [2, 6])
def test_the_preview_runs_as_many_queries_for_few_pairs_as_for_many(blocks, client, django_assert_num_queries):
    round_ = make_round(queries=1, blocks=blocks, annotators=3, overlap=1.0, judges=3)
    for grade, person in enumerate(people_of(round_)):
        judge_all(round_, person, lambda seat, g=grade: g)
    client.force_login(lead_of(round_.project))

    with django_assert_num_queries(9):
        client.get(reverse("judging:settle", args=[round_.project.slug, round_.pk]))
