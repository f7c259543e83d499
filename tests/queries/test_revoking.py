"""Revoking a permission retires what rests on it, and says before what that is."""

from copy import deepcopy

import pytest
from django.test import Client
from django.urls import reverse

from apps.goldsets.enums import PublicState
from apps.goldsets.selectors.public import no_longer_public
from apps.jobs.models import Notification
from apps.judging.actions.seats import claim_seats
from apps.queries.actions.sources import resting_on, revoke_permission
from apps.queries.enums import PermissionScope
from apps.queries.models import Query
from apps.review.actions.rounds import SubmitRefused
from apps.review.actions.submitting import submit_triple
from apps.review.enums import VerdictChoice
from apps.review.models import ReviewSeat
from apps.review.selectors.queues import review_queue
from apps.triples.actions.triples import DraftRefused, reopen_as_draft
from apps.triples.enums import RetireReason, State
from apps.triples.models import Triple
from tests.factories import AT, lead_of
from tests.goldsets.factories import make_bench
from tests.goldsets.public.factories import make_public_release, make_publishable
from tests.judging.factories import make_round, people_of
from tests.queries.factories import make_permission, make_query, make_source
from tests.review.factories import answer, make_accepted, make_triple, reload, reviewers_of
from tests.review.parts import make_cast
from tests.triples.factories import make_team

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def _bench(module_rows):
    return make_bench()


@pytest.fixture
def bench(db, _bench):
    return deepcopy(_bench)


def revoke(bench) -> None:
    for permission in bench.source.permissions.filter(revoked_at=None):
        revoke_permission(permission_id=permission.pk, reason="Contract ended.", actor=bench.lead, at=AT)


def test_the_qas_that_rest_on_a_source_are_retired_with_its_queries(bench):
    make_accepted(bench.project, snapshot=bench.snapshot)
    bench.project.triples.update(source=bench.source)
    revoke(bench)

    assert set(bench.project.triples.values_list("state", "retire_reason")) == {
        (State.RETIRED, RetireReason.PERMISSION_REVOKED)
    }
    assert not Query.objects.filter(project=bench.project, retired_at=None).exists()


def test_nobody_goes_on_with_drafts_reviews_and_disputes_of_a_revoked_source(client):
    """Each state that work can be in, by a source of its own and by that of its query."""
    project = make_team()
    lead, source = lead_of(project), make_source(project, name="Customer A")
    permission = make_permission(source)
    states = [State.DRAFT, State.IN_REVIEW, State.DISPUTED, State.ACCEPTED, State.DROPPED]
    triples = {state: [make_triple(project, state), make_triple(project, state)] for state in states}
    for own, by_query in triples.values():
        Triple.objects.filter(pk=own.pk).update(source=source)
        query = make_query(project, source=source)
        Triple.objects.filter(pk=by_query.pk).update(query=query)
    elsewhere = make_triple(project, State.IN_REVIEW)
    half_answered = triples[State.IN_REVIEW][0]
    answer(half_answered, reviewers_of(half_answered)[0], VerdictChoice.CONFIRM)

    client.force_login(lead)
    before = client.get(reverse("queries:source", args=[project.slug, source.pk])).content.decode()
    path = reverse("queries:revoke", args=[project.slug, permission.pk])
    page = client.post(path, {"reason": "Contract ended."}, follow=True).content.decode()

    told = "5 queries: are retired; 2 accepted Q&amp;As: are retired; 2 Q&amp;As in review: are retired;"
    told = f"{told} 2 disputed Q&amp;As: are retired; 2 drafts of Q&amp;As: are retired."
    assert told in page
    assert all(f"{words} Q&amp;A" in before for words in ("2 accepted", "2 disputed", "2 drafts of"))
    for state in states[:-1]:
        assert {reload(one).state for one in triples[state]} == {State.RETIRED}, state
    assert reload(elsewhere).state == State.IN_REVIEW
    open_seats = ReviewSeat.objects.filter(released_at=None, closed_at=None)
    assert set(open_seats.values_list("revision__triple", flat=True)) == {elsewhere.pk}
    reviewer = reviewers_of(elsewhere)[0]
    assert [seat.revision.triple for seat in review_queue(reviewer, project)] == [elsewhere]
    notice = Notification.objects.filter(kind="review.revoked", person=triples[State.DRAFT][0].author).get()
    assert "retired: the permission of Customer A was revoked." in notice.sentence
    dropped = triples[State.DROPPED][0]
    again = {"project": project, "triple_id": dropped.pk, "author": dropped.author, "at": AT}
    with pytest.raises(DraftRefused, match="Record a new permission"):
        reopen_as_draft(snapshot=dropped.snapshot, **again)
    make_permission(source)
    assert reopen_as_draft(snapshot=dropped.snapshot, **again).state == State.DRAFT


def test_a_candidate_of_a_revoked_source_is_withdrawn_since_nobody_has_adopted_it():
    cast = make_cast("candidate", State.DRAFT)
    source = make_source(cast.project)
    permission = make_permission(source)
    Triple.objects.filter(pk=cast.triple.pk).update(source=source)

    lead = lead_of(cast.project)
    revoked = revoke_permission(permission_id=permission.pk, reason="Contract ended.", actor=lead, at=AT)

    assert reload(cast.triple).state == State.WITHDRAWN
    assert revoked.sentence == "The permission is revoked. 1 candidate: is withdrawn."


def test_an_open_round_hands_out_no_pair_of_a_revoked_source():
    round_ = make_round(queries=2, blocks=2, annotators=1, overlap=0.0)
    (person,) = people_of(round_)
    held = claim_seats(round_=round_, annotator=person, n=1, at=AT)[0].query
    source = make_source(round_.project)
    permission = make_permission(source)
    Query.objects.filter(pk=held.pk).update(source=source)
    revoke_permission(permission_id=permission.pk, reason="Contract ended.", actor=lead_of(round_.project), at=AT)

    given = claim_seats(round_=round_, annotator=person, n=20, at=AT)
    assert len(given) == 2
    assert held not in {seat.query for seat in given}


def test_a_draft_that_began_after_the_revocation_is_not_submitted():
    project = make_team()
    source = make_source(project)
    permission = make_permission(source)
    revoke_permission(permission_id=permission.pk, reason="Contract ended.", actor=lead_of(project), at=AT)
    late = make_triple(project, State.DRAFT)
    Triple.objects.filter(pk=late.pk).update(source=source)

    with pytest.raises(SubmitRefused, match="permission of its source was revoked"):
        submit_triple(project=project, triple_id=late.pk, author=late.author, at=AT)


def test_while_another_permission_stands_nothing_is_retired(bench):
    bench.project.triples.update(source=bench.source)
    make_publishable(bench)
    first = bench.source.permissions.earliest("pk")
    revoke_permission(permission_id=first.pk, reason="Replaced.", actor=bench.lead, at=AT)

    assert bench.project.triples.get().state == State.ACCEPTED


def test_what_rests_on_it_is_told_before(bench):
    make_accepted(bench.project, snapshot=bench.snapshot)
    release = make_public_release(PublicState.RELEASED, make_publishable(bench))

    assert [tuple(row) for row in resting_on(bench.source)] == [
        ("2 accepted Q&As", "are retired"),
        ("Handbook v1", "marked, and later downloads leave its items out"),
        ("the public release of Handbook v1", "marked, for you to withdraw"),
    ]
    client = Client()
    client.force_login(bench.lead)
    page = client.get(reverse("queries:source", args=[bench.project.slug, bench.source.pk]))
    assert "2 accepted Q&amp;As: are retired" in page.content.decode()
    assert no_longer_public(release, at=AT) == []


def test_a_public_release_is_marked_by_the_name_of_the_source(bench):
    release = make_public_release(PublicState.RELEASED, make_publishable(bench))
    revoke(bench)

    assert no_longer_public(release, at=AT) == [bench.source.name]


def test_a_public_release_is_marked_when_the_permission_that_is_left_says_internal(bench):
    release = make_public_release(PublicState.RELEASED, make_publishable(bench))
    bench.source.permissions.update(scope=PermissionScope.INTERNAL)

    assert no_longer_public(release, at=AT) == [bench.source.name]


@pytest.mark.parametrize("state", [PublicState.PREPARED, PublicState.SIGNED])
def test_the_dialog_names_a_public_release_that_is_not_out_yet(state, bench):
    make_public_release(state, make_publishable(bench))

    assert tuple(resting_on(bench.source)[-1]) == (
        "the public release of Handbook v1",
        "marked, and can no longer go out as it is",
    )


@pytest.mark.parametrize("left", ["nothing", "an internal permission"])
def test_a_public_release_is_marked_wherever_it_is_shown_after_a_revocation(client, left, bench):
    """Also when an internal permission is left, so that nothing is retired and the version itself is not marked."""
    make_public_release(PublicState.RELEASED, make_publishable(bench))
    client.force_login(bench.lead)
    slug, gold_set = bench.project.slug, bench.project.gold_sets.get().slug
    pages = [reverse("goldsets:list", args=[slug]), reverse("goldsets:version", args=[slug, gold_set, 1])]
    pages += [reverse("goldsets:public", args=[slug, gold_set, 1]), reverse("dashboard:home", args=[slug])]
    words = "may not be published any more", "Withdraw the public release of"

    def marked() -> list[bool]:
        texts = [client.get(page).content.decode() for page in pages]
        return [any(one in text for one in words) for text in texts]

    assert marked() == [False] * 4
    for permission in bench.source.permissions.filter(scope=PermissionScope.PUBLIC):
        revoke_permission(permission_id=permission.pk, reason="Contract ended.", actor=bench.lead, at=AT)
    if left == "nothing":
        revoke(bench)
    assert marked() == [True] * 4


def test_the_list_of_versions_marks_those_that_are_public_and_those_that_rest_on_a_revoked_permission(bench):
    make_public_release(PublicState.RELEASED, make_publishable(bench))
    client = Client()
    client.force_login(bench.lead)
    address = reverse("goldsets:list", args=[bench.project.slug])

    before = client.get(address).content.decode()
    revoke(bench)
    after = client.get(address).content.decode()

    assert ", public" in before
    assert "has material whose permission was revoked" not in before
    assert "has material whose permission was revoked" in after


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (PublicState.RELEASED, "The public file still has the material"),
        (PublicState.PREPARED, "Prepare it again; until then nobody can sign."),
        (PublicState.SIGNED, "as it is it cannot go out"),
    ],
)
def test_the_page_of_a_public_release_says_what_to_do_about_a_revoked_permission(state, words, bench):
    make_public_release(state, make_publishable(bench))
    revoke(bench)
    client = Client()
    client.force_login(bench.lead)
    gold_set = bench.project.gold_sets.get()
    page = client.get(reverse("goldsets:public", args=[bench.project.slug, gold_set.slug, 1])).content.decode()

    assert f"{bench.source.name} may not be published any more" in page
    assert words in page
