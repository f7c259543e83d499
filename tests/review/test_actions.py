"""What reviewers, authors and leads can do, walked through the real actions."""

import itertools

import pytest
from django.db import IntegrityError, transaction

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.review.actions import (
    Claim,
    Decision,
    DisputeRefused,
    SubmitRefused,
    VerdictRefused,
    adjudicate,
    begin_revision,
    drop_triple,
    give_verdict,
    post_message,
    re_pin,
    revise,
    split_triple,
    submit_triple,
    withdraw_flag,
)
from apps.review.enums import Category, Choice, Reason
from apps.review.models import ReviewSeat, Verdict
from apps.triples.actions import refresh_staleness, reopen_as_draft, start_draft
from apps.triples.drafting import Wording
from apps.triples.enums import State
from apps.triples.models import ExpectedBlock, Revision, Triple
from tests.factories import AT, lead_of, make_member, make_project
from tests.review.factories import (
    CHANGED,
    answer,
    answer_both,
    decide,
    make_accepted,
    make_disputed,
    make_in_review,
    make_triple,
    reload,
    reviewers_of,
    take_back,
)
from tests.triples.factories import TEXTS, make_draft, make_snapshot, make_team, make_wording

C, F = Choice.CONFIRM, Choice.FLAG


@pytest.fixture
def project(db):
    return make_team()


# Submitting ----------------------------------------------------------------------------------------------------------


def test_submit_opens_a_round_with_two_seats(project):
    triple = make_in_review(project)

    seats = list(triple.current.seats.order_by("number"))
    assert (triple.state, triple.round, triple.current.round) == (State.IN_REVIEW, 1, 1)
    assert [seat.number for seat in seats] == [1, 2]
    assert triple.current.submitted_at == AT


def test_submit_refuses_while_a_check_stops_it(project):
    triple = make_draft(project, answer="At most 9 hours.")

    with pytest.raises(SubmitRefused, match="One check stops it: a figure differs from the evidence"):
        submit_triple(project=project, triple_id=triple.pk, author=triple.author, at=AT)

    assert reload(triple).state == State.DRAFT


def test_submit_refuses_anybody_but_the_author(project):
    triple = make_draft(project)

    with pytest.raises(SubmitRefused, match="Only who is writing"):
        submit_triple(project=project, triple_id=triple.pk, author=lead_of(project), at=AT)


def test_submit_refuses_when_only_one_other_reviewer_exists(db):
    project = make_team(reviewers=1)
    author = make_member(project, Role.ANNOTATOR, Role.REVIEWER, name="Both")
    triple = make_draft(project, author=author)

    with pytest.raises(SubmitRefused, match="the project has one"):
        submit_triple(project=project, triple_id=triple.pk, author=author, at=AT)

    assert (reload(triple).state, ReviewSeat.objects.count()) == (State.DRAFT, 0)


def test_the_author_never_gets_a_seat(db):
    project = make_team(reviewers=2)
    author = make_member(project, Role.ANNOTATOR, Role.REVIEWER, name="Both")

    triple = make_in_review(project, author=author)

    assert author not in reviewers_of(triple)


def test_seats_go_to_those_with_the_least_load(db):
    project = make_team(reviewers=4)

    triples = [make_in_review(project) for _ in range(6)]

    load = {person: 0 for triple in triples for person in reviewers_of(triple)}
    for triple in triples:
        for person in reviewers_of(triple):
            load[person] += 1
    assert sorted(load.values()) == [3, 3, 3, 3]


def test_warnings_are_kept_with_the_revision(project):
    make_in_review(project, question="How long may an emergency session last?")

    triple = make_in_review(project, question="How long may the emergency session last?")

    assert [warning["code"] for warning in triple.current.warnings] == ["duplicate"]


def test_a_submitted_revision_and_its_blocks_never_change(project):
    triple = make_in_review(project)
    block = triple.current.expected_blocks.get()

    for change in (
        lambda: Revision.objects.filter(pk=triple.current_id).update(answer="Other"),
        lambda: Revision.objects.filter(pk=triple.current_id).delete(),
        lambda: ExpectedBlock.objects.filter(pk=block.pk).update(spans=[]),
        lambda: ExpectedBlock.objects.filter(pk=block.pk).delete(),
        lambda: ExpectedBlock.objects.create(revision=triple.current, version=block.version, order=2),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            change()


def test_the_database_refuses_a_seat_for_the_author(project):
    triple = make_in_review(project)
    seat = triple.current.seats.first()

    with pytest.raises(IntegrityError, match="nobody reviews what they wrote"), transaction.atomic():
        ReviewSeat.objects.create(revision=triple.current, number=seat.number, reviewer=triple.author, opened_at=AT)


# Verdicts ------------------------------------------------------------------------------------------------------------

ENDS = {
    (C, C): (State.ACCEPTED, "consensus", False),
    (C, F): (State.DISPUTED, "", True),
    (F, C): (State.DISPUTED, "", True),
    (F, F): (State.DROPPED, "", False),
}


@pytest.mark.parametrize("pair", list(itertools.product((C, F), repeat=2)))
def test_two_verdicts_close_the_round(project, pair):
    triple = answer_both(make_in_review(project), *pair)

    assert (triple.state, triple.resolution, triple.was_disputed) == ENDS[pair]


def test_one_verdict_changes_nothing_on_the_triple(project):
    triple = make_in_review(project)
    before = Triple.objects.filter(pk=triple.pk).values().get()
    events = Event.objects.count()

    answer(triple, reviewers_of(triple)[0], F)

    assert Triple.objects.filter(pk=triple.pk).values().get() == before
    assert Event.objects.count() == events


def test_a_change_of_mind_supersedes_before_the_round_closes(project):
    triple = make_in_review(project)
    one, two = reviewers_of(triple)
    first = answer(triple, one, F)

    second = answer(triple, one, C)
    answer(triple, two, C)

    assert second.supersedes == first
    assert (reload(triple).state, Verdict.objects.count()) == (State.ACCEPTED, 3)


def test_no_change_of_mind_after_the_round_closed(project):
    triple = answer_both(make_in_review(project), C, F)

    with pytest.raises(VerdictRefused, match="The round is closed"):
        answer(triple, reviewers_of(triple)[0], F)


def test_the_same_key_twice_has_one_effect_and_the_same_answer(project):
    triple = make_in_review(project)
    reviewer = reviewers_of(triple)[0]
    sent = {
        "project": project,
        "triple_id": triple.pk,
        "revision_id": triple.current_id,
        "reviewer": reviewer,
        "choice": C,
        "reasons": [],
        "idempotency_key": "once",
        "at": AT,
    }

    first, second = give_verdict(**sent), give_verdict(**sent)

    assert (first, Verdict.objects.count()) == (second, 1)

    with pytest.raises(VerdictRefused, match="another verdict"):
        give_verdict(**sent | {"choice": F, "reasons": [Reason.OTHER], "note": "No."})


def test_the_same_key_still_answers_after_the_round_closed(project):
    triple = make_in_review(project)
    one, two = reviewers_of(triple)
    first = answer(triple, one, C)
    answer(triple, two, C)

    again = give_verdict(
        project=project,
        triple_id=triple.pk,
        revision_id=triple.current_id,
        reviewer=one,
        choice=C,
        reasons=[],
        idempotency_key=first.idempotency_key,
        at=AT,
    )

    assert again == first


def test_strangers_to_the_round_and_authors_get_no_verdict(db):
    project = make_team(reviewers=3)
    triple = make_in_review(project)
    seated = reviewers_of(triple)
    unseated = next(m.user for m in project.memberships.filter(role=Role.REVIEWER) if m.user not in seated)

    with pytest.raises(VerdictRefused, match="You hold no seat in this round"):
        answer(triple, unseated)
    with pytest.raises(VerdictRefused, match="Nobody reviews what they wrote"):
        answer(triple, triple.author)


def test_a_verdict_on_an_older_revision_is_refused(project):
    triple = make_disputed(project)
    old = triple.current_id
    revise(
        project=project,
        triple_id=triple.pk,
        author=triple.author,
        snapshot=triple.snapshot,
        wording=make_wording(triple.snapshot),
        at=AT,
    )

    with pytest.raises(VerdictRefused, match="no longer under review"):
        give_verdict(
            project=project,
            triple_id=triple.pk,
            revision_id=old,
            reviewer=reviewers_of(triple)[0],
            choice=C,
            reasons=[],
            idempotency_key="late",
            at=AT,
        )


@pytest.mark.parametrize(
    ("verdict", "sentence"),
    [
        ({"choice": "maybe"}, "A verdict is"),
        ({"choice": C, "reasons": [Reason.OTHER]}, "names no reasons"),
        ({"choice": C, "category": Category.OTHER}, "names no reasons"),
        ({"choice": F, "reasons": []}, "at least one"),
        ({"choice": F, "reasons": ["rubbish"]}, "at least one"),
        ({"choice": F, "reasons": [Reason.OVERSTATED] * 2}, "once"),
        ({"choice": F, "reasons": [Reason.OVERSTATED], "category": ""}, "names its kind"),
        ({"choice": F, "reasons": [Reason.OVERSTATED], "category": "rubbish"}, "one of the four"),
        ({"choice": F, "reasons": [Reason.WRONG_BLOCK], "category": Category.NUMERIC}, "goes with a flag"),
        ({"choice": F, "reasons": [Reason.OTHER], "category": "", "note": " "}, "needs your words"),
    ],
)
def test_a_verdict_that_is_not_whole_is_refused(project, verdict, sentence):
    triple = make_in_review(project)

    with pytest.raises(VerdictRefused, match=sentence):
        answer(triple, reviewers_of(triple)[0], **verdict)


def test_verdicts_are_never_changed_or_deleted(project):
    triple = make_in_review(project)
    verdict = answer(triple, reviewers_of(triple)[0])

    for change in (
        lambda: Verdict.objects.filter(pk=verdict.pk).update(note="x"),
        lambda: Verdict.objects.filter(pk=verdict.pk).delete(),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            change()


# Disputes ------------------------------------------------------------------------------------------------------------


def test_revising_opens_a_new_round_for_the_same_two(project):
    triple = make_disputed(project)
    before = reviewers_of(triple)

    revised = revise(
        project=project,
        triple_id=triple.pk,
        author=triple.author,
        snapshot=triple.snapshot,
        wording=make_wording(triple.snapshot, answer="It closes by itself.", evidence="It closes by itself"),
        at=AT,
    )

    assert (revised.state, revised.round, revised.current.number) == (State.IN_REVIEW, 2, 2)
    assert set(reviewers_of(triple)) == set(before)
    assert answer_both(revised, C, C).resolution == "revised"


def test_only_the_author_revises(project):
    triple = make_disputed(project)

    with pytest.raises(SubmitRefused, match="Only Author, who wrote it, can revise it"):
        begin_revision(
            project=project, triple_id=triple.pk, person=reviewers_of(triple)[0], snapshot=triple.snapshot, at=AT
        )


def test_beginning_a_revision_twice_opens_one_and_leaves_the_state(project):
    triple = make_disputed(project)
    args = {"project": project, "triple_id": triple.pk, "person": triple.author, "snapshot": triple.snapshot}

    first, second = begin_revision(**args, at=AT), begin_revision(**args, at=AT)

    assert first == second
    assert (reload(triple).state, reload(triple).current.number) == (State.DISPUTED, 1)
    assert first.question == triple.current.question


def test_the_flagger_withdraws_with_a_policy(project):
    triple = make_disputed(project)
    confirmer, flagger = reviewers_of(triple)

    with pytest.raises(DisputeRefused, match=f"Only {flagger}, who raised it"):
        take_back(triple, confirmer)

    accepted = take_back(triple, flagger, Category.SYNONYM)

    assert (accepted.state, accepted.resolution) == (State.ACCEPTED, "policy:synonym")


def test_splitting_makes_drafts_with_links_both_ways(project):
    triple = make_disputed(project)
    claims = [Claim("How long may access last?", "Eight hours."), Claim("Who ends it?", "It closes by itself.")]

    children = split_triple(project=project, triple_id=triple.pk, author=triple.author, claims=claims, at=AT)

    assert reload(triple).state == State.SPLIT
    assert [child.state for child in children] == [State.DRAFT] * 2
    assert list(triple.children.order_by("number")) == children
    assert [child.current.question for child in children] == [claim.question for claim in claims]
    assert all(child.current.expected_blocks.count() == 1 for child in children)


@pytest.mark.parametrize("claims", [[Claim("One?", "1")], [Claim("One?", "1"), Claim(" ", "2")]])
def test_a_split_needs_two_claims_with_questions(project, claims):
    triple = make_disputed(project)

    with pytest.raises(DisputeRefused):
        split_triple(project=project, triple_id=triple.pk, author=triple.author, claims=claims, at=AT)

    assert (reload(triple).state, Triple.objects.count()) == (State.DISPUTED, 1)


def test_dropping_needs_a_reason_and_is_recorded(project):
    triple = make_disputed(project)
    drop = {"project": project, "triple_id": triple.pk, "author": triple.author, "at": AT}

    with pytest.raises(DisputeRefused, match="A reason is needed"):
        drop_triple(**drop, reason="  ")

    dropped = drop_triple(**drop, reason="Nobody asks this.")

    assert dropped.state == State.DROPPED
    assert [(end.kind, end.reason) for end in triple.resolutions.all()] == [("dropped", "Nobody asks this.")]


@pytest.mark.parametrize(
    ("decision", "state", "resolution"),
    [
        (Decision.ACCEPT, State.ACCEPTED, "adjudicated"),
        (Decision.RETURN, State.IN_REVIEW, ""),
        (Decision.DROP, State.DROPPED, ""),
    ],
)
def test_a_lead_without_a_part_decides(project, decision, state, resolution):
    triple = make_disputed(project)

    decided = decide(triple, lead_of(project), decision)

    assert (decided.state, decided.resolution) == (state, resolution)


def test_returning_opens_a_round_on_the_same_wording(project):
    triple = make_disputed(project)

    decided = decide(triple, lead_of(project), Decision.RETURN)

    assert (decided.round, decided.current.number) == (2, 2)
    assert decided.current.answer == triple.current.answer
    assert decided.current.expected_blocks.get().spans == triple.current.expected_blocks.get().spans


def test_who_has_a_part_in_it_does_not_adjudicate(db):
    project = make_team(reviewers=0)
    writing_lead = make_member(project, Role.LEAD, Role.ANNOTATOR, name="Writer")
    reviewing_lead = make_member(project, Role.LEAD, Role.REVIEWER, name="Second")
    make_member(project, Role.REVIEWER, name="Third")
    annotator = make_member(project, Role.ANNOTATOR, name="Fourth")
    triple = make_disputed(project, author=writing_lead)

    for person, reason in (
        (writing_lead, "You wrote this triple"),
        (reviewing_lead, "You reviewed this triple"),
        (annotator, "Only a lead"),
    ):
        with pytest.raises(DisputeRefused, match=reason):
            decide(triple, person, Decision.ACCEPT)


def test_adjudication_needs_a_reason(project):
    triple = make_disputed(project)

    with pytest.raises(DisputeRefused, match="A reason is needed"):
        adjudicate(
            project=project, triple_id=triple.pk, lead=lead_of(project), decision=Decision.ACCEPT, reason="", at=AT
        )


def test_what_was_being_written_goes_when_the_triple_goes_another_way(project):
    triple = make_disputed(project)
    begin_revision(project=project, triple_id=triple.pk, person=triple.author, snapshot=triple.snapshot, at=AT)

    decide(triple, lead_of(project), Decision.ACCEPT)

    assert triple.revisions.count() == 1


def test_author_and_flagger_write_in_the_thread_and_the_confirmer_reads(project):
    triple = make_disputed(project)
    confirmer, flagger = reviewers_of(triple)
    post = {"project": project, "triple_id": triple.pk, "at": AT}

    post_message(**post, author=triple.author, text="Why?")
    post_message(**post, author=flagger, text="Because.")
    with pytest.raises(DisputeRefused, match="the other reviewer reads"):
        post_message(**post, author=confirmer, text="Me too.")
    with pytest.raises(DisputeRefused, match="A text is needed"):
        post_message(**post, author=flagger, text=" ")

    assert [message.text for message in triple.messages.order_by("pk")] == ["Why?", "Because."]


# After acceptance ----------------------------------------------------------------------------------------------------


def test_a_changed_block_marks_the_triple_stale_and_others_not(project):
    stale = make_accepted(project)
    fresh = make_accepted(
        project,
        key="rotation",
        evidence="A root key is rotated",
        answer="It is rotated.",
        question="What about root keys?",
    )
    newer = make_snapshot(project, CHANGED, corpus=stale.snapshot.corpus)

    marked = refresh_staleness(project=project, snapshot=newer, at=AT)

    assert marked == [stale]
    assert (reload(stale).is_stale, reload(fresh).is_stale) == (True, False)
    assert refresh_staleness(project=project, snapshot=newer, at=AT) == []


def test_re_pinning_moves_unchanged_evidence_into_a_new_round(project):
    triple = make_triple(project, State.ACCEPTED, stale=True)
    newer = triple.snapshot.corpus.snapshots.get(number=2)

    pinned = re_pin(project=project, triple_id=triple.pk, person=triple.author, snapshot=newer, at=AT)

    block = pinned.current.expected_blocks.get()
    assert (pinned.state, pinned.is_stale, pinned.snapshot, pinned.round) == (State.IN_REVIEW, False, newer, 2)
    assert [block.version.text[a:b] for a, b in block.spans] == ["A session lasts at most eight hours."]


def test_re_pinning_is_refused_when_the_evidence_is_gone(project):
    triple = make_accepted(project)
    newer = make_snapshot(project, TEXTS | {"access": "All is new."}, corpus=triple.snapshot.corpus)
    refresh_staleness(project=project, snapshot=newer, at=AT)

    with pytest.raises(SubmitRefused, match="no evidence is marked yet"):
        re_pin(project=project, triple_id=triple.pk, person=triple.author, snapshot=newer, at=AT)

    assert (reload(triple).state, reload(triple).is_stale) == (State.ACCEPTED, True)


def test_a_lead_who_did_not_review_it_may_pin_it_again(project):
    triple = make_triple(project, State.ACCEPTED, stale=True)
    newer = triple.snapshot.corpus.snapshots.get(number=2)

    with pytest.raises(SubmitRefused, match="You reviewed this triple"):
        re_pin(project=project, triple_id=triple.pk, person=reviewers_of(triple)[0], snapshot=newer, at=AT)

    pinned = re_pin(project=project, triple_id=triple.pk, person=lead_of(project), snapshot=newer, at=AT)

    assert (pinned.author, pinned.current.author) == (triple.author, lead_of(project))


def test_a_dropped_triple_reopens_as_a_draft_with_a_new_revision(project):
    triple = make_triple(project, State.DROPPED)

    reopened = reopen_as_draft(
        project=project, triple_id=triple.pk, author=triple.author, snapshot=triple.snapshot, at=AT
    )
    again = submit_triple(project=project, triple_id=triple.pk, author=triple.author, at=AT)

    assert (reopened.state, again.state, again.round, again.current.number) == ("draft", "in_review", 2, 2)


@pytest.mark.parametrize(
    "state",
    [*[(state, False) for state in State], (State.ACCEPTED, True)],
    ids=lambda pair: f"{pair[0]}{' stale' if pair[1] else ''}",
)
def test_every_state_is_reached_by_real_actions_and_told_by_its_events(project, state):
    name, stale = state

    triple = make_triple(project, name, stale=stale)

    last = Event.objects.filter(object_type="triples.triple", object_id=str(triple.pk)).latest("pk")
    assert (triple.state, triple.is_stale) == (name, stale)
    assert last.after["state"] == name


def test_a_machine_written_draft_needs_somebody_who_adopts_it(project):
    snapshot = project.corpora.get().snapshots.get()
    author = make_member(project, Role.ANNOTATOR)
    triple = start_draft(
        project=project,
        author=author,
        snapshot=snapshot,
        wording=make_wording(snapshot),
        is_machine_written=True,
        at=AT,
    )

    with pytest.raises(SubmitRefused, match="A machine wrote it"):
        submit_triple(project=project, triple_id=triple.pk, author=author, at=AT)


def test_a_triple_of_another_project_is_not_found(project):
    from django.http import Http404

    triple = make_in_review(project)
    other = make_project()

    with pytest.raises(Http404):
        withdraw_flag(project=other, triple_id=triple.pk, reviewer=triple.author, policy=Category.SYNONYM, at=AT)


def test_an_empty_draft_is_saved_and_not_submitted(project):
    snapshot = project.corpora.get().snapshots.get()
    author = make_member(project, Role.ANNOTATOR)

    triple = start_draft(project=project, author=author, snapshot=snapshot, wording=Wording(), at=AT)

    with pytest.raises(SubmitRefused, match="3 checks stop it; the first: no question yet"):
        submit_triple(project=project, triple_id=triple.pk, author=author, at=AT)
