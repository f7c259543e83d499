import pytest

from apps.accounts.actions.projects import set_roles
from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.review.actions.seating import SeatRefused
from apps.review.models import ReviewSeat
from tests.factories import AT, lead_of, make_member
from tests.review.factories import answer, make_disputed, make_in_review, reviewers_of
from tests.review.seating.moving import end_role, give_away, people


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

        with pytest.raises(SeatRefused, match="already answered"):
            give_away(triple, one)

    def test_an_involved_lead_is_rejected_whatever_the_others_did(self, project):
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
        assert sentences[0].startswith("You review this Q&A.")
        assert sentences[1].startswith("You wrote this Q&A.")

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
            (one, "is already this reviewer"),
            (two, "is already the other reviewer"),
            (viewer, "is not a reviewer"),
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

    def test_an_empty_seat_is_filled(self, pulled):
        triple = make_in_review(pulled)
        one = people(pulled)[0]

        assert give_away(triple, None, one).reviewer == one
