"""The lead's board: what is on its way, whose move it is, what is stuck; the same to a lead with a part in it."""

from copy import deepcopy
from datetime import timedelta

import pytest
from django.urls import reverse

from apps.accounts.actions.projects import set_roles
from apps.accounts.enums import Role
from apps.jobs.models import Notification
from apps.review.actions.disputes import adjudicate, post_message
from apps.review.actions.reminding import ReminderRefused, escalate_long_waits, remind_reviewers
from apps.review.actions.submitting import begin_revision
from apps.review.enums import Decision, VerdictChoice
from apps.review.models import Escalation
from apps.review.selectors.board import BoardFilters, board_page
from apps.triples.enums import State
from tests.factories import AT, lead_of, make_member
from tests.review.factories import answer, make_disputed, make_in_review, make_triple, reviewers_of
from tests.review.seating.moving import end_role, set_policy, with_reviewer_lead
from tests.triples.factories import make_draft, make_team

DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def _project(module_rows):
    return make_team(reviewers=3)


@pytest.fixture
def project(db, _project):
    return deepcopy(_project)


def read(project, at=AT, lead=None, **asked):
    return board_page(project, lead or lead_of(project), BoardFilters(**asked), at).rows


def triples_on_board(project, at=AT, lead=None, **asked):
    return [row.triple for row in read(project, at, lead, **asked)]


def words(row):
    return [(str(seat.reviewer) if seat.reviewer else None, seat.word, seat.is_stuck) for seat in row.seats]


class TestRows:
    def test_every_open_triple_is_listed_and_no_other(self, project):
        open_ones = [
            make_triple(project, State.ACCEPTED, stale=True),
            make_triple(project, State.DRAFT),
            make_triple(project, State.IN_REVIEW),
            make_triple(project, State.DISPUTED),
        ]
        for state in (State.ACCEPTED, State.DROPPED, State.RETIRED, State.WITHDRAWN):
            make_triple(project, state)

        rows = read(project)

        assert [row.triple for row in rows] == open_ones
        assert [row.kind for row in rows] == ["stale", "draft", "in_review", "disputed"]

    def test_a_lead_who_is_not_involved_sees_who_has_answered_and_never_what(self, project):
        triple = make_in_review(project)
        one, two = reviewers_of(triple)
        answer(triple, one, VerdictChoice.FLAG)

        assert words(read(project)[0]) == [(str(one), "answered", False), (str(two), "has not answered", False)]

    def test_a_seat_of_somebody_who_left_is_stuck_until_it_is_answered(self, project):
        triple, well = make_in_review(project), make_in_review(project)
        gone = reviewers_of(triple)[0]
        for other in (triple, well):
            if gone in reviewers_of(other) and other is well:
                answer(other, gone)
        end_role(project, gone)

        assert triples_on_board(project, show="stuck") == [triple]
        assert words(read(project, show="stuck")[0])[0] == (str(gone), "can no longer answer", True)

    def test_whose_move_a_dispute_is(self, project):
        triple = make_disputed(project)
        flagger = reviewers_of(triple)[1]

        moves = [read(project)[0].move]
        for author in (triple.author, flagger):
            post_message(project=project, triple_id=triple.pk, author=author, text="See 3.6.", at=AT)
            moves.append(read(project)[0].move)
        begin_revision(project=project, triple_id=triple.pk, person=triple.author, snapshot=triple.snapshot, at=AT)
        moves.append(read(project)[0].move)

        name = triple.author
        assert moves == [
            f"{name} answers the flag; leads are asked in 3 days",
            "the flagger answers; leads are asked in 3 days",
            f"{name} answers the flag; leads are asked in 3 days",
            f"{name} revises",
        ]

    def test_a_dispute_whose_days_are_over_may_be_decided_and_a_lead_may_do_so_before(self, project):
        early, late = make_disputed(project), make_disputed(project)

        decided = {"decision": Decision.ACCEPT, "reason": "It holds."}
        adjudicate(project=project, triple_id=early.pk, lead=lead_of(project), **decided, at=AT)
        (row,) = read(project, at=AT + timedelta(days=3))
        set_policy(project, dispute_days=0)
        (at_once,) = read(project)

        assert (row.triple, row.move) == (late, f"{late.author} answers the flag, or a lead decides")
        assert at_once.move == row.move

    def test_filters(self, project):
        author = make_member(project, Role.ANNOTATOR, name="Ann")
        mine = make_draft(project, author=author, domain="access")
        other = make_in_review(project)
        one = reviewers_of(other)[0]

        assert triples_on_board(project, author=author.pk) == [mine]
        assert triples_on_board(project, domain="access") == [mine]
        assert triples_on_board(project, state="in_review") == [other]
        assert triples_on_board(project, reviewer=one.pk) == [other]
        assert triples_on_board(project, source=1) == []
        assert triples_on_board(project, AT + 3 * DAY, days=3) == [mine, other]
        assert triples_on_board(project, AT + 2 * DAY, days=3) == []
        assert triples_on_board(project, AT + 6 * DAY, show="escalated") == []
        assert [row.is_escalated for row in read(project, AT + 8 * DAY, show="escalated")] == [True, True]

    def test_pages_follow_on_each_other(self, project):
        triples = [make_draft(project), make_in_review(project), make_draft(project), make_disputed(project)]
        lead = lead_of(project)

        first = board_page(project, lead, BoardFilters(), AT, limit=3)
        second = board_page(project, lead, BoardFilters(), AT, after=first.next, limit=3)

        assert [row.triple for row in (*first.rows, *second.rows)] == triples
        assert second.next == ""

    @pytest.mark.parametrize("rubbish", ["x", "2026-03-02~1", "2026-03-02T09:00:00+00:00~99999999999999999999", "~"])
    def test_a_place_that_is_none_is_the_start(self, project, rubbish):
        make_draft(project)

        assert len(board_page(project, lead_of(project), BoardFilters(), AT, after=rubbish).rows) == 1


class TestBlindness:
    def test_the_row_is_the_same_to_a_reviewing_lead_whatever_the_other_did(self, project):
        triple, lead, other = with_reviewer_lead(project)

        before = read(project, lead=lead)
        answer(triple, other, VerdictChoice.FLAG)

        assert read(project, lead=lead) == before
        assert (before[0].seats, before[0].has_part) == (None, True)
        assert words(read(project)[0])[1] == (str(other), "answered", False)

    def test_no_filter_shows_a_reviewing_lead_the_other_reviewer_or_stuck_seats(self, project):
        triple, lead, other = with_reviewer_lead(project)
        end_role(project, other)

        assert triples_on_board(project, lead=lead, show="stuck") == []
        assert triples_on_board(project, lead=lead, reviewer=other.pk) == []
        assert triples_on_board(project, lead=lead, reviewer=lead.pk) == [triple]
        assert triples_on_board(project, show="stuck") == [triple]

    def test_an_authoring_lead_sees_no_seats_either(self, project):
        triple = make_in_review(project)
        set_roles(project=project, user=triple.author, roles=[Role.LEAD], actor=lead_of(project), at=AT)

        assert read(project, lead=triple.author)[0].seats is None


class TestReminding:
    def test_whoever_has_not_answered_is_reminded_once_a_day(self, project):
        triple = make_in_review(project)
        one, two = reviewers_of(triple)
        answer(triple, one)

        def remind(at):
            remind_reviewers(project=project, triple_ids=[triple.pk], lead=lead_of(project), at=at)
            return list(Notification.objects.filter(kind="review.reminder").values_list("person", flat=True))

        assert remind(AT) == [two.pk]
        assert remind(AT + timedelta(hours=23)) == [two.pk]
        assert remind(AT + timedelta(hours=25)) == [two.pk, two.pk]

    def test_an_involved_lead_can_send_a_reminder_without_learning_to_whom(self, project):
        triple, lead, other = with_reviewer_lead(project)

        def remind():
            return remind_reviewers(project=project, triple_ids=[triple.pk], lead=lead, at=AT)

        silent = remind()
        answer(triple, other)
        assert remind() == silent
        assert list(Notification.objects.filter(kind="review.reminder").values_list("person", flat=True)) == [other.pk]

    def test_of_a_closed_round_nobody_is_reminded(self, project):
        triple = make_disputed(project)

        with pytest.raises(ReminderRefused, match="no round is open"):
            remind_reviewers(project=project, triple_ids=[triple.pk], lead=lead_of(project), at=AT)


class TestEscalation:
    def escalations(self, person):
        return [row.sentence for row in Notification.objects.filter(person=person, kind="review.escalated")]

    def test_leads_who_are_not_involved_are_notified_once(self, project):
        triple, lead, _ = with_reviewer_lead(project)

        for days in (6, 8, 9):
            escalate_long_waits(AT + days * DAY)

        assert len(self.escalations(lead_of(project))) == 1
        assert self.escalations(lead) == []
        assert Escalation.objects.get().triple == triple

    def test_many_at_once_give_one_notification(self, project):
        for _ in range(6):
            make_in_review(project)

        escalate_long_waits(AT + 8 * DAY)

        assert self.escalations(lead_of(project)) == ["6 Q&As are overdue. They are marked on the board."]


class TestPages:
    def url(self, name, project):
        return reverse(f"review:{name}", args=[project.slug])

    def test_the_board_over_http(self, client, project):
        triple = make_in_review(project)
        gone = reviewers_of(triple)[0]
        end_role(project, gone)
        client.force_login(lead_of(project))

        page = client.get(self.url("board", project) + "?show=stuck&days=x&author=rubbish").content.decode()
        assert "can no longer answer" in page
        assert f'name="one" value="{triple.pk}.{gone.pk}"' in page

        back = client.post(self.url("re-seat", project) + "?show=stuck", {"one": f"{triple.pk}.{gone.pk}"}, follow=True)
        assert back.redirect_chain[0][0].endswith("?show=stuck")
        assert f"{triple} is assigned to" in back.content.decode()
        assert gone not in reviewers_of(triple)

    @pytest.mark.parametrize(
        ("body", "says"),
        [
            ({}, "That is not a valid choice."),
            ({"one": "x"}, "That is not a valid choice."),
            ({"one": "1.999999"}, "not in this project"),
        ],
    )
    def test_an_impossible_action_gives_a_message(self, client, project, body, says):
        make_in_review(project)
        client.force_login(lead_of(project))

        assert says in client.post(self.url("re-seat", project), body, follow=True).content.decode()

    def test_reminding_says_the_same_to_everybody(self, client, project):
        triple = make_in_review(project)
        client.force_login(lead_of(project))

        page = client.post(self.url("remind", project), {"triple": [triple.pk]}, follow=True).content.decode()

        assert f"Reviewers who have not answered {triple} are reminded, at most once a day." in page

    def test_the_policy_says_after_how_many_days(self, project):
        make_in_review(project)
        set_policy(project, escalation_days=2)

        assert read(project, AT + 3 * DAY)[0].is_escalated
