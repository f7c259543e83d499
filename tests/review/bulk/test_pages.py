"""Many Q&As on the board, without JavaScript: select, look, do, follow, undo."""

import pytest
from django.urls import reverse

from apps.review.enums import BulkKind
from apps.review.models import BulkStep
from apps.triples.enums import State
from tests.factories import lead_of, make_member
from tests.queries.factories import make_source
from tests.review.bulk.walking import begin, chosen
from tests.review.factories import make_accepted, make_in_review, reload, reviewers_of
from tests.running_jobs import run_jobs
from tests.triples.factories import make_draft, make_team

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_team(reviewers=3)


@pytest.fixture
def lead(client, project):
    client.force_login(lead_of(project))
    return client


def url(name, project, *args, query=""):
    return reverse(f"review:{name}", args=[project.slug, *args]) + query


def hidden(page, **more):
    """What the form of a preview sends."""
    return {
        "shown": page.context["kind"],
        "seen": page.context["shown"].digest,
        "kind": page.context["shown"].kind,
        **more,
    }


def test_ticked_ones_are_shown_retired_and_given_back(lead, project):
    accepted = [make_accepted(project) for _ in range(2)]
    query, ticks = "?state=accepted", {"triple": [triple.pk for triple in accepted]}

    page = lead.post(url("bulk", project, query=query), {"kind": "retire", **ticks})
    assert page.context["words"].sentence == "2 Q&As: 2 are retired."
    assert "Choose why they are retired." in page.text
    assert page.text.count(" checked") == 2
    refused = lead.post(url("bulk-do", project, query=query), hidden(page, **ticks))
    assert refused.status_code == 409
    assert {reload(triple).state for triple in accepted} == {State.ACCEPTED}

    done = lead.post(url("bulk-do", project, query=query), hidden(page, retire="block_gone", **ticks), follow=True)
    assert done.redirect_chain == [(url("board", project, query=query), 302)]
    assert "Retiring 2 Q&amp;As" in done.text
    run_jobs()
    lines = lead.get(url("bulk-steps", project)).text
    assert "2 Q&amp;As are retired" in lines
    assert "Undo all 2" in lines
    assert "hx-trigger" not in lines

    step = BulkStep.objects.get()
    lead.post(url("bulk-undo", project, step.pk, query=query))
    run_jobs()
    assert "Undone for 2" in lead.get(url("board", project)).text
    assert {reload(triple).state for triple in accepted} == {State.ACCEPTED}


def test_all_that_match_are_selected_by_the_filter(lead, project):
    triples = [make_in_review(project) for _ in range(3)]
    make_draft(project)
    heir = make_member(project, "reviewer", name="Heir")

    page = lead.get(url("board", project, query="?state=in_review&select=all"))
    assert "All 3 that match are selected." in page.text
    assert [is_off for _, is_off in page.context["actions"]] == [True, False, False, True, True]
    body = {"kind": "assign", "which": "all"}
    page = lead.post(url("bulk", project, query="?state=in_review"), body)
    assert page.context["shown"].selected == 3
    everybody = [choice.data["value"] for choice in page.context["bulk"]["to"] if choice.data["selected"]]
    assert len(everybody) == 4
    asked = body | {"shown": "assign", "replace": "unanswered", "why": "Away."}
    assert "Choose who reviews them." in lead.post(url("bulk", project, query="?state=in_review"), asked).text
    page = lead.post(url("bulk", project, query="?state=in_review"), asked | {"to": everybody})
    assert len(page.context["shown"].can) == 3
    asked = body | {"shown": "assign", "replace": reviewers_of(triples[0])[0].pk, "to": [heir.pk], "why": "Away."}
    page = lead.post(url("bulk", project, query="?state=in_review"), asked)
    number = len(page.context["shown"].can)
    assert number
    lead.post(url("bulk-do", project, query="?state=in_review"), hidden(page, **asked))
    run_jobs()
    assert sum(heir in reviewers_of(triple) for triple in triples) == number


def test_drafts_are_checked_first_and_then_each_kind_of_warning_is_answered(lead, project):
    wordy = "At most eight hours, and it closes by itself, and nobody may ever extend it for whatever reason."
    draft = make_draft(project, author=lead_of(project), answer=wordy)
    body = {"kind": "submit", "triple": [draft.pk]}

    page = lead.post(url("bulk", project), body)
    assert (page.context["kind"], page.context["shown"].kind) == ("submit", "check")
    lead.post(url("bulk-do", project), hidden(page, triple=[draft.pk]))
    run_jobs()
    page = lead.post(url("bulk", project), body)
    assert "The answer says more than its evidence" in page.text
    assert page.context["shown"].can == []
    asked = body | {"shown": "submit", "answer_longer": "It is in the passage, in other words."}
    page = lead.post(url("bulk", project), asked)
    assert "1 draft goes to review" in page.text
    lead.post(url("bulk-do", project), hidden(page, **asked))
    run_jobs()
    assert reload(draft).state == State.IN_REVIEW


def test_source_and_domain(lead, project):
    source = make_source(project)
    draft = make_draft(project)
    asked = {"kind": "describe", "triple": [draft.pk], "shown": "describe", "source": source.pk, "domain": "tenders"}

    page = lead.post(url("bulk", project), asked)
    assert "Show it" in page.text
    lead.post(url("bulk-do", project), hidden(page, **asked))
    run_jobs()

    assert (reload(draft).source, reload(draft).domain) == (source, "tenders")


def test_what_another_lead_does_is_told_and_what_is_left_out_named(lead, project):
    other = make_member(project, "lead", name="Second")
    one, two = make_accepted(project), make_accepted(project)
    step = begin(project, BulkKind.RETIRE, chosen([one, two]), lead=other)

    page = lead.get(url("board", project)).text
    assert "Retiring for Second: 2 Q&amp;As" in page
    assert "Undo" not in page
    lead.post(url("bulk-stop", project, step.pk))
    run_jobs()
    assert {reload(triple).state for triple in (one, two)} == {State.ACCEPTED}
    assert "None is left out" in lead.get(url("bulk-left", project, step.pk)).text


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"kind": "retire"}, "Select Q&amp;As first."),
        ({"triple": [1]}, "Choose what to do with the selected Q&amp;As."),
    ],
)
def test_an_empty_step_gives_a_message(lead, project, body, says):
    make_draft(project)

    assert says in lead.post(url("bulk", project), body, follow=True).text
