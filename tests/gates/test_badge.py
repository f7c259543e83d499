"""The badge: what it says, who sees it, and what becomes of a revoked one."""

import pytest
from django.urls import reverse

from apps.gates.actions import make_badge, revoke_badge
from apps.gates.core.badge import badge, words_of
from apps.gates.models import Gate
from tests.evaluation.factories import GOOD, Scene, make_scene, qrels_of, score
from tests.factories import AT
from tests.gates.factories import add_gate
from tests.module_rows import rows_of_module


@rows_of_module
def scene() -> Scene:
    return make_scene(queries=6, test_share=0, runs={"better": dict.fromkeys(qrels_of(6), GOOD)})


@pytest.fixture
def gate(scene) -> Gate:
    return add_gate(scene)


@pytest.fixture
def address(scene, gate) -> str:
    badge = make_badge(gold_set=gate.gold_set, system=gate.system, actor=scene.lead, at=AT)
    return reverse("badges:badge", args=[badge.token])


@pytest.mark.parametrize(
    ("states", "says"),
    [
        (["passed", "passed"], "2 of 2 passed"),
        (["passed", "failed", "unknown"], "1 of 3 failed"),
        (["passed", "unknown"], "not known yet"),
        (["passed", "nothing"], "nothing checked"),
        (["nothing", "unknown"], "not known yet"),
        ([], "nothing checked"),
    ],
)
def test_a_badge_counts_the_gates_in_each_state(states, says):
    assert words_of(states) == says
    assert f"<title>Gates: {says}</title>" in badge(states)


def test_anybody_who_knows_the_address_sees_a_badge_that_names_nothing(client, scene, gate, address):
    score(scene, "better")

    answer = client.get(address)
    again = client.get(address, headers={"If-None-Match": answer["ETag"]})

    drawing = answer.content.decode()
    assert (answer.status_code, again.status_code) == (200, 304)
    assert answer["Content-Type"] == "image/svg+xml; charset=utf-8"
    assert answer["Cache-Control"] == again["Cache-Control"] == "public, max-age=60"
    assert "1 of 1 passed" in drawing
    for name in (gate.name, gate.system.name, scene.project.slug, scene.project.name, gate.gold_set.name):
        assert name not in drawing


def test_a_badge_changes_with_the_state(client, scene, address):
    before = client.get(address)

    score(scene, "better")

    after = client.get(address, headers={"If-None-Match": before["ETag"]})
    assert "not known" in before.content.decode()
    assert "1 of 1 passed" in after.content.decode()


def test_a_revoked_badge_is_gone_for_everybody_and_for_caches(client, scene, gate, address):
    tag = client.get(address)["ETag"]

    revoke_badge(gold_set=gate.gold_set, system=gate.system, actor=scene.lead, at=AT)

    gone = client.get(address)
    assert (gone.status_code, "no-store" in gone["Cache-Control"]) == (404, True)
    assert client.get(address, headers={"If-None-Match": tag}).status_code == 404
    assert client.get(reverse("badges:badge", args=["a" * 43])).status_code == 404
