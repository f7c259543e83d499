"""People, invitations, roles and tokens."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from apps.accounts import rules, selectors
from apps.accounts.actions import invitations, people, projects, tokens
from apps.accounts.enums import Role, Scope
from apps.accounts.models import Invitation, Membership, User
from apps.audit.models import Event
from apps.common.errors import Refusal
from tests.factories import AT, PASSWORD, lead_of, make_member, make_project, make_user
from tests.races import overlapping

pytestmark = pytest.mark.django_db


def test_setup_link_makes_the_first_operator_once():
    token = invitations.create_setup_link(at=AT)

    user = invitations.accept_invitation(token=token, email="a@example.org", name="Ada", password=PASSWORD, at=AT)

    assert user.is_operator
    with pytest.raises(invitations.InvitationRefused, match="has been used"):
        invitations.accept_invitation(token=token, email="b@example.org", name="Bo", password=PASSWORD, at=AT)


def test_a_new_setup_link_ends_the_earlier_one():
    first = invitations.create_setup_link(at=AT)
    invitations.create_setup_link(at=AT)

    with pytest.raises(invitations.InvitationRefused, match="withdrawn"):
        invitations.accept_invitation(token=first, email="a@example.org", name="Ada", password=PASSWORD, at=AT)


def test_no_setup_link_once_there_is_an_operator():
    make_user(is_operator=True)

    with pytest.raises(Refusal, match="operator already"):
        invitations.create_setup_link(at=AT)


def test_an_invitation_stores_only_a_digest_and_expires():
    project = make_project()
    _, token = invitations.invite(project=project, actor=lead_of(project), roles=[Role.ANNOTATOR], at=AT)

    assert not Invitation.objects.filter(token_digest=token).exists()
    with pytest.raises(invitations.InvitationRefused, match="expired"):
        invitations.accept_invitation(token=token, user=make_user(), at=AT + timedelta(days=8))


def test_accepting_an_invitation_grants_its_roles_and_no_other():
    project = make_project()
    roles = [Role.ANNOTATOR, Role.REVIEWER]
    _, token = invitations.invite(project=project, actor=lead_of(project), roles=roles, at=AT)

    user = invitations.accept_invitation(token=token, user=make_user(), at=AT)

    assert selectors.roles_of(user, project) == {Role.ANNOTATOR, Role.REVIEWER}


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.REVIEWER, Role.VIEWER])
def test_only_leads_invite(role):
    project = make_project()
    member = make_member(project, role)

    with pytest.raises(rules.PeopleRefused):
        invitations.invite(project=project, actor=member, roles=[Role.VIEWER], at=AT)


def test_a_lead_of_another_project_invites_nobody_here():
    project, other = make_project(), make_project()

    with pytest.raises(rules.PeopleRefused):
        projects.set_roles(project=project, user=make_user(), roles=[Role.LEAD], actor=lead_of(other), at=AT)


def test_the_last_lead_stays():
    project = make_project()
    lead = lead_of(project)

    with pytest.raises(Refusal, match="at least one lead"):
        projects.set_roles(project=project, user=lead, roles=[], actor=lead, at=AT)


def test_ended_membership_stays_as_history():
    project = make_project()
    member = make_member(project, Role.VIEWER)

    projects.set_roles(project=project, user=member, roles=[], actor=lead_of(project), at=AT)

    row = Membership.objects.get(user=member, project=project)
    assert (row.ended_at, row.ended_by) == (AT, lead_of(project))
    assert not selectors.roles_of(member, project)


def test_role_changes_write_an_event_with_before_and_after():
    project = make_project()
    member = make_member(project, Role.VIEWER)

    projects.set_roles(project=project, user=member, roles=[Role.LEAD], actor=lead_of(project), at=AT)

    event = Event.objects.filter(action="membership.changed").latest("pk")
    assert (event.before, event.after) == ({"roles": ["viewer"]}, {"roles": ["lead"]})


def test_deactivated_people_keep_their_rows_and_lose_their_tokens():
    project = make_project()
    operator = make_user(is_operator=True)
    member = make_member(project, Role.LEAD)
    token, _ = tokens.create_token(
        project=project, user=member, name="ci", scopes=[Scope.RUNS_READ], at=AT, lasts=timedelta(days=30)
    )

    people.deactivate_user(user_id=member.pk, actor=operator, at=AT)

    token.refresh_from_db()
    assert token.revoked_at == AT
    assert User.objects.get(pk=member.pk).name == member.name


def test_the_secret_of_a_token_is_not_stored():
    project = make_project()
    token, secret = tokens.create_token(
        project=project, user=lead_of(project), name="ci", scopes=[Scope.RUNS_READ], at=AT, lasts=timedelta(days=1)
    )

    kept = " ".join(str(value) for value in token.__dict__.values())
    assert secret not in kept


def test_the_database_allows_one_live_row_a_role():
    project = make_project()
    member = make_member(project, Role.VIEWER)

    with pytest.raises(IntegrityError), transaction.atomic():
        Membership.objects.create(project=project, user=member, role=Role.VIEWER, granted_at=AT)


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_two_clicks_at_once_make_one_invitation_and_one_token():
    project = make_project()
    lead = lead_of(project)

    def invite():
        return invitations.invite(project=project, actor=lead, roles=["viewer"], at=AT, key="one page")

    def token():
        week = timedelta(days=7)
        return tokens.create_token(
            project=project, user=lead, name="ci", scopes=["runs:write"], at=AT, lasts=week, key="one page"
        )

    for click in (invite, token):
        first, second = overlapping(click, click)
        assert first == second
