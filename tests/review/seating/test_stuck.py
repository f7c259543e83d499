from datetime import timedelta

from apps.accounts.actions.people import deactivate_user
from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.review.actions.reminding import escalate_long_waits
from apps.review.actions.seating import free_abandoned_seats
from apps.review.models import ReviewSeat
from apps.review.selectors.seats import choose, newcomers_in
from apps.triples.enums import State
from tests.factories import AT, make_member
from tests.review.factories import answer, make_accepted, make_disputed, make_in_review, reload, reviewers_of
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


class TestNewcomers:
    def test_a_person_with_few_reviews_is_new(self, project):
        set_policy(project, calibrating_reviews=1)
        triple = make_accepted(project)

        assert newcomers_in(project) == {person.pk for person in people(project)} - {
            person.pk for person in reviewers_of(triple)
        }
        set_policy(project, calibrating_reviews=0)
        assert newcomers_in(project) == frozenset()

    def test_answers_in_an_open_round_do_not_count_as_experience(self, project):
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
