"""Scores by text: from the upload of a system's own passages to the comparison, and pages that bear every width."""

import json

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from apps.metrics.expected.rules import TEXT
from tests.e2e import looking
from tests.e2e.waiting import go, press, turned
from tests.evaluation.by_text import ELSEWHERE, add_same, make_text_scene, piece
from tests.evaluation.factories import GOOD, add_run, qrels_of, score
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db(transaction=True)


def test_scores_by_text_fit_every_width_and_a_key_compares_them(page, signed_in):
    scene = make_text_scene(queries=8)
    scene.runs["blocks"] = add_run(scene, "blocks", dict.fromkeys(qrels_of(8), GOOD))
    add_same(scene, "cut", piece("a"), piece("a"), piece("d"), piece("b", 1, 14), piece("c"), ELSEWHERE)
    add_same(scene, "other", piece("b"), piece("a", 1, 12))
    score(scene, "blocks")
    shown, other = score(scene, "cut", hit=TEXT), score(scene, "other", hit=TEXT)
    signed_in(scene.lead)

    go(page, reverse("evaluation:evaluation", args=[scene.project.slug, shown.pk]))
    looking.looks_well(page, "scores-by-text", full=False, widths=(390, 1024, 1280))
    page.set_viewport_size(looking.WIDE)
    with turned(page):
        press(page, "c")

    expect(page).to_have_url(reverse("evaluation:compare", args=[scene.project.slug, other.pk, shown.pk]))


def test_a_system_with_passages_of_its_own_is_uploaded_scored_by_grades_and_read_passage_by_passage(
    page, signed_in, tmp_path
):
    """No file but that of the system, and no mapping: JSON lines of query, rank and text."""
    scene = make_text_scene(queries=8)
    returned = [f"{piece('a', 1, 12)} {piece('b', 1, 3)}", f"{piece('a', 13, 20)} {piece('b', 4, 6)}", ELSEWHERE]
    rows = [
        {"query": name, "rank": rank, "text": text} for name in qrels_of(8) for rank, text in enumerate(returned, 1)
    ]
    file = tmp_path / "windows.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    signed_in(scene.lead)

    go(page, reverse("retrieval:upload", args=[scene.project.slug]))
    page.get_by_label("Run file").set_input_files(file)
    with turned(page):
        page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("It is measured by grades, by text, and on Q&As")).to_be_visible()
    with turned(page):
        page.get_by_role("button", name="Import run").click()
    with turned(page):
        page.get_by_role("link", name="Score it by text on v1").click()
    with turned(page):
        page.get_by_role("button", name="Score", exact=True).click()
    run_jobs()

    go(page, reverse("evaluation:evaluation", args=[scene.project.slug, scene.project.evaluations.get().pk]))
    expect(page.get_by_role("heading", name="Measured by text, this run reaches")).to_be_visible()
    expect(page.get_by_text("8 passages are in no document of this snapshot: 33.3 %")).to_be_visible()
    with turned(page):
        press(page, "p")
    expect(page.get_by_text("Grade 3: enough of its words, together with the results above")).to_be_visible()
    looking.looks_well(page, "returned-passages", widths=(390, 1024, 1280))
    page.set_viewport_size(looking.WIDE)
    with turned(page):
        press(page, "j")
    expect(page.get_by_role("link", name="Previous")).to_be_visible()
    with turned(page):
        page.get_by_role("link", name="windows on v1").click()
    with turned(page):
        press(page, "l")
    expect(page.get_by_role("heading", name="8 passages not located")).to_be_visible()
    looking.looks_well(page, "not-located", widths=(390, 1024, 1280))
