"""The order of runs under everybody's grades, and clean against degraded wording, in a real browser."""

import random

import pytest
from playwright.sync_api import expect

from apps.reports.models import StabilityReport
from tests.e2e import looking
from tests.e2e.waiting import go, turned, worked
from tests.evaluation import factories as evaluation
from tests.evaluation.factories import make_scene, score

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
BLOCKS = {f"b{n:02}": f"Text of block {n}." for n in range(14)}
CLEAN = [f"Q{n:02}" for n in range(1, 13)]
KINDS = {"t": "typos", "l": "lower case", "s": "telegraphic"}


@pytest.fixture
def scene(monkeypatch, transactional_db):
    """Twelve queries, each worded in three other ways; three people who grade a little differently; three runs."""
    monkeypatch.setattr(evaluation, "BLOCKS", BLOCKS)
    chance = random.Random(3)
    queries = [*CLEAN, *(query + kind for query in CLEAN for kind in KINDS)]
    qrels = {query: {block: chance.choice([0, 0, 1, 2, 3]) for block in BLOCKS} for query in queries}
    ratings = {
        person: {query: {block: _near(grade, chance, slip) for block, grade in qrels[query].items()} for query in CLEAN}
        for person, slip in (("Mara Quill", 0.05), ("Sef Arden", 0.6), ("Ines Okonjo-Vale", 0.2))
    }
    ratings["Mara Quill"] = qrels
    runs = {
        tag: {query: _found(qrels[query], chance, luck - loss * (query[-1] == "t")) for query in queries}
        for tag, luck, loss in (("bm25-3", 1.0, 0.8), ("rrf-7", 1.05, 0.7), ("dense-2", 0.2, 0.0))
    }
    metadata = {query + kind: {"variant_of": query, "variant": word} for query in CLEAN for kind, word in KINDS.items()}
    made = make_scene(qrels=qrels, runs=runs, ratings=ratings, metadata=metadata, test_share=0.5)
    for tag in runs:
        score(made, tag, measures="nDCG@10 AP P@5")
    return made


def _near(grade: int, chance: random.Random, slip: float) -> int:
    """The grade, or one beside it."""
    return min(3, max(0, grade + chance.choice([-1, 1]))) if chance.random() < slip else grade


def _found(grades: dict[str, int], chance: random.Random, luck: float) -> dict[str, float]:
    return {block: grade * luck + chance.random() * 3 for block, grade in grades.items()}


def test_a_lead_checks_whether_the_order_is_stable_and_what_wording_costs(page, signed_in, witness, scene):
    signed_in(scene.lead)
    start = f"/p/{scene.project.slug}/evaluation/"

    go(page, start)
    with turned(page):
        page.get_by_role("navigation", name="Results").get_by_role("link", name="Reports").click()
    with turned(page):
        page.get_by_role("link", name="Stability").click()
    with turned(page):
        page.get_by_role("button", name="Start stability report").click()
    expect(page.get_by_role("heading", name="In progress")).to_be_visible()
    worked(page)
    go(page, f"{start}stability/{StabilityReport.objects.get().pk}/")
    expect(page.get_by_role("heading", name="The order under each annotator’s grades")).to_be_visible()
    expect(page.get_by_role("row", name="Sef Arden").first).to_be_visible()
    looking.clean(page, "stability")

    go(page, start)
    with turned(page):
        page.get_by_role("link", name="bm25-3").first.click()
    expect(page.get_by_role("heading", name="Clean and degraded wording")).to_be_visible()
    expect(page.get_by_role("row", name="typos").first).to_be_visible()
    with turned(page):
        page.get_by_role("link", name="Wording").click()
    expect(page.get_by_text("judged@10 100 %").first).to_be_visible()
    looking.looks_well(page, "evaluation-wording", widths=())
    assert witness.drain() == []
