"""A lead brings in a set that was reviewed elsewhere, takes it as accepted, and has some of it reviewed blind."""

import json

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from apps.review.enums import Decision, VerdictChoice
from apps.triples.models import Triple
from tests.e2e import looking
from tests.e2e.waiting import go, press, turned
from tests.factories import lead_of
from tests.review.elsewhere import REASON, entry
from tests.review.factories import answer, decide, reviewers_of
from tests.triples.factories import make_team

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def test_a_set_that_exists_is_brought_in_taken_and_a_tenth_of_it_reviewed(page, signed_in, witness):
    project = make_team(reviewers=2)
    signed_in(lead_of(project))
    go(page, f"/p/{project.slug}/corpus/imports/new/triples/")
    twenty = [entry(added_by="") for _ in range(19)]
    unmarked = entry(expected_block={"block_id": "access"})
    lines = b"".join(json.dumps(one).encode() + b"\n" for one in [*twenty, unmarked])

    a_file_is_imported_with_one_author_for_all(page, lines)
    they_are_taken_as_accepted_with_a_reason(page)
    a_tenth_is_drawn(page)
    item = page.url
    two_people_review_them_blind(page, signed_in)
    the_page_of_the_import_says_how_many_are_wrong(page, signed_in, project, item)
    assert witness.drain() == []


def a_file_is_imported_with_one_author_for_all(page, lines: bytes) -> None:
    page.locator("[name=file]").set_input_files(
        {"name": "help-desk.jsonl", "mimeType": "application/jsonl", "buffer": lines}
    )
    page.get_by_text("Advanced").click()
    page.get_by_label("Author of all").fill("Mara Quill")
    page.get_by_label("Domain of all").fill("access")
    looking.looks_well(page, "elsewhere-upload")
    with turned(page):
        page.get_by_role("button", name="Preview").click()
    with turned(page):
        page.get_by_role("button", name="Import 20 Q&As").click()

    assert set(Triple.objects.values_list("author__name", "domain")) == {("Mara Quill", "access")}


def they_are_taken_as_accepted_with_a_reason(page) -> None:
    expect(page.get_by_text("20 drafts say in their file who reviewed them.")).to_be_visible()
    looking.looks_well(page, "elsewhere-take")
    page.get_by_label("Where and how were they reviewed?").fill(REASON)
    with turned(page):
        page.get_by_role("button", name="Take 20 Q&As as accepted").click()

    expect(page.get_by_text("None of 19 reviewed here.")).to_be_visible()
    expect(page.get_by_text("1 Q&A was not taken, and stayed a draft")).to_be_visible()
    expect(page.get_by_text("No evidence is marked yet.")).to_be_visible()
    looking.looks_well(page, "elsewhere-taken")


def a_tenth_is_drawn(page) -> None:
    size = page.get_by_label("Review so many again here, drawn at random")
    expect(size).to_have_value("2")
    with turned(page):
        page.get_by_role("button", name="Draw them").click()

    expect(page.get_by_text("0 of 2 drawn from 19 are decided so far.")).to_be_visible()


def two_people_review_them_blind(page, signed_in) -> None:
    drawn = list(Triple.objects.filter(sampled_at__isnull=False).order_by("number"))
    one, two = reviewers_of(drawn[0])
    signed_in(one)
    go(page, reverse("review:screen", args=[drawn[0].project.slug, drawn[0].pk]))
    for _ in drawn:
        expect(page.locator("main")).not_to_contain_text("Jun Hallam")
        with turned(page):
            press(page, "c", "Enter")
    answer(drawn[0], two, VerdictChoice.CONFIRM)
    answer(drawn[1], two, VerdictChoice.FLAG)


def the_page_of_the_import_says_how_many_are_wrong(page, signed_in, project, item: str) -> None:
    signed_in(lead_of(project))
    first, second = Triple.objects.filter(sampled_at__isnull=False).order_by("number")
    assert (first.resolution, second.state) == ("consensus", "disputed")
    decide(second, lead_of(project), Decision.DROP)

    go(page, item)

    expect(page.get_by_text("2 of 19 reviewed, 1 wrong: 50.0\xa0%, 9.5 to 90.5\xa0%")).to_be_visible()
    looking.looks_well(page, "elsewhere-wrong")
    go(page, reverse("triples:list", args=[project.slug]))
    expect(page.get_by_text("reviewed elsewhere", exact=True)).to_have_count(17)
    looking.looks_well(page)
    go(page, reverse("review:triple", args=[project.slug, Triple.objects.filter(resolution="elsewhere").first().pk]))
    expect(page.get_by_text("reviewed elsewhere, by Jun Hallam, Sef Arden")).to_be_visible()
    looking.looks_well(page, "elsewhere-triple")
