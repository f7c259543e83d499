"""Linking an account with an identity at the provider, unlinking it, and passwords for one operator only."""

from functools import partial

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from apps.accounts.actions.identities import link_identity
from apps.accounts.actions.people import ResetRefused, create_reset_link, deactivate_user
from apps.accounts.models import Identity, User
from apps.accounts.selectors import roles_of
from tests.accounts.provider import PERSON
from tests.accounts.sso import BREAK_GLASS, Browser, claims_of_mara, link, linked_invitation, refusal_of, signed_in
from tests.factories import AT, PASSWORD, make_user
from tests.races import overlapping

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("is_operator", [False, True])
def test_an_account_is_linked_after_its_password(provider, is_operator):
    user = make_user("Mara", is_operator=is_operator)
    browser = Browser(provider, signed_in(Client(), user))

    left = browser.leave_to_link(PASSWORD)
    response = browser.come_back()

    assert b"On to Acme" in left.content
    assert response.headers["Location"] == reverse("accounts:profile")
    assert user.identities.get().subject == PERSON["sub"]
    again = Browser(provider)
    again.sign_in()
    assert again.user == user


def test_nothing_is_linked_with_a_wrong_password(provider):
    browser = Browser(provider, signed_in(Client(), make_user("Mara")))

    response = browser.leave_to_link("wrong")

    assert response.status_code == 400
    assert b"This is not your current password." in response.content
    assert browser.location == ""


def test_nothing_is_linked_when_another_person_has_signed_in_meanwhile(provider):
    user, other = make_user("Mara"), make_user("Tobias")
    browser = Browser(provider, signed_in(Client(), user))
    browser.leave_to_link(PASSWORD)
    browser.client.force_login(other)

    response = browser.come_back()

    assert refusal_of(response) == "other_person"
    assert not Identity.objects.exists()


def test_a_form_cannot_say_whose_account_is_linked_or_with_what(provider):
    user, other = make_user("Mara"), make_user("Tobias")
    browser = Browser(provider, signed_in(Client(), user))
    hostile = {"links": other.pk, "user": other.pk, "issuer": "https://evil.example", "subject": "s", "next": "//x"}
    response = browser.client.post(reverse("accounts:link"), {"current": PASSWORD, **hostile})
    browser.answer = provider.answer(response.context["url"])

    browser.come_back()

    identity = Identity.objects.get()
    assert (identity.user, identity.issuer, identity.subject) == (user, provider.issuer, PERSON["sub"])


@pytest.mark.parametrize(
    ("who", "subject", "code"), [("Tobias", PERSON["sub"], "linked_elsewhere"), ("Mara", "subject-2", "linked")]
)
def test_an_identity_has_one_account_and_an_account_one_identity_of_an_issuer(provider, who, subject, code):
    people = {"Mara": link(make_user("Mara"), provider), "Tobias": make_user("Tobias")}
    provider.person["sub"] = subject
    browser = Browser(provider, signed_in(Client(), people[who]))
    browser.leave_to_link(PASSWORD)

    assert refusal_of(browser.come_back()) == code
    assert Identity.objects.get().user == people["Mara"]


def test_the_database_holds_one_account_for_an_identity_and_one_identity_for_an_account(provider):
    user = link(make_user("Mara"), provider)

    for other, subject in ((make_user(), PERSON["sub"]), (user, "subject-2"), (make_user(), "")):
        with pytest.raises(IntegrityError), transaction.atomic():
            Identity.objects.create(user=other, issuer=provider.issuer, subject=subject, linked_at=AT)


def test_accounts_of_trusted_domains_are_linked_by_address_where_the_operator_wants_it(provider, browser, allow):
    allow(domains=frozenset({"example.org"}), links_by_email=True)
    user = make_user("Mara")
    provider.person["email"] = user.email.upper()

    browser.sign_in()

    assert browser.user == user


def test_even_then_an_operator_a_foreign_domain_and_a_closed_account_are_not(provider, allow):
    allow(domains=frozenset({"example.org"}), links_by_email=True)
    closed, foreign = make_user("Closed"), make_user("Foreign")
    deactivate_user(user_id=closed.pk, actor=None, at=AT)
    User.objects.filter(pk=foreign.pk).update(email="foreign@other.example")
    emails = [closed.email, "foreign@other.example", make_user("Ops", is_operator=True).email]

    for email in emails:
        provider.person["email"] = email
        assert refusal_of(Browser(provider).sign_in()) == "not_linked"
    assert not Identity.objects.exists()


def test_a_person_unlinks_their_account_unless_it_is_their_only_way_in(provider):
    user = link(make_user("Mara"), provider)
    client = signed_in(Client(), user)

    assert client.post(reverse("accounts:unlink")).status_code == 302
    assert not user.identities.exists()

    link(user, provider)
    user.set_unusable_password()
    user.save()
    client.force_login(user)
    assert client.post(reverse("accounts:unlink")).status_code == 409
    assert user.identities.count() == 1


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_two_people_who_link_one_identity_at_once_do_not_share_it(provider):
    users, claims = (make_user("Mara"), make_user("Tobias")), claims_of_mara(provider)

    links = [partial(link_identity, user=user, claims=claims, at=AT) for user in users]
    linked, refused = overlapping(*links)

    assert linked.user == users[0]
    assert refused.code == "twice"


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
