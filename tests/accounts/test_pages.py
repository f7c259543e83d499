"""Pages for signing in, joining, the members of a project, tokens, the profile, and operators."""

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.actions import invitations
from apps.accounts.actions.people import change_profile
from apps.accounts.enums import Role
from apps.accounts.models import ApiToken, Invitation, Project, User
from apps.accounts.selectors import roles_of
from apps.audit.models import Event
from apps.common.web.tokens import new_link_token
from tests.factories import PASSWORD, lead_of, make_member, make_project, make_user

pytestmark = pytest.mark.django_db
NEW = {"name": "Ada New", "email": "ada@example.org", "password": "plum orchard tin whistle"}


@pytest.fixture
def project(client):
    """A project whose lead is signed in."""
    project = make_project()
    client.force_login(lead_of(project))
    return project


def people_url(project, name="people", **kwargs):
    return reverse(f"people:{name}", kwargs={"slug": project.slug, **kwargs})


def secret_on(response):
    return re.search(r"<code[^>]*>([^<]+)</code>", response.content.decode()).group(1)


def invite(project, **kwargs):
    options = {"roles": [Role.ANNOTATOR], "at": timezone.now(), **kwargs}
    return invitations.invite(project=project, actor=lead_of(project), **options)


class TestLogin:
    def test_right_words_lead_to_the_page_that_was_wanted(self, client):
        project = make_project()
        wanted = reverse("dashboard:home", kwargs={"slug": project.slug})
        assert client.get(wanted).url == f"/login/?next={wanted}"

        response = client.post(f"/login/?next={wanted}", {"email": lead_of(project).email, "password": PASSWORD})

        assert (response.status_code, response.url) == (302, wanted)

    def test_wrong_credentials_are_reported_on_the_page(self, client):
        response = client.post("/login/", {"email": "nobody@example.org", "password": "x"})

        assert "Wrong e-mail address or password" in response.content.decode()
        assert "_auth_user_id" not in client.session

    def test_logout_is_a_post_and_ends_the_session(self, client):
        client.force_login(make_user())
        key = client.session.session_key

        assert client.get("/logout/").status_code == 405
        client.post("/logout/")

        assert not client.session.exists(key)


class TestSetUp:
    def test_the_link_makes_the_operator_and_the_first_project_once(self, client):
        token = invitations.create_setup_link(at=timezone.now())

        response = client.post(f"/setup/{token}/", {**NEW, "project_name": "Handbook"})

        assert response.status_code == 302
        assert User.objects.get().is_operator
        assert roles_of(User.objects.get(), Project.objects.get(slug="handbook")) == {Role.LEAD}
        assert client.get("/").url == reverse("dashboard:home", kwargs={"slug": "handbook"})
        assert client.get(f"/setup/{token}/").status_code == 404

    @pytest.mark.parametrize(
        ("password", "words"),
        [
            ("password", 'class="error"'),
            ("mara@example", "The password is too similar to the e-mail address."),
            ("gravel orange lamp", ""),  # shares letters with the address, and no word
        ],
    )
    def test_weak_passwords_are_refused_in_words_and_passphrases_are_accepted(self, client, password, words):
        token = invitations.create_setup_link(at=timezone.now())

        response = client.post(f"/setup/{token}/", {**NEW, "email": "mara@example.org", "password": password})

        assert words in response.content.decode()
        assert User.objects.exists() == (not words)

    def test_an_invitation_is_not_a_set_up_link(self, client):
        _, token = invite(make_project(), roles=["lead"])

        assert client.get(f"/setup/{token}/").status_code == 404


class TestJoin:
    def test_a_new_person_joins_once_and_a_used_link_is_answered_as_an_unknown_one(self, client):
        project = make_project()
        _, token = invite(project)

        response = client.post(f"/join/{token}/", NEW)

        assert response.url == reverse("dashboard:home", kwargs={"slug": project.slug})
        assert roles_of(User.objects.get(email=NEW["email"]), project) == {Role.ANNOTATOR}
        client.post("/logout/")
        used, unknown = client.get(f"/join/{token}/"), client.get("/join/nonsense/")
        assert used.status_code == unknown.status_code == 404
        assert used.content == unknown.content

    def test_the_address_of_the_invitation_wins(self, client):
        _, token = invite(make_project(), email="asked@example.org")

        client.post(f"/join/{token}/", NEW)

        assert User.objects.filter(email="asked@example.org").exists()
        assert not User.objects.filter(email=NEW["email"]).exists()

    def test_a_signed_in_person_joins_as_themselves(self, client):
        project, user = make_project(), make_user()
        client.force_login(user)

        client.post(f"/join/{invite(project)[1]}/")

        assert roles_of(user, project) == {Role.ANNOTATOR}

    def test_a_taken_address_gets_a_message_to_sign_in(self, client):
        user = make_user()

        response = client.post(f"/join/{invite(make_project())[1]}/", {**NEW, "email": user.email})

        assert "has an account already" in response.content.decode()


class TestPeople:
    def test_a_lead_invites_and_sees_the_link_once(self, client, project):
        response = client.post(people_url(project, "invite"), {"roles": ["annotator", "reviewer"]})

        link = secret_on(response)
        assert link.startswith("http://testserver/join/")
        assert link not in client.get(people_url(project)).content.decode()
        assert Invitation.objects.get().roles == ["annotator", "reviewer"]

    def test_a_form_that_is_sent_twice_makes_one_invitation_and_with_other_words_another(self, client, project):
        key = client.get(people_url(project)).context["form"]["key"].value()
        form = {"roles": ["annotator"], "key": key}

        first, second = (secret_on(client.post(people_url(project, "invite"), form)) for _ in range(2))

        assert first == second
        assert Invitation.objects.count() == Event.objects.filter(action="invitation.created").count() == 1
        client.post(people_url(project, "invite"), form | {"roles": ["reviewer"]})
        assert Invitation.objects.count() == 2

    def test_a_form_whose_invitation_was_used_shows_no_dead_link(self, client, project):
        form = {"roles": ["annotator"], "key": "of-one-page"}
        link = secret_on(client.post(people_url(project, "invite"), form))
        Client().post(link.removeprefix("http://testserver"), NEW)

        again = client.post(people_url(project, "invite"), form)

        assert again.status_code == 409
        assert "This form was sent already" in again.content.decode()

    def test_the_key_of_a_form_does_not_reveal_its_link(self, settings):
        one = new_link_token("the key", "invitation", 1)
        settings.SECRET_KEY = "another"

        assert len({one, new_link_token("the key", "invitation", 1), new_link_token("the key", "token", 1)}) == 3

    def test_a_missing_role_is_reported_under_the_choices(self, client, project):
        response = client.post(people_url(project, "invite"), {"email": "x@example.org"})

        assert response.status_code == 400
        assert "Choose at least one role." in response.content.decode()

    def test_a_withdrawn_invitation_no_longer_opens(self, client, project):
        invitation, token = invite(project)

        client.post(people_url(project, "revoke-invitation", invitation_id=invitation.pk))

        assert Client().get(f"/join/{token}/").status_code == 404

    def test_a_lead_changes_roles_and_ends_memberships_but_the_last_lead_stays(self, client, project):
        member, lead = make_member(project, Role.ANNOTATOR), lead_of(project)

        client.post(people_url(project, "roles", user_id=member.pk), {"roles": ["reviewer", "viewer"]})
        assert roles_of(member, project) == {Role.REVIEWER, Role.VIEWER}
        client.post(people_url(project, "roles", user_id=member.pk), {})
        assert roles_of(member, project) == frozenset()

        refused = client.post(people_url(project, "roles", user_id=lead.pk), {"roles": ["viewer"]})
        assert refused.status_code == 409
        assert "needs at least one lead" in refused.content.decode()

    def test_members_see_names_but_no_addresses_and_no_invitation_form(self, client, project):
        client.force_login(make_member(project, Role.ANNOTATOR))

        page = client.get(people_url(project)).content.decode()

        assert lead_of(project).name in page
        assert lead_of(project).email not in page
        assert people_url(project, "invite") not in page
        assert "<form" not in page.partition("<main")[2].partition("</main>")[0]

    @pytest.mark.parametrize("members", [1, 3])
    def test_the_list_takes_the_same_queries_for_few_and_many(
        self, client, project, members, django_assert_num_queries
    ):
        for _ in range(members):
            make_member(project, Role.ANNOTATOR, Role.REVIEWER)
        client.get(people_url(project))

        with django_assert_num_queries(6):
            client.get(people_url(project))


class TestTokens:
    FORM = {"name": "pipeline", "scopes": ["runs:write", "versions:read"], "days": "30"}

    def test_a_token_is_shown_once_and_stored_as_a_digest(self, client, project):
        secret = secret_on(client.post(people_url(project, "tokens"), self.FORM))

        assert secret.startswith("karat_")
        assert secret not in client.get(people_url(project, "tokens")).content.decode()
        assert secret not in str(ApiToken.objects.values().get())

    def test_a_form_that_is_sent_twice_makes_one_token_and_none_once_that_is_revoked(self, client, project):
        key = client.get(people_url(project, "tokens")).context["form"]["key"].value()
        form = self.FORM | {"key": key}

        first, second = (secret_on(client.post(people_url(project, "tokens"), form)) for _ in "12")
        assert first == second
        assert ApiToken.objects.count() == Event.objects.filter(action="token.created").count() == 1

        client.post(people_url(project, "revoke-token", token_id=ApiToken.objects.get().pk))
        again = client.post(people_url(project, "tokens"), form)
        assert again.status_code == 409
        assert "its token was revoked or has expired" in again.content.decode()

    def test_people_see_and_revoke_their_own_tokens_only(self, client, project):
        client.post(people_url(project, "tokens"), self.FORM)
        token = ApiToken.objects.get()
        hers = Client()
        hers.force_login(make_member(project, Role.ANNOTATOR))

        assert "pipeline" not in hers.get(people_url(project, "tokens")).content.decode().split("<form")[0]
        assert hers.post(people_url(project, "revoke-token", token_id=token.pk)).status_code == 404

        client.post(people_url(project, "revoke-token", token_id=token.pk))
        token.refresh_from_db()
        assert token.revoked_at is not None

    @pytest.mark.parametrize("wrong", [{"scopes": ["everything"]}, {"scopes": []}, {"days": "4000"}, {"name": ""}])
    def test_wrong_forms_make_no_token(self, client, project, wrong):
        response = client.post(people_url(project, "tokens"), {**self.FORM, **wrong})

        assert response.status_code == 400
        assert not ApiToken.objects.exists()


class TestProfile:
    def test_name_and_zone_are_saved_and_nothing_that_is_not_on_the_form(self, client):
        user = make_user()
        email = user.email
        client.force_login(user)
        more = {"is_operator": "on", "email": "e@example.org", "is_active": ""}

        client.post("/profile/", {"name": "Mara Quill", "time_zone": "Pacific/Kiritimati", **more})

        user.refresh_from_db()
        assert (user.name, user.time_zone) == ("Mara Quill", "Pacific/Kiritimati")
        assert (user.email, user.is_operator, user.is_active) == (email, False, True)
        assert "Pacific/Kiritimati" in client.get("/profile/").content.decode()

    def test_a_new_password_needs_the_old_one_and_ends_other_sessions(self, client):
        user, other = make_user(), Client()
        client.force_login(user)
        other.force_login(user)
        new = "plum orchard tin whistle"

        assert client.post("/profile/password/", {"current": "no", "new": new}).status_code == 400
        client.post("/profile/password/", {"current": PASSWORD, "new": new})

        assert client.get("/profile/").status_code == 200
        assert other.get("/profile/").status_code == 302


class TestOperators:
    @pytest.fixture(autouse=True)
    def operator(self, client):
        operator = make_user(is_operator=True)
        client.force_login(operator)
        return operator

    def test_an_operator_makes_a_project_and_leads_it(self, client, operator):
        response = client.post("/projects/new/", {"name": "Handbook"})

        assert response.url == "/p/handbook/"
        assert roles_of(operator, Project.objects.get()) == {Role.LEAD}

    def test_deactivating_keeps_the_person_in_the_list(self, client):
        client.post(f"/people/{make_user('Sef Arden').pk}/deactivate/")

        page = client.get("/people/").content.decode()
        assert "Sef Arden" in page
        assert "deactivated" in page

    @pytest.mark.parametrize("people", [1, 3])
    def test_the_list_of_everybody_takes_three_queries(self, client, people, django_assert_num_queries):
        for _ in range(people):
            make_user()

        with django_assert_num_queries(3):
            client.get("/people/")


def test_names_are_shown_not_obeyed(client):
    project = make_project("<script>alert(1)</script>")
    member = make_member(project, Role.ANNOTATOR)
    change_profile(user=member, name='"><img src=x onerror=alert(1)>', time_zone="UTC", at=timezone.now())
    client.force_login(lead_of(project))

    page = client.get(people_url(project)).content.decode()

    assert "<script>alert" not in page
    assert "<img" not in page
