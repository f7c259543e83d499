"""Forgotten passwords: a link by mail or from an operator, once, for a while; then every session ends."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.accounts.actions import people
from apps.accounts.actions.people import change_password, deactivate_user
from apps.accounts.models import PasswordReset
from apps.accounts.rules import PeopleRefused
from apps.audit.models import Event
from apps.common.errors import Refusal
from apps.jobs.execution.outbox import deliver_due
from apps.jobs.models import Outbox
from tests.factories import AT, PASSWORD, make_user
from tests.races import overlapping

pytestmark = pytest.mark.django_db
NEW = "gravel orange lamp tin"


@pytest.fixture
def person():
    return make_user("Mara Quill")


@pytest.fixture
def operator():
    return make_user("Operator", is_operator=True)


def make_link(person, operator, at=AT):
    return people.create_reset_link(user_id=person.pk, actor=operator, at=at)


def use(token, at=AT):
    return people.use_reset(token=token, password=NEW, at=at)


def work_for(client, email):
    """What the database was asked to do when this address requested a link, without the names of savepoints."""
    with CaptureQueriesContext(connection) as queries:
        client.post("/password-reset/", {"email": email})
    return [" ".join(query["sql"].split()[:3]) for query in queries if "SAVEPOINT" not in query["sql"]]


class TestLink:
    def test_it_sets_the_password_once_until_it_expires_on_record(self, person, operator):
        token = make_link(person, operator)
        with pytest.raises(Refusal, match="has expired"):
            use(token, AT + people.RESET_LASTS)

        use(token)

        person.refresh_from_db()
        assert person.check_password(NEW)
        with pytest.raises(Refusal, match="has been used"):
            use(token)
        rows = Event.objects.filter(action__startswith="password_reset").order_by("pk").values_list("action", "actor")
        assert list(rows) == [("password_reset.created", operator.pk), ("password_reset.used", person.pk)]

    def test_a_newer_one_replaces_it(self, person, operator):
        old, new = make_link(person, operator), make_link(person, operator)

        with pytest.raises(Refusal, match="replaced by a newer one"):
            use(old)
        use(new)

    def test_only_its_digest_is_stored(self, person, operator):
        token = make_link(person, operator)

        assert token not in str(PasswordReset.objects.values().get())

    def test_a_new_password_chosen_in_the_profile_ends_it(self, client, person, operator):
        token = make_link(person, operator, timezone.now())
        client.force_login(person)

        client.post("/profile/password/", {"current": PASSWORD, "new": NEW})

        with pytest.raises(Refusal, match="password has been changed"):
            use(token, timezone.now())

    @pytest.mark.postgres
    @pytest.mark.django_db(transaction=True)
    def test_a_password_that_is_changed_while_it_is_made_ends_it(self, person, operator):
        token, _ = overlapping(
            lambda: make_link(person, operator), lambda: change_password(user=person, password=NEW, at=AT)
        )

        with pytest.raises(Refusal):
            use(token)

    @pytest.mark.postgres
    @pytest.mark.django_db(transaction=True)
    def test_it_is_used_or_replaced_and_neither_waits_forever(self, person, operator):
        token = make_link(person, operator)

        used, newer = overlapping(lambda: use(token), lambda: make_link(person, operator))
        _, refused = overlapping(lambda: make_link(person, operator), lambda: use(newer))

        assert used == person
        assert "replaced by a newer one" in refused.sentence

    def test_only_operators_make_one_and_not_for_closed_accounts(self, person, operator):
        with pytest.raises(PeopleRefused):
            make_link(operator, person)
        token = make_link(person, operator)
        deactivate_user(user_id=person.pk, actor=operator, at=AT)

        with pytest.raises(Refusal, match="is deactivated"):
            make_link(person, operator)
        with pytest.raises(Refusal, match="is deactivated"):
            use(token)


class TestByMail:
    @pytest.fixture(autouse=True)
    def _server(self, settings):
        settings.EMAIL_HOST = "mail.example.org"

    def request(self, email, at=AT):
        people.request_reset(email=email, link_of=lambda token: f"https://karat/{token}", at=at)

    def test_a_mail_has_the_link_and_is_erased_once_it_is_sent(self, person, mailoutbox):
        self.request(person.email.upper())
        deliver_due(at=timezone.now())

        (mail,) = mailoutbox
        assert mail.to == [person.email]
        use(mail.body.split("https://karat/")[1].split()[0])
        assert Outbox.objects.get().payload["body"] == ""

    def test_an_unknown_or_closed_account_gets_none(self, person, operator):
        deactivate_user(user_id=person.pk, actor=operator, at=AT)

        for email in ("nobody@example.org", person.email):
            self.request(email)

        assert not Outbox.objects.exists()

    def test_after_three_it_waits(self, person):
        for minute in range(5):
            self.request(person.email, AT + timedelta(minutes=minute))
        assert Outbox.objects.count() == people.MOST_MAILS

        self.request(person.email, AT + people.MAILED_LASTS + timedelta(minutes=9))
        assert Outbox.objects.count() == people.MOST_MAILS + 1

    def test_the_same_work_is_done_for_everybody(self, client, person, operator):
        closed, tired = make_user("Closed"), make_user("Tired")
        deactivate_user(user_id=closed.pk, actor=operator, at=AT)
        for _ in range(people.MOST_MAILS):
            self.request(tired.email, timezone.now())
        rows = Outbox.objects.count(), PasswordReset.objects.count(), Event.objects.count()

        of_nobody, of_closed, of_tired = (
            work_for(client, email) for email in ("nobody@example.org", closed.email, tired.email)
        )

        assert rows == (Outbox.objects.count(), PasswordReset.objects.count(), Event.objects.count())
        assert of_nobody == of_closed == of_tired == work_for(client, person.email)
        assert "INSERT INTO" in " ".join(of_nobody)

    def test_the_page_answers_the_same_to_everybody(self, client, person):
        known, unknown = (
            client.post("/password-reset/", {"email": email}).content for email in (person.email, "nobody@example.org")
        )

        assert known == unknown
        assert b"a mail with a link is on its way" in known


class TestPages:
    def test_without_a_mail_server_an_operator_is_named(self, client, settings):
        settings.EMAIL_HOST = ""

        assert "an operator creates one" in client.get("/password-reset/").content.decode()
        assert "sends no mail" in client.post("/password-reset/", {"email": "a@example.org"}).content.decode()

    def test_the_operators_link_leads_to_a_new_password_and_ends_sessions(self, client, person, operator):
        elsewhere = Client()
        elsewhere.force_login(person)
        client.force_login(operator)
        page = client.post(f"/people/{person.pk}/reset-link/").content.decode()
        link = page.split('id="reset-link">')[1].split("<")[0].removeprefix("http://testserver")
        assert elsewhere.get("/profile/").status_code == 200

        answer = Client().post(link, {"password": NEW})

        assert answer.url == "/login/"
        assert elsewhere.get("/profile/").status_code == 302
        assert Client().post("/login/", {"email": person.email, "password": NEW}).url == "/"
        assert "Wrong e-mail" in Client().post("/login/", {"email": person.email, "password": PASSWORD}).text
        assert client.get(link).status_code == 404

    def test_weak_passwords_are_refused_and_the_link_stays(self, client, person, operator):
        link = f"/reset/{make_link(person, operator, timezone.now())}/"

        assert 'class="error"' in client.post(link, {"password": "password"}).content.decode()
        assert client.get(link).status_code == 200
