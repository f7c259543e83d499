"""A new edition in a real browser: six kinds, each change decided by a key, taken with its round; clean by axe."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from apps.goldsets.actions.versions import freeze_version, release_version
from apps.judging.models import Round
from tests.e2e import looking
from tests.e2e.waiting import go, press, turned
from tests.e2e.worlds import shared
from tests.editions.stories import SPRING, Story, make_story
from tests.factories import AT, lead_of
from tests.goldsets.factories import make_source
from tests.judging.editions import asked

pytestmark = pytest.mark.django_db(transaction=True)


def make_released() -> Story:
    """The first edition judged and released as v1, and a draft of v2."""
    from apps.goldsets.actions.versions import create_gold_set, draft_version
    from apps.queries.models import Query

    story = make_story(marked=True)
    lead = lead_of(story.project)
    Query.objects.filter(project=story.project).update(source=make_source(story.project))
    gold_set = create_gold_set(project=story.project, name="Handbook", actor=lead, at=AT)
    inputs = {"gold_set_id": gold_set.pk, "snapshot": story.spring, "rounds": [story.first], "actor": lead, "at": AT}
    version = draft_version(**inputs)
    freeze_version(version_id=version.pk, actor=lead, at=AT)
    release_version(version_id=version.pk, actor=lead, at=AT)
    draft_version(**inputs)
    return story


released = shared(make_released)


def the_button_names_the_round_only_while_there_is_a_pair_to_judge(page, story: Story) -> None:
    item = story.begin_import({**SPRING, "b17": "Visitors wait in the garden."})

    go(page, reverse("editions:import", args=[story.project.slug, item.pk]))
    expect(page.get_by_role("button", name="Take the edition and make the round")).to_be_visible()
    press(page, "c")

    expect(page.get_by_role("button", name="Take the edition", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Take it, judge later")).to_be_hidden()
    expect(page.locator("#work")).to_contain_text("No pair is left to judge, so no round is made")
    press(page, "a")
    expect(page.get_by_role("button", name="Take it, judge later")).to_be_visible()


def test_choices_for_an_edition_are_stored_by_keys_and_taken_with_its_round(page, released, signed_in, witness):
    story = released
    signed_in(lead_of(story.project))
    the_button_names_the_round_only_while_there_is_a_pair_to_judge(page, story)
    item = story.begin_import()
    page.clock.install()
    go(page, reverse("corpus:import", args=[story.project.slug, item.pk]))
    with turned(page):
        page.get_by_role("link", name="Compare with").click()
    work = page.locator("#work")
    stored, warning = page.locator("#take[data-holds=saved]"), page.get_by_text("Not stored yet")
    expect(work).to_contain_text("Carried along: 51 grades. To judge: 7 pairs, 6 changed and 1 new, 14 min to 21 min")
    looking.looks_well(page, "edition")

    page.route("**/decide/", lambda route: route.abort(), times=1)
    press(page, "a")
    warning.wait_for()
    page.clock.run_for(5_000)
    stored.wait_for(state="attached")
    expect(warning).to_be_hidden()
    assert [one for one in witness.drain() if "ERR_FAILED" not in one] == []

    def expect_the_choice() -> None:
        expect(page.get_by_role("article", name="b15").get_by_role("radio", name="Judge again")).to_be_checked()
        expect(work).to_contain_text("Carried along: 48 grades. To judge: 10 pairs, 9 changed and 1 new")

    with turned(page):
        page.get_by_role("link", name="3 passages, Changed").click()
    expect_the_choice()
    with turned(page):
        page.get_by_role("link", name="autumn.jsonl").click()
    with turned(page):
        page.go_back()
    expect_the_choice()
    with turned(page):
        page.reload()
    expect_the_choice()

    press(page, "j", "c")
    expect(page.get_by_role("article", name="b16").get_by_role("radio", name="Carry along")).to_be_checked()
    expect(work).to_contain_text("Carried along: 51 grades. To judge: 7 pairs")
    press(page, "k", "c")
    expect(work).to_contain_text("Carried along: 54 grades. To judge: 4 pairs, 3 changed and 1 new")
    with turned(page):
        press(page, "Control+Enter")
    page.get_by_text("54 grades came along").wait_for()
    looking.looks_well(page, "edition-taken", widths=())
    assert {name for _, name in asked(Round.objects.latest("number"))} == {"b17", "b21"}
    assert witness.drain() == []
