"""The way of a version to its release, over the API."""

import pytest
from django.urls import reverse

from apps.goldsets.enums import VersionState
from apps.goldsets.models import GoldSet, Version
from tests.goldsets.factories import draft, make_version, write_by_machine

pytestmark = pytest.mark.django_db


@pytest.fixture
def lead(client, bench):
    """Sends JSON as the lead, to an endpoint by its name."""
    client.force_login(bench.lead)

    def send(name: str, body: dict | None = None, *ids, get: bool = False):
        address = reverse(f"goldsets-api:{name}", args=[bench.project.slug, *ids])
        return client.get(address) if get else client.post(address, body or {}, content_type="application/json")

    return send


def inputs_of(bench, **more) -> dict:
    return {"snapshot": bench.snapshot.digest, "rounds": [bench.round.pk], **more}


def test_from_a_gold_set_to_a_released_version(bench, lead):
    made = lead("gold-sets", {"name": "Doors"})
    drafted = lead("drafts", inputs_of(bench, test_share=0.5, seed=3), "doors")
    blockers = lead("blockers", None, "doors", 1, get=True)
    frozen = lead("freeze", {"changelog": "The first one."}, "doors", 1)
    released = lead("release", None, "doors", 1)

    assert [each.status_code for each in (made, drafted, blockers, frozen, released)] == [201, 201, 200, 200, 200]
    assert made.json() == {"slug": "doors", "name": "Doors", "description": ""}
    assert drafted.json()["state"] == "draft"
    assert blockers.json() == {"blockers": []}
    assert (frozen.json()["state"], frozen.json()["manifest"]["changelog"]) == ("frozen", "The first one.")
    assert released.json()["state"] == "released"
    assert Version.objects.get().seed == 3
    assert [row["slug"] for row in lead("gold-sets", get=True).json()] == ["doors"]


def test_a_changed_draft_keeps_what_is_not_named(bench, lead):
    version = draft(bench, test_share=0.25, seed=9)

    answer = lead("change", {"note": "For the audit", "rounds": []}, version.gold_set.slug, 1)

    version.refresh_from_db()
    assert answer.status_code == 200
    assert (version.note, version.seed, version.test_share) == ("For the audit", 9, 0.25)
    assert list(version.rounds.all()) == []
    assert version.snapshot == bench.snapshot


def test_what_stands_against_a_freeze_is_listed_and_refuses_it(bench, lead):
    version = draft(bench)
    write_by_machine(bench.project)

    found = lead("blockers", None, version.gold_set.slug, 1, get=True).json()["blockers"]
    refused = lead("freeze", None, version.gold_set.slug, 1)

    assert {row["kind"] for row in found} == {"machine"}
    assert (refused.status_code, refused.json()["code"]) == (409, "freeze_refused")
    assert Version.objects.get().is_draft


def test_a_draft_is_discarded_and_what_is_frozen_is_not(bench, lead):
    version = draft(bench)
    assert lead("discard", None, version.gold_set.slug, 1).status_code == 204
    assert not Version.objects.exists()
    frozen = make_version(VersionState.FROZEN, bench)

    refused = lead("discard", None, frozen.gold_set.slug, frozen.number)

    assert (refused.status_code, refused.json()["code"]) == (409, "discard_refused")
    assert Version.objects.get() == frozen


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"snapshot": "nothing@9"}, "snapshot"),
        ({"rounds": [999_999]}, "rounds"),
        ({"test_share": 1.5}, "test_share"),
        ({"group_by": ["weather"]}, "group_by"),
    ],
)
def test_inputs_that_are_none_are_named(bench, lead, body, field):
    lead("gold-sets", {"name": "Doors"})

    answer = lead("drafts", inputs_of(bench) | body, "doors")

    assert answer.status_code == 400
    assert field in answer.json()["errors"]
    assert not Version.objects.exists()


def test_a_rule_answers_409_with_its_code(bench, lead):
    for code in (None, "gold_set_exists"):
        answer = lead("gold-sets", {"name": "Doors"})
        assert answer.json().get("code") == code
    lead("drafts", inputs_of(bench), "doors")

    assert lead("drafts", inputs_of(bench), "doors").json()["code"] == "draft_refused"
    assert lead("release", None, "doors", 1).json()["code"] == "release_refused"
    assert GoldSet.objects.count() == 1
