"""Single sign-on with passwords switched off for all but one operator."""

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.actions.people import ResetRefused, create_reset_link
from apps.accounts.models import User
from apps.accounts.selectors import roles_of
from tests.accounts.sso import BREAK_GLASS, link, linked_invitation, refusal_of
from tests.factories import AT, PASSWORD, make_user

pytestmark = pytest.mark.django_db


def post_password(email: str) -> int:
    return Client().post(reverse("accounts:login"), {"email": email, "password": PASSWORD}).status_code


def test_passwords_can_be_for_one_operator_only(provider, allow):
    person, operator, glass = make_user("Mara"), make_user("Op", is_operator=True), make_user("Ops", is_operator=True)
    assert [post_password(user.email) for user in (person, operator, glass)] == [302, 302, 302]

    allow(passwords_only_for=glass.email)
    assert [post_password(user.email) for user in (person, operator, glass)] == [200, 200, 302]

    allow(passwords_only_for=person.email)
    assert post_password(person.email) == 200, "who is named has to be an operator"


def test_without_passwords_nobody_is_told_to_use_one(provider, browser, allow):
    allow(passwords_only_for=BREAK_GLASS)
    provider.person["email"] = make_user("Mara").email

    response = browser.sign_in()

    assert refusal_of(response) == "not_linked"
    assert b"Ask an operator of Karat" in response.content


def test_without_passwords_no_link_sets_one(provider, allow):
    allow(passwords_only_for=BREAK_GLASS)
    operator, person = make_user("Op", is_operator=True), make_user("Mara")

    with pytest.raises(ResetRefused, match="Passwords are switched off here"):
        create_reset_link(user_id=person.pk, actor=operator, at=AT)


def test_without_passwords_nobody_joins_with_one(provider, allow):
    _, token = linked_invitation("")
    allow(passwords_only_for=BREAK_GLASS)
    url = reverse("accounts:join", kwargs={"token": token})

    sent = {"email": "new@example.org", "name": "New", "password": PASSWORD}
    response = Client().post(url, sent)

    assert response.status_code == 200
    assert not User.objects.filter(email="new@example.org").exists()
    assert b'name="password"' not in response.content


def test_without_passwords_a_linked_person_still_joins_by_a_link(provider, allow, browser):
    user = link(make_user("Mara"), provider)
    project, token = linked_invitation("")
    allow(passwords_only_for=BREAK_GLASS)
    url = reverse("accounts:join", kwargs={"token": token})

    assert browser.sign_in(url).headers["Location"] == url
    browser.client.post(url)

    assert roles_of(user, project) == {"viewer"}
