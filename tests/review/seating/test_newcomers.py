from apps.accounts.enums import Role
from apps.review.selectors.seats import choose, newcomers_in
from tests.factories import make_member
from tests.review.factories import answer, make_accepted, make_in_review, reviewers_of
from tests.review.seating.moving import give_away, people, pull, set_policy


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
