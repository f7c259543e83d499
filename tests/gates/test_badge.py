"""The badge: what it says, who sees it, and what becomes of a revoked one."""

import pytest
from django.urls import reverse

from apps.gates.actions import create_gate, make_badge, revoke_badge
from apps.gates.core.badge import badge, words_of
from apps.gates.models import Gate
from tests.evaluation.factories import GOOD, Scene, make_scene, qrels_of, score
from tests.factories import AT


@pytest.fixture
def gate(scene) -> Gate:
    facts = {"name": "Good enough", "figure": "nDCG@10", "at_least": 0.9}
    system = scene.runs["better"].system_id
    return create_gate(gold_set=scene.version.gold_set, system_id=system, facts=facts, actor=scene.lead, at=AT)


@pytest.fixture
def scene(db) -> Scene:
    return make_scene(queries=6, test_share=0, runs={"better": dict.fromkeys(qrels_of(6), GOOD)})


@pytest.mark.parametrize(
    ("states", "says"),
    [
        (["passed", "passed"], "2 of 2 passed"),
        (["passed", "failed", "unknown"], "1 of 3 failed"),
        (["passed", "unknown"], "not known"),
        (["passed", "nothing"], "nothing checked"),
        (["nothing", "unknown"], "not known"),
        ([], "nothing checked"),
    ],
)
def test_a_badge_counts_the_gates_in_each_state(states, says):
    assert words_of(states) == says
    assert f"<title>Gates: {says}</title>" in badge(states)


def test_anybody_who_knows_the_address_sees_a_badge_that_names_nothing(client, scene, gate):
    score(scene, "better")
    row = make_badge(gold_set=gate.gold_set, system=gate.system, actor=scene.lead, at=AT)
    address = reverse("badges:badge", args=[row.token])

    answer = client.get(address)
    again = client.get(address, headers={"If-None-Match": answer["ETag"]})

    drawing = answer.content.decode()
    assert (answer.status_code, again.status_code) == (200, 304)
    assert answer["Content-Type"] == "image/svg+xml; charset=utf-8"
    assert answer["Cache-Control"] == again["Cache-Control"] == "public, max-age=60"
    assert "1 of 1 passed" in drawing
    for name in (gate.name, gate.system.name, scene.project.slug, scene.project.name, gate.gold_set.name):
        assert name not in drawing


def test_a_badge_changes_with_the_state(client, scene, gate):
    row = make_badge(gold_set=gate.gold_set, system=gate.system, actor=scene.lead, at=AT)
    address = reverse("badges:badge", args=[row.token])
    before = client.get(address)

    score(scene, "better")

    after = client.get(address, headers={"If-None-Match": before["ETag"]})
    assert "not known" in before.content.decode()
    assert "1 of 1 passed" in after.content.decode()


def test_a_revoked_badge_leads_nowhere(client, scene, gate):
    what = {"gold_set": gate.gold_set, "system": gate.system, "actor": scene.lead, "at": AT}
    row = make_badge(**what)
    revoke_badge(**what)

    gone = client.get(reverse("badges:badge", args=[row.token]))
    assert (gone.status_code, "no-store" in gone["Cache-Control"]) == (404, True)
    assert client.get(reverse("badges:badge", args=["a" * 43])).status_code == 404


def test_a_cache_that_revalidates_after_the_revocation_gets_nothing(client, scene, gate):
    what = {"gold_set": gate.gold_set, "system": gate.system, "actor": scene.lead, "at": AT}
    address = reverse("badges:badge", args=[make_badge(**what).token])
    tag = client.get(address)["ETag"]

    revoke_badge(**what)

    assert client.get(address, headers={"If-None-Match": tag}).status_code == 404
