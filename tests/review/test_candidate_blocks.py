"""A passage that may be right as well: proposed, answered blindly by two reviewers, and added to the Q&A or not."""

import itertools
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.accounts.actions.projects import set_roles
from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.common.errors import IllegalStep, Refusal
from apps.jobs.models import Notification
from apps.review.actions.candidate_blocks import (
    answer_candidate,
    note_miss,
    propose_block,
    withdraw_candidate,
    withdraw_note,
)
from apps.review.core.visibility import CandidatePart, candidate_sight
from apps.review.enums import CandidateChoice, CandidateState, CandidateStep, NoteKind, RateSide
from apps.review.models import CandidateAnswer, CandidateBlock, MissNote, Resolution, Verdict
from apps.review.selectors.candidate_blocks import asked_of, doubts_about, to_answer, to_decide, view_of
from apps.review.selectors.participation import participation_of
from apps.review.selectors.queues import waiting_for
from apps.review.selectors.reviews import rounds_of
from apps.review.selectors.tracking import counted, tallies
from apps.review.workflow import candidate_step, edge_for, move
from apps.triples.actions.triples import refresh_staleness
from apps.triples.enums import State
from apps.triples.models import AskedRevision
from apps.triples.selectors.triples import expected_blocks
from tests.factories import AT, lead_of, make_member
from tests.review.candidates import (
    CONFIRM,
    DECIDED,
    REJECT,
    fresh,
    make_candidate_block,
    make_open,
    member,
    propose,
    say,
    settle,
)
from tests.review.factories import CHANGED, make_accepted, make_triple, reload, reviewers_of
from tests.triples.factories import make_snapshot, make_team, version_of

LEGAL = {
    ("open", "agree"): "confirmed",
    ("open", "disagree"): "disputed",
    ("open", "reject"): "rejected",
    ("open", "withdraw"): "withdrawn",
    ("disputed", "decide_add"): "confirmed",
    ("disputed", "decide_reject"): "rejected",
}


@pytest.fixture(scope="module")
def _project(module_rows):
    return make_team(reviewers=3)


@pytest.fixture
def project(db, _project):
    return deepcopy(_project)


@pytest.fixture
def decider(project):
    """A lead without a part."""
    return make_member(project, Role.LEAD, name="Decider")


# The table ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("state", "step"), list(itertools.product(CandidateState, CandidateStep)))
def test_every_step_from_every_state(state, step):
    edge = edge_for(state, step)

    assert (edge.target if edge else None) == LEGAL.get((state, step))


def test_a_step_that_is_not_listed_changes_nothing(project, decider):
    for state in CandidateState:
        candidate = make_candidate_block(project, state, decider)
        for step in CandidateStep:
            if (state, step) in LEGAL:
                continue

            with pytest.raises(IllegalStep):
                move(candidate, step, actor=decider, at=AT)

            assert fresh(candidate).state == state


@given(st.lists(st.sampled_from(CandidateChoice), max_size=2))
def test_the_step_does_not_depend_on_who_answered_first(choices):
    assert candidate_step(choices) == candidate_step(choices[::-1])
    assert (candidate_step(choices) is None) == (len(choices) < 2)
    with pytest.raises(ValueError, match="two answers"):
        candidate_step([CONFIRM, CONFIRM, *choices, CONFIRM])


# What is seen ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "is_answered", "is_closed"), list(itertools.product(CandidatePart, (False, True), (False, True)))
)
def test_nobody_sees_an_answer_before_both_are_in_and_no_reviewer_where_it_was_found(part, is_answered, is_closed):
    seen = candidate_sight(part, is_answered=is_answered, is_closed=is_closed)

    assert seen.answers == (is_answered and part is not CandidatePart.VIEWER)
    assert seen.origin == (part is CandidatePart.PROPOSER or (part is CandidatePart.LEAD and is_closed))


def test_a_viewer_sees_nothing():
    seen = candidate_sight(CandidatePart.VIEWER, is_answered=True, is_closed=True)

    assert not any((seen.passage, seen.own_answer, seen.answers, seen.origin, seen.proposer))


def test_what_the_second_reviewer_sees_does_not_depend_on_the_first(project):
    candidate, (one, two) = make_open(project)
    silent = view_of(fresh(candidate), member(project, two))
    counts = waiting_for(two, project, frozenset({Role.REVIEWER}), AT)

    for choice in CandidateChoice:
        say(candidate, one, choice, note="SECRET")

        assert view_of(fresh(candidate), member(project, two)) == silent
        assert waiting_for(two, project, frozenset({Role.REVIEWER}), AT) == counts
        assert [row.pk for row in to_answer(two, project)] == [candidate.pk]
    assert (silent.answers, silent.proposer, silent.evaluation) == (None, None, None)


def test_both_answers_are_seen_once_they_are_in(project, decider):
    candidate, (one, two) = make_open(project)
    say(candidate, one, CONFIRM)
    say(candidate, two, REJECT, note="It is about copies.")

    view = view_of(fresh(candidate), member(project, decider))

    assert [(answer.reviewer, answer.choice) for answer in view.answers] == [(one, "confirm"), (two, "reject")]
    assert (view.may_decide, view.evaluation) == (True, None)


# Who is asked ------------------------------------------------------------------------------------------------------


def test_reviewers_without_a_part_are_asked(project):
    triple = make_accepted(project)
    proposer = make_member(project, Role.REVIEWER, Role.LEAD, name="Proposer")
    author = triple.author
    set_reviewer(project, author)
    candidate = propose(triple, proposer)

    asked = list(project.memberships.filter(role=Role.REVIEWER, ended_at=None).select_related("user"))

    people = {row.user for row in asked if asked_of(row.user, project).filter(pk=candidate.pk).exists()}
    assert people == {row.user for row in asked} - {proposer, author}
    assert set(reviewers_of(triple)) <= people


def set_reviewer(project, person):

    set_roles(project=project, user=person, roles=[Role.ANNOTATOR, Role.REVIEWER], actor=lead_of(project), at=AT)


def test_who_wrote_or_proposed_it_is_refused(project):
    triple = make_accepted(project)
    set_reviewer(project, triple.author)
    proposer = make_member(project, Role.REVIEWER, name="Proposer")
    candidate = propose(triple, proposer)

    for person, word in ((triple.author, "You wrote it"), (proposer, "You proposed"), (lead_of(project), "reviewer")):
        with pytest.raises(Refusal, match=word):
            say(candidate, person)


def test_nobody_is_asked_about_a_stale_triple(project):
    candidate, (one, _) = make_open(project)

    snapshot = make_snapshot(project, CHANGED, corpus=candidate.triple.snapshot.corpus)
    refresh_staleness(project=project, snapshot=snapshot, at=AT)

    assert not asked_of(one, project).exists()
    with pytest.raises(Refusal, match="stale"):
        say(candidate, one)


def test_home_counts_what_waits(project, decider):
    candidate, (one, two) = make_open(project)
    words = {row.word: row.count for row in waiting_for(one, project, frozenset({Role.REVIEWER}), AT)}
    assert words["passages to check"] == 1

    say(candidate, one, CONFIRM)
    say(candidate, two, REJECT)

    words = {row.word: row.count for row in waiting_for(decider, project, frozenset({Role.LEAD}), AT)}
    assert words["passages to decide"] == 1


# What comes of it --------------------------------------------------------------------------------------------------


def test_two_confirmations_add_the_block_and_leave_the_triple_accepted(project):
    triple = make_accepted(project)
    one, two = reviewers_of(triple)
    before = reload(triple)
    candidate = propose(triple, lead_of(project), spans=[(0, 10)])

    say(candidate, one)
    told = Notification.objects.filter(kind="review.candidate_block")
    assert (told.exists(), to_answer(one, project).exists(), asked_of(one, project).exists()) == (False, False, True)
    say(candidate, two)

    after = reload(triple)
    assert {row.person for row in told} == {triple.author, candidate.proposed_by}
    assert (after.state, after.resolution, after.resolved_at) == (State.ACCEPTED, before.resolution, before.resolved_at)
    assert (after.revision.number, after.revision.round, after.round) == (2, 2, 2)
    assert (after.revision.question, after.revision.author) == (before.revision.question, before.revision.author)
    old, new = expected_blocks(after.revision)
    assert (old.version_id, old.spans) == (
        expected_blocks(before.revision)[0].version_id,
        expected_blocks(before.revision)[0].spans,
    )
    assert (new.version, new.spans) == (version_of(after.snapshot, "backups"), [[0, 10]])
    assert fresh(candidate).added == after.revision
    assert (
        AskedRevision.objects.get(revision=after.revision).query
        == AskedRevision.objects.get(revision=before.revision).query
    )
    assert [event.action for event in Event.objects.filter(object_type="review.candidateblock").order_by("pk")] == [
        "candidate_block.propose",
        "candidate_block.agree",
    ]


def test_the_round_of_the_added_block_has_both_answers_and_counts_in_no_rate(project):
    candidate, (one, two) = make_open(project)
    rates = tallies(project, RateSide.REVIEWER)
    counts = counted(project).count()
    say(candidate, one)
    say(candidate, two)

    triple = reload(candidate.triple)
    rounds = rounds_of(triple, participation_of(triple, triple.author, frozenset({Role.ANNOTATOR})))
    assert [[verdict.who for verdict in row.verdicts] for row in rounds][1] == [one, two]
    assert rounds[1].resolution.kind == "consensus"
    assert (tallies(project, RateSide.REVIEWER), counted(project).count()) == (rates, counts)


def test_two_rejections_add_nothing_and_it_is_not_asked_again(project):
    candidate, (one, two) = make_open(project)
    current = reload(candidate.triple).current_id
    say(candidate, one, REJECT)
    say(candidate, two, REJECT)

    assert (fresh(candidate).state, reload(candidate.triple).current_id) == (CandidateState.REJECTED, current)
    with pytest.raises(Refusal, match="before, and not added"):
        propose(candidate.triple, lead_of(project))


@pytest.mark.parametrize("step", DECIDED)
def test_where_they_differ_a_lead_without_a_part_decides(project, decider, step):
    candidate = make_candidate_block(project, CandidateState.DISPUTED, decider)
    assert [row.pk for row in to_decide(decider, project)] == [candidate.pk]
    assert not to_decide(lead_of(project), project).exists()

    settle(candidate, decider, step)

    candidate = fresh(candidate)
    assert (candidate.state, candidate.decided_by, candidate.reason) == (DECIDED[step], decider, "Read both.")
    added = step == CandidateStep.DECIDE_ADD
    assert len(expected_blocks(reload(candidate.triple).revision)) == (2 if added else 1)
    assert Resolution.objects.filter(triple=candidate.triple, kind="adjudicated").count() == added
    verdicts = Verdict.objects.filter(revision=candidate.added).order_by("seat__number")
    assert [verdict.choice for verdict in verdicts] == (["confirm", "flag"] if added else [])


def test_only_a_lead_without_a_part_decides_and_with_a_reason(project, decider):
    candidate = make_candidate_block(project, CandidateState.DISPUTED, decider)

    for person, reason, word in (
        (candidate.proposed_by, "So.", "not involved"),
        (reviewers_of(candidate.triple)[0], "So.", "not involved"),
        (decider, "  ", "Say why"),
    ):
        with pytest.raises(Refusal, match=word):
            settle(candidate, person, CandidateStep.DECIDE_ADD, reason)
    with pytest.raises(Refusal, match="Choose"):
        settle(candidate, decider, CandidateStep.AGREE)


def test_a_changed_answer_counts_until_both_are_in(project):
    candidate, (one, two) = make_open(project)
    say(candidate, one, REJECT)
    say(candidate, one, CONFIRM)
    say(candidate, two, CONFIRM)

    assert fresh(candidate).state == CandidateState.CONFIRMED
    assert CandidateAnswer.objects.filter(candidate=candidate).count() == 3
    with pytest.raises(Refusal, match="Both answers are in"):
        say(candidate, one, REJECT)


def test_an_answer_sent_twice_has_one_effect(project):
    candidate, (one, _) = make_open(project)

    send = {
        "project": project,
        "pk": candidate.pk,
        "reviewer": one,
        "choice": CONFIRM,
        "idempotency_key": "k",
        "at": AT,
    }

    assert answer_candidate(**send) == answer_candidate(**send)
    with pytest.raises(Refusal, match="another answer"):
        answer_candidate(**send | {"choice": REJECT})


def test_a_second_passage_that_is_asked_about_moves_on_with_the_first_that_is_added(project):
    first, (one, two) = make_open(project)
    second = propose(first.triple, lead_of(project), "rotation")
    say(second, one)
    say(first, one)
    say(first, two)

    assert fresh(second).revision == fresh(first).added
    say(second, two)
    assert len(expected_blocks(reload(first.triple).revision)) == 3


# Proposing ---------------------------------------------------------------------------------------------------------


def test_only_a_passage_of_the_snapshot_that_is_not_expected_is_proposed_and_asked_once(project):
    triple = make_accepted(project)
    lead = lead_of(project)
    assert propose(triple, lead, "rotation") == propose(triple, make_member(project, Role.ANNOTATOR), "rotation")
    with pytest.raises(Refusal, match="no longer work"):
        propose(triple, make_member(project, Role.VIEWER))
    with pytest.raises(Refusal, match="needs all of its passages"):
        propose(make_accepted(project, needs_all_blocks=True), lead)
    foreign = version_of(make_snapshot(project), "backups")

    with pytest.raises(Refusal, match="does not have this passage"):
        propose_block(project=project, triple_id=triple.pk, version=foreign, person=lead, at=AT)
    with pytest.raises(Refusal, match="expects this passage already"):
        propose(triple, lead, "access")
    with pytest.raises(Refusal, match="outside"):
        propose(triple, lead, spans=[(0, 10_000)])


@pytest.mark.parametrize("state", [state for state in State if state != State.ACCEPTED])
def test_only_an_accepted_triple_gets_a_further_passage(project, state):
    triple = make_triple(project, state)

    with pytest.raises(Refusal, match="Only an accepted"):
        propose(triple, lead_of(project))


def test_the_proposer_takes_it_back_whether_or_not_somebody_answered(project):
    for answered in (False, True):
        candidate, (one, _) = make_open(project)
        if answered:
            say(candidate, one)

        withdraw_candidate(project=project, pk=candidate.pk, person=candidate.proposed_by, at=AT)

        assert fresh(candidate).state == CandidateState.WITHDRAWN
        assert not to_answer(one, project).exists()
        with pytest.raises(Refusal, match="Only"):
            withdraw_candidate(project=project, pk=candidate.pk, person=one, at=AT)
    assert CandidateBlock.objects.count() == 2


# Notes -------------------------------------------------------------------------------------------------------------


def test_a_passage_found_wrong_is_noted_once_and_can_be_taken_back(project):
    triple, lead = make_accepted(project), lead_of(project)
    send = {"project": project, "triple_id": triple.pk, "kind": NoteKind.WRONG, "passage": "a" * 64, "person": lead}

    note = note_miss(**send, at=AT)

    assert note_miss(**send, at=AT) == note
    with pytest.raises(Refusal, match="Only"):
        withdraw_note(project=project, pk=note.pk, person=triple.author, at=AT)
    withdraw_note(project=project, pk=note.pk, person=lead, at=AT)
    assert note_miss(**send, at=AT) != note
    assert MissNote.objects.filter(withdrawn_at=None).count() == 1


def test_an_unclear_question_goes_back_to_its_author_and_stays_accepted(project):
    triple, reviewer = make_accepted(project), make_member(project, Role.REVIEWER)

    note_miss(
        project=project, triple_id=triple.pk, kind=NoteKind.UNCLEAR, text="Which session?", person=reviewer, at=AT
    )

    triple = reload(triple)
    told = Notification.objects.get(kind="review.unclear")
    assert (triple.state, told.person) == (State.ACCEPTED, triple.author)
    for person, roles, count in (
        (triple.author, {"annotator"}, 1),
        (lead_of(project), {"lead"}, 1),
        (reviewer, {"reviewer"}, 0),
    ):
        assert len(doubts_about(triple, participation_of(triple, person, frozenset(roles)))) == count
