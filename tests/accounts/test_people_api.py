"""Members and their roles over the API."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.actions.people import deactivate_user
from apps.accounts.actions.tokens import create_token
from apps.accounts.enums import Role, Scope
from apps.accounts.selectors import roles_of
from apps.audit.models import Event
from tests.factories import EVERY_SCOPE, lead_of, make_member, make_project, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(client):
    """A project whose lead is signed in."""
    project = make_project()
    client.force_login(lead_of(project))
    return project


def bearer(project, user, *scopes):
    _, secret = create_token(
        project=project, user=user, name="CI", scopes=scopes, at=timezone.now(), lasts=timedelta(days=1)
    )
    return {"HTTP_AUTHORIZATION": f"Bearer {secret}"}


def people(client, project, **params):
    return client.get(reverse("people-api:people", args=[project.slug]), params)


def set_roles(client, project, user, roles, **headers):
    address = reverse("people-api:roles", args=[project.slug, user.pk])
    return client.post(address, {"roles": roles}, content_type="application/json", **headers)


def test_members_come_page_by_page_with_all_their_roles(client, project):
    both = make_member(project, Role.ANNOTATOR, Role.REVIEWER, name="Mara")
    gone = make_member(project, Role.VIEWER, name="Ada")
    deactivate_user(user_id=gone.pk, actor=make_user(is_operator=True), at=timezone.now())

    first = people(client, project, limit=2).json()
    second = people(client, project, limit=2, after=first["next"]).json()

    rows = {row["name"]: row for row in first["results"] + second["results"]}
    assert [row["name"] for row in first["results"]] == ["Lead", "Mara"]
    assert (rows["Mara"]["id"], rows["Mara"]["roles"]) == (both.pk, ["annotator", "reviewer"])
    assert rows["Mara"]["since"] is not None
    assert (rows["Ada"]["is_active"], rows["Mara"]["is_active"]) == (False, True)
    assert second["next"] is None


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.REVIEWER, Role.VIEWER])
def test_addresses_are_for_leads_alone(client, project, role):
    assert lead_of(project).email in {row["email"] for row in people(client, project).json()["results"]}

    client.force_login(make_member(project, role))

    others = people(client, project)
    assert {row["email"] for row in others.json()["results"]} == {None}
    assert "@" not in others.text


def test_who_has_left_is_not_among_the_members(client, project):
    left = make_member(project, Role.VIEWER, name="Left")

    answer = set_roles(client, project, left, [])

    facts = {"id": left.pk, "name": "Left", "email": left.email, "is_active": True, "roles": [], "since": None}
    assert answer.json() == facts
    assert "Left" not in people(client, project).text


def test_roles_are_set_as_on_the_page(client, project):
    member = make_member(project, Role.ANNOTATOR)

    answer = set_roles(client, project, member, ["reviewer", "viewer", "viewer"])

    assert answer.json()["roles"] == ["reviewer", "viewer"]
    assert roles_of(member, project) == {"reviewer", "viewer"}
    event = Event.objects.filter(action="membership.changed").latest("pk")
    assert (event.actor, event.after) == (lead_of(project), {"roles": ["reviewer", "viewer"]})


def test_the_last_lead_stays(client, project):
    answer = set_roles(client, project, lead_of(project), ["viewer"])

    assert (answer.status_code, answer.json()["code"]) == (409, "last_lead")
    assert answer["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("roles", [["boss"], "lead", None, [["lead"]], [1]])
def test_what_is_no_role_is_refused_and_changes_nothing(client, project, roles):
    member = make_member(project, Role.ANNOTATOR)

    answer = set_roles(client, project, member, roles)

    assert answer.status_code == 400
    assert "roles" in answer.json()["errors"]
    assert roles_of(member, project) == {"annotator"}


def test_a_person_of_another_project_is_not_found(client, project):
    other = make_member(make_project(), Role.VIEWER)

    assert set_roles(client, project, other, ["viewer"]).status_code == 404
    assert roles_of(other, project) == set()


def test_a_token_makes_nobody_a_lead_who_could_make_more_tokens(client, project):
    member = make_member(project, Role.VIEWER)
    token = bearer(project, lead_of(project), *EVERY_SCOPE)

    refused = set_roles(Client(), project, member, ["lead"], **token)

    assert (refused.status_code, refused.json()["code"]) == (403, "token_makes_lead")
    assert "on the page People" in refused.json()["detail"]
    assert roles_of(member, project) == {"viewer"}
    assert set_roles(client, project, member, ["lead"]).status_code == 200


def test_a_token_leaves_a_lead_a_lead_and_ends_it(project):
    machine = Client()
    second = make_member(project, Role.LEAD)
    token = bearer(project, lead_of(project), Scope.PEOPLE_WRITE)

    assert set_roles(machine, project, second, ["lead", "annotator"], **token).json()["roles"] == ["annotator", "lead"]
    assert set_roles(machine, project, second, [], **token).json()["roles"] == []


def test_a_lead_becomes_an_annotator_too_once(client, project):
    address = reverse("people-api:judge-myself", args=[project.slug])

    first, again = client.post(address), client.post(address)

    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json()["roles"] == again.json()["roles"] == ["annotator", "lead"]
    assert Event.objects.filter(action="role.granted", after={"role": "annotator"}).count() == 1
