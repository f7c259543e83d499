"""Calibrations over HTTP: the whole walk, who may come in, and that nothing reaches the two before they are done."""

import re

import pytest
from django.core.cache import cache, caches
from django.urls import reverse

from apps.accounts.enums import Role
from apps.calibration.models import Calibration, CalibrationVerdict
from apps.review.enums import VerdictChoice
from apps.review.selectors.participation import is_blinded
from apps.triples.models import Triple
from tests.agreement.factories import answer_items, make_calibration
from tests.calibration.test_calibrations import make_signalling, reread
from tests.factories import lead_of, make_member
from tests.module_rows import rows_of_module
from tests.review.crawling import crawl

pytestmark = pytest.mark.django_db

WAITED = re.compile(rb"T-\d+ is ready for your review\.")
KEY = re.compile(r'name="key" value="([0-9a-f]+)"')


def url(name, made, *more):
    return reverse(f"calibration:{name}", args=[made.project.slug, made.calibration.number, *more])


def test_the_whole_walk_from_the_rule_to_the_note(client):
    project, steady, harsh, _ = make_signalling()
    lead = lead_of(project)
    client.force_login(lead)
    assert "above the limit" in client.get(reverse("calibration:rates", args=[project.slug]), {"side": "reviewer"}).text

    said = client.post(reverse("calibration:check", args=[project.slug]), follow=True).text
    assert "Opened: C-001 for Harsh as a reviewer." in said
    made = Calibration.objects.get(project=project)

    for person, choice in ((harsh, "flag"), (steady, "confirm")):
        client.force_login(person)
        assert "Review the next one" in client.get(reverse("calibration:calibrations", args=[project.slug])).text
        for place in (1, 2):
            address = reverse("calibration:item", args=[project.slug, 1, place])
            key = KEY.search(client.get(address).text).group(1)
            about = {"reasons": ["wrong_block"], "note": "See the paragraph above."} if choice == "flag" else {}
            sent = client.post(f"{address}answer/", {"key": key, "choice": choice, **about})
            assert sent.status_code == 302
    page = reverse("calibration:calibration", args=[project.slug, 1])
    assert "Side by side" in client.get(page).text
    assert "See the paragraph above." in client.get(page).text
    assert "0 of 2" in client.get(page).text

    client.post(f"{page}message/", {"text": "The block is right; the heading misled me."})
    client.force_login(harsh)
    assert "the heading misled me" in client.get(page).text
    assert client.post(f"{page}close/", {"text": ""}).status_code == 400
    client.post(f"{page}close/", {"text": "Headings do not count as evidence."})

    made.refresh_from_db()
    assert (made.state, made.closed_by, made.note) == ("closed", harsh, "Headings do not count as evidence.")
    assert "Headings do not count as evidence." in client.get(page).text
    assert client.post(f"{page}message/", {"text": "Too late."}).status_code == 409


def test_former_reviews_of_a_triple_are_hidden_from_who_reviews_it_again(client):
    made = make_calibration(items=4, confirmed=2, flagged=2)
    triples = list(Triple.objects.filter(project=made.project).order_by("number"))
    assert all(is_blinded(triple, made.subject) for triple in triples)
    answer_items(made, made.partner, VerdictChoice.FLAG)
    cache.clear()
    caches["grades"].clear()

    client.force_login(made.subject)
    blind = crawl(client, made.project)
    answer_items(made, made.subject)
    seeing = crawl(client, made.project)

    told = [place for place, (_, body) in blind.items() if b"SECRET-NOTE" in body or b"SECOND-LOOK" in body]
    named = [place for place, (_, body) in blind.items() if b"T-000" in WAITED.sub(b"", body)]
    assert (told, named) == ([], [])
    assert len([place for place, (status, _) in blind.items() if status == 200]) > 15
    assert any(b"SECRET-NOTE" in body for _, body in seeing.values())
    assert any(b"SECOND-LOOK" in body for _, body in seeing.values())


@pytest.mark.parametrize("choice", [VerdictChoice.CONFIRM, VerdictChoice.FLAG])
def test_what_the_other_answers_changes_nothing_that_one_can_reach(client, choice):
    made = make_calibration(items=4, confirmed=2, flagged=2)
    client.force_login(made.subject)
    crawl(client, made.project)
    cache.clear()
    caches["grades"].clear()
    before = crawl(client, made.project)

    answer_items(made, made.partner, choice)
    cache.clear()
    caches["grades"].clear()

    after = crawl(client, made.project)
    assert [place for place in before if before[place] != after.get(place)] == []


@rows_of_module
def made():
    return make_calibration()


def test_a_lead_who_is_not_involved_sees_progress_and_no_verdicts(made, client):
    answer_items(made, made.partner, VerdictChoice.FLAG, most=3)
    client.force_login(made.lead)

    page = client.get(url("calibration", made)).text

    assert "3 of 4" in page
    assert "0 of 4" in page
    assert "SECOND-LOOK" not in page
    assert client.get(url("item", made, 1)).status_code == 404


def test_the_wording_is_on_the_screen_and_neither_label_nor_author(made, client):
    client.force_login(made.subject)

    page = client.get(url("item", made, 1)).text

    assert made.calibration.items.get(number=1).revision.question in page
    assert "Jun Hallam" not in page
    assert "T-000" not in page


def test_others_find_no_calibration_of_theirs(made, client):
    for person in (made.author, make_member(made.project, Role.REVIEWER)):
        client.force_login(person)
        assert client.get(url("calibration", made)).status_code == 404
        assert client.post(url("answer", made, 1), {"choice": "confirm", "key": "k"}).status_code == 404
        assert client.post(url("close", made), {"text": "x"}).status_code == 404
        assert "C-001" not in client.get(reverse("calibration:calibrations", args=[made.project.slug])).text


@pytest.mark.parametrize(
    ("sent", "words"), [({}, "Choose confirm or flag first."), ({"choice": "flag"}, "A flag needs at least one")]
)
def test_a_fault_shows_the_screen_again_with_what_was_chosen(made, client, sent, words):
    client.force_login(made.subject)

    answer = client.post(url("answer", made, 1), {"key": "k", "note": "Half a thought", **sent})

    assert answer.status_code == 400
    assert words in answer.text
    assert "Half a thought" in answer.text
    assert CalibrationVerdict.objects.count() == 0


def test_undo_leads_back_and_changes_the_answer(made, client):
    client.force_login(made.subject)
    client.post(url("answer", made, 1), {"key": "a", "choice": "confirm"})

    assert "back to item 1" in client.get(url("item", made, 2)).text
    assert "Change verdict" in client.get(url("item", made, 1)).text
    client.post(url("answer", made, 1), {"key": "b", "choice": "flag", "reasons": ["wrong_block"]})

    assert [row.choice for row in CalibrationVerdict.objects.filter(superseded_by=None)] == ["flag"]


def test_a_lead_ends_one_that_nobody_answers_and_the_verdicts_show_again(made, client):
    client.force_login(made.lead)

    client.post(url("close", made), {"text": "Sef has left."})

    assert reread(made).state == "closed"
    assert not is_blinded(made.calibration.items.first().revision.triple, made.subject)


def test_a_lead_opens_one_by_hand_or_sees_why_not(client):
    made = make_calibration(items=4, confirmed=2, flagged=2)
    client.force_login(made.lead)
    address = reverse("calibration:open", args=[made.project.slug])
    two = {"subject": made.partner.pk, "partner": made.subject.pk, "side": "reviewer", "reason": "Talk."}

    assert client.post(address, {}).status_code == 400
    assert "needs two people" in client.post(address, {**two, "partner": made.partner.pk}).text
    refused = client.post(address, two)
    assert refused.status_code == 409
    assert "past Q&amp;As" in refused.text


def test_unknown_calibrations_and_items_are_not_there(made, client):
    client.force_login(made.subject)
    places = [("calibration", number) for number in (0, 99, 2**40)] + [("item", 1, item) for item in (0, 99, 2**70)]

    for name, *place in places:
        address = reverse(f"calibration:{name}", args=[made.project.slug, *place])
        assert client.get(address).status_code == 404


def test_the_list_costs_the_same_number_of_queries(made, client, django_assert_num_queries):
    client.force_login(made.lead)
    address = reverse("calibration:calibrations", args=[made.project.slug])

    with django_assert_num_queries(9):
        client.get(address)
