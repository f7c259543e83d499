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
ADA = {"email": "a@example.org", "name": "Ada", "password": PASSWORD, "at": AT}


def test_setup_link_makes_the_first_operator_once():
    first, token = (invitations.create_setup_link(at=AT) for _ in range(2))
    with pytest.raises(invitations.InvitationRefused, match="withdrawn"):
        invitations.accept_invitation(token=first, **ADA)

    user = invitations.accept_invitation(token=token, **ADA)

    assert user.is_operator
    with pytest.raises(invitations.InvitationRefused, match="has been used"):
        invitations.accept_invitation(token=token, **ADA)
    with pytest.raises(Refusal, match="operator already"):
        invitations.create_setup_link(at=AT)


def test_an_invitation_stores_only_a_digest_and_expires():
    project = make_project()
    _, token = invitations.invite(project=project, actor=lead_of(project), roles=[Role.ANNOTATOR], at=AT)

    assert not Invitation.objects.filter(token_digest=token).exists()
    with pytest.raises(invitations.InvitationRefused, match="expired"):
        invitations.accept_invitation(token=token, user=make_user(), at=AT + timedelta(days=8))


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.REVIEWER, Role.VIEWER, "lead of another project"])
def test_only_leads_invite(role):
    project = make_project()
    actor = make_member(project, role) if role in Role.values else lead_of(make_project())

    with pytest.raises(rules.PeopleRefused):
        invitations.invite(project=project, actor=actor, roles=[Role.VIEWER], at=AT)
    with pytest.raises(rules.PeopleRefused):
        projects.set_roles(project=project, user=make_user(), roles=[Role.LEAD], actor=actor, at=AT)


def test_ended_membership_stays_as_history_and_the_change_is_on_record():
    project = make_project()
    member = make_member(project, Role.VIEWER)

    projects.set_roles(project=project, user=member, roles=[Role.LEAD], actor=lead_of(project), at=AT)

    row = Membership.objects.get(user=member, project=project, role=Role.VIEWER)
    assert (row.ended_at, row.ended_by) == (AT, lead_of(project))
    assert selectors.roles_of(member, project) == {Role.LEAD}
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
