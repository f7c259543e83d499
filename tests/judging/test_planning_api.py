"""Guidelines, the plan of a round, a project's rounds for its leads, and decisions on grades, over the API."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.enums import Role
from apps.judging.core.resolution import ResolutionRule
from apps.judging.models import Adjudication, Guideline, PilotDecision, Round, Seat
from apps.judging.selectors.pairs import live_judgements
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import grade_texts, judge_all, make_guideline, make_pool, make_round, people_of
from tests.judging.same import judged, make_same_pool

pytestmark = pytest.mark.django_db


@pytest.fixture
def ask(client):
    """Asks somebody's endpoint of judging by its name, with a body or without one."""

    def ask(person, project, name, body=None, *ids, **query):
        client.force_login(person)
        address = reverse(f"judging-api:{name}", args=[project.slug, *ids])
        return (
            client.get(address, query) if body is None else client.post(address, body, content_type="application/json")
        )

    return ask


def graded(*grades):
    """A round of one query whose judges all gave these grades to its only passage, one each."""
    round_ = make_round(queries=1, blocks=1, annotators=len(grades), overlap=1.0, judges=len(grades))
    for person, grade in zip(people_of(round_), grades, strict=True):
        judge_all(round_, person, lambda seat, grade=grade: grade)
    return round_


def as_sent(grades):
    return [{**entry, "examples": [{"text": text} for text in entry["examples"]]} for entry in grades]


def test_a_guideline_is_published_read_and_not_published_twice(ask):
    project = make_project()
    body = {"grades": as_sent(grade_texts())[::-1], "markdown": "Take the *lower* grade."}

    made = ask(lead_of(project), project, "guidelines", body)
    again = ask(lead_of(project), project, "guidelines", body)
    read = ask(make_member(project, Role.VIEWER), project, "guidelines")

    assert (made.status_code, made.json()["number"]) == (201, 1)
    assert Guideline.objects.get().grades == grade_texts()
    assert (again.status_code, again.json()["code"]) == (409, "guideline_unchanged")
    assert read.json()["guidelines"][0]["grades"][0]["examples"] == [{"query": "", "text": "Case 0", "why": ""}]


def test_earlier_grades_are_judged_again_or_kept(ask):
    round_ = graded(2)
    project, lead = round_.project, lead_of(round_.project)
    grades = as_sent(grade_texts())
    grades[2]["definition"] = "Something else."
    ask(lead, project, "guidelines", {"grades": grades, "markdown": "Take the *lower* grade."})
    snapshot = round_.pool.snapshot_id

    earlier = ask(lead, project, "earlier", None, 2).json()
    none_of_it = ask(lead, project, "judge-again", {"snapshot": snapshot, "grades": [9]}, 2)
    pool = ask(lead, project, "judge-again", {"snapshot": snapshot, "grades": [2]}, 2)
    kept = ask(lead, project, "keep", {}, 2)

    assert earlier["snapshots"] == [
        {"snapshot": snapshot, "grades": [{"grade": 2, "judgements": 1, "is_touched": True}]}
    ]
    assert none_of_it.status_code == 400
    assert (pool.status_code, pool.json()["pairs"], kept.status_code) == (201, 1, 204)
    after = ask(lead, project, "earlier", None, 2).json()
    assert (after["is_kept"], after["pools"]) == (True, [pool.json()["pool"]])


def test_a_round_is_planned_as_the_page_proposes_but_for_what_is_said(ask):
    project = make_project()
    pool, lead = make_pool(project), lead_of(project)
    people = [make_member(project, Role.ANNOTATOR) for _ in range(2)]
    make_guideline(project)

    offer = ask(lead, project, "offer").json()
    body = {"pool": pool.pk, "annotators": [person.pk for person in people], "overlap": 50, "seed": 4}
    planned = ask(lead, project, "plan", body)

    assert {row["id"] for row in offer["annotators"]} >= {person.pk for person in people}
    assert [row["id"] for row in offer["pools"]] == [pool.pk]
    assert (planned.status_code, planned.json()["state"], planned.json()["guideline"]) == (201, "open", 1)
    round_ = Round.objects.get()
    assert (round_.seed, round_.overlap_share, round_.judges) == (4, 0.5, 2)
    assert Seat.objects.filter(round=round_).count() == 12


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"pool": 999_999}, "pool"),
        ({"annotators": [999_999]}, "annotators"),
        ({"remits": {"999999": ["domain:security"]}}, "remits"),
        ({"rule": ResolutionRule.NEAR_MEDIAN}, "rule"),
        ({"known": "Q1,nothing,1"}, "known"),
        ({"overlap": 101}, "overlap"),
    ],
)
def test_a_plan_that_cannot_be_is_refused_by_field(ask, more, field):
    project = make_project()
    body = {"pool": make_pool(project).pk, "annotators": [make_member(project, Role.ANNOTATOR).pk], **more}

    answer = ask(lead_of(project), project, "plan", body)

    assert answer.status_code == 400
    assert field in answer.json()["errors"]
    assert not Round.objects.exists()


def test_leased_pairs_are_returned_by_their_holder_and_by_a_lead(ask):
    round_ = make_round(queries=1, blocks=6, annotators=2, overlap=0.0)
    project, holder = round_.project, people_of(round_)[0]

    ask(holder, project, "pairs", None, round_.pk, n=2)
    released = ask(holder, project, "release", {}, round_.pk)
    ask(holder, project, "pairs", None, round_.pk, n=3)
    given_back = ask(lead_of(project), project, "give-back", {"person": holder.pk}, round_.pk)
    nobody = ask(lead_of(project), project, "give-back", {"person": lead_of(project).pk}, round_.pk)

    assert (released.json(), given_back.json()) == ({"returned": 2}, {"returned": 3})
    assert nobody.status_code == 400


def test_a_pair_is_decided_by_a_lead_who_sees_letters_and_no_names(ask):
    round_ = graded(0, 3)
    project, lead = round_.project, lead_of(round_.project)

    (pair,) = ask(lead, project, "undecided", None, round_.pk).json()["pairs"]
    decided = ask(
        lead, project, "decide", {"grade": 1, "error_type": "slip", "reason": "Read again."}, round_.pk, pair["entry"]
    )

    assert sorted((voice["letter"], voice["grade"] in (0, 3)) for voice in pair["voices"]) == [("A", True), ("B", True)]
    shown = {"letter", "grade", "cant_judge", "note", "spans", "facets"}
    assert {key for voice in pair["voices"] for key in voice} == shown
    assert (decided.status_code, decided.json()["grade"]) == (201, 1)
    assert Adjudication.objects.get().reason == "Read again."
    assert ask(lead, project, "undecided", None, round_.pk).json()["pairs"] == []


def test_a_lead_is_shown_no_pair_that_they_judged_and_decides_none(ask):
    round_ = graded(0, 3)
    project, judge = round_.project, people_of(round_)[0]
    project.memberships.create(user=judge, role=Role.LEAD, granted_at=AT)
    entry = live_judgements(round_).first().entry_id

    shown = ask(judge, project, "undecided", None, round_.pk)
    rules = ask(judge, project, "settle", None, round_.pk)
    decided = ask(judge, project, "decide", {"grade": 1, "error_type": "slip", "reason": "Mine."}, round_.pk, entry)

    assert (shown.json()["pairs"], [row["pairs"] for row in rules.json()["rules"]]) == ([], [[], []])
    assert (decided.status_code, decided.json()["code"]) == (409, "not_adjudicable")


def test_a_rule_settles_exactly_the_pairs_that_were_read(ask):
    round_ = graded(1, 2)
    project, lead = round_.project, lead_of(round_.project)
    rules = {row["rule"]: row for row in ask(lead, project, "settle", None, round_.pk).json()["rules"]}
    body = {"rule": "lower", "error_type": "ambiguity"}

    others = ask(lead, project, "settle", {**body, "seen": rules[ResolutionRule.NEAR_MEDIAN]["seen"]}, round_.pk)
    settled = ask(lead, project, "settle", {**body, "seen": rules["lower"]["seen"]}, round_.pk)

    assert (others.status_code, others.json()["code"]) == (409, "pairs_changed")
    assert (settled.status_code, settled.json(), rules["lower"]["pairs"][0]["grade"]) == (201, {"settled": 1}, 1)


def test_grades_are_carried_over_as_they_were_read(ask):
    pool = make_same_pool()
    judged(pool)
    project, lead = pool.project, lead_of(pool.project)

    found = ask(lead, project, "carry", None, pool.pk, limit=1).json()
    seen = {row["rule"]: row["seen"] for row in found["rules"]}
    changed = ask(lead, project, "carry", {"rule": "exact", "seen": "another"}, pool.pk)
    carried = ask(lead, project, "carry", {"rule": "exact", "seen": seen["exact"]}, pool.pk)

    assert len(found["pairs"]) == 1
    assert found["next"] == found["pairs"][0]["entry"]
    assert (changed.status_code, changed.json()["code"]) == (409, "pairs_changed")
    assert (carried.status_code, carried.json()["kind"], carried.json()["state"]) == (201, "propagated", "closed")


@pytest.fixture
def round_():
    return make_round(queries=4, blocks=3, annotators=2, overlap=0.0, pilot=2, pilot_bar=0.7)


@pytest.fixture
def lead(client, round_):
    """Asks as the lead, an endpoint by its name."""
    client.force_login(lead_of(round_.project))

    def ask(name: str, body: dict | None = None, *ids):
        address = reverse(f"judging-api:{name}", args=[round_.project.slug, *ids])
        return client.get(address) if body is None else client.post(address, body, content_type="application/json")

    return ask


def test_every_round_is_listed_with_its_seats_counted(round_, lead):
    judge_all(round_, people_of(round_)[0])

    (row,) = lead("all-rounds").json()["rounds"]

    assert (row["round"]["id"], row["round"]["state"], row["round"]["pool"]) == (round_.pk, "open", round_.pool_id)
    assert (row["done"], row["people"]) == (6, 2)
    assert row["planned"] >= 12


def test_the_list_asks_as_much_for_three_rounds_as_for_one(round_, lead, django_assert_num_queries):
    with CaptureQueriesContext(connection) as for_one:
        lead("all-rounds")
    for _ in range(2):
        make_round(round_.project, pool=make_pool(round_.project))

    with django_assert_num_queries(len(for_one)):
        assert len(lead("all-rounds").json()["rounds"]) == 3


def test_the_rest_is_opened_for_a_reason_and_once(round_, lead):
    without = lead("open-the-rest", {"reason": "  "}, round_.pk)
    opened = lead("open-the-rest", {"reason": "The guideline was read together."}, round_.pk)
    again = lead("open-the-rest", {"reason": "Once more."}, round_.pk)

    assert [each.status_code for each in (without, opened, again)] == [409, 200, 409]
    assert again.json()["code"] == "pilot_not_open"
    assert PilotDecision.objects.get().reason == "The guideline was read together."


def test_a_round_is_closed_once(round_, lead):
    closed = lead("close", {}, round_.pk)
    again = lead("close", {}, round_.pk)

    assert (closed.status_code, closed.json()["state"]) == (200, "closed")
    assert (again.status_code, again.json()["code"]) == (409, "round_not_closable")
    assert lead("all-rounds").json()["rounds"][0]["round"]["closed_at"] is not None
