import pytest

from apps.accounts.enums import Role
from apps.review.actions.rounds import SubmitRefused
from apps.review.actions.seating import SeatRefused, give_back_seat
from apps.review.actions.submitting import VerdictRefused, revise
from apps.review.enums import VerdictChoice
from apps.review.models import ReviewSeat
from apps.review.selectors.queues import offered_tally
from apps.triples.enums import State
from tests.factories import AT, make_member, make_project
from tests.review.factories import answer, answer_both, make_in_review, reviewers_of
from tests.review.seating.moving import HOUR, people, pull, set_policy
from tests.triples.factories import make_snapshot, make_wording


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

    def test_a_lapsed_seat_goes_to_the_next_person_and_its_former_holder_can_no_longer_answer(self, pulled):
        triple = make_in_review(pulled)
        one, two, three = people(pulled)
        pull(pulled, one)
        pull(pulled, two)
        later = AT + 49 * HOUR

        assert pull(pulled, three, AT + 47 * HOUR) is None
        assert pull(pulled, three, later) == triple
        assert reviewers_of(triple) == [three]
        with pytest.raises(VerdictRefused, match="You are not a reviewer"):
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

    def test_a_lapsed_seat_that_nobody_took_may_still_be_answered(self, pulled):
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
        with pytest.raises(SeatRefused, match="assigned by workload"):
            give_back_seat(project=pulled, triple_id=other.pk, reviewer=reviewers_of(other)[0], at=AT)

    def test_in_the_next_round_the_same_two_get_a_lease_each(self, pulled):
        triple = make_in_review(pulled)
        one, two, three = people(pulled)
        for person, choice in ((one, VerdictChoice.CONFIRM), (two, VerdictChoice.FLAG)):
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

        assert answer_both(triple, VerdictChoice.CONFIRM, VerdictChoice.CONFIRM).state == State.ACCEPTED
        assert ReviewSeat.objects.filter(closed_at=AT, answered_at=AT).count() == 2
