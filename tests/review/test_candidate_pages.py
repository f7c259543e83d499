"""The pages on which two reviewers answer about a further passage, and on which everybody reads what came of it."""

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.enums import Role
from apps.accounts.selectors import members_of
from apps.review.enums import CandidateState
from apps.review.models import CandidateAnswer
from tests.factories import lead_of, make_member
from tests.review.candidates import CONFIRM, REJECT, fresh, make_candidate_block, make_open, propose, say
from tests.review.crawling import Rewind, crawl
from tests.review.factories import make_accepted, reload, reviewers_of
from tests.triples.factories import make_team


@pytest.fixture
def project(db):
    return make_team(reviewers=3)


def page(client, candidate, name="candidate", **posted):
    url = reverse(f"review:{name}", args=[candidate.triple.project.slug, candidate.pk])
    return client.post(url, posted) if posted else client.get(url)


def test_a_reviewer_reads_both_passages_and_answers(client, project):
    candidate, (one, _) = make_open(project)
    client.force_login(one)

    shown = page(client, candidate).content.decode()

    assert "Every datastore is copied twice a day" in shown
    assert "A session lasts at most eight hours" in shown
    assert lead_of(project).name not in shown
    answered = page(client, candidate, "candidate-answer", key="k", choice=CONFIRM, note="Says the same.")
    assert answered.url == reverse("review:queue", args=[project.slug])
    given = CandidateAnswer.objects.get()
    assert (given.reviewer, given.choice, given.note) == (one, CONFIRM, "Says the same.")


def test_an_answer_can_be_changed_by_going_back(client, project):
    first, (one, _) = make_open(project)
    second = propose(make_accepted(project), lead_of(project))
    client.force_login(one)
    page(client, first, "candidate-answer", key="k", choice=CONFIRM)

    shown = client.get(reverse("review:candidate-next", args=[project.slug]), follow=True)

    assert shown.redirect_chain[-1][0].endswith(f"/passages/{second.pk}/")
    assert f"back to {first.triple}" in shown.content.decode()
    assert "your answer so far" in page(client, first).content.decode()


def test_without_a_choice_the_page_says_which_key_to_press(client, project):
    candidate, (one, _) = make_open(project)
    client.force_login(one)

    answered = page(client, candidate, "candidate-answer", key="k", note="Kept.")

    assert (answered.status_code, "Press c if" in answered.content.decode()) == (400, True)
    assert "Kept." in answered.content.decode()


def test_a_lead_decides_with_a_reason(client, project):
    decider = make_member(project, Role.LEAD, name="Decider")
    candidate = make_candidate_block(project, CandidateState.DISPUTED, decider)
    client.force_login(decider)

    shown = page(client, candidate).content.decode()
    refused = page(client, candidate, "candidate-decide", step="decide_add", reason=" ")
    page(client, candidate, "candidate-decide", step="decide_add", reason="It says it in a table.")

    assert all(person.name in shown for person in reviewers_of(candidate.triple)[:1])
    assert (refused.status_code, "Say why" in refused.content.decode()) == (400, True)
    assert fresh(candidate).state == CandidateState.CONFIRMED
    told = client.get(reverse("review:triple", args=[project.slug, candidate.triple_id])).content.decode()
    assert "It says it in a table." in told


def test_who_neither_answers_nor_decides_is_led_to_the_triple(client, project):
    candidate, _ = make_open(project)
    client.force_login(candidate.triple.author)

    assert page(client, candidate).url == reverse("review:triple", args=[project.slug, candidate.triple_id])


def test_who_proposed_it_withdraws_it_on_the_page_of_the_triple(client, project):
    candidate, _ = make_open(project)
    client.force_login(candidate.proposed_by)
    url = reverse("review:triple", args=[project.slug, candidate.triple_id])
    assert "Withdraw it" in client.get(url).content.decode()

    client.post(reverse("review:candidate-withdraw", args=[project.slug, candidate.pk]))

    assert fresh(candidate).state == CandidateState.WITHDRAWN
    assert "Also right?" not in client.get(url).content.decode()


def test_it_is_in_my_work_and_on_home_until_it_is_answered(client, project):
    candidate, (one, two) = make_open(project)
    for person, word in ((one, True), (two, True), (candidate.triple.author, False)):
        client.force_login(person)
        for url in (reverse("review:queue", args=[project.slug]), f"/p/{project.slug}/"):
            assert ("Passages to check" in client.get(url).content.decode()) == word

    say(candidate, one)

    client.force_login(one)
    assert "Passages to check" not in client.get(reverse("review:queue", args=[project.slug])).content.decode()


def test_the_queries_of_the_pages_do_not_grow(client, project):

    candidate, (one, _) = make_open(project)
    client.force_login(one)
    counts = []
    for _ in range(2):
        for url in (
            reverse("review:candidate", args=[project.slug, candidate.pk]),
            reverse("review:triple", args=[project.slug, candidate.triple_id]),
            reverse("review:queue", args=[project.slug]),
        ):
            client.get(url)
            with CaptureQueriesContext(connection) as seen:
                client.get(url)
            counts.append(len(seen))
        propose(make_accepted(project), lead_of(project))
        propose(make_accepted(project), lead_of(project))

    assert counts[:3] == counts[3:]


OTHERS = ("author", "lead", "proposer", "third", "other")
SAID = {
    "nothing": lambda candidate, person: None,
    "confirmed": lambda candidate, person: say(candidate, person, CONFIRM, note="SECRET-NOTE"),
    "rejected": lambda candidate, person: say(candidate, person, REJECT, note="SECRET-NOTE"),
    "changed": lambda candidate, person: (say(candidate, person, REJECT), say(candidate, person, CONFIRM)),
}


@pytest.mark.once
@pytest.mark.parametrize(
    "who",
    [
        "second",
        *(pytest.param(who, marks=pytest.mark.slow) for who in ("author", "lead", "proposer", "third", "other")),
    ],
)
def test_no_page_that_can_be_crawled_reveals_the_first_answer(client, project, who):
    """Nor where the passage was found, to anybody but who found it."""
    other = make_member(project, Role.ANNOTATOR, name="Bystander")
    lead = make_member(project, Role.LEAD, name="Lead")
    candidate, (one, two) = make_open(project)
    third = next(person for person in members_of(project, Role.REVIEWER) if person not in (one, two))
    people = {
        "second": two,
        "third": third,
        "author": candidate.triple.author,
        "proposer": candidate.proposed_by,
        "lead": lead,
        "other": other,
    }
    client.force_login(people[who])
    crawls = {}
    for name, do in SAID.items():
        try:
            with transaction.atomic():
                do(candidate, one)
                crawls[name] = crawl(client, project)
                raise Rewind
        except Rewind:
            pass

    silent = crawls.pop("nothing")
    assert any(f"/review/triples/{candidate.triple_id}/" in url for url in silent)
    assert (f"/p/{project.slug}/review/passages/{candidate.pk}/" in silent) == (who in ("second", "third"))
    for found in crawls.values():
        assert set(silent) == set(found)
        assert [url for url in silent if silent[url] != found[url] and "/audit/" not in url] == []


def test_the_crawl_would_see_the_answers_once_both_are_in(client, project):
    candidate, (one, two) = make_open(project)
    client.force_login(reload(candidate.triple).author)
    say(candidate, one, REJECT, note="SECRET-NOTE")
    say(candidate, two, REJECT)

    shown = client.get(reverse("review:triple", args=[project.slug, candidate.triple_id])).content.decode()

    assert "SECRET-NOTE" in shown
