"""Queries that nothing answers: who may vote, what votes add up to, how deep people looked, and what makes it fall."""

import re

import pytest
from django.db import DatabaseError, transaction
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from apps.accounts.enums import Role
from apps.judging.actions.unanswerable import VoteRefused, decide_unanswerable, vote_on_unanswerable
from apps.judging.core.unanswerable import Basis, Evidence, Sample, Vote, outcome_of, state_of
from apps.judging.enums import AbsenceState
from apps.judging.models import UnanswerableVote
from apps.judging.selectors.unanswerable import confirmed_on, to_vote_on, voted_queries
from apps.metrics.statistics.proportions import most_missed
from apps.queries.models import Query
from apps.retrieval.core.sampling import PoolPlan
from apps.retrieval.models import Pool, PoolEntry, PoolQuery
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import (
    decide,
    entries_of,
    judge_all,
    later,
    make_round,
    make_snapshot,
    people_of,
)
from tests.review.seating.moving import set_policy

OPEN, CONFIRMED, ANSWERED = AbsenceState.OPEN, AbsenceState.CONFIRMED, AbsenceState.ANSWERED
DIFFERENT, FALLEN = AbsenceState.DIFFERENT, AbsenceState.FALLEN
STATEMENTS = 11


# How many relevant blocks a sample without any may have missed.


@pytest.mark.parametrize(
    ("sampled", "outside", "missed"),
    [(0, 50, 50), (50, 50, 0), (0, 0, 0), (1, 20, 18), (10, 100, 24), (59, 1_000_000, 49_506), (3_000, 1_000_000, 996)],
)
def test_the_bound_is_that_of_the_hypergeometric_distribution(sampled, outside, missed):
    assert most_missed(sampled, outside) == missed


@given(st.integers(1, 120), st.data())
def test_the_bound_is_the_largest_number_that_the_sample_does_not_reject(outside, data):
    sampled = data.draw(st.integers(0, outside))

    most = most_missed(sampled, outside)

    assert most == 0 or hypergeom.pmf(0, outside, most, sampled) > 0.05
    assert most == outside - sampled or hypergeom.pmf(0, outside, most + 1, sampled) < 0.05 + 1e-9


def test_of_very_many_blocks_the_bound_is_that_of_clopper_and_pearson():
    for sampled in (1, 20, 59, 300):
        assert most_missed(sampled, 10**7) / 10**7 == pytest.approx(1 - 0.05 ** (1 / sampled), rel=1e-4)


def test_the_bound_holds_as_often_as_it_says():
    """Of samples that hold no relevant block at most 5 % come from more relevant blocks than the bound allows."""
    for outside, sampled in ((40, 12), (500, 60)):
        bound = most_missed(sampled, outside)

        assert all(hypergeom.pmf(0, outside, more, sampled) <= 0.05 for more in range(bound + 1, outside + 1))


@pytest.mark.parametrize("confidence", [0.0, 1.0])
def test_no_bound_is_certain(confidence):
    with pytest.raises(ValueError, match="between 0 and 1"):
        most_missed(1, 2, confidence)


def test_no_sample_is_larger_than_what_it_is_of():
    with pytest.raises(ValueError, match="3 of 2 is not a sample"):
        most_missed(3, 2)


@pytest.mark.parametrize(
    ("basis", "kind", "missed", "words"),
    [
        (Basis(40, 40), "exhaustive", 0, "all 40 passages judged, none missed"),
        (Basis(400, 90, 50, 3), "deep", None, "not bounded; depth 50 of 3 systems"),
        (Basis(400, 90, 50, 1), "", None, "not bounded; depth 50 of 1 system"),
        (Basis(400, 9, 9, 3), "", None, "not bounded; depth 9 of 3 systems"),
        (
            Basis(110, 20, 10, 2, (Sample(10, 100),)),
            "sampled",
            24,
            "at most 24 of 100 passages outside the pool (24.0 %), by a random sample of 10; depth 10 of 2 systems",
        ),
    ],
)
def test_a_basis_says_how_deep_people_looked(basis, kind, missed, words):
    assert (basis.kind, basis.missed_at_most, basis.words.replace("\N{NO-BREAK SPACE}", " ")) == (kind, missed, words)


def test_strata_share_the_chance_of_an_error():
    both = Basis(500, 100, 10, 2, (Sample(20, 100), Sample(30, 300)))

    assert both.missed_at_most == most_missed(20, 100, 0.975) + most_missed(30, 300, 0.975)


# What votes add up to.


def vote(number, is_nothing=True, minutes=0):
    return Vote(number, is_nothing, later(minutes))


@pytest.mark.parametrize(
    ("votes", "outcome"),
    [
        ([], OPEN),
        ([vote(1)], OPEN),
        ([vote(1, False)], OPEN),
        ([vote(1), vote(2)], CONFIRMED),
        ([vote(1, False), vote(2)], DIFFERENT),
        ([vote(1, False), vote(2, False)], ANSWERED),
        ([vote(0), vote(1, False), vote(2)], CONFIRMED),
        ([vote(0, False), vote(1), vote(2)], ANSWERED),
    ],
)
def test_two_votes_agree_or_a_lead_decides(votes, outcome):
    assert outcome_of(votes) is outcome


flags = st.booleans()


@given(
    st.lists(flags, max_size=2),
    st.one_of(st.none(), flags),
    flags,
    flags,
    flags,
    st.one_of(st.none(), st.integers(-5, 5)),
)
def test_nothing_is_confirmed_while_a_passage_answers_or_is_being_judged(
    said, lead, settled, relevant, deep, relevant_at
):
    """Every state that votes and evidence can make, against the rules in their plainest form."""
    votes = [vote(number, one) for number, one in enumerate(said, 1)]
    votes = [vote(0, lead), *votes] if lead is not None and len(said) == 2 else votes
    at = None if relevant_at is None else later(relevant_at)
    evidence = Evidence(settled, relevant, at, deep)

    state = state_of(votes, evidence)

    nothing = bool(votes) and outcome_of(votes) is CONFIRMED
    untouched = relevant_at is None or relevant_at < 0
    assert (state is CONFIRMED) == (nothing and settled and not relevant and untouched)
    assert state is not FALLEN or nothing
    assert state is not None or relevant or not settled
    if state in (DIFFERENT, ANSWERED):
        assert settled
        assert untouched


# In a project.


@pytest.fixture
def judged(db):
    """A round on every passage of a small snapshot, judged by two people: nothing is relevant."""
    round_ = make_round(queries=2, blocks=3)
    for person in people_of(round_):
        judge_all(round_, person, lambda seat: 0)
    return round_


def snapshot_of(round_):
    return round_.pool.snapshot


def query_of(round_, place=0):
    return round_.pool.pool_queries.order_by("query")[place].query


def voted(round_, person, passage="", minutes=1):
    return vote_on_unanswerable(
        snapshot=snapshot_of(round_), query_id=query_of(round_).pk, person=person, passage=passage, at=later(minutes)
    )


def decided(round_, lead=None, is_nothing=True, minutes=5, **more):
    return decide_unanswerable(
        snapshot=snapshot_of(round_),
        query_id=query_of(round_).pk,
        lead=lead or lead_of(round_.project),
        is_nothing=is_nothing,
        at=later(minutes),
        **{"reason": "Looked in every chapter.", **more},
    )


def candidate(round_):
    (only,) = voted_queries(snapshot_of(round_), [query_of(round_).pk])
    return only


def state(round_):
    return candidate(round_).state


def test_two_people_confirm(judged):
    first, second = people_of(judged)

    voted(judged, first)
    assert state(judged) is OPEN
    voted(judged, second, minutes=2)

    assert state(judged) is CONFIRMED
    (facts,) = confirmed_on(snapshot_of(judged)).values()
    assert facts == {
        "basis": "exhaustive", "passages": 3, "judged": 3, "depth": 0, "systems": 0, "sampled": 0, "outside": 0,
        "missed_at_most": 0, "resolution": "unanimous",
    }  # fmt: skip


def test_a_query_is_no_candidate_before_all_of_its_pairs_are_judged(db):
    round_ = make_round(queries=1, blocks=2, annotators=1, overlap=0)
    (person,) = people_of(round_)

    with pytest.raises(VoteRefused, match="no candidate"):
        voted(round_, person)
    assert voted_queries(snapshot_of(round_)) == []


def test_a_query_with_a_relevant_passage_is_no_candidate(db):
    round_ = make_round(queries=1, blocks=2, annotators=1, overlap=0)
    (person,) = people_of(round_)
    judge_all(round_, person, lambda seat: int(seat.entry_id == entries_of(round_)[0].pk))

    with pytest.raises(VoteRefused, match="no candidate"):
        voted(round_, person)


def test_a_pair_that_was_graded_relevant_and_overruled_is_no_obstacle(db):
    round_ = make_round(queries=1, blocks=1, overlap=1)
    first, second = people_of(round_)
    judge_all(round_, first, lambda seat: 0)
    judge_all(round_, second, lambda seat: 2)
    assert voted_queries(snapshot_of(round_)) == []

    decide(round_, entries_of(round_)[0], 0)

    assert [each.state for each in voted_queries(snapshot_of(round_))] == [OPEN]


def test_nobody_votes_twice(judged):
    first, _ = people_of(judged)
    same = voted(judged, first)

    assert voted(judged, first, minutes=2) == same
    with pytest.raises(VoteRefused, match="has no passage with the id nowhere"):
        voted(judged, first, "nowhere")
    assert UnanswerableVote.objects.count() == 1


def test_no_third_vote_is_asked_for(judged):
    third = make_member(judged.project, Role.ANNOTATOR)
    for person in people_of(judged):
        voted(judged, person)

    with pytest.raises(VoteRefused, match="Two people have voted"):
        voted(judged, third)


def test_who_judges_no_more_does_not_vote(judged):
    with pytest.raises(VoteRefused, match="no longer an annotator"):
        voted(judged, lead_of(judged.project))


def test_a_judged_passage_cannot_be_named(judged):
    with pytest.raises(VoteRefused, match="b00000 was judged for this query, as not relevant"):
        voted(judged, people_of(judged)[0], "b00000")


def pool_of(project, snapshot, query, places, sampled=()):
    """A pool of the passages at these places of the snapshot, some of them a random sample of those outside."""
    lead = lead_of(project)
    pool = Pool.objects.create(
        project=project, snapshot=snapshot, name=f"Pool of {places}", depth=len(places), state="complete",
        created_by=lead, created_at=AT, completed_at=AT, entry_count=len(places) + len(sampled),
        plan=PoolPlan(random=len(sampled)).as_json(),
    )  # fmt: skip
    versions = [entry.version_id for entry in snapshot.entries.order_by("position")]
    how = {"how": "random", "stratum": "all", "p": 0.5}
    PoolQuery.objects.create(pool=pool, query=query)
    rows = [PoolEntry(pool=pool, query=query, version_id=versions[at], found_by=[[1, 1]]) for at in places]
    rows += [PoolEntry(pool=pool, query=query, version_id=versions[at], sampled=how) for at in sampled]
    PoolEntry.objects.bulk_create(rows)
    return pool


def make_sampled():
    """Ten passages, of which four are in the pool and three more are sampled at random; nothing is relevant."""
    project = make_project()
    snapshot = make_snapshot(project, blocks=10)
    query = Query.objects.create(
        project=project, outside_id="Q1", text="Who owns the moon?", created_by=lead_of(project), created_at=AT
    )
    pool = pool_of(project, snapshot, query, range(4), sampled=range(4, 7))
    round_ = make_round(project, pool=pool, overlap=0)
    for person in people_of(round_):
        judge_all(round_, person, lambda seat: 0)
    return round_


@pytest.fixture
def sampled(db):
    return make_sampled()


def test_a_sample_bounds_what_was_missed(sampled):
    (candidate,) = voted_queries(snapshot_of(sampled))

    assert candidate.basis.samples == (Sample(3, 6),)
    assert (candidate.basis.kind, candidate.basis.missed_at_most) == ("sampled", most_missed(3, 6))


def test_a_named_passage_is_judged_before_anybody_votes_again(sampled):
    first, second = people_of(sampled)
    voted(sampled, first, "b00008")
    assert state(sampled) is OPEN
    voted(sampled, second, "b00009", minutes=2)
    named = Pool.objects.latest("pk")

    assert sorted(named.entries.values_list("version__block__outside_id", flat=True)) == ["b00008", "b00009"]
    assert state(sampled) is AbsenceState.BEING_JUDGED
    again = make_round(sampled.project, pool=named, annotators=[first], overlap=0, at=later(10))
    judge_all(again, first, lambda seat: 0, at=later(11))
    assert state(sampled) is OPEN
    assert voted(sampled, first, minutes=12).attempt == 2


def test_a_lead_decides_where_votes_differ(sampled):
    first, second = people_of(sampled)
    voted(sampled, first, "b00008")
    voted(sampled, second, minutes=2)
    assert state(sampled) is DIFFERENT

    with pytest.raises(VoteRefused, match="needs a reason"):
        decided(sampled, reason=" ")
    decided(sampled)

    assert state(sampled) is CONFIRMED
    (facts,) = confirmed_on(snapshot_of(sampled)).values()
    assert facts["resolution"] == "adjudicated"
    with pytest.raises(VoteRefused, match="A lead has decided"):
        decided(sampled)


def test_a_lead_decides_for_the_passage_that_was_named(sampled):
    first, second = people_of(sampled)
    voted(sampled, first, "b00008")
    voted(sampled, second, minutes=2)

    decided(sampled, is_nothing=False)

    assert state(sampled) is AbsenceState.BEING_JUDGED
    assert Pool.objects.latest("pk").entries.get().version.block.outside_id == "b00008"


def test_a_lead_overrules_two_votes_only_with_a_passage(sampled):
    for person in people_of(sampled):
        voted(sampled, person)

    with pytest.raises(VoteRefused, match="nothing to decide"):
        decided(sampled)
    with pytest.raises(VoteRefused, match="Enter the id of the passage"):
        decided(sampled, is_nothing=False)
    decided(sampled, is_nothing=False, passage="b00009")

    assert state(sampled) is AbsenceState.BEING_JUDGED


def test_a_lead_who_voted_leaves_it_to_another(sampled):
    lead = make_member(sampled.project, Role.LEAD, Role.ANNOTATOR)
    voted(sampled, lead, "b00008")
    voted(sampled, people_of(sampled)[0], minutes=2)

    with pytest.raises(VoteRefused, match="a lead who did not vote decides"):
        decided(sampled, lead)
    set_policy(sampled.project, leads_decide_own=True)
    decided(sampled, lead)

    assert state(sampled) is CONFIRMED


def test_a_lead_decides_nothing_before_two_have_voted(judged):
    with pytest.raises(VoteRefused, match="once two people have voted"):
        decided(judged)


def test_it_falls_when_a_passage_is_graded_relevant_and_does_not_rise_by_itself(sampled):
    first, second = people_of(sampled)
    for person in (first, second):
        voted(sampled, person)
    query = query_of(sampled)
    pool = pool_of(sampled.project, snapshot_of(sampled), query, [9])
    assert state(sampled) is AbsenceState.BEING_JUDGED
    again = make_round(sampled.project, pool=pool, annotators=[first, second], overlap=1, at=later(10))
    assert confirmed_on(snapshot_of(sampled)) == {}
    judge_all(again, first, lambda seat: 2, at=later(11))
    assert state(sampled) is AbsenceState.BEING_JUDGED
    judge_all(again, second, lambda seat: 2, at=later(12))

    fallen = candidate(sampled)
    assert fallen.state is FALLEN
    assert fallen.why_fallen == f"A passage was graded relevant, last by {second}."
    with pytest.raises(VoteRefused, match="no vote is needed"):
        voted(sampled, first, minutes=20)


def test_the_words_that_were_voted_on_stay(judged):
    query = query_of(judged)
    query.intent = "Something else."

    with pytest.raises(DatabaseError), transaction.atomic():
        query.save()


def test_a_vote_is_never_changed_or_deleted(judged):
    given_vote = voted(judged, people_of(judged)[0])

    for change in (
        lambda: UnanswerableVote.objects.filter(pk=given_vote.pk).update(is_nothing=False),
        lambda: UnanswerableVote.objects.filter(pk=given_vote.pk).delete(),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()


def test_the_database_refuses_a_vote_against_a_relevant_passage(db):
    round_ = make_round(queries=1, blocks=1, annotators=1, overlap=0)
    (person,) = people_of(round_)
    judge_all(round_, person, lambda seat: 1)
    row = UnanswerableVote(
        query=query_of(round_), snapshot=snapshot_of(round_), number=1, person=person, is_nothing=True, basis={},
        given_at=AT,
    )  # fmt: skip

    with pytest.raises(DatabaseError, match="relevant passage"), transaction.atomic():
        row.save()


def test_a_person_is_asked_until_they_have_voted(judged):
    first, second = people_of(judged)
    snapshot = snapshot_of(judged)
    voted(judged, first)

    every = voted_queries(snapshot)

    assert [len(to_vote_on(every, person)) for person in (first, second)] == [1, 2]


@pytest.mark.parametrize("queries", [1, 4])
def test_lists_take_as_many_statements_for_many_queries_as_for_one(db, django_assert_num_queries, queries):
    round_ = make_round(queries=queries, blocks=2, annotators=1, overlap=0)
    judge_all(round_, people_of(round_)[0], lambda seat: 0)

    with django_assert_num_queries(STATEMENTS):
        assert len(voted_queries(snapshot_of(round_))) == queries


# Its pages.


def page(client, person, name, *args, **data):
    client.force_login(person)
    url = reverse(f"judging:{name}", args=args)
    return client.post(url, data) if data else client.get(url)


def asked(client, round_, person, **data):
    args = round_.project.slug, snapshot_of(round_).pk, query_of(round_).pk
    return page(client, person, "unanswerable-query", *args, **data)


def test_two_people_vote_on_the_page_and_a_lead_reads_the_outcome(client, judged):
    first, second = people_of(judged)
    slug, lead = judged.project.slug, lead_of(judged.project)

    assert asked(client, judged, first, answer="nothing").status_code == 302
    before = page(client, lead, "unanswerable", slug).content.decode()
    assert asked(client, judged, second, answer="nothing").status_code == 302
    after = page(client, lead, "unanswerable", slug).content.decode()

    assert "waits for votes" in before
    assert first.name not in before
    assert f"{first}: nothing" in after
    assert "all 3 passages judged, none missed" in after


def words_for(client, round_, person):
    """What this person reads on both pages, without what differs at every request."""
    pages = page(client, person, "unanswerable", round_.project.slug), asked(client, round_, person)
    return [re.sub(r"[A-Za-z0-9]{64}", "", each.content.decode()) for each in pages]


@pytest.mark.parametrize("passage", ["", "b00008"])
@pytest.mark.parametrize("roles", [[Role.ANNOTATOR], [Role.LEAD, Role.ANNOTATOR], [Role.LEAD]])
def test_nobody_reads_of_a_first_vote_that_there_is_one(client, sampled, roles, passage):
    reader = make_member(sampled.project, *roles)
    before = words_for(client, sampled, reader)

    voted(sampled, people_of(sampled)[0], passage)

    assert words_for(client, sampled, reader) == before


def test_a_passage_needs_its_id(client, sampled):
    answer = asked(client, sampled, people_of(sampled)[0], answer="passage")

    assert answer.status_code == 400
    assert "Enter the id of the passage that answers the query." in answer.content.decode()


def test_a_refused_vote_says_why_beside_the_form(client, sampled):
    answer = asked(client, sampled, people_of(sampled)[0], answer="passage", passage="nowhere")

    assert answer.status_code == 400
    assert "has no passage with the id nowhere" in answer.content.decode()


def test_a_lead_decides_on_the_page(client, sampled):
    first, second = people_of(sampled)
    voted(sampled, first, "b00008")
    voted(sampled, second, minutes=2)
    lead = lead_of(sampled.project)

    assert "b00008" in asked(client, sampled, lead).content.decode()
    asked(client, sampled, lead, decide="1", answer="nothing", reason="b00008 is about another moon.")

    assert state(sampled) is CONFIRMED


@pytest.mark.parametrize("name", ["unanswerable", "unanswerable-query"])
def test_a_page_takes_at_most_fifteen_statements(client, judged, django_assert_max_num_queries, name):
    client.force_login(make_member(judged.project, Role.LEAD, Role.ANNOTATOR))
    more = [snapshot_of(judged).pk, query_of(judged).pk] if name == "unanswerable-query" else []
    url = reverse(f"judging:{name}", args=[judged.project.slug, *more])
    client.get(url)

    with django_assert_max_num_queries(15):
        client.get(url)


# Over the API.


def called(client, person, name, slug, body=None):
    client.force_login(person)
    url = reverse(f"judging-api:{name}", args=[slug])
    return client.get(url) if body is None else client.post(url, body, content_type="application/json")


def test_votes_and_a_decision_over_the_api(client, sampled):
    first, second = people_of(sampled)
    slug, lead = sampled.project.slug, lead_of(sampled.project)
    body = {"snapshot": snapshot_of(sampled).digest, "query": "Q1"}
    listed = called(client, lead, "candidates", slug).json()

    (waiting,) = called(client, first, "unanswerable", slug).json()["queries"]
    assert waiting["id"] == "Q1"
    assert called(client, first, "vote", slug, {**body, "passage": "b00008"}).status_code == 201
    assert called(client, lead, "candidates", slug).json() == listed, "nobody reads that there is a vote"
    assert called(client, second, "vote", slug, {**body, "passage": ""}).status_code == 201
    (candidate,) = called(client, lead, "candidates", slug).json()["candidates"]
    assert (candidate["state"], candidate["looked"]["missed_at_most"]) == ("different", most_missed(3, 6))
    assert [vote["passage"] for vote in candidate["votes"]] == ["b00008", None]
    decision = {**body, "is_nothing": True, "reason": "Another moon."}
    assert called(client, lead, "decide-unanswerable", slug, decision).json()["is_decision"] is True
    assert called(client, lead, "decide-unanswerable", slug, decision).json()["code"] == "no_decision"
    assert state(sampled) is CONFIRMED
