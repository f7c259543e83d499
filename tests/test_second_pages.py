"""The second page of each list that is paged by number, reached by its own link from the first."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.evaluation.pages import evaluation, trends
from apps.gates import pages as gates
from apps.gates.actions import create_gate
from apps.goldsets.enums import VersionState
from apps.goldsets.models import Version
from apps.goldsets.pages import versions
from tests.evaluation.factories import make_scene, qrels_of, score
from tests.factories import AT, lead_of
from tests.goldsets.factories import make_bench, make_version
from tests.retrieval.factories import import_lines, trec

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
ONWARD = re.compile(r'<a [^>]*href="([^"]*)"[^>]*>(?:Next|Older)</a>')


def second_page(reader: User, address: str) -> str:
    """The page after the first one."""
    client = Client()
    client.force_login(reader)
    (onward,) = ONWARD.findall(client.get(address).content.decode())
    answer = client.get(address.partition("?")[0] + onward.replace("&amp;", "&"))
    assert answer.status_code == 200
    return answer.content.decode()


def items_of(version: Version, split: str, kind: str) -> str:
    gold_set = version.gold_set
    return reverse("goldsets:items", args=[gold_set.project.slug, gold_set.slug, version.number, split, kind])


def test_the_queries_of_a_score(monkeypatch):
    scene = make_scene(test_share=0.0)
    scored = score(scene, "base", split="dev")
    monkeypatch.setattr(evaluation, "QUERIES_A_PAGE", 5)

    page = second_page(scene.lead, reverse("evaluation:evaluation", args=[scene.project.slug, scored.pk]))

    assert "page 2 of 3" in page


def test_the_runs_of_the_ledger(monkeypatch):
    scene = make_scene(test_share=0.0)
    for tag in ("base", "better"):
        score(scene, tag, split="dev")
    monkeypatch.setattr(trends, "RUNS_A_PAGE", 1)

    page = second_page(scene.lead, reverse("evaluation:ledger", args=[scene.project.slug]))

    assert "page 2 of 2" in page


def test_the_results_of_a_gate(monkeypatch):
    scene = make_scene(test_share=0.0)
    rows = [(query, "d", 9.0) for query in qrels_of(12)]
    scene.runs["again"] = import_lines(scene.project, scene.snapshot, trec(rows, "again"), system="base").run
    rule = {"name": "Good enough", "figure": "nDCG@10", "at_least": 0.9}
    system = scene.runs["base"].system_id
    gate = create_gate(gold_set=scene.version.gold_set, system_id=system, facts=rule, actor=scene.lead, at=AT)
    for tag in ("base", "again"):
        score(scene, tag)
    monkeypatch.setattr(gates, "RESULTS_A_PAGE", 1)

    page = second_page(scene.lead, reverse("gates:gate", args=[scene.project.slug, gate.pk]))

    assert "Newer" in page


@pytest.mark.parametrize("kind", ["queries", "triples"])
def test_the_items_of_a_version(monkeypatch, kind):
    version = make_version(VersionState.RELEASED, make_bench(triples=2), test_share=0.0)
    monkeypatch.setattr(versions, "PER_PAGE", 1)

    page = second_page(lead_of(version.gold_set.project), items_of(version, "dev", kind))

    assert "Page 2 of" in page
    assert "Previous" in page
