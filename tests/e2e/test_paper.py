"""Pages on paper: nothing is cut at its edge, what only a screen can do is left out."""

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from tests.agreement.factories import make_noisy_round
from tests.e2e.waiting import go
from tests.evaluation.factories import make_scene, score
from tests.factories import lead_of, make_project

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
PORTRAIT, LANDSCAPE = 718, 1046  # px of A4 between the margins that browsers leave
LYING_LETTER = b"/MediaBox [0 0 792 612]"


def cut(page: Page, width: int, addresses: list[str]) -> list[str]:
    """The pages that need more than this width of paper."""
    found = []
    page.emulate_media(media="print", reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": 1000})
    for address in addresses:
        go(page, address)
        needed = page.evaluate("document.documentElement.scrollWidth")
        if needed > width:
            found.append(f"{address}: {needed} px on {width}")
    return found


def test_pages_of_scores_in_landscape_and_those_of_agreement_fit_on_paper(page, signed_in):
    scene = make_scene(test_share=0.0)
    runs = [score(scene, tag, split="dev").pk for tag in ("base", "better")]
    signed_in(scene.lead)
    slug = scene.project.slug

    pages = [f"{reverse(f'evaluation:{name}', args=[slug])}?split=dev" for name in ("overview", "trend", "costs")]
    pages += [reverse("evaluation:ledger", args=[slug]), reverse("evaluation:evaluation", args=[slug, runs[1]])]
    pages += [reverse("evaluation:compare", args=[slug, *runs])]

    assert cut(page, LANDSCAPE, pages) == []
    expect(page.get_by_role("link", name="Export")).to_be_hidden()
    expect(page.get_by_role("navigation", name="Project")).to_be_hidden()
    assert LYING_LETTER in page.pdf(prefer_css_page_size=True)

    project = make_project()
    make_noisy_round(project)
    signed_in(lead_of(project))
    names = ("overview", "differences", "people", "improve")
    pages = [reverse(f"agreement:{name}", args=[project.slug]) for name in names]
    assert cut(page, PORTRAIT, pages) == []
