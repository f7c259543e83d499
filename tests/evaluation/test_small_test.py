"""A test side of one to four items: no score of it is made or shown to anybody, whoever made one before."""

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.evaluation import models, rules
from apps.evaluation.actions.scoring import EvaluationRefused
from apps.evaluation.models import Evaluation
from apps.gates import selectors as gates
from apps.gates.actions import create_gate, make_badge
from tests.evaluation.factories import GOOD, make_scene, qrels_of, score
from tests.factories import AT, make_member

pytestmark = pytest.mark.django_db


def scene_of(test: int, queries: int = 20):
    found = dict.fromkeys(qrels_of(queries), GOOD)
    return make_scene(queries=queries, test_share=test / queries, runs={"base": found, "other": found})


@pytest.mark.parametrize(("test", "is_open"), [(0, True), (1, False), (4, False), (5, True)])
def test_test_and_both_together_are_scored_on_five_test_items_or_without_any(test, is_open):
    scene = scene_of(test)

    score(scene, "base", split="dev")
    if is_open:
        assert score(scene, "base").is_scored
        return
    for split in ("test", ""):
        with pytest.raises(EvaluationRefused, match=r"The test side of v1 has .* A lead can give test a larger share"):
            score(scene, "base", split=split)
    assert Evaluation.objects.count() == 1


def test_what_an_older_release_scored_on_few_test_items_is_shown_nowhere(client, monkeypatch):
    scene = scene_of(4)
    with monkeypatch.context() as older:
        older.setattr(rules, "FEWEST_IN_STRATUM", 1)
        older.setattr(models, "FEWEST_IN_STRATUM", 1)
        gate = create_gate(
            gold_set=scene.version.gold_set,
            system_id=scene.runs["base"].system_id,
            facts={"name": "Good", "figure": "nDCG@10", "at_least": 0.9},
            split="test",
            actor=scene.lead,
            at=AT,
        )
        make_badge(gold_set=gate.gold_set, system=gate.system, actor=scene.lead, at=AT)
        scored = [score(scene, tag, split=split, measures="nDCG@10") for split in ("test", "") for tag in scene.runs]
        assert gates.statuses([gate])[0].result.value == 1
    addresses = [
        *(reverse("evaluation:evaluation", args=[scene.project.slug, one.pk]) for one in scored),
        reverse("evaluation:overview", args=[scene.project.slug]) + "?split=test",
        reverse("evaluation:overview", args=[scene.project.slug]) + "?split=",
        reverse("gates:gate", args=[scene.project.slug, gate.pk]),
        reverse("gates:gates", args=[scene.project.slug]),
        reverse("evaluation-api:list", args=[scene.project.slug]),
        reverse("goldsets:version", args=[scene.project.slug, gate.gold_set.slug, scene.version.number]),
    ]

    for person in (scene.lead, make_member(scene.project, Role.VIEWER)):
        client.force_login(person)
        for address in addresses:
            page = client.get(address).content.decode()
            assert "1.000" not in page, address
        assert "too few to show a score of" in client.get(addresses[4]).content.decode()
    assert gates.statuses([gate])[0].result is None
    assert not Evaluation.objects.exists()
