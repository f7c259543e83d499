"""Stale triples: who finds them, what their screen shows, and how one goes on to the next."""

from copy import deepcopy

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.review.actions.rounds import SubmitRefused
from apps.review.actions.submitting import ACCEPTED_BEFORE, begin_revision, re_pin
from apps.triples.actions.triples import refresh_staleness, retire_triple, retire_triples
from apps.triples.enums import RetireReason, State
from apps.triples.models import Triple
from tests.factories import AT, lead_of, make_member
from tests.review.elsewhere import applied, entry, take_in
from tests.review.factories import CHANGED, make_accepted, make_triple, reload, reviewers_of
from tests.triples.factories import TEXTS, make_snapshot, make_team


@pytest.fixture(scope="module")
def _project(module_rows):
    return make_team()


@pytest.fixture
def project(db, _project):
    return deepcopy(_project)


def url(name, project, *args):
    return reverse(f"review:{name}", args=[project.slug, *args])


def make_stale(project, texts=CHANGED, count=1, **draft):
    """Triples on the block "access", all accepted before `texts` was frozen."""
    triples = [make_accepted(project, **draft) for _ in range(count)]
    snapshot = make_snapshot(project, texts, corpus=triples[0].snapshot.corpus)
    refresh_staleness(project=project, snapshot=snapshot, at=AT)
    return [reload(triple) for triple in triples]


def test_a_lead_finds_all_and_an_author_their_own_oldest_first(client, project):
    one, two = make_stale(project, count=2)
    shown = {}
    for name, person in (("lead", lead_of(project)), ("author", two.author), ("reviewer", reviewers_of(one)[0])):
        client.force_login(person)
        page = client.get(url("stale", project))
        shown[name] = page.context["page"].rows

    assert shown == {"lead": [one, two], "author": [two], "reviewer": []}


def test_the_screen_lights_the_evidence_and_the_difference_on_both_sides(client, project):
    (triple,) = make_stale(project)
    client.force_login(triple.author)

    page = client.get(url("stale-triple", project, triple.pk)).content.decode()

    assert page.count("<mark>A session lasts at most eight hours.</mark>") == 2
    assert "<del>closes by itself" in page
    assert "<ins>" in page
    assert "Evidence unchanged" in page


def test_missing_evidence_is_reported_and_cannot_be_pinned(client, project):
    (triple,) = make_stale(project, TEXTS | {"access": "A session lasts at most nine hours."})
    client.force_login(triple.author)

    page = client.get(url("stale-triple", project, triple.pk))
    refused = client.post(url("stale-pin", project, triple.pk))

    offers = {offer.name: offer.refusal for offer in page.context["offers"]}
    assert "does not contain the evidence word for word" in offers["re_pin"]
    assert offers["anew"] is None
    assert "The evidence is gone" in page.content.decode()
    assert refused.status_code == 409
    assert "does not contain the evidence word for word" in refused.content.decode()
    assert (reload(triple).state, reload(triple).revisions.count()) == (State.ACCEPTED, 1)


def test_a_block_that_is_gone_is_named(client, project):
    (triple,) = make_stale(project, {key: text for key, text in TEXTS.items() if key != "access"})
    client.force_login(lead_of(project))

    page = client.get(url("stale-triple", project, triple.pk))

    assert "The newest snapshot does not contain this passage." in page.content.decode()
    assert page.context["offers"][0].refusal.startswith("The newest snapshot does not contain its passage.")


def test_pinning_opens_a_round_and_goes_on_to_the_next(client, project):
    one, two, three = make_stale(project, count=3)
    client.force_login(lead_of(project))

    first = client.post(url("stale-pin", project, two.pk))
    second = client.post(url("stale-pin", project, three.pk))
    last = client.post(url("stale-pin", project, one.pk))

    assert [first.url, second.url] == [url("stale-triple", project, three.pk), url("stale-triple", project, one.pk)]
    assert last.url == url("stale", project)
    assert {reload(triple).state for triple in (one, two, three)} == {State.IN_REVIEW}
    assert (reload(one).round, reload(one).snapshot.number) == (2, 2)


@pytest.mark.parametrize("is_begun", [False, True])
def test_a_warning_nobody_has_answered_asks_nobody_anew_while_the_words_are_the_accepted_ones(project, is_begun):
    """A set that was reviewed elsewhere was taken with its warnings; two of its questions are nearly the same."""
    asked = [f"How long does a session of {name} last at most?" for name in ("one engineer", "an engineer")]
    take_in(applied(project, *(entry(question=question) for question in asked)))
    newest = make_snapshot(project, CHANGED, corpus=project.corpora.get())
    refresh_staleness(project=project, snapshot=newest, at=AT)
    stale, lead = Triple.objects.filter(project=project, is_stale=True).earliest("number"), lead_of(project)
    on_newest = {"project": project, "triple_id": stale.pk, "person": lead, "snapshot": newest, "at": AT}
    if is_begun:
        begin_revision(**on_newest)
        with pytest.raises(SubmitRefused, match="nearly the same question exists"):
            re_pin(**on_newest)
        return

    pinned = re_pin(**on_newest)

    assert pinned.state == State.IN_REVIEW
    answers = {warning["code"]: warning["answer"] for warning in pinned.revision.warnings}
    assert answers == {"duplicate": ACCEPTED_BEFORE}


def test_skipping_goes_on_without_touching(client, project):
    one, two = make_stale(project, count=2)
    client.force_login(lead_of(project))

    assert client.get(url("stale-next", project)).url == url("stale-triple", project, one.pk)
    for here, there in ((one, two), (two, one)):
        assert client.get(url("stale-next", project), {"after": here.pk}).url == url("stale-triple", project, there.pk)
    assert client.get(url("stale-next", project), {"after": "rubbish"}).url == url("stale-triple", project, one.pk)


def test_retiring_needs_a_lead_and_one_of_the_reasons(client, project):
    (triple,) = make_stale(project)
    client.force_login(triple.author)
    assert client.post(url("stale-retire", project, triple.pk), {"reason": "block_gone"}).status_code == 403

    client.force_login(lead_of(project))
    assert client.post(url("stale-retire", project, triple.pk), {}).status_code == 409
    assert reload(triple).state == State.ACCEPTED

    gone = client.post(url("stale-retire", project, triple.pk), {"reason": "block_gone"})
    assert (gone.url, reload(triple).state) == (url("stale", project), State.RETIRED)


def test_a_reviewer_can_read_and_sees_why_they_cannot_act(client, project):
    (triple,) = make_stale(project)
    client.force_login(reviewers_of(triple)[0])

    page = client.get(url("stale-triple", project, triple.pk))

    assert [offer.refusal is not None for offer in page.context["offers"]] == [True] * 3
    assert client.post(url("stale-pin", project, triple.pk)).status_code == 403


def test_what_is_not_stale_has_no_such_screen(client, project):
    triple = make_accepted(project)
    client.force_login(triple.author)

    assert client.get(url("stale-triple", project, triple.pk)).url == url("triple", project, triple.pk)
    assert client.post(url("stale-pin", project, triple.pk)).status_code == 409


def test_a_title_that_changed_is_shown(client, project):
    triple = make_accepted(project)
    newer = make_snapshot(project, CHANGED, corpus=triple.snapshot.corpus, titles={"access": "Emergency access"})
    refresh_staleness(project=project, snapshot=newer, at=AT)
    client.force_login(triple.author)

    page = client.get(url("stale-triple", project, triple.pk)).content.decode()

    assert '<del dir="auto">Access</del> <ins dir="auto">Emergency access</ins>' in page


def test_the_list_goes_on_page_by_page(client, project, monkeypatch):
    monkeypatch.setattr("apps.review.pages.stale.PER_PAGE", 2)
    one, two, three = make_stale(project, count=3)
    client.force_login(lead_of(project))

    first = client.get(url("stale", project)).context["page"]
    second = client.get(url("stale", project), {"after": first.next}).context["page"]

    assert (first.rows, second.rows, second.next) == ([one, two], [three], "")


def test_a_stale_triple_of_every_kind_of_member_opens(client, project):
    triple = make_triple(project, State.ACCEPTED, stale=True)
    for person in (triple.author, lead_of(project), make_member(project, Role.ANNOTATOR)):
        client.force_login(person)
        assert client.get(url("stale-triple", project, triple.pk)).status_code == 200


def test_a_lead_re_pins_or_retires_many_from_the_list_by_the_board(client, project):
    one, two = make_stale(project, count=2)
    client.force_login(lead_of(project))

    shown = client.post(url("bulk", project) + "?state=stale", {"kind": "retire", "triple": [one.pk, two.pk]})

    assert shown.context["shown"].can == [one, two]
    assert "2 Q&amp;As: 2 are retired." in shown.text
    assert 'href="' + url("board", project) + '?state=stale&amp;select=all"' in client.get(url("stale", project)).text


def test_only_leads_select_on_the_list(client, project):
    (triple,) = make_stale(project)
    client.force_login(triple.author)

    assert "Retire selected" not in client.get(url("stale", project)).text


@pytest.mark.parametrize("count", [1, 5])
def test_retiring_many_takes_as_many_statements_for_one_and_five(project, count, django_assert_num_queries):
    alone, *many = triples = make_stale(project, count=count + 1)
    lead = lead_of(project)
    retire = {"project": project, "lead": lead, "roles": frozenset({Role.LEAD}), "reason": RetireReason.OUT_OF_SCOPE}
    retire_triple(triple_id=alone.pk, at=AT, **retire)

    with django_assert_num_queries(6):
        retire_triples(triple_ids=[triple.pk for triple in many], at=AT, **retire)

    events = Event.objects.filter(action="triple.retire").order_by("pk")
    assert [event.object_id for event in events] == [str(triple.pk) for triple in triples]
    assert len({str((event.before, event.after, event.actor_id)) for event in events}) == 1
