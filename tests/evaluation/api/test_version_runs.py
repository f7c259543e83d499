"""The runs of a version over the API: those without a score, and systems run again on its newer snapshot."""

import pytest
from django.urls import reverse

from apps.evaluation.models import Evaluation
from apps.goldsets.enums import VersionState
from apps.retrieval.models import Run
from tests.evaluation.factories import make_scene, score
from tests.evaluation.test_run_again import drafted_after, newer_snapshot, release, scored_system
from tests.factories import lead_of
from tests.goldsets.factories import make_bench, make_version
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db


@pytest.fixture
def ask(client):
    """Asks somebody's endpoint of a version by its name, with a body or without one."""

    def ask(person, version, name, body=None, **query):
        client.force_login(person)
        address = reverse(f"evaluation-api:{name}", args=[version.gold_set.project.slug, version.pk])
        return (
            client.get(address, query) if body is None else client.post(address, body, content_type="application/json")
        )

    return ask


@pytest.fixture
def scene():
    return make_scene(queries=3, test_share=0.0)


def test_the_runs_without_a_score_are_listed_and_scored_in_one_request(ask, scene):
    score(scene, "base", split="dev", measures="RR P@5")

    missing = ask(scene.lead, scene.version, "score-rest").json()
    asked = ask(scene.lead, scene.version, "score-rest", {})
    again = ask(scene.lead, scene.version, "score-rest", {})

    assert missing["measures"] == ["RR", "P@5"]
    assert [run["tag"] for run in missing["runs"]] == ["better"]
    assert (asked.status_code, [row["tag"] for row in asked.json()["results"]]) == (202, ["better"])
    assert asked.json()["results"][0]["measures"] == ["RR", "P@5"]
    assert (again.status_code, again.json()) == (200, {"results": []})
    run_jobs()
    assert not Evaluation.objects.filter(scored_at=None).exists()
    assert ask(scene.lead, scene.version, "score-rest").json()["runs"] == []


def test_a_run_without_one_measure_is_scored_where_only_that_one_counts(ask, scene):
    score(scene, "base", split="dev", measures="RR")
    score(scene, "better", split="dev", measures="RR P@5")

    lacking = [
        [run["tag"] for run in ask(scene.lead, scene.version, "score-rest", measure=name).json()["runs"]]
        for name in ("RR", "P@5")
    ]
    asked = ask(scene.lead, scene.version, "score-rest", {"measure": "P@5"})

    assert lacking == [[], ["base"]]
    assert [row["tag"] for row in asked.json()["results"]] == ["base"]


@pytest.mark.parametrize(
    ("ground", "field"), [({"split": "train"}, "split"), ({"hit": "guess"}, "hit"), ({"measure": "P@77"}, "measure")]
)
def test_a_ground_that_is_none_is_named(ask, scene, ground, field):
    answers = [
        ask(scene.lead, scene.version, "score-rest", **ground),
        ask(scene.lead, scene.version, "score-rest", ground),
    ]

    assert [answer.status_code for answer in answers] == [400, 400]
    assert [list(answer.json()["errors"]) for answer in answers] == [[field], [field]]


@pytest.fixture
def later():
    """A version on a newer snapshot, and a system that was scored on the one before it after its release."""
    first = make_version(VersionState.RELEASED, make_bench(triples=3), test_share=0.0)
    later = release(drafted_after(first, newer_snapshot(first)))
    scored_system(first)
    return later


def test_systems_of_earlier_versions_are_listed_and_run_again(ask, later):
    lead = lead_of(later.gold_set.project)

    offered = ask(lead, later, "run-again").json()
    (system,) = offered["own"]
    asked = ask(lead, later, "run-again", {"systems": [system["system"]]})
    twice = ask(lead, later, "run-again", {"systems": [system["system"]]})
    run_jobs()

    assert (system["name"], system["version"], offered["runs"]) == ("BM25", "v1", [])
    assert offered["questions"] > 0
    assert (asked.status_code, [run["state"] for run in asked.json()["runs"]]) == (202, ["pending"])
    assert asked.json()["runs"][0]["job"] is not None
    assert (twice.status_code, twice.json()["code"]) == (409, "run_again_refused")
    after = ask(lead, later, "run-again").json()
    assert (after["own"], [run["state"] for run in after["runs"]]) == ([], ["complete"])
    assert Run.objects.filter(snapshot=later.snapshot).count() == 1


def test_a_system_that_is_not_offered_is_refused_and_one_has_to_be_named(ask, later):
    lead = lead_of(later.gold_set.project)

    strange = ask(lead, later, "run-again", {"systems": [999_999]})
    none = ask(lead, later, "run-again", {"systems": []})

    assert (strange.status_code, strange.json()["code"]) == (409, "run_again_refused")
    assert (none.status_code, list(none.json()["errors"])) == (400, ["systems"])
