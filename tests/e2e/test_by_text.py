"""Scores by text: the page fits every width, and a key leads to the comparison."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from apps.metrics.expected.rules import TEXT
from tests.e2e import looking
from tests.e2e.waiting import go, press, turned
from tests.evaluation.by_text import ELSEWHERE, add_same, make_text_scene, piece
from tests.evaluation.factories import GOOD, add_run, qrels_of, score

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
