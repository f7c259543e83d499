"""Seats: given by load or pulled with a lease, given back, given away, and never twice."""

from datetime import timedelta

import pytest

from apps.accounts.actions import deactivate_user, set_roles
from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.common.errors import Refusal
from apps.review.actions import (
    SeatRefused,
    SubmitRefused,
    VerdictRefused,
    free_abandoned_seats,
    give_back_seat,
    pull_seat,
    reseat,
    reseat_many,
    revise,
)
from apps.review.chores import escalate_what_waits
from apps.review.enums import Choice
from apps.review.models import ReviewSeat
from apps.review.queues import offered_tally
from apps.review.seats import choose, newcomers_in
from apps.triples.enums import State
from tests.factories import AT, lead_of, make_member, make_project
from tests.review.factories import (
    answer,
    answer_both,
    make_accepted,
    make_disputed,
    make_in_review,
    reload,
    reviewers_of,
)
from tests.triples.factories import make_snapshot, make_team, make_wording

HOUR = timedelta(hours=1)


def set_policy(project, **policies):
    project.policies |= policies
    project.save(update_fields=["policies"])


@pytest.fixture
def project(db):
    return make_team(reviewers=3)


@pytest.fixture
def pulled(project):
    set_policy(project, review_assignment="pull")
    return project


def people(project):
    return sorted(
        {row.user for row in project.memberships.filter(role=Role.REVIEWER, ended_at=None)}, key=lambda user: user.pk
    )


def pull(project, reviewer, at=AT, **more):
    seat = pull_seat(project=project, reviewer=reviewer, at=at, **more)
    return seat and seat.revision.triple


def give_away(triple, reviewer, successor=None, *, lead=None, reason="On holiday."):
    return reseat(
        project=triple.project,
        triple_id=triple.pk,
        reviewer=reviewer,
        successor=successor,
        lead=lead or lead_of(triple.project),
        reason=reason,
        at=AT,
    )


def end_role(project, user):
    set_roles(project=project, user=user, roles=[], actor=lead_of(project), at=AT)


class TestPulling:
    def test_submitting_opens_no_seats_and_still_needs_two_who_could_review(self, pulled):
        triple = make_in_review(pulled)
        lonely = make_project()
        set_policy(lonely, review_assignment="pull")
        make_snapshot(lonely)
        make_member(lonely, Role.REVIEWER)

        assert (triple.state, ReviewSeat.objects.count()) == (State.IN_REVIEW, 0)
        with pytest.raises(SubmitRefused, match="the project has one"):
            make_in_review(lonely)

    def test_the_oldest_round_is_pulled_first_and_each_person_comes_back_to_their_own(self, pulled):
        first, second = make_in_review(pulled), make_in_review(pulled)
        one, two, three = people(pulled)

        assert [pull(pulled, one), pull(pulled, one), pull(pulled, two)] == [first, first, first]
        assert pull(pulled, three) == second
        assert [seat.number for seat in first.current.seats.order_by("pk")] == [1, 2]
        assert ReviewSeat.objects.earliest("pk").lease_expires_at == AT + 48 * HOUR

    def test_after_a_verdict_the_next_one_is_pulled_and_never_the_same(self, pulled):
        first, second = make_in_review(pulled), make_in_review(pulled)
        one = people(pulled)[0]
        pull(pulled, one)

        answer(first, one)

        assert pull(pulled, one) == second
        answer(second, one)
        assert pull(pulled, one) is None

    def test_nobody_pulls_what_they_wrote(self, pulled):
        author = make_member(pulled, Role.ANNOTATOR, Role.REVIEWER)
        make_in_review(pulled, author=author)

        assert pull(pulled, author) is None

    def test_a_lapsed_seat_goes_to_whoever_asks_and_its_holder_answers_no_more(self, pulled):
        triple = make_in_review(pulled)
        one, two, three = people(pulled)
        pull(pulled, one)
        pull(pulled, two)
        later = AT + 49 * HOUR

        assert pull(pulled, three, AT + 47 * HOUR) is None
        assert pull(pulled, three, later) == triple
        assert reviewers_of(triple) == [three]
        with pytest.raises(VerdictRefused, match="You hold no seat"):
            answer(triple, one)

    def test_an_answered_seat_never_lapses(self, pulled):
        triple = make_in_review(pulled)
        one, two, three = people(pulled)
        pull(pulled, one)
        answer(triple, one)
        pull(pulled, two)
        late = AT + 100 * HOUR

        assert pull(pulled, three, late) == triple
        assert reviewers_of(triple) == [one, three]

    def test_a_lapsed_seat_that_nobody_asked_for_may_still_be_answered(self, pulled):
        triple = make_in_review(pulled)
        one = people(pulled)[0]
        pull(pulled, one)

        assert pull(pulled, one, AT + 60 * HOUR) == triple
        assert ReviewSeat.objects.get().lease_expires_at == AT + 108 * HOUR
        answer(triple, one)

    def test_what_was_given_back_is_offered_last(self, pulled):
        first, second = make_in_review(pulled), make_in_review(pulled)
        one = people(pulled)[0]
        pull(pulled, one)

        give_back_seat(project=pulled, triple_id=first.pk, reviewer=one, at=AT)

        assert pull(pulled, one) == second
        give_back_seat(project=pulled, triple_id=second.pk, reviewer=one, at=AT)
        assert pull(pulled, one, again=False) is None
        assert pull(pulled, one) == first
        assert reviewers_of(first) == [one]

    def test_a_seat_that_answered_or_was_given_by_load_is_not_given_back(self, pulled):
        triple = make_in_review(pulled)
        one = people(pulled)[0]
        pull(pulled, one)
        answer(triple, one)

        with pytest.raises(SeatRefused, match="You have answered"):
            give_back_seat(project=pulled, triple_id=triple.pk, reviewer=one, at=AT)
        set_policy(pulled, review_assignment="load")
        other = make_in_review(pulled)
        with pytest.raises(SeatRefused, match="given by load"):
            give_back_seat(project=pulled, triple_id=other.pk, reviewer=reviewers_of(other)[0], at=AT)

    def test_in_the_next_round_the_same_two_hold_a_lease_each(self, pulled):
        triple = make_in_review(pulled)
        one, two, three = people(pulled)
        for person, choice in ((one, Choice.CONFIRM), (two, Choice.FLAG)):
            pull(pulled, person)
            answer(triple, person, choice)

        revise(
            project=pulled,
            triple_id=triple.pk,
            author=triple.author,
            snapshot=triple.snapshot,
            wording=make_wording(triple.snapshot),
            at=AT,
        )

        assert set(reviewers_of(triple)) == {one, two}
        assert pull(pulled, three) is None
        assert pull(pulled, three, AT + 49 * HOUR) == triple

    def test_what_is_offered_is_counted_for_each_person(self, pulled):
        make_in_review(pulled)
        make_in_review(pulled)
        one, two, _ = people(pulled)
        pull(pulled, one)

        assert [offered_tally(person, pulled, AT).count for person in (one, two)] == [1, 2]
        set_policy(pulled, review_assignment="load")
        assert offered_tally(two, pulled, AT).count == 0

    def test_a_round_is_seated_twice_and_closes_as_it_does_by_load(self, pulled):
        triple = make_in_review(pulled)
        one, two, _ = people(pulled)
        for person in (one, two):
            pull(pulled, person)

        assert answer_both(triple, Choice.CONFIRM, Choice.CONFIRM).state == State.ACCEPTED
        assert ReviewSeat.objects.filter(closed_at=AT, answered_at=AT).count() == 2


class TestNewcomers:
    def test_whoever_gave_few_reviews_is_new(self, project):
        set_policy(project, calibrating_reviews=1)
        triple = make_accepted(project)

        assert newcomers_in(project) == {person.pk for person in people(project)} - {
            person.pk for person in reviewers_of(triple)
        }
        set_policy(project, calibrating_reviews=0)
        assert newcomers_in(project) == frozenset()

    def test_who_has_answered_an_open_round_is_as_new_as_before(self, project):
        set_policy(project, calibrating_reviews=1)
        make_accepted(project)
        new = next(person for person in people(project) if person.pk in newcomers_in(project))
        triple = make_in_review(project)
        seated = reviewers_of(triple)
        if new not in seated:
            give_away(triple, seated[0], new)
        answer(triple, new)

        assert newcomers_in(project) == {new.pk}

    def test_where_all_are_new_nobody_is(self, project):
        make_accepted(project)

        assert newcomers_in(project) == frozenset()

    def test_two_newcomers_sit_together_only_when_nobody_else_is_there(self, project):
        triple = make_in_review(project)
        one, two, three = people(project)
        load = {one.pk: 0, two.pk: 1, three.pk: 2}
        new = frozenset({one.pk, two.pk})

        assert choose(triple, [one, two, three], load, [], frozenset(), new) == [one, three]
        assert choose(triple, [one, two], load, [], frozenset(), new) == [one, two]
        assert choose(triple, [one, two, three], load, [one.pk, two.pk], frozenset(), new) == [one, two]

    def test_a_newcomer_pulls_a_round_without_one_first(self, pulled):
        set_policy(pulled, calibrating_reviews=1)
        practised, new, newer = people(pulled)
        other = make_member(pulled, Role.REVIEWER)
        closed = make_in_review(pulled)
        for person in (practised, other):
            pull(pulled, person)
            answer(closed, person)
        first, second = make_in_review(pulled), make_in_review(pulled)

        assert [pull(pulled, new), pull(pulled, newer), pull(pulled, practised)] == [first, second, first]


class TestReseating:
    def test_a_lead_gives_an_unanswered_seat_to_the_least_loaded(self, project):
        triple = make_in_review(project)
        one, two = reviewers_of(triple)
        other = next(person for person in people(project) if person not in (one, two))

        seat = give_away(triple, one)

        assert (seat.reviewer, seat.number) == (other, 1)
        assert reviewers_of(triple) == [other, two]
        assert ReviewSeat.objects.get(revision=triple.current, reviewer=one).released_at == AT
        event = Event.objects.get(action="triple.reseat")
        assert (event.before, event.after) == (
            {"seat": 1, "reviewer": str(one)},
            {"seat": 1, "reviewer": str(other), "reason": "On holiday."},
        )

    def test_or_to_somebody_named(self, project):
        triple = make_in_review(project)
        fourth = make_member(project, Role.REVIEWER)

        assert give_away(triple, reviewers_of(triple)[1], fourth).reviewer == fourth

    def test_a_seat_that_answered_stays(self, project):
        triple = make_in_review(project)
        one = reviewers_of(triple)[0]
        answer(triple, one)

        with pytest.raises(SeatRefused, match="has answered"):
            give_away(triple, one)

    def test_a_lead_with_a_part_in_it_is_refused_whatever_the_others_did(self, project):
        triple = make_in_review(project)
        reviewer_lead = make_member(project, Role.LEAD, Role.REVIEWER)
        one, _ = reviewers_of(triple)
        give_away(triple, one, reviewer_lead)
        other = reviewers_of(triple)[1]
        author = triple.author
        set_roles(project=project, user=author, roles=[Role.LEAD], actor=lead_of(project), at=AT)

        sentences = []
        for _ in range(2):
            for lead in (reviewer_lead, author):
                with pytest.raises(SeatRefused) as refused:
                    give_away(triple, other, lead=lead)
                sentences.append(refused.value.sentence)
            answer(triple, other)

        assert sentences[:2] == sentences[2:]
        assert sentences[0].startswith("You review this triple.")
        assert sentences[1].startswith("You wrote this triple.")

    def test_only_a_lead_may_and_says_why(self, project):
        triple = make_in_review(project)
        one, two = reviewers_of(triple)

        with pytest.raises(SeatRefused, match="Only a lead"):
            give_away(triple, one, lead=two)
        with pytest.raises(SeatRefused, match="A reason is needed"):
            give_away(triple, one, reason="  ")

    def test_the_successor_is_another_reviewer_who_did_not_write_it(self, project):
        triple = make_in_review(project)
        one, two = reviewers_of(triple)
        viewer = make_member(project, Role.VIEWER)
        set_roles(
            project=project,
            user=triple.author,
            roles=[Role.ANNOTATOR, Role.REVIEWER],
            actor=lead_of(project),
            at=AT,
        )

        for successor, why in (
            (one, "holds this seat already"),
            (two, "holds the other seat"),
            (viewer, "is no reviewer"),
            (triple.author, "wrote it"),
        ):
            with pytest.raises(SeatRefused, match=why):
                give_away(triple, one, successor)

    def test_a_closed_round_is_not_reseated(self, project):
        triple = make_disputed(project)

        with pytest.raises(SeatRefused, match="no round is open"):
            give_away(triple, reviewers_of(triple)[0])

    def test_when_nobody_is_left_it_says_so(self, project):
        triple = make_in_review(project)
        one, two = reviewers_of(triple)
        for person in people(project):
            if person not in (one, two):
                end_role(project, person)

        with pytest.raises(SeatRefused, match="Nobody else can review it"):
            give_away(triple, one)

    def test_a_place_that_nobody_holds_is_filled(self, pulled):
        triple = make_in_review(pulled)
        one = people(pulled)[0]

        assert give_away(triple, None, one).reviewer == one


class TestReseatingMany:
    def test_each_triple_moves_whole_or_not_at_all_and_says_why(self, project):
        one, two, accepted = make_in_review(project), make_in_review(project), make_accepted(project)
        gone = reviewers_of(one)[0]
        if gone in reviewers_of(two):
            answer(two, gone)

        done = reseat_many(
            project=project,
            triple_ids=[one.pk, two.pk, accepted.pk, 10**9],
            reviewer=gone,
            lead=lead_of(project),
            reason="Left.",
            at=AT,
        )

        assert [seat.revision.triple for seat in done.seats] == [one]
        assert [left.triple for left in done.left] == [two, accepted]
        assert "no round is open" in done.left[1].sentence

    def test_what_nobody_can_answer_is_moved_without_naming_anybody(self, project):
        triple, well = make_in_review(project), make_in_review(project)
        gone = reviewers_of(triple)[0]
        staying = [person for person in people(project) if person != gone]
        make_member(project, Role.REVIEWER)
        end_role(project, gone)

        done = reseat_many(
            project=project,
            triple_ids=[triple.pk, well.pk],
            reviewer=None,
            lead=lead_of(project),
            reason="Left.",
            at=AT,
        )

        assert gone not in reviewers_of(triple)
        assert len(done.seats) + len(done.left) == 2
        assert staying


class TestNothingStaysStuck:
    def test_seats_of_somebody_who_left_are_given_anew_after_a_while(self, project):
        triple = make_in_review(project)
        gone, other = reviewers_of(triple)
        deactivate_user(user_id=gone.pk, actor=None, at=AT)

        escalate_what_waits(AT + timedelta(days=6))
        assert gone in reviewers_of(triple)
        escalate_what_waits(AT + timedelta(days=8))

        assert gone not in reviewers_of(triple)
        assert other in reviewers_of(triple)
        assert len(reviewers_of(triple)) == 2
        assert Event.objects.get(action="triple.reseat").actor is None

    def test_where_seats_are_pulled_they_come_back_into_the_queue(self, pulled):
        triple = make_in_review(pulled)
        gone, two, three = people(pulled)
        give_away(triple, None, gone)
        ReviewSeat.objects.update(lease_expires_at=None)
        pull(pulled, two)
        end_role(pulled, gone)

        assert pull(pulled, three, AT + timedelta(days=9)) is None or reviewers_of(triple)
        escalate_what_waits(AT + timedelta(days=8))

        assert pull(pulled, three, AT + timedelta(days=8)) == triple

    def test_rounds_that_waited_to_be_pulled_are_seated_when_the_project_goes_back_to_load(self, pulled):
        triple = make_in_review(pulled)
        set_policy(pulled, review_assignment="load")

        escalate_what_waits(AT + HOUR)

        assert len(reviewers_of(triple)) == 2

    def test_an_answered_seat_of_somebody_who_left_counts(self, project):
        triple = make_in_review(project)
        gone, other = reviewers_of(triple)
        answer(triple, gone)
        end_role(project, gone)

        assert free_abandoned_seats(project=project, triple_id=triple.pk, at=AT) == []
        answer(triple, other)
        assert reload(triple).state == State.ACCEPTED

    def test_nothing_is_seated_anew_in_a_closed_round(self, project):
        triple = make_disputed(project)
        end_role(project, reviewers_of(triple)[0])

        assert free_abandoned_seats(project=project, triple_id=triple.pk, at=AT) == []


def test_a_refusal_is_a_refusal():
    assert issubclass(SeatRefused, Refusal)
