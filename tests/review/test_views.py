import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.review.actions.submitting import begin_revision
from apps.review.enums import VerdictChoice
from apps.review.models import Verdict
from apps.triples.enums import State
from tests.factories import AT, lead_of, make_member
from tests.review.factories import (
    answer,
    make_disputed,
    make_in_review,
    make_triple,
    reload,
    reviewers_of,
)
from tests.triples.bench_fields import fields as bench_fields


def url(name, project, *args):
    return reverse(f"review:{name}", args=[project.slug, *args])


def give(client, project, triple, **changes):
    body = {"revision": triple.current_id, "key": f"k-{triple.pk}", "choice": "confirm"} | changes
    return client.post(url("verdict", project, triple.pk), body)


def test_the_queue_leads_to_the_oldest_and_on_to_the_next(client, project):
    one, two = make_in_review(project), make_in_review(project)
    client.force_login(reviewers_of(one)[0])

    assert client.get(url("next", project)).url == url("screen", project, one.pk)
    assert client.get(url("next", project) + f"?after={one.pk}").url == url("screen", project, two.pk)
    assert client.get(url("next", project) + "?after=rubbish").url == url("screen", project, one.pk)

    assert give(client, project, one).url == url("screen", project, two.pk)
    assert Verdict.objects.get().choice == VerdictChoice.CONFIRM
    assert give(client, project, two).url == url("queue", project)
    assert client.get(url("next", project)).url == url("queue", project)


def test_the_screen_shows_question_answer_and_lit_evidence(client, project):
    triple = make_in_review(project)
    client.force_login(reviewers_of(triple)[0])

    page = client.get(url("screen", project, triple.pk)).content.decode()

    assert triple.current.question in page
    assert "<mark>A session lasts at most eight hours.</mark>" in page
    assert page.count('name="reasons"') == 6
    assert page.count('name="category"') == 4


def test_with_a_script_the_answer_to_a_verdict_is_the_next_screen(client, project):
    one, two = make_in_review(project), make_in_review(project)
    client.force_login(reviewers_of(one)[0])

    sent = give(client, project, one, straight="1")

    page = sent.content.decode()
    assert sent.status_code == 200
    assert f'action="{url("verdict", project, two.pk)}"' in page
    assert f'data-address="{url("screen", project, two.pk)}"' in page
    assert f"{one.label} confirmed." in page
    assert f"{one.label} confirmed." not in client.get(url("screen", project, two.pk)).content.decode()
    again = give(client, project, one, straight="1").content.decode()
    assert f'action="{url("verdict", project, two.pk)}"' in again, "sent twice, it shows the same screen"
    assert Verdict.objects.count() == 1
    assert give(client, project, two, straight="1").url == url("queue", project)


def test_a_confirmation_forgets_what_was_ticked_before(client, project):
    triple = make_in_review(project)
    client.force_login(reviewers_of(triple)[0])

    give(client, project, triple, reasons=["overstated"], category="numeric")

    assert (Verdict.objects.get().reasons, Verdict.objects.get().category) == ([], "")


def test_a_flag_that_is_not_whole_comes_back_with_what_was_chosen(client, project):
    triple = make_in_review(project)
    client.force_login(reviewers_of(triple)[0])

    back = give(client, project, triple, choice="flag", reasons=["overstated"], note="Too much & more")

    page = back.content.decode()
    assert back.status_code == 400
    assert "Please also choose what is wrong with the answer." in page
    assert "Too much &amp; more" in page
    assert not Verdict.objects.exists()


def test_undo_leads_back_while_the_round_is_open_and_the_new_verdict_supersedes(client, project):
    one, two = make_in_review(project), make_in_review(project)
    reviewer, other = reviewers_of(one)
    client.force_login(reviewer)
    give(client, project, one)

    page = client.get(url("screen", project, two.pk)).content.decode()
    assert f'href="{url("screen", project, one.pk)}"' in page
    assert 'aria-pressed="true"' in client.get(url("screen", project, one.pk)).content.decode()

    give(client, project, one, key="again", choice="flag", reasons=["wrong_block"])
    assert Verdict.objects.filter(superseded_by=None).get().choice == VerdictChoice.FLAG

    answer(one, other)
    page = client.get(url("screen", project, two.pk)).content.decode()
    assert "nothing to undo" in page


def test_the_screen_of_a_closed_round_leads_to_the_page(client, project):
    triple = make_disputed(project)
    client.force_login(reviewers_of(triple)[0])

    assert client.get(url("screen", project, triple.pk)).url == url("triple", project, triple.pk)
    late = give(client, project, triple)
    assert late.status_code == 409
    assert "The round is closed" in late.content.decode()


OFFERED = {
    "author": {"revise", "split", "drop"},
    "confirmer": set(),
    "flagger": {"withdraw"},
    "lead": {"adjudicate"},
    "bystander": set(),
}


@pytest.mark.parametrize("who", OFFERED)
def test_a_dispute_offers_what_the_table_allows_this_person(client, project, who):
    triple = make_disputed(project)
    confirmer, flagger = reviewers_of(triple)
    people = {
        "author": triple.author,
        "confirmer": confirmer,
        "flagger": flagger,
        "lead": lead_of(project),
        "bystander": make_member(project, Role.ANNOTATOR),
    }
    client.force_login(people[who])

    response = client.get(url("triple", project, triple.pk))

    offers = response.context["offers"]
    assert {offer.name for offer in offers if offer.refusal is None} == OFFERED[who]
    assert len(offers) == 5
    assert response.content.decode().count('aria-disabled="true"') == 5 - len(OFFERED[who])


def test_every_form_of_a_dispute_opens_for_those_it_is_for(client, project):
    triple = make_disputed(project)
    flagger = reviewers_of(triple)[1]
    for person, doing in ((triple.author, "drop"), (flagger, "withdraw"), (lead_of(project), "adjudicate")):
        client.force_login(person)
        assert 'id="doing"' in client.get(url("triple", project, triple.pk), {"do": doing}).content.decode()

    client.force_login(flagger)
    assert 'id="doing"' not in client.get(url("triple", project, triple.pk), {"do": "drop"}).content.decode()


def test_messages_policies_and_decisions_over_http(client, project):
    talk, drop, decide = (make_disputed(project) for _ in range(3))
    policy = make_disputed(project, flag={"category": "compound"})
    client.force_login(talk.author)
    client.post(url("message", project, talk.pk), {"text": "Why <b>so</b>?"})
    assert "Why &lt;b&gt;so&lt;/b&gt;?" in client.get(url("triple", project, talk.pk)).content.decode()

    page = client.get(url("triple", project, policy.pk)).content.decode()
    assert "Policy for a compound claim" in page
    assert "Split it into atomic claims, each with its own passage." in page
    client.force_login(reviewers_of(policy)[0])
    refused = client.post(url("withdraw-flag", project, policy.pk), {"policy": "synonym"})
    assert (refused.status_code, "who raised it, can withdraw it." in refused.content.decode()) == (409, True)
    client.force_login(reviewers_of(policy)[1])
    assert client.post(url("withdraw-flag", project, policy.pk), {}).status_code == 400
    client.post(url("withdraw-flag", project, policy.pk), {"policy": "synonym"})
    assert reload(policy).resolution == "policy:synonym"

    client.force_login(drop.author)
    assert client.post(url("drop", project, drop.pk), {}).status_code == 400
    client.post(url("drop", project, drop.pk), {"reason": "No use."})
    assert reload(drop).state == State.DROPPED

    client.force_login(lead_of(project))
    assert client.post(url("adjudicate", project, decide.pk), {"reason": "x"}).status_code == 400
    assert client.post(url("adjudicate", project, decide.pk), {"decision": "accept"}).status_code == 400
    client.post(url("adjudicate", project, decide.pk), {"decision": "accept", "reason": "Read it."})
    assert reload(decide).resolution == "adjudicated"


def test_revising_opens_the_bench_and_the_next_round_shows_the_difference(client, project):
    triple = make_disputed(project)
    client.force_login(triple.author)
    begun = client.post(url("begin", project, triple.pk))
    assert begun.url == reverse("triples:edit", args=[project.slug, triple.pk])

    assert client.get(begun.url).status_code == 200
    seen = {"seen_version": reload(triple).edit_version, "answer": "At most eight whole hours."}
    client.post(url("submit", project, triple.pk), bench_fields(project, **seen))
    assert reload(triple).round == 2

    client.force_login(reviewers_of(triple)[0])
    page = client.get(url("screen", project, triple.pk)).content.decode()
    assert "At most eight <ins>whole </ins>hours." in page


def test_a_stale_triple_shows_both_texts_and_is_pinned_again(client, project):
    triple = make_triple(project, State.ACCEPTED, stale=True)
    client.force_login(triple.author)

    page = client.get(url("triple", project, triple.pk)).content.decode()
    client.post(url("re-pin", project, triple.pk))

    assert "It <ins>may be extended once</ins>." in page
    assert reload(triple).state == State.IN_REVIEW


@pytest.mark.parametrize("state", [*State, "stale"])
def test_the_page_of_every_state_opens_for_its_author_and_a_lead(client, project, state):
    triple = make_triple(project, State.ACCEPTED if state == "stale" else state, stale=state == "stale")

    for person in (triple.author, lead_of(project)):
        client.force_login(person)
        assert client.get(url("triple", project, triple.pk)).status_code == 200


def test_a_revision_that_is_being_written_stays_off_the_page(client, project):
    triple = make_disputed(project)
    begin_revision(project=project, triple_id=triple.pk, person=triple.author, snapshot=triple.snapshot, at=AT)
    client.force_login(triple.author)

    page = client.get(url("triple", project, triple.pk)).content.decode()

    assert "continue writing" in page
    assert "revision 1" in page


@pytest.mark.slow
def test_home_and_the_review_screen_count_more_than_a_hundred_the_same(client, project):
    waiting = [make_in_review(project) for _ in range(103)]
    client.force_login(reviewers_of(waiting[0])[0])

    home = client.get(reverse("dashboard:home", args=[project.slug])).content.decode()
    screen = client.get(url("screen", project, waiting[0].pk)).content.decode()

    assert "<b>Review Q&amp;As: 103</b>" in home
    assert "<b>103</b> to review" in screen
