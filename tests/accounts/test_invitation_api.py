"""Inviting people over the API: links that are told once, all or none, and withdrawn again."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.actions.invitations import invite as invite_one
from apps.accounts.enums import Role, Scope
from apps.accounts.models import Invitation
from apps.accounts.selectors import roles_of
from apps.jobs.models import Outbox
from tests.accounts.test_people_api import bearer
from tests.factories import lead_of, make_member, make_project, make_user

pytestmark = pytest.mark.django_db
MARA = {"name": "Mara Quill", "email": "Mara@Example.org", "roles": ["reviewer", "annotator"]}


@pytest.fixture
def project(client):
    project = make_project()
    client.force_login(lead_of(project))
    return project


def address_of(project):
    return reverse("people-api:invitations", args=[project.slug])


def invite(client, project, *people, headers=None, **more):
    body = {"people": list(people), **more}
    return client.post(address_of(project), body, content_type="application/json", **(headers or {}))


def listed(client, project, **params):
    return client.get(address_of(project), params).json()


def revoke(client, project, invitation_id):
    return client.post(reverse("people-api:revoke-invitation", args=[project.slug, invitation_id]))


def test_everybody_gets_a_link_that_lets_them_in(client, project):
    answer = invite(client, project, MARA, {"roles": ["viewer"]})

    first, second = answer.json()["invitations"]
    assert answer.status_code == 201
    told = (first["name"], first["email"], first["roles"])
    assert told == ("Mara Quill", "mara@example.org", ["annotator", "reviewer"])
    assert (second["email"], second["roles"], second["is_mailed"]) == ("", ["viewer"], False)
    guest, path = Client(), second["link"].partition("//")[2].partition("/")[2]
    somebody = make_user()
    guest.force_login(somebody)
    assert guest.post(f"/{path}").status_code == 302
    assert roles_of(somebody, project) == {"viewer"}


def test_a_link_is_told_once_and_never_listed(client, project):
    made = invite(client, project, MARA).json()["invitations"][0]

    page = listed(client, project)

    assert [row["id"] for row in page["results"]] == [made["id"]]
    assert page["results"][0]["created_by"] == lead_of(project).name
    assert "link" not in page["results"][0]
    assert made["link"].split("/")[-2] not in str(page)


def test_open_invitations_come_page_by_page(client, project):
    made = [row["id"] for row in invite(client, project, *[{"roles": ["viewer"]}] * 3).json()["invitations"]]
    revoke(client, project, made[0])

    first = listed(client, project, limit=1)
    second = listed(client, project, limit=1, after=first["next"])

    assert [row["id"] for row in first["results"] + second["results"]] == made[1:]
    assert second["next"] is None


def test_the_same_key_invites_nobody_twice_and_answers_the_same(client, project):
    header = {"HTTP_IDEMPOTENCY_KEY": "join-7"}

    first = invite(client, project, MARA, {"roles": ["viewer"]}, headers=header)
    again = invite(client, project, MARA, {"roles": ["viewer"]}, headers=header)
    other = invite(client, project, MARA, {"roles": ["viewer"]})

    assert again.json() == first.json()
    assert other.json() != first.json()
    assert Invitation.objects.filter(project=project).count() == 4


def test_mail_goes_out_when_it_is_asked_for(client, project, settings):
    settings.EMAIL_HOST = "mail.example.org"

    silent = invite(client, project, MARA)
    assert not Outbox.objects.exists()
    mailed = invite(client, project, MARA, {"roles": ["viewer"]}, by_mail=True)

    assert [row["is_mailed"] for row in silent.json()["invitations"]] == [False]
    assert [row["is_mailed"] for row in mailed.json()["invitations"]] == [True, False]
    assert Outbox.objects.count() == 1


@pytest.mark.parametrize(
    "people",
    [
        [],
        "mara@example.org",
        [MARA, {"name": "Mara"}],
        [MARA, {"roles": []}],
        [MARA, {"roles": ["boss"]}],
        [MARA, {"roles": ["viewer"], "email": "mara"}],
        [MARA, {"roles": ["viewer"], "name": "x" * 121}],
        [MARA, {**MARA, "email": "MARA@example.ORG"}],
        [{"roles": ["viewer"]}] * 201,
    ],
)
def test_a_mistake_in_one_of_them_invites_nobody(client, project, people):
    answer = client.post(address_of(project), {"people": people}, content_type="application/json")

    assert (answer.status_code, [*answer.json()["errors"]]) == (400, ["people"])
    assert not Invitation.objects.filter(project=project).exists()


def test_a_body_that_is_no_object_is_named(client, project):
    answer = client.post(address_of(project), [MARA], content_type="application/json")

    assert (answer.status_code, answer.json()["errors"]) == (400, {"body": ["The body is one JSON object."]})


def test_the_answer_tells_nothing_of_accounts_elsewhere(client, project):
    stranger = make_member(make_project(), Role.LEAD)

    known = invite(client, project, {"email": stranger.email, "roles": ["viewer"]}).json()["invitations"][0]
    unknown = invite(client, project, {"email": "nobody@example.org", "roles": ["viewer"]}).json()["invitations"][0]

    assert (known["name"], known["is_mailed"]) == (unknown["name"], unknown["is_mailed"])
    assert set(known) == set(unknown)


def test_a_withdrawn_link_works_no_longer_and_is_withdrawn_once(client, project):
    made = invite(client, project, MARA).json()["invitations"][0]

    first, again = revoke(client, project, made["id"]), revoke(client, project, made["id"])

    assert first.status_code == 204
    assert (again.status_code, again.json()["code"]) == (409, "dead_link")
    assert Client().get(f"/{made['link'].partition('//')[2].partition('/')[2]}").status_code == 404


def test_a_token_invites_anybody_but_a_lead(client, project):
    client.logout()
    token = bearer(project, lead_of(project), Scope.PEOPLE_WRITE)

    refused = invite(client, project, MARA, {"roles": ["viewer", "lead"]}, headers=token)
    taken = invite(client, project, MARA, headers=token)

    assert (refused.status_code, refused.json()["code"]) == (403, "token_makes_lead")
    assert taken.status_code == 201
    assert [row["roles"] for row in taken.json()["invitations"]] == [["annotator", "reviewer"]]
    assert Invitation.objects.filter(project=project).count() == 1


def test_a_token_never_learns_the_link_of_a_lead_that_a_page_made(client, project):
    lead = lead_of(project)
    invite_one(project=project, actor=lead, roles=["lead"], key="of-the-page", at=timezone.now())
    client.logout()
    token = bearer(project, lead, Scope.PEOPLE_WRITE)

    answer = invite(client, project, {"roles": ["lead"]}, headers=token, idempotency_key="of-the-page")

    assert (answer.status_code, answer.json()["code"]) == (403, "token_makes_lead")
