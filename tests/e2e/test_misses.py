"""A missed question turned into a second right passage, by keys alone: the reader of misses, and two reviewers."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from apps.accounts.enums import Role
from apps.goldsets.enums import VersionState
from apps.review.models import CandidateBlock
from apps.triples.selectors.triples import expected_blocks
from tests.e2e import looking
from tests.e2e.waiting import go, press, turned
from tests.evaluation.hits import places, run_that, score
from tests.factories import lead_of, make_member
from tests.goldsets.factories import make_bench, make_version
from tests.review.factories import reload

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def evaluation():
    version = make_version(VersionState.RELEASED, make_bench(triples=3), test_share=0.0)
    return score(version, run_that(version, "ours", places(version, 1, 3, 0)), measures="Success@2 RR")


def looks_well(page, name):
    """Axe finds nothing in either theme, and at no width the page scrolls sideways."""
    looking.look_at(page, name, full=False)
    looking.clean_in_both_themes(page)
    assert [fault for width in (390, 1024, 1280) for fault in looking.faults_at_width(page, width)] == []
    page.set_viewport_size(looking.WIDE)


def test_a_missed_question_becomes_a_second_right_passage(page, signed_in, evaluation):
    project = evaluation.project
    reviewers = [make_member(project, Role.REVIEWER, name=f"Reader {name}") for name in ("One", "Two")]
    signed_in(lead_of(project))
    go(page, reverse("evaluation:evaluation", args=[project.slug, evaluation.pk]))
    with turned(page):
        press(page, "m")
    expect(page.get_by_role("heading", name="Expected at rank 3")).to_be_visible()
    looks_well(page, "miss")

    with turned(page):
        press(page, "]")
    expect(page.get_by_text("rank 2, not reviewed")).to_be_visible()
    with turned(page):
        press(page, "a")
    expect(page.get_by_text("2 of 2")).to_be_visible()
    with turned(page):
        press(page, "u")
    expect(page.get_by_text("Undone.")).to_be_visible()
    with turned(page):
        press(page, "a")
    candidate = CandidateBlock.objects.get(state="open")

    for reviewer in reviewers:
        signed_in(reviewer)
        go(page, reverse("review:candidate-next", args=[project.slug]))
        expect(page.get_by_role("heading", name="Does the proposed passage answer it as well?")).to_be_visible()
        looks_well(page, f"candidate-{reviewer.pk}")
        with turned(page):
            press(page, "a")

    assert len(expected_blocks(reload(candidate.triple).revision)) == 2
    signed_in(candidate.triple.author)
    go(page, reverse("review:triple", args=[project.slug, candidate.triple_id]))
    expect(page.get_by_role("heading", name="Also right?")).to_be_visible()
    looks_well(page, "further-passage")
