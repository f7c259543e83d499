"""Who is let in by single sign-on, as whom, and with which roles."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import time

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from joserfc.jwk import ECKey

from apps.accounts.actions.identities import link_identity, sign_in_by_identity
from apps.accounts.actions.invitations import create_setup_link, invite
from apps.accounts.actions.passwords import ResetRefused, create_reset_link
from apps.accounts.actions.people import deactivate_user
from apps.accounts.actions.projects import archive_project, set_roles
from apps.accounts.core.oidc.claims import Claims
from apps.accounts.core.oidc.configuration import GroupRole
from apps.accounts.enums import Role
from apps.accounts.models import Identity, Invitation, LoginAttempt, Project, UsedState, User
from apps.accounts.selectors import roles_of
from apps.audit.models import Event
from tests.accounts.provider import CLIENT_ID, LEAVE_OUT, PERSON, FakeProvider, key
from tests.accounts.sso import BREAK_GLASS, Browser, refusal_of
from tests.factories import AT, PASSWORD, lead_of, make_member, make_project, make_user
from tests.races import overlapping

pytestmark = pytest.mark.django_db


@pytest.fixture
def allow(settings, provider):
    """Change the settings of single sign-on."""

    def change(**options) -> None:
        settings.SINGLE_SIGN_ON = replace(settings.SINGLE_SIGN_ON, **options)

    return change


def link(user: User, provider) -> User:
    Identity.objects.create(user=user, issuer=provider.issuer, subject=PERSON["sub"], linked_at=AT)
    return user


def invite_mara(**changed):
    project = make_project()
    options = {"roles": [Role.ANNOTATOR], "email": PERSON["email"], "at": timezone.now()} | changed
    return invite(project=project, actor=lead_of(project), **options)[0]


def signed_in(client: Client, user: User) -> Client:
    client.force_login(user)
    return client


# Who is let in


def test_a_linked_person_signs_in_and_lands_where_they_wanted_to(provider, browser):
    user = link(make_user("Mara"), provider)

    response = browser.sign_in("/profile/?tab=1")

    assert (response.status_code, response.headers["Location"]) == (302, "/profile/?tab=1")
    assert browser.user == user
    assert LoginAttempt.objects.count() == 0


def test_the_address_of_a_linked_person_does_not_matter(provider, browser):
    user = link(make_user("Mara"), provider)
    provider.person |= {"email": "another@example.org", "email_verified": False}

    browser.sign_in()

    assert browser.user == user


def test_who_was_invited_gets_an_account_without_a_password_and_the_roles_of_the_invitation(provider, browser):
    invitation = invite_mara()

    browser.sign_in()

    user = browser.user
    assert (user.email, user.name) == (PERSON["email"], PERSON["name"])
    assert not user.has_usable_password()
    assert not user.is_operator
    assert roles_of(user, invitation.project) == {Role.ANNOTATOR}
    invitation.refresh_from_db()
    assert invitation.used_by == user
    actions = set(Event.objects.filter(actor=user).values_list("action", flat=True))
    assert actions >= {"user.created", "identity.linked", "invitation.used"}


def test_every_open_invitation_to_the_address_is_used(provider, browser):
    projects = [invite_mara(email=PERSON["email"].upper()).project for _ in range(2)]

    browser.sign_in()

    assert [roles_of(browser.user, project) for project in projects] == [{Role.ANNOTATOR}] * 2


def test_an_invitation_without_an_address_or_one_that_has_ended_invites_nobody(provider, browser):
    invite_mara(email="")
    invite_mara(at=AT)
    Invitation.objects.filter(pk=invite_mara().pk).update(revoked_at=AT)

    assert refusal_of(browser.sign_in()) == "not_invited"


def test_a_set_up_link_makes_nobody_an_operator_by_single_sign_on(provider, browser):
    create_setup_link(at=AT)

    assert refusal_of(browser.sign_in()) == "not_invited"


def test_a_trusted_domain_alone_makes_no_account(provider, browser, allow):
    allow(domains=frozenset({"example.org"}))

    assert refusal_of(browser.sign_in()) == "not_invited"


def test_accounts_are_made_for_trusted_domains_where_the_operator_wants_it(provider, browser, allow):
    allow(domains=frozenset({"example.org"}), creates_accounts=True)

    browser.sign_in()

    assert browser.user.email == PERSON["email"]
    assert not browser.user.memberships.exists()


@pytest.mark.parametrize("email", ["mara@other.example", "mara@sub.example.org", "mara@example.org.evil.example"])
def test_accounts_are_made_for_no_other_domain(email, provider, browser, allow):
    allow(domains=frozenset({"example.org"}), creates_accounts=True)
    provider.person["email"] = email

    assert refusal_of(browser.sign_in()) == "not_invited"


# Providers differ


def with_an_elliptic_curve(provider) -> None:
    provider.algorithm, provider.key = "ES256", ECKey.generate_key("P-256", {"kid": "curve"})
    provider.published = [provider.key]


HONEST: dict[str, Callable[[FakeProvider], object]] = {
    "signs with an elliptic curve": with_an_elliptic_curve,
    "signs with another padding": lambda provider: setattr(provider, "algorithm", "PS256"),
    "has one key and does not name it": lambda provider: setattr(provider, "names_its_key", False),
    "has keys that nobody here knows": lambda provider: setattr(
        provider, "jwks", {"keys": [{"kty": "AKP", "kid": "new"}, "?", key(0).as_dict(private=False)]}
    ),
    "names us as one of a list": lambda provider: provider.claims.update(aud=[CLIENT_ID], azp=CLIENT_ID),
    "names others beside us": lambda provider: provider.claims.update(aud=[CLIENT_ID, "api"], azp=CLIENT_ID),
    "has a clock that is a little ahead": lambda provider: provider.claims.update(iat=int(time()) + 30),
    "wants the secret in the form": lambda provider: provider.metadata.update(
        token_endpoint_auth_methods_supported=["client_secret_post"]
    ),
    "says nothing of challenges and algorithms": lambda provider: provider.metadata.update(
        code_challenge_methods_supported=LEAVE_OUT, id_token_signing_alg_values_supported=LEAVE_OUT
    ),
    "does not say in its answer who it is": lambda provider: provider.metadata.update(
        authorization_response_iss_parameter_supported=LEAVE_OUT
    ),
    "has a query in its address": lambda provider: provider.metadata.update(
        authorization_endpoint=f"{provider.issuer}/authorize?realm=1"
    ),
}


@pytest.mark.parametrize("how", HONEST)
def test_people_sign_in_by_a_provider_that(how, provider, browser):
    user = link(make_user("Mara"), provider)
    HONEST[how](provider)
    browser.leave()
    if "does not say" in how:
        del browser.answer["iss"]

    browser.come_back()

    assert browser.user == user


# Joining by a link, where the provider does not say whether it has verified an address


@pytest.fixture
def unverified(provider):
    provider.person["email_verified"] = LEAVE_OUT


def linked_invitation(email: str = PERSON["email"], at=None) -> tuple[Project, str]:
    project = make_project()
    lead = lead_of(project)
    _, token = invite(project=project, actor=lead, roles=["viewer"], email=email, at=at or timezone.now())
    return project, token


def test_the_page_of_an_invitation_leads_to_the_provider_with_it(provider):
    _, token = linked_invitation()

    page = Client().get(reverse("accounts:join", kwargs={"token": token})).content.decode()

    assert f'href="/sso/?join={token}"' in page


@pytest.mark.usefixtures("unverified")
def test_the_link_and_the_address_that_it_was_made_for_let_somebody_in(browser, allow):
    allow(passwords_only_for=BREAK_GLASS)
    project, token = linked_invitation()

    browser.sign_in(join=token)

    assert browser.user.email == PERSON["email"]
    assert roles_of(browser.user, project) == {"viewer"}
    assert refusal_of(Browser(browser.provider).sign_in(join=token)) == ""  # known now, and the link is not needed


@pytest.mark.usefixtures("unverified")
def test_one_of_both_is_not_enough(browser):
    """Else a lead could invite an address of their own, and lead somebody else into that account."""
    _, others = linked_invitation("attacker@example.org")
    _, without = linked_invitation("")
    _, old = linked_invitation(at=AT)

    for token in (others, without, old, "guessed", ""):
        assert refusal_of(browser.sign_in(join=token)) == "unverified"
    assert not Identity.objects.exists()


@pytest.mark.usefixtures("unverified")
def test_nobody_without_an_address_joins_by_a_link_without_one(browser, provider):
    provider.person["email"] = LEAVE_OUT
    _, token = linked_invitation("")

    assert refusal_of(browser.sign_in(join=token)) == "unverified"


@pytest.mark.usefixtures("unverified")
def test_a_set_up_link_with_the_address_makes_no_operator(browser):
    token = create_setup_link(at=timezone.now())
    Invitation.objects.update(email=PERSON["email"])

    assert refusal_of(browser.sign_in(join=token)) == "unverified"


@pytest.mark.usefixtures("unverified")
def test_a_link_never_opens_an_account_that_exists(browser, provider, allow):
    allow(domains=frozenset({"example.org"}), links_by_email=True)
    user = make_user("Mara")
    provider.person["email"] = user.email
    _, token = linked_invitation(user.email)

    assert refusal_of(browser.sign_in(join=token)) == "not_linked"
    assert not user.identities.exists()


# Linking


def test_an_account_is_linked_after_its_password(provider):
    user = make_user("Mara")
    browser = Browser(provider, signed_in(Client(), user))

    left = browser.leave_to_link(PASSWORD)
    response = browser.come_back()

    assert b"On to Acme" in left.content
    assert response.headers["Location"] == reverse("accounts:profile")
    assert user.identities.get().subject == PERSON["sub"]
    again = Browser(provider)
    again.sign_in()
    assert again.user == user


def test_an_operator_can_link_the_own_account(provider):
    operator = make_user("Ops", is_operator=True)
    browser = Browser(provider, signed_in(Client(), operator))

    browser.leave_to_link(PASSWORD)
    browser.come_back()

    assert operator.identities.count() == 1


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
    hostile = {
        "links": other.pk,
        "user": other.pk,
        "issuer": "https://login.evil.example",
        "subject": "s",
        "next": "//x",
    }
    response = browser.client.post(reverse("accounts:link"), {"current": PASSWORD, **hostile})
    browser.answer = provider.answer(response.context["url"])

    browser.come_back()

    identity = Identity.objects.get()
    assert (identity.user, identity.issuer, identity.subject) == (user, provider.issuer, PERSON["sub"])


def test_an_identity_is_linked_with_one_account(provider):
    link(make_user("Mara"), provider)
    other = make_user("Tobias")
    browser = Browser(provider, signed_in(Client(), other))
    browser.leave_to_link(PASSWORD)

    assert refusal_of(browser.come_back()) == "linked_elsewhere"
    assert not other.identities.exists()


def test_an_account_is_linked_with_one_identity_of_an_issuer(provider):
    user = link(make_user("Mara"), provider)
    provider.person["sub"] = "subject-2"
    browser = Browser(provider, signed_in(Client(), user))
    browser.leave_to_link(PASSWORD)

    assert refusal_of(browser.come_back()) == "linked"


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


# Groups


TABLE = (
    GroupRole("readers", "hut", "viewer"),
    GroupRole("graders", "hut", "annotator"),
    GroupRole("bosses", "hut", "lead"),
)


@pytest.fixture
def hut(allow):
    allow(roles=TABLE)
    return make_project("Hut")


def test_groups_give_the_roles_of_the_table_and_each_is_recorded(provider, browser, hut):
    user = link(make_user("Mara"), provider)
    provider.person["groups"] = ["readers", "graders", "unheard of"]

    browser.sign_in()

    assert roles_of(user, hut) == {"viewer", "annotator"}
    changed = Event.objects.get(project=hut, action="membership.changed", actor=None)
    assert changed.after == {"roles": ["annotator", "viewer"]}


def test_leaving_a_group_ends_its_role_and_no_other(provider, browser, hut):
    user = link(make_user("Mara"), provider)
    set_roles(project=hut, user=user, roles=["viewer", "reviewer"], actor=lead_of(hut), at=AT)
    provider.person["groups"] = []

    browser.sign_in()

    assert roles_of(user, hut) == {"reviewer"}


def test_no_groups_in_the_token_are_none(provider, browser, hut):
    user = link(make_member(hut, "viewer"), provider)

    browser.sign_in()

    assert roles_of(user, hut) == frozenset()


def test_the_last_lead_stays_lead(provider, browser, hut):
    lead = link(lead_of(hut), provider)

    browser.sign_in()

    assert roles_of(lead, hut) == {"lead"}


def test_an_archived_project_and_one_that_is_not_there_change_nothing(provider, browser, hut, allow):
    allow(roles=(*TABLE, GroupRole("readers", "nowhere", "viewer")))
    user = link(make_user("Mara"), provider)
    archive_project(project_id=hut.pk, actor=lead_of(hut), at=AT)
    provider.person["groups"] = ["readers"]

    browser.sign_in()

    assert browser.user == user
    assert roles_of(user, hut) == frozenset()


def test_nobody_loses_roles_because_the_provider_left_the_groups_out(provider, browser, hut):
    user = link(make_member(hut, "viewer"), provider)
    provider.claims["_claim_names"] = {"groups": "src1"}

    assert refusal_of(browser.sign_in()) == "too_many_groups"
    assert roles_of(user, hut) == {"viewer"}


def test_a_single_group_may_be_a_word_under_a_name_of_the_operators(provider, browser, hut, allow):
    allow(roles=TABLE, groups_claim="roles")
    user = link(make_user("Mara"), provider)
    provider.person["roles"] = "readers"

    browser.sign_in()

    assert roles_of(user, hut) == {"viewer"}


# Signing out


def test_signing_out_leads_to_the_provider_with_the_token(provider, browser):
    link(make_user("Mara"), provider)
    browser.sign_in()

    response = browser.client.post(reverse("accounts:logout"))

    url = response.context["url"]
    assert url.startswith(f"{provider.issuer}/logout?")
    assert "id_token_hint=ey" in url
    assert "post_logout_redirect_uri=http%3A%2F%2Ftestserver%2Flogin%2F" in url
    assert browser.user is None


def test_a_long_token_is_not_kept_and_the_client_is_named_instead(provider, browser):
    link(make_user("Mara"), provider)
    provider.person["groups"] = ["g" * 6_000]
    browser.sign_in()

    url = browser.client.post(reverse("accounts:logout")).context["url"]

    assert "client_id=karat-client" in url
    assert "id_token_hint" not in url


@pytest.mark.parametrize("how", ["no page for it", "password"])
def test_signing_out_ends_here_otherwise(how, provider):
    if how == "password":
        browser = Browser(provider, signed_in(Client(), make_user("Mara")))
    else:
        link(make_user("Mara"), provider)
        provider.metadata["end_session_endpoint"] = None
        browser = Browser(provider)
        browser.sign_in()

    response = browser.client.post(reverse("accounts:logout"))

    assert (response.status_code, response.headers["Location"]) == (302, reverse("accounts:login"))


# Passwords switched off


def post_password(email: str) -> int:
    return Client().post(reverse("accounts:login"), {"email": email, "password": PASSWORD}).status_code


def test_passwords_can_be_for_one_operator_only(provider, allow):
    person, operator, glass = make_user("Mara"), make_user("Op", is_operator=True), make_user("Ops", is_operator=True)
    assert [post_password(user.email) for user in (person, operator, glass)] == [302, 302, 302]

    allow(passwords_only_for=glass.email)

    assert [post_password(user.email) for user in (person, operator, glass)] == [200, 200, 302]


def test_without_passwords_nobody_is_told_to_use_one(provider, browser, allow):
    allow(passwords_only_for=BREAK_GLASS)
    provider.person["email"] = make_user("Mara").email

    response = browser.sign_in()

    assert refusal_of(response) == "not_linked"
    assert b"Ask an operator of Karat" in response.content


def test_the_one_who_may_has_to_be_an_operator(provider, allow):
    person = make_user("Mara")
    allow(passwords_only_for=person.email)

    assert post_password(person.email) == 200


def test_without_passwords_no_link_sets_one(provider, allow):
    allow(passwords_only_for=BREAK_GLASS)
    operator, person = make_user("Op", is_operator=True), make_user("Mara")

    with pytest.raises(ResetRefused, match="Passwords are switched off here"):
        create_reset_link(user_id=person.pk, actor=operator, at=AT)


def test_without_passwords_nobody_joins_with_one(provider, allow):
    project = make_project()
    _, token = invite(project=project, actor=lead_of(project), roles=["viewer"], at=timezone.now())
    allow(passwords_only_for=BREAK_GLASS)
    url = reverse("accounts:join", kwargs={"token": token})

    sent = {"email": "new@example.org", "name": "New", "password": PASSWORD}
    response = Client().post(url, sent)

    assert response.status_code == 200
    assert not User.objects.filter(email="new@example.org").exists()
    assert b'name="password"' not in response.content


def test_without_passwords_a_linked_person_still_joins_by_a_link(provider, allow, browser):
    user = link(make_user("Mara"), provider)
    project = make_project()
    _, token = invite(project=project, actor=lead_of(project), roles=["viewer"], at=timezone.now())
    allow(passwords_only_for=BREAK_GLASS)
    url = reverse("accounts:join", kwargs={"token": token})

    assert browser.sign_in(url).headers["Location"] == url
    browser.client.post(url)

    assert roles_of(user, project) == {"viewer"}


# Pages


def test_without_settings_nothing_is_shown_and_nothing_is_there():
    client = signed_in(Client(), make_user("Mara"))

    assert b"/sso/" not in Client().get(reverse("accounts:login")).content
    assert b"single sign-on" not in client.get(reverse("accounts:profile")).content
    for name in ("sso", "sso-return"):
        assert client.get(reverse(f"accounts:{name}")).status_code == 404
    for name in ("link", "unlink"):
        assert client.post(reverse(f"accounts:{name}")).status_code == 404


def test_the_sign_in_page_offers_the_provider_and_remembers_where_to_go(provider):
    page = Client().get(reverse("accounts:login"), {"next": "/profile/?a=1&b=2"}).content.decode()

    assert "Sign in with Acme" in page
    assert 'href="/sso/?next=%2Fprofile%2F%3Fa%3D1%26b%3D2"' in page
    assert "Forgotten your password?" in page


def test_where_passwords_are_switched_off_the_form_is_folded(provider, allow):
    allow(passwords_only_for=BREAK_GLASS)

    page = Client().get(reverse("accounts:login")).content.decode()

    assert "Password, for the operator in an emergency" in page
    assert '<details class="form-details">' in page
    assert "Forgotten your password?" not in page


def test_what_leaves_is_bound_to_the_browser_and_hides_the_verifier(provider, browser):
    response = browser.leave()

    cookie = browser.client.cookies["karat-flow"]
    assert (cookie["httponly"], cookie["samesite"], cookie["max-age"]) == (True, "Lax", 600)
    assert "code_challenge_method=S256" in response.headers["Location"]
    assert "verifier" not in response.headers["Location"]
    assert "scope=openid+email" in response.headers["Location"]


def test_the_cookie_is_gone_after_the_return(provider, browser):
    link(make_user("Mara"), provider)

    response = browser.sign_in()

    assert response.cookies["karat-flow"].value == ""


def test_a_provider_that_is_away_is_said_in_words_and_counts_as_no_attempt(provider, browser):
    provider.token_status = 503

    response = browser.sign_in()

    assert response.status_code == 502
    assert b"Acme did not answer as expected. Try again in a minute" in response.content
    assert LoginAttempt.objects.count() == 0


def test_used_states_are_forgotten_after_a_day(provider, browser):
    UsedState.objects.create(state_digest="0" * 64, at=AT)
    link(make_user("Mara"), provider)

    browser.sign_in()

    assert UsedState.objects.count() == 1


def test_a_session_of_a_deactivated_person_ends(provider, browser):
    user = link(make_user("Mara"), provider)
    browser.sign_in()
    deactivate_user(user_id=user.pk, actor=None, at=AT)

    assert browser.client.get(reverse("accounts:profile")).status_code == 302


def test_the_secret_of_the_client_is_in_no_text_of_the_settings(provider, settings):
    assert settings.SINGLE_SIGN_ON.client_secret not in repr(settings.SINGLE_SIGN_ON)


def claims_of_mara(provider) -> Claims:
    address = PERSON["email"]
    return Claims(provider.issuer, PERSON["sub"], email=address, address=address, name=PERSON["name"])


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("reason", ["invited", "link", "domain"])
def test_two_first_sign_ins_at_once_make_one_account(reason, provider, settings, allow):
    claims, token = claims_of_mara(provider), ""
    if reason == "domain":
        allow(domains=frozenset({"example.org"}), creates_accounts=True)
    else:
        _, token = linked_invitation()
    if reason == "link":
        claims = replace(claims, email="")
    known = {"claims": claims, "configuration": settings.SINGLE_SIGN_ON, "invitation": token}

    def sign_in() -> User:
        return sign_in_by_identity(**known, at=timezone.now())

    first, second = overlapping(sign_in, sign_in)

    assert second.code == "twice"
    assert Identity.objects.get().user == first == User.objects.get(email=PERSON["email"])
    assert sign_in() == first


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_two_people_who_link_one_identity_at_once_do_not_share_it(provider):
    users, claims = (make_user("Mara"), make_user("Tobias")), claims_of_mara(provider)

    links = [partial(link_identity, user=user, claims=claims, at=AT) for user in users]
    linked, refused = overlapping(*links)

    assert linked.user == users[0]
    assert refused.code == "twice"
