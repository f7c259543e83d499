from datetime import timedelta

from apps.accounts.actions.people import deactivate_user
from apps.audit.models import Event
from apps.review.actions.reminding import escalate_long_waits
from apps.review.actions.seating import free_abandoned_seats
from apps.review.models import ReviewSeat
from apps.triples.enums import State
from tests.factories import AT
from tests.review.factories import answer, make_disputed, make_in_review, reload, reviewers_of
from tests.review.seating.moving import HOUR, end_role, give_away, people, pull, set_policy


class TestNothingStaysStuck:
    def test_seats_of_somebody_who_left_are_reassigned_after_a_while(self, project):
        triple = make_in_review(project)
        gone, other = reviewers_of(triple)
        deactivate_user(user_id=gone.pk, actor=None, at=AT)

        escalate_long_waits(AT + timedelta(days=6))
        assert gone in reviewers_of(triple)
        escalate_long_waits(AT + timedelta(days=8))

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
        escalate_long_waits(AT + timedelta(days=8))

        assert pull(pulled, three, AT + timedelta(days=8)) == triple

    def test_rounds_that_waited_to_be_pulled_are_seated_when_the_project_goes_back_to_load(self, pulled):
        triple = make_in_review(pulled)
        set_policy(pulled, review_assignment="load")

        escalate_long_waits(AT + HOUR)

        assert len(reviewers_of(triple)) == 2

    def test_an_answered_seat_of_somebody_who_left_counts(self, project):
        triple = make_in_review(project)
        gone, other = reviewers_of(triple)
        answer(triple, gone)
        end_role(project, gone)

        assert free_abandoned_seats(project=project, triple_id=triple.pk, at=AT) == []
        answer(triple, other)
        assert reload(triple).state == State.ACCEPTED

    def test_no_seat_is_reassigned_in_a_closed_round(self, project):
        triple = make_disputed(project)
        end_role(project, reviewers_of(triple)[0])

        assert free_abandoned_seats(project=project, triple_id=triple.pk, at=AT) == []
