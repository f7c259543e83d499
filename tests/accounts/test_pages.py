import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.actions import invitations
from apps.accounts.actions.people import change_profile, deactivate_user
from apps.accounts.enums import Role
from apps.accounts.models import ApiToken, Invitation, Membership, Project, User
from apps.accounts.selectors import roles_of
from apps.audit.models import Event
from apps.common.web.tokens import new_link_token
from tests.factories import PASSWORD, lead_of, make_member, make_project, make_user

pytestmark = pytest.mark.django_db
NEW = {"name": "Ada New", "email": "ada@example.org", "password": "plum orchard tin whistle"}


def people_url(project, name="people", **kwargs):
    return reverse(f"people:{name}", kwargs={"slug": project.slug, **kwargs})


def secret_on(response):
    return re.search(r"<code[^>]*>([^<]+)</code>", response.content.decode()).group(1)


class TestLogin:
    def test_right_words_lead_to_the_page_that_was_wanted(self, client):
        project = make_project()
        wanted = reverse("dashboard:home", kwargs={"slug": project.slug})

        response = client.post(f"/login/?next={wanted}", {"email": lead_of(project).email, "password": PASSWORD})

        assert response.status_code == 302
        assert response.url == wanted

    @pytest.mark.parametrize("next_", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
    def test_never_to_another_site(self, client, next_):
        user = make_user()

        response = client.post("/login/", {"email": user.email, "password": PASSWORD, "next": next_})

        assert response.url == reverse("dashboard:start")

    def test_wrong_credentials_are_reported_on_the_page(self, client):
        response = client.post("/login/", {"email": "nobody@example.org", "password": "x"})

        assert "Wrong e-mail address or password" in response.content.decode()
        assert "_auth_user_id" not in client.session

    def test_twenty_tries_are_too_many(self, client):
        user = make_user()
        for _ in range(20):
            client.post("/login/", {"email": user.email, "password": "wrong"})

        response = client.post("/login/", {"email": user.email, "password": PASSWORD})

        assert "Too many attempts" in response.content.decode()

    def test_pages_send_strangers_to_the_login_page(self, client):
        assert client.get("/").url == "/login/?next=/"

    def test_logout_is_a_post_and_ends_the_session(self, client):
        client.force_login(make_user())
        key = client.session.session_key

        assert client.get("/logout/").status_code == 405
        client.post("/logout/")

        assert not client.session.exists(key)

    def test_deactivated_people_are_out_at_once(self, client):
        user = make_user()
        client.force_login(user)
        deactivate_user(user_id=user.pk, actor=make_user(is_operator=True), at=timezone.now())

        assert client.get("/").status_code == 302


class TestSetUp:
    def test_the_link_makes_the_operator_and_the_first_project(self, client):
        token = invitations.create_setup_link(at=timezone.now())

        response = client.post(f"/setup/{token}/", {**NEW, "project_name": "Handbook"})

        assert response.status_code == 302
        assert User.objects.get().is_operator
        assert roles_of(User.objects.get(), Project.objects.get(slug="handbook")) == {Role.LEAD}
        assert client.get("/").url == reverse("dashboard:home", kwargs={"slug": "handbook"})

    def test_it_works_once(self, client):
        token = invitations.create_setup_link(at=timezone.now())
        client.post(f"/setup/{token}/", NEW)

        assert client.get(f"/setup/{token}/").status_code == 404

    def test_weak_passwords_are_refused_in_words(self, client):
        token = invitations.create_setup_link(at=timezone.now())

        response = client.post(f"/setup/{token}/", {**NEW, "password": "password"})

        assert response.status_code == 200
        assert 'class="error"' in response.content.decode()
        assert not User.objects.exists()

    def test_a_password_that_repeats_the_address_is_refused(self, client):
        token = invitations.create_setup_link(at=timezone.now())

        response = client.post(f"/setup/{token}/", {**NEW, "email": "mara@example.org", "password": "mara@example"})

        assert "The password is too similar to the e-mail address." in response.content.decode()

    def test_a_passphrase_that_only_shares_letters_with_the_address_is_accepted(self, client):
        token = invitations.create_setup_link(at=timezone.now())

        client.post(f"/setup/{token}/", {**NEW, "email": "mara@example.org", "password": "gravel orange lamp"})

        assert User.objects.filter(email="mara@example.org").exists()

    def test_an_invitation_is_not_a_set_up_link(self, client):
        project = make_project()
        _, token = invitations.invite(project=project, actor=lead_of(project), roles=["lead"], at=timezone.now())

        assert client.get(f"/setup/{token}/").status_code == 404


class TestJoin:
    def invite(self, project, **kwargs):
        return invitations.invite(
            project=project, actor=lead_of(project), roles=[Role.ANNOTATOR], at=timezone.now(), **kwargs
        )[1]

    def test_a_new_person_joins_with_name_and_password(self, client):
        project = make_project()

        response = client.post(f"/join/{self.invite(project)}/", NEW)

        assert response.url == reverse("dashboard:home", kwargs={"slug": project.slug})
        assert roles_of(User.objects.get(email=NEW["email"]), project) == {Role.ANNOTATOR}

    def test_the_address_of_the_invitation_wins(self, client):
        token = self.invite(make_project(), email="asked@example.org")

        client.post(f"/join/{token}/", NEW)

        assert User.objects.filter(email="asked@example.org").exists()
        assert not User.objects.filter(email=NEW["email"]).exists()

    def test_a_signed_in_person_joins_as_themselves(self, client):
        project, user = make_project(), make_user()
        client.force_login(user)

        client.post(f"/join/{self.invite(project)}/")

        assert roles_of(user, project) == {Role.ANNOTATOR}

    def test_a_taken_address_gets_a_message_to_sign_in(self, client):
        user = make_user()

        response = client.post(f"/join/{self.invite(make_project())}/", {**NEW, "email": user.email})

        assert "has an account already" in response.content.decode()

    def test_used_and_unknown_links_give_one_answer(self, client):
        token = self.invite(make_project())
        client.post(f"/join/{token}/", NEW)
        client.post("/logout/")

        used, unknown = client.get(f"/join/{token}/"), client.get("/join/nonsense/")

        assert used.status_code == unknown.status_code == 404
        assert used.content == unknown.content


class TestPeople:
    def test_a_lead_invites_and_sees_the_link_once(self, client):
        project = make_project()
        client.force_login(lead_of(project))

        response = client.post(people_url(project, "invite"), {"roles": ["annotator", "reviewer"]})

        link = secret_on(response)
        assert link.startswith("http://testserver/join/")
        assert link not in client.get(people_url(project)).content.decode()
        assert Invitation.objects.get().roles == ["annotator", "reviewer"]

    def test_a_form_that_is_sent_twice_makes_one_invitation_and_shows_its_link_again(self, client):
        project = make_project()
        client.force_login(lead_of(project))
        key = client.get(people_url(project)).context["form"]["key"].value()
        form = {"roles": ["annotator"], "key": key}

        first, second = (secret_on(client.post(people_url(project, "invite"), form)) for _ in range(2))

        assert first == second
        assert Invitation.objects.count() == Event.objects.filter(action="invitation.created").count() == 1

    def test_other_words_in_the_same_form_make_another_invitation(self, client):
        project = make_project()
        client.force_login(lead_of(project))

        for role in ("annotator", "reviewer"):
            client.post(people_url(project, "invite"), {"roles": [role], "key": "of-one-page"})

        assert Invitation.objects.count() == 2

    def test_a_form_whose_invitation_was_used_shows_no_dead_link(self, client):
        project = make_project()
        client.force_login(lead_of(project))
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

    def test_a_missing_role_is_reported_under_the_choices(self, client):
        project = make_project()
        client.force_login(lead_of(project))

        response = client.post(people_url(project, "invite"), {"email": "x@example.org"})

        assert response.status_code == 400
        assert "Choose at least one role." in response.content.decode()

    def test_a_withdrawn_invitation_no_longer_opens(self, client):
        project = make_project()
        invitation, token = invitations.invite(
            project=project, actor=lead_of(project), roles=["viewer"], at=timezone.now()
        )
        client.force_login(lead_of(project))

        client.post(people_url(project, "revoke-invitation", invitation_id=invitation.pk))

        client.post("/logout/")
        assert client.get(f"/join/{token}/").status_code == 404

    def test_a_lead_changes_roles_and_ends_memberships(self, client):
        project = make_project()
        member = make_member(project, Role.ANNOTATOR)
        client.force_login(lead_of(project))

        client.post(people_url(project, "roles", user_id=member.pk), {"roles": ["reviewer", "viewer"]})
        assert roles_of(member, project) == {Role.REVIEWER, Role.VIEWER}

        client.post(people_url(project, "roles", user_id=member.pk), {})
        assert roles_of(member, project) == frozenset()

    def test_the_last_lead_stays(self, client):
        project = make_project()
        lead = lead_of(project)
        client.force_login(lead)

        response = client.post(people_url(project, "roles", user_id=lead.pk), {"roles": ["viewer"]})

        assert response.status_code == 409
        assert "needs at least one lead" in response.content.decode()

    def test_members_see_names_but_no_addresses_and_no_invitation_form(self, client):
        project = make_project()
        annotator = make_member(project, Role.ANNOTATOR)
        client.force_login(annotator)

        page = client.get(people_url(project)).content.decode()

        assert lead_of(project).name in page
        assert lead_of(project).email not in page
        assert people_url(project, "invite") not in page
        assert "<form" not in page.partition("<main")[2].partition("</main>")[0]

    @pytest.mark.parametrize("name", ["invite", "roles", "revoke-invitation"])
    def test_only_leads_change_who_belongs(self, client, name):
        project = make_project()
        invitation, _ = invitations.invite(project=project, actor=lead_of(project), roles=["viewer"], at=timezone.now())
        annotator = make_member(project, Role.ANNOTATOR)
        client.force_login(annotator)
        kwargs = {"roles": {"user_id": annotator.pk}, "revoke-invitation": {"invitation_id": invitation.pk}}

        response = client.post(people_url(project, name, **kwargs.get(name, {})), {"roles": ["lead"]})

        assert response.status_code == 403
        assert roles_of(annotator, project) == {Role.ANNOTATOR}

    def test_people_of_another_project_are_not_found(self, client):
        project, other = make_project(), make_project()
        stranger = make_member(other, Role.ANNOTATOR)
        client.force_login(lead_of(project))

        response = client.post(people_url(project, "roles", user_id=stranger.pk), {"roles": ["lead"]})

        assert response.status_code == 404
        assert not Membership.objects.filter(project=project, user=stranger).exists()

    @pytest.mark.parametrize("members", [1, 3])
    def test_the_list_takes_the_same_queries_for_few_and_many(self, client, members, django_assert_num_queries):
        project = make_project()
        for _ in range(members):
            make_member(project, Role.ANNOTATOR, Role.REVIEWER)
        client.force_login(lead_of(project))
        client.get(people_url(project))

        with django_assert_num_queries(6):
            client.get(people_url(project))


class TestTokens:
    FORM = {"name": "pipeline", "scopes": ["runs:write", "versions:read"], "days": "30"}

    def test_a_token_is_shown_once_and_stored_as_a_digest(self, client):
        project = make_project()
        client.force_login(lead_of(project))

        secret = secret_on(client.post(people_url(project, "tokens"), self.FORM))

        assert secret.startswith("karat_")
        assert secret not in client.get(people_url(project, "tokens")).content.decode()
        assert secret not in str(ApiToken.objects.values().get())

    def test_a_form_that_is_sent_twice_makes_one_token_and_shows_it_again(self, client):
        project = make_project()
        client.force_login(lead_of(project))
        key = client.get(people_url(project, "tokens")).context["form"]["key"].value()

        first, second = (secret_on(client.post(people_url(project, "tokens"), self.FORM | {"key": key})) for _ in "12")

        assert first == second
        assert ApiToken.objects.count() == Event.objects.filter(action="token.created").count() == 1

    def test_a_form_whose_token_was_revoked_makes_no_other(self, client):
        project = make_project()
        client.force_login(lead_of(project))
        form = self.FORM | {"key": "of-one-page"}
        client.post(people_url(project, "tokens"), form)
        client.post(people_url(project, "revoke-token", token_id=ApiToken.objects.get().pk))

        again = client.post(people_url(project, "tokens"), form)

        assert again.status_code == 409
        assert "its token was revoked or has expired" in again.content.decode()

    def test_people_see_and_revoke_their_own_tokens_only(self, client):
        project = make_project()
        lead, annotator = lead_of(project), make_member(project, Role.ANNOTATOR)
        client.force_login(lead)
        client.post(people_url(project, "tokens"), self.FORM)
        token = ApiToken.objects.get()

        client.force_login(annotator)
        assert "pipeline" not in client.get(people_url(project, "tokens")).content.decode().split("<form")[0]
        assert client.post(people_url(project, "revoke-token", token_id=token.pk)).status_code == 404

        client.force_login(lead)
        client.post(people_url(project, "revoke-token", token_id=token.pk))
        token.refresh_from_db()
        assert token.revoked_at is not None

    @pytest.mark.parametrize("wrong", [{"scopes": ["everything"]}, {"scopes": []}, {"days": "4000"}, {"name": ""}])
    def test_wrong_forms_make_no_token(self, client, wrong):
        project = make_project()
        client.force_login(lead_of(project))

        response = client.post(people_url(project, "tokens"), {**self.FORM, **wrong})

        assert response.status_code == 400
        assert not ApiToken.objects.exists()


class TestProfile:
    def test_name_and_zone_are_saved(self, client):
        user = make_user()
        client.force_login(user)

        client.post("/profile/", {"name": "Mara Quill", "time_zone": "Europe/Oslo"})

        user.refresh_from_db()
        assert (user.name, user.time_zone) == ("Mara Quill", "Europe/Oslo")

    def test_times_are_shown_in_the_readers_zone(self, client):
        user = make_user()
        client.force_login(user)
        client.post("/profile/", {"name": user.name, "time_zone": "Pacific/Kiritimati"})

        assert "Pacific/Kiritimati" in client.get("/profile/").content.decode()

    def test_a_new_password_needs_the_old_one_and_ends_other_sessions(self, client, django_user_model):
        from django.test import Client

        user, other = make_user(), Client()
        client.force_login(user)
        other.force_login(user)
        new = "plum orchard tin whistle"

        assert client.post("/profile/password/", {"current": "no", "new": new}).status_code == 400
        client.post("/profile/password/", {"current": PASSWORD, "new": new})

        assert client.get("/profile/").status_code == 200
        assert other.get("/profile/").status_code == 302

    def test_fields_that_are_not_on_the_form_are_not_set(self, client):
        user = make_user()
        client.force_login(user)

        client.post(
            "/profile/",
            {"name": "X", "time_zone": "UTC", "is_operator": "on", "email": "e@example.org", "is_active": ""},
        )

        user.refresh_from_db()
        assert not user.is_operator
        assert user.email != "e@example.org"


class TestOperators:
    def test_an_operator_makes_a_project_and_leads_it(self, client):
        operator = make_user(is_operator=True)
        client.force_login(operator)

        response = client.post("/projects/new/", {"name": "Handbook"})

        assert response.url == "/p/handbook/"
        assert roles_of(operator, Project.objects.get()) == {Role.LEAD}

    def test_others_do_not(self, client):
        client.force_login(make_user())

        assert client.post("/projects/new/", {"name": "Handbook"}).status_code == 403
        assert client.get("/people/").status_code == 403
        assert client.post(f"/people/{make_user().pk}/deactivate/").status_code == 403

    def test_deactivating_keeps_the_person_in_the_list(self, client):
        operator, user = make_user(is_operator=True), make_user("Sef Arden")
        client.force_login(operator)

        client.post(f"/people/{user.pk}/deactivate/")

        page = client.get("/people/").content.decode()
        assert "Sef Arden" in page
        assert "deactivated" in page

    @pytest.mark.parametrize("people", [1, 3])
    def test_the_list_of_everybody_takes_two_queries(self, client, people, django_assert_num_queries):
        operator = make_user(is_operator=True)
        for _ in range(people):
            make_user()
        client.force_login(operator)

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
