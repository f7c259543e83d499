"""Somebody leaves: everything by which they could act or be waited for is taken at once, and the record stays."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.actions import invitations, people, tokens
from apps.accounts.actions.leaving import leave
from apps.accounts.actions.people import create_placeholder, deactivate_user, reopen_account
from apps.accounts.enums import Role, Scope
from apps.accounts.execution.leaving import held_by
from apps.accounts.models import ApiToken, Identity, PasswordReset, User, Visit
from apps.accounts.rules import PeopleRefused
from apps.accounts.selectors import live_invitation, roles_of
from apps.audit.models import Event
from apps.common.errors import Refusal
from apps.jobs.actions.notifications import choose_mail, notify
from apps.jobs.enums import MailHow
from apps.jobs.models import MailChoice, Notification
from apps.judging.actions.judgements import give_judgement
from apps.judging.actions.seats import claim_seats
from apps.judging.core.resolution import Answer
from apps.judging.enums import SeatState
from apps.judging.models import Judgement, Seat
from apps.review.actions.seating import pull_seat
from apps.review.models import ReviewSeat, Verdict
from tests.factories import AT, PASSWORD, lead_of, make_member, make_project, make_user
from tests.judging.factories import judge_all, make_round, people_of
from tests.review.factories import answer, make_in_review, reviewers_of
from tests.triples.factories import make_team

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator():
    return make_user("Ops", is_operator=True)


def gone(user, operator, **more):
    leave(user_id=user.pk, actor=operator, at=timezone.now(), **more)
    user.refresh_from_db()


def make_member_with_a_token() -> User:
    project = make_project()
    mara = make_member(project, Role.ANNOTATOR, Role.VIEWER, name="Mara")
    about = {"name": "t", "scopes": [Scope.CORPUS_READ], "lasts": timedelta(days=7)}
    tokens.create_token(project=project, user=mara, at=timezone.now(), **about)
    return mara


class TestWaysIn:
    @pytest.fixture
    def mara(self):
        mara = make_member_with_a_token()
        Identity.objects.create(user=mara, issuer="https://login.example.org", subject="s-1", linked_at=AT)
        return mara

    def test_session_token_roles_and_identity_end_together(self, mara, operator):
        client = Client()
        client.post("/login/", {"email": mara.email, "password": PASSWORD})
        project = mara.memberships.first().project
        shown = [(holding.what.partition(",")[0], holding.number) for holding in held_by(mara, timezone.now())]
        assert shown == [("role", 2), ("API token", 1), ("session", 1), ("link with single sign-on", 1)]

        gone(mara, operator)

        assert held_by(mara, timezone.now()) == []

        assert client.get("/profile/").status_code == 302
        assert not Visit.objects.filter(user=mara).exists()
        assert ApiToken.objects.get().revoked_at is not None
        assert roles_of(mara, project) == frozenset()
        assert not Identity.objects.exists()
        assert not mara.is_active
        assert not mara.has_usable_password()

    def test_links_to_them_and_links_that_they_made_work_no_longer(self, operator):
        project, at = make_project(), timezone.now()
        lead = lead_of(project)
        make_member(project, Role.LEAD)
        boss = lead_of(make_project())
        _, own = invitations.invite(project=project, actor=lead, roles=["viewer"], at=at)
        _, to_them = invitations.invite(
            project=boss.memberships.get(role="lead").project, actor=boss, roles=["lead"], email=lead.email, at=at
        )
        _, other = invitations.invite(project=project, actor=operator, roles=["viewer"], at=at)
        used, token = invitations.invite(project=project, actor=lead, roles=["viewer"], name="Used", at=at)
        invitations.accept_invitation(token=token, user=make_user(), at=at)

        gone(lead, operator)

        assert live_invitation(own, at) is None
        assert live_invitation(to_them, at) is None
        assert live_invitation(other, at) is not None
        used.refresh_from_db()
        assert used.revoked_at is None

    def test_a_password_link_that_an_operator_made_leaves_with_them(self, mara, operator):
        leaver = make_user("Old Ops", is_operator=True)
        people.create_reset_link(user_id=mara.pk, actor=leaver, at=timezone.now())

        gone(leaver, operator)

        assert PasswordReset.objects.get().revoked_at is not None
        assert not leaver.is_operator

    def test_an_account_that_is_closed_already_gives_up_the_rest(self, mara, operator):
        deactivate_user(user_id=mara.pk, actor=operator, at=timezone.now())
        closed_at = User.objects.get(pk=mara.pk).deactivated_at

        gone(mara, operator)

        assert mara.deactivated_at == closed_at
        assert not mara.memberships.filter(ended_at=None).exists()


class TestWork:
    def test_leased_pairs_go_back_to_the_queue_and_grades_stay(self, operator):
        round_ = make_round(queries=1, blocks=4, overlap=0.0, annotators=2, at=timezone.now())
        leaver, other = people_of(round_)
        first, *_ = claim_seats(round_=round_, annotator=leaver, n=4, at=timezone.now())
        give_judgement(
            round_=round_, seat_id=first.pk, annotator=leaver, answer=Answer(2), idempotency_key="k", at=timezone.now()
        )

        gone(leaver, operator)

        assert Judgement.objects.get().annotator == leaver
        assert Seat.objects.filter(annotator=leaver, state=SeatState.LEASED).count() == 0
        assert len(judge_all(round_, other, at=timezone.now())) == 3

    def test_unanswered_reviews_go_to_the_next_reviewer_and_verdicts_stay(self, operator):
        project = make_team()
        asked, answered = make_in_review(project), make_in_review(project)
        leaver = reviewers_of(asked)[0]
        is_both = leaver in reviewers_of(answered)
        if is_both:
            answer(answered, leaver)
        make_member(project, Role.REVIEWER, name="Successor")

        gone(leaver, operator)

        assert leaver not in reviewers_of(asked)
        assert len(reviewers_of(asked)) == 2
        assert Verdict.objects.filter(reviewer=leaver).count() == is_both
        assert (leaver in reviewers_of(answered)) == is_both

    def test_where_nobody_else_can_review_the_place_stays_free(self, operator):
        project = make_team()
        triple = make_in_review(project)
        leaver, other = reviewers_of(triple)
        for person in project.memberships.filter(role=Role.REVIEWER, ended_at=None).exclude(user__in=[leaver, other]):
            gone(person.user, operator)

        gone(leaver, operator)

        assert reviewers_of(triple) == [other]

    def test_a_pulled_review_goes_back_to_the_queue(self, operator):
        project = make_team()
        project.policies = {**project.policies, "review_assignment": "pull"}
        project.save()
        make_in_review(project)
        leaver = make_member(project, Role.REVIEWER, name="Puller")
        assert pull_seat(project=project, reviewer=leaver, at=timezone.now()) is not None

        gone(leaver, operator)

        assert ReviewSeat.objects.get(reviewer=leaver).released_at is not None

    def test_the_number_of_reviews_does_not_tell_which_were_answered(self):
        project = make_team()
        triple = make_in_review(project)
        reviewer = reviewers_of(triple)[0]
        before = held_by(reviewer, timezone.now())

        answer(triple, reviewer)

        assert held_by(reviewer, timezone.now()) == before

    def test_nothing_is_mailed_or_waits_to_be_read(self, operator):
        project = make_project()
        leaver = make_member(project, Role.ANNOTATOR)
        notify(person=leaver, project=project, kind="k", sentence="News.", path="/", key="k", at=AT)
        choose_mail(person=leaver, how=MailHow.AT_ONCE, from_hour=8, to_hour=17, weekdays_only=True, at=AT)

        gone(leaver, operator)

        assert Notification.objects.get().read_at is not None
        assert not MailChoice.objects.exists()

    def test_of_being_replaced_they_are_told_nothing(self, operator):
        project = make_team()
        leaver = reviewers_of(make_in_review(project))[0]
        make_member(project, Role.REVIEWER, name="Successor")

        gone(leaver, operator)

        assert not Notification.objects.filter(person=leaver, read_at=None).exists()


class TestLeads:
    def test_a_project_that_nobody_else_leads_needs_an_heir(self, operator):
        """A lead whose account is closed counts as nobody."""
        project = make_project("Handbook")
        lead, closed = lead_of(project), make_member(project, Role.LEAD)
        deactivate_user(user_id=closed.pk, actor=operator, at=timezone.now())

        with pytest.raises(Refusal, match="Nobody else leads Handbook"):
            leave(user_id=lead.pk, actor=operator, at=timezone.now())
        gone(lead, operator, heir=operator)

        assert Role.LEAD in roles_of(operator, project)

    def test_an_heir_gets_nothing_where_none_is_needed(self, operator):
        project = make_project()
        lead = lead_of(project)
        make_member(project, Role.LEAD)

        gone(lead, operator, heir=operator)

        assert roles_of(operator, project) == frozenset()

    def test_neither_the_leaver_nor_a_closed_account_is_an_heir(self, operator):
        lead = lead_of(make_project())
        closed = make_user()
        deactivate_user(user_id=closed.pk, actor=operator, at=timezone.now())
        closed.refresh_from_db()

        for heir, words in ((lead, "Choose somebody else"), (closed, "is deactivated")):
            with pytest.raises(Refusal, match=words):
                leave(user_id=lead.pk, actor=operator, heir=heir, at=timezone.now())


class TestRules:
    def test_only_operators_have_somebody_leave_and_never_themselves_nor_the_last_one(self, operator):
        person = make_user()

        for actor, user, words in (
            (person, make_user(), "Only an operator"),
            (operator, operator, "Ask another operator"),
            (None, operator, "last operator"),
        ):
            with pytest.raises(PeopleRefused, match=words):
                leave(user_id=user.pk, actor=actor, at=timezone.now())

    def test_it_is_all_or_nothing(self, operator, monkeypatch):
        round_ = make_round(queries=1, blocks=2, at=timezone.now())
        leaver = people_of(round_)[0]
        claim_seats(round_=round_, annotator=leaver, n=2, at=timezone.now())

        def broken(*_facts):
            raise RuntimeError

        monkeypatch.setattr("apps.accounts.actions.leaving._revoke_links", broken)
        with pytest.raises(RuntimeError):
            leave(user_id=leaver.pk, actor=operator, at=timezone.now())

        assert Seat.objects.filter(annotator=leaver, state=SeatState.LEASED).exists()
        assert roles_of(leaver, round_.project)
        assert User.objects.get(pk=leaver.pk).is_active

    def test_the_audit_says_what_was_taken(self, operator):
        project = make_project("Handbook")
        person = make_member(project, Role.VIEWER)

        gone(person, operator)

        event = Event.objects.get(action="user.left")
        assert event.actor == operator
        assert event.after == {"taken": [{"what": "role", "count": 1, "project": "Handbook"}], "heir": None}
        changed = Event.objects.filter(project=project, action="membership.changed").latest("pk")
        assert changed.after == {"roles": []}


class TestPage:
    def test_it_shows_what_is_taken_and_wants_the_address_typed(self, client, operator):
        project = make_project("Handbook")
        person = make_member(project, Role.VIEWER, name="Ola Vik")
        client.force_login(operator)
        url = reverse("accounts:leave", args=[person.pk])
        everybody = client.get("/people/").content.decode()
        assert url in everybody
        assert reverse("accounts:leave", args=[operator.pk]) not in everybody

        page = client.get(url).content.decode()
        wrong = client.post(url, {"typed": "ola"})
        right = client.post(url, {"typed": f" {person.email.upper()} "}, follow=True)

        assert "1 role" in page
        assert "Handbook" in page
        assert wrong.status_code == 400
        assert f"Type {person.email}, or the name, to confirm." in wrong.content.decode()
        assert "Ola Vik has left. What they did stays under their name." in right.content.decode()

    def test_the_heir_is_chosen_there(self, client, operator):
        project = make_project("Handbook")
        lead = lead_of(project)
        client.force_login(operator)

        page = client.get(reverse("accounts:leave", args=[lead.pk])).content.decode()
        client.post(reverse("accounts:leave", args=[lead.pk]), {"typed": lead.name, "heir": operator.pk})

        assert "Nobody else leads Handbook." in page
        assert lead_of(project) == operator


class TestCommand:
    def output_of(self, *arguments: str) -> str:
        out = StringIO()
        call_command("user", "leave", *arguments, stdout=out, stderr=StringIO())
        return out.getvalue()

    @pytest.fixture
    def person(self):
        return make_member(make_project("Handbook"), Role.VIEWER)

    def test_it_lists_what_is_taken_and_takes_it(self, person):
        out = self.output_of(person.email, "--yes")

        assert out.splitlines() == [
            "1 role\tHandbook\tended",
            f"{person.email} has left. Their work and their name stay.",
        ]
        assert not User.objects.get(pk=person.pk).is_active

    def test_it_asks_for_the_address(self, person, monkeypatch):
        monkeypatch.setattr("builtins.input", lambda _words: "somebody.else@example.org")

        with pytest.raises(CommandError, match="Nothing was changed"):
            self.output_of(person.email)

        assert User.objects.get(pk=person.pk).is_active

    def test_a_dry_run_changes_nothing(self, person):
        assert self.output_of(person.email, "--dry-run") == "1 role\tHandbook\tended\n"
        assert User.objects.get(pk=person.pk).is_active

    def test_an_heir_is_named_by_address(self, operator):
        project = make_project()
        lead = lead_of(project)

        with pytest.raises(Refusal, match="Nobody else leads"):
            self.output_of(lead.email, "--yes")
        self.output_of(lead.email, "--yes", "--heir", operator.email)

        assert lead_of(project) == operator


class TestComingBack:
    @pytest.fixture
    def mara(self, operator):
        mara = make_member_with_a_token()
        gone(mara, operator)
        return mara

    def test_an_operator_reopens_the_account_and_a_new_link_lets_the_person_in(self, mara, operator, client):
        client.force_login(operator)

        shown = client.post(reverse("accounts:reopen", args=[mara.pk]), follow=True).content.decode()

        assert "The account of Mara is open again." in shown
        mara.refresh_from_db()
        assert (mara.is_active, mara.deactivated_at, mara.is_operator) == (True, None, False)
        hers = Client()
        assert not hers.login(email=mara.email, password=PASSWORD)
        token = people.create_reset_link(user_id=mara.pk, actor=operator, at=timezone.now())
        hers.post(reverse("accounts:reset", args=[token]), {"password": "another-long-one-4"})
        assert hers.login(email=mara.email, password="another-long-one-4")

    def test_what_ended_stays_gone_and_the_record_says_who_reopened_it(self, mara, operator):
        closed_at = mara.deactivated_at

        reopen_account(user_id=mara.pk, actor=operator, at=timezone.now())

        assert not mara.memberships.filter(ended_at=None).exists()
        assert not ApiToken.objects.filter(user=mara, revoked_at=None).exists()
        event = Event.objects.get(action="user.reopened")
        assert (event.actor, event.object_id) == (operator, str(mara.pk))
        assert (event.before, event.after) == ({"deactivated_at": closed_at.isoformat()}, {"operator": False})

    def test_a_link_from_before_the_account_was_closed_does_not_work_again(self, operator):
        mara = make_user("Mara")
        token = people.create_reset_link(user_id=mara.pk, actor=operator, at=timezone.now())
        deactivate_user(user_id=mara.pk, actor=operator, at=timezone.now())

        reopen_account(user_id=mara.pk, actor=operator, at=timezone.now())

        with pytest.raises(Refusal, match="replaced by a newer one"):
            people.use_reset(token=token, password="another-long-one-4", at=timezone.now())

    def test_who_was_only_deactivated_has_their_roles_again_but_no_password(self, operator):
        project = make_project()
        rob = make_member(project, Role.REVIEWER, name="Rob")
        deactivate_user(user_id=rob.pk, actor=operator, at=timezone.now())

        reopen_account(user_id=rob.pk, actor=operator, at=timezone.now())

        rob.refresh_from_db()
        assert roles_of(rob, project) == {Role.REVIEWER}
        assert not rob.has_usable_password()

    def test_it_is_refused_to_others_for_open_accounts_and_for_names_in_files(self, mara, operator):
        project = make_project()
        lead = lead_of(project)
        name = create_placeholder(project=project, name="J. Doe", actor=lead, at=AT)

        for actor, user, words in (
            (lead, mara, "Only an operator"),
            (operator, operator, "is open"),
            (operator, name, "has no account"),
        ):
            with pytest.raises(Refusal, match=words):
                reopen_account(user_id=user.pk, actor=actor, at=timezone.now())

    def test_the_command_line_reopens_it(self, mara):
        out = StringIO()

        call_command("user", "reopen", mara.email, stdout=out)

        assert out.getvalue().startswith(f"The account of {mara.email} is open again.")
        assert User.objects.get(pk=mara.pk).is_active
        assert Event.objects.get(action="user.reopened").actor is None
