"""Two runs on the same Q&As by keys alone: other hit rules, a drop explained, the comparison closed."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from apps.evaluation.models import ClosedComparison, Evaluation, RegressionNote
from apps.goldsets.enums import VersionState
from apps.retrieval.models import System
from tests.e2e import looking
from tests.e2e.waiting import go, press, turned
from tests.evaluation.hits import places, run_that, score
from tests.factories import lead_of
from tests.goldsets.factories import make_bench, make_version
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db(transaction=True)
LONG = "BM25, long passages damped and titles counted twice as much as the text below them"


def test_the_rule_is_changed_a_drop_explained_and_the_comparison_closed_by_keys(page, signed_in):
    """One system has a long name, which makes no page scroll sideways."""
    version = make_version(VersionState.RELEASED, make_bench(triples=3), test_share=0.0)
    runs = [run_that(version, tag, places(version, *ranks)) for tag, ranks in (("base", (1, 2, 2)), ("new", (0, 2, 1)))]
    pair = [score(version, run, hit=hit, measures="Success@1") for hit in ("block", "document") for run in runs][:2]
    System.objects.filter(runs=runs[1]).update(name=LONG)
    project = version.gold_set.project
    signed_in(lead_of(project))
    for name, keys in (("evaluation", [pair[1].pk]), ("misses", [pair[1].pk, 1])):
        go(page, reverse(f"evaluation:{name}", args=[project.slug, *keys]))
        assert [fault for width in (390, 1024, 1280) for fault in looking.faults_at_width(page, width)] == [], name
        page.set_viewport_size(looking.WIDE)
    go(page, reverse("evaluation:compare", args=[project.slug, *(one.pk for one in pair)]))
    looking.looks_well(page, "hit-comparison", full=False, widths=(390, 1024, 1280))
    assert page.locator(".button.primary:visible").count() == 1
    page.set_viewport_size(looking.WIDE)

    with turned(page):
        press(page, "2")
    expect(page.locator("[aria-current=true]", has_text="Same document")).to_be_visible()
    with turned(page):
        press(page, "1")
    expect(page.locator("[aria-current=true]", has_text="Same passage")).to_be_visible()

    press(page, "f")
    page.keyboard.type("Index the second page.")
    press(page, "Enter")
    expect(page.get_by_text("1 of 1 explained")).to_be_visible()
    assert RegressionNote.objects.get().explanation == "Index the second page."

    page.get_by_role("button", name="Close comparison").click()
    with turned(page):
        press(page, "Control+Enter")
    expect(page.locator(".finding .notice", has_text="Closed by")).to_be_visible()
    assert ClosedComparison.objects.get().measure == "Success@1"

    with turned(page):
        press(page, "3")
    run_jobs()
    assert {one.run_id for one in Evaluation.objects.filter(hit="pages")} == {run.pk for run in runs}
