"""Scores, a comparison and a query in a real browser."""

import random

import pytest
from playwright.sync_api import expect

from apps.evaluation.models import RegressionNote
from apps.gates.models import Gate
from tests.e2e import looking
from tests.e2e.waiting import go, press, turned
from tests.e2e.worlds import shared
from tests.evaluation.factories import make_scene, score

pytestmark = pytest.mark.django_db(transaction=True)
BLOCKS = {f"{n:02}-section": f"Text of section {n}." for n in range(20)}


def make_lucky_scene():
    """Sixty queries, three systems of differing luck."""
    chance = random.Random(4)
    blocks = list(BLOCKS)
    qrels, runs = {}, {"bm25-3": {}, "rrf-7": {}, "tfidf-1": {}}
    for n in range(1, 61):
        query = f"Q{n:03}"
        judged = chance.sample(blocks, 14)
        qrels[query] = {block: chance.choice([0, 0, 0, 1, 1, 2, 3]) for block in judged}
        for tag, luck in (("bm25-3", 0.9), ("rrf-7", 1.4), ("tfidf-1", 0.5)):
            found = {block: qrels[query].get(block, 0) * luck + chance.random() * 4 for block in blocks}
            best = sorted(found, key=found.get, reverse=True)[:15]
            runs[tag][query] = {block: found[block] for block in best}
    made = make_scene(qrels=qrels, runs=runs, texts=BLOCKS, test_share=0.3)
    for tag in runs:
        made.runs[tag].system.name = {"bm25-3": "BM25", "rrf-7": "Hybrid", "tfidf-1": "TF-IDF"}[tag]
        made.runs[tag].system.save()
        score(made, tag, split="dev", measures="nDCG@10 AP RR P(rel=2)@5 Recall@10")
    return made


scene = shared(make_lucky_scene)


def test_a_lead_reads_scores_compares_runs_explains_a_drop_and_makes_a_gate(page, signed_in, witness, scene):
    signed_in(scene.lead)
    start = f"/p/{scene.project.slug}/evaluation/"

    go(page, start)
    expect(page.get_by_role("heading", name="Scores on Handbook v1")).to_be_visible()
    looking.clean(page, "evaluation-overview")

    with turned(page):
        page.get_by_role("link", name="rrf-7").click()
    expect(page.get_by_role("heading", name="Hybrid rrf-7 on Handbook v1")).to_be_visible()
    looking.clean(page, "evaluation-one")

    go(page, start)
    page.get_by_label("Compare baseline").select_option(label="bm25-3")
    page.get_by_label("with candidate").select_option(label="rrf-7")
    with turned(page):
        page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Hybrid")
    looking.clean(page, "evaluation-compare")

    explained_by_key(page)
    expect(page.get_by_role("heading", name="Unjudged in the top ten")).to_be_visible()
    looking.clean(page, "evaluation-query")
    leads(page, "k", ", drop 1 of 2; 1 left to explain")
    leads(page, "j", ", drop 2 of 2; 1 left to explain")
    explained_beside_its_rankings(page)
    assert [note.decision for note in RegressionNote.objects.order_by("pk")] == ["accept", "grades_wrong"]
    the_form_of_a_gate_has_the_fields_of_its_kind(page, scene)
    a_pasted_file_makes_gates(page, scene)
    assert witness.drain() == []


def the_form_of_a_gate_has_the_fields_of_its_kind(page, scene):
    go(page, f"/p/{scene.project.slug}/evaluation/gates/new/{scene.version.gold_set.slug}/")
    baseline, on, queries = (page.locator(f"[name={name}]") for name in ("baseline", "on", "slice"))
    expect(on).to_be_visible()
    expect(baseline).to_be_hidden()
    page.get_by_label("Must be").select_option("no_worse_than")
    expect(baseline).to_be_visible()
    expect(on).to_be_hidden()
    page.get_by_label("Must be").select_option("at_most")
    page.locator("[name=figure]").fill("cost")
    expect(queries).to_be_hidden()
    looking.clean(page)


def a_pasted_file_makes_gates(page, scene):
    go(page, f"/p/{scene.project.slug}/evaluation/gates/import/{scene.version.gold_set.slug}/")
    page.locator("[name=system]").select_option(index=1)
    page.locator("[name=text]").fill('[[gate]]\nname = "First screen"\nfigure = "nDCG@10"\nat_least = 0.1\n')
    with turned(page):
        page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("row", name="First screen")).to_contain_text("nDCG@10: at least 0.1")
    looking.clean(page)
    with turned(page):
        page.get_by_role("button", name="Create 1 gate").click()
    expect(page.get_by_role("status").filter(has_text="First screen now checks")).to_be_visible()
    assert Gate.objects.get().name == "First screen"


def leads(page, key, words):
    """The key leads to the page that says these words."""
    with turned(page):
        press(page, key)
    expect(page.get_by_text(words)).to_be_visible()


def explained_by_key(page):
    """The first drop accepted, which asks for words; then the second one has the focus, where enter looks at it."""
    press(page, "a")
    expect(page.get_by_text("Why is it accepted? Then press enter.")).to_be_visible()
    page.keyboard.type("A rare word.")
    press(page, "Enter")
    expect(page.get_by_role("status").filter(has_text="explained")).to_contain_text("1 of")
    expect(page.get_by_role("button", name="Accept", pressed=True)).to_have_count(1)
    expect(page.get_by_role("row").filter(has=page.locator(":focus")).get_by_role("textbox")).to_have_value("")
    with turned(page):
        press(page, "Enter")


def explained_beside_its_rankings(page):
    """The second and last drop's grades called wrong beside its rankings, which leads back to the table."""
    with turned(page):
        press(page, "w")
    expect(page.get_by_text("2 of 2 explained")).to_be_visible()
