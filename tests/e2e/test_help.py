"""Help in place: `?` says what the page is for, words explain themselves, and the documents are a link away."""

import re

import pytest
from playwright.sync_api import expect

from apps.accounts.enums import Role
from tests.agreement.factories import make_noisy_round
from tests.e2e import looking
from tests.e2e.waiting import go, press, turned
from tests.e2e.worlds import shared
from tests.factories import lead_of, make_member, make_project

pytestmark = pytest.mark.django_db(transaction=True)


def make_noisy():
    project = make_project("Tarnwick Handbook")
    make_noisy_round(project)
    make_member(project, Role.VIEWER)
    return project


project = shared(make_noisy)


def test_agreement_explains_itself_by_keyboard_by_touch_and_in_the_documents(
    page, project, signed_in, new_context, live_server, witness
):
    signed_in(lead_of(project))
    go(page, f"/p/{project.slug}/agreement/")
    it_begins_with_one_sentence_whose_words_explain_themselves(page)
    the_question_mark_explains_the_page_and_leads_into_the_documents(page)
    assert witness.drain() == []

    phone = new_context(viewport=looking.NARROW, has_touch=True, is_mobile=True)
    looking.sign_in(phone, live_server.url, lead_of(project))
    touched = phone.new_page()
    go(touched, f"/p/{project.slug}/agreement/")
    a_word_explains_itself_by_touch(touched)


def the_question_mark_explains_the_page_and_leads_into_the_documents(agreement):
    press(agreement, "?")
    dialog = agreement.get_by_role("dialog", name="Help and keyboard shortcuts")
    expect(dialog.get_by_text("How far people grade alike")).to_be_visible()
    looking.looks_well(agreement, "help", full=False, widths=())

    with turned(agreement):
        dialog.get_by_role("link", name="Read more in the documents").click()
    expect(agreement.get_by_role("heading", name="Where people agree", level=1)).to_be_visible()
    expect(agreement).to_have_url(re.compile("/docs/reference/agreement-pages.md#overview$"))
    looking.looks_well(agreement, "document")
    with turned(agreement):
        agreement.get_by_role("link", name="coefficients of agreement").first.click()
    expect(agreement.get_by_role("heading", name="Coefficients of agreement")).to_be_visible()


def it_begins_with_one_sentence_whose_words_explain_themselves(agreement):
    expect(agreement.get_by_text(re.compile("^(Yes|Perhaps|Not yet): annotators agree at"))).to_be_visible()
    word = agreement.get_by_role("button", name="α ordinal")
    note = agreement.get_by_text("Agreement beyond chance for any number of people, with gaps, using the order").first
    word.focus()
    agreement.keyboard.press("Enter")
    expect(note).to_be_visible()
    looking.looks_well(agreement, "term", widths=(), full=False)
    agreement.keyboard.press("Escape")
    expect(note).to_be_hidden()
    expect(word).to_be_focused()

    table = agreement.get_by_role("region", name="Coefficients over all annotators")
    expect(table).to_be_hidden()
    agreement.get_by_text("The plain share and 7 coefficients").click()
    expect(table).to_be_visible()
    looking.looks_well(agreement, "agreement-first")


def a_word_explains_itself_by_touch(page):
    word = page.get_by_role("button", name="95 % interval")
    word.tap()

    note = page.get_by_text("The range in which the true value lies")
    expect(note).to_be_in_viewport(ratio=1)
    assert word.bounding_box()["height"] >= 43.5
    page.get_by_role("heading", name="Agreement", level=1).tap()
    expect(note).to_be_hidden()
