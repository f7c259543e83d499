"""Slices over the API: what they have, what they could take, how they are drawn and grow."""

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.goldsets.actions.slices import add_to_slice
from apps.goldsets.actions.versions import draft_version, freeze_version, release_version
from apps.goldsets.enums import VersionState
from apps.goldsets.models import Slice
from tests.factories import AT, lead_of, make_member
from tests.goldsets.factories import make_bench, make_version
from tests.judging.factories import make_round

pytestmark = pytest.mark.django_db


@pytest.fixture
def ask(client):
    """Asks somebody's endpoint of the slices of a version, with a body or without one."""

    def ask(person, version, name, *part, body=None, **query):
        client.force_login(person)
        gold_set = version.gold_set
        address = reverse(f"goldsets-api:{name}", args=[gold_set.project.slug, gold_set.slug, version.number, *part])
        return (
            client.get(address, query) if body is None else client.post(address, body, content_type="application/json")
        )

    return ask


def lead(version):
    return lead_of(version.gold_set.project)


def queries_of(version):
    return sorted(version.queries.values_list("outside_id", flat=True))


def test_the_sample_of_the_quarter_is_drawn_once(ask, version):
    drawn = ask(lead(version), version, "draw-slice", body={"size": 3})
    again = ask(lead(version), version, "draw-slice", body={"size": 5})
    listed = ask(lead(version), version, "slices").json()["slices"]

    assert (drawn.status_code, drawn.json()["kind"], drawn.json()["questions"]) == (201, "rotating", 3)
    assert (again.status_code, again.json()) == (200, drawn.json())
    assert listed == [drawn.json()]


def test_more_questions_than_there_are_cannot_be_drawn(ask, version):
    many = ask(lead(version), version, "draw-slice", body={})
    none = ask(lead(version), version, "draw-slice", body={"size": 0})

    assert (many.status_code, many.json()["code"]) == (409, "slice_refused")
    assert (none.status_code, list(none.json()["errors"])) == (400, ["size"])
    assert not Slice.objects.exists()


def test_questions_are_found_picked_and_read_in_their_order(ask, version):
    first, second = queries_of(version)[:2]
    offered = ask(lead(version), version, "slice-offers", "canary").json()

    picked = ask(lead(version), version, "slice", "canary", body={"names": [second], "why": "Asked most often."})
    more = ask(lead(version), version, "slice", "canary", body={"names": [first, second], "why": "Broke in May."})
    read = ask(make_member(version.gold_set.project, Role.VIEWER), version, "slice", "canary").json()

    assert (offered["count"], {row["found"] for row in offered["results"]}) == (8, {""})
    assert picked.json()["slice"]["questions"] == picked.json()["added"] == 1
    assert (more.json()["slice"]["questions"], more.json()["added"]) == (2, 1)
    assert [(row["number"], row["name"], row["why"]) for row in read["results"]] == [
        (1, second, "Asked most often."),
        (2, first, "Broke in May."),
    ]
    left = ask(lead(version), version, "slice-offers", "canary", find=second).json()
    assert (left["count"], ask(lead(version), version, "slice-offers", "canary").json()["count"]) == (0, 6)


def test_what_an_earlier_version_had_is_offered_and_added(ask, version):
    names = queries_of(version)[:2]
    add_to_slice(
        version_id=version.pk, kind="challenge", names=dict.fromkeys(names, "Missed."), actor=lead(version), at=AT
    )
    inputs = {"snapshot": version.snapshot, "rounds": list(version.rounds.all()), "test_share": 0.0}
    later = draft_version(gold_set_id=version.gold_set_id, actor=lead(version), at=AT, **inputs)
    freeze_version(version_id=later.pk, actor=lead(version), at=AT)
    later = release_version(version_id=later.pk, actor=lead(version), at=AT)

    offered = ask(lead(version), later, "slice-offers", "challenge", found="yes").json()
    added = ask(lead(version), later, "slice-offers", "challenge", body={})
    again = ask(lead(version), later, "slice-offers", "challenge", body={})

    assert [(row["name"], row["found"]) for row in offered["results"]] == [(name, "Missed.") for name in names]
    assert (added.json()["added"], added.json()["slice"]["questions"]) == (2, 2)
    assert again.json()["added"] == 0


def test_where_nothing_was_found_there_is_no_slice(ask, version):
    answer = ask(lead(version), version, "slice-offers", "regression", body={})

    assert answer.json() == {"slice": None, "added": 0}


@pytest.mark.parametrize(
    ("body", "field"),
    [({"why": "So."}, "names"), ({"names": [], "why": "So."}, "names"), ({"names": ["Q1"]}, "why")],
)
def test_a_pick_without_questions_or_reason_is_refused_by_field(ask, version, body, field):
    answer = ask(lead(version), version, "slice", "canary", body=body)

    assert (answer.status_code, list(answer.json()["errors"])) == (400, [field])


def test_unknown_questions_add_none(ask, version):
    body = {"names": [queries_of(version)[0], "Q-nowhere"], "why": "So."}

    answer = ask(lead(version), version, "slice", "canary", body=body)

    assert (answer.status_code, answer.json()["code"]) == (409, "slice_question")
    assert "Q-nowhere" in answer.json()["detail"]
    assert not Slice.objects.exists()


@pytest.mark.parametrize("part", ["rotating", "2026-Q4", "weather"])
def test_a_slice_that_takes_no_questions_is_not_found_as_one(ask, version, part):
    answers = [
        ask(lead(version), version, "slice", part, body={"names": ["Q1"], "why": "So."}),
        ask(lead(version), version, "slice-offers", part),
        ask(lead(version), version, "slice-offers", part, body={}),
    ]

    assert [answer.status_code for answer in answers] == [404] * 3


def test_a_draft_is_not_sliced_and_is_there_for_leads_alone(ask):
    draft = make_version(VersionState.DRAFT, make_bench(queries=3), test_share=0.0)
    viewer = make_member(draft.gold_set.project, Role.VIEWER)

    refused = [
        ask(lead(draft), draft, "draw-slice", body={"size": 1}),
        ask(lead(draft), draft, "slice-offers", "canary"),
    ]

    assert [(answer.status_code, answer.json()["code"]) for answer in refused] == [(409, "slice_refused")] * 2
    assert ask(viewer, draft, "slices").status_code == 404


def test_somebody_who_still_judges_does_not_read_why_a_question_is_in_a_slice(ask, version):
    judge = make_member(version.gold_set.project, Role.ANNOTATOR)
    name = queries_of(version)[0]
    ask(lead(version), version, "slice", "canary", body={"names": [name], "why": "Missed by every system."})
    pool = version.rounds.get().pool
    make_round(version.gold_set.project, pool=pool, annotators=[judge], overlap=0.0, judge_again=True)

    answer = ask(judge, version, "slice", "canary")

    assert [(row["name"], row["why"]) for row in answer.json()["results"]] == [(name, None)]
    assert "Missed" not in answer.content.decode()


def test_test_questions_are_offered_for_no_slice(ask):
    version = make_version(VersionState.RELEASED, make_bench(queries=6), test_share=0.5)
    sealed = set(version.queries.filter(split="test").values_list("outside_id", flat=True))

    offered = {row["name"] for row in ask(lead(version), version, "slice-offers", "canary").json()["results"]}

    assert sealed
    assert not offered & sealed
