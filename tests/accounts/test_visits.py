"""Own sessions and tokens: listed with where and when, ended one by one or all, and over at once."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.access import sessions as edge
from apps.accounts.access.sessions import browser_in
from apps.accounts.actions import invitations, people, sign_ins, tokens
from apps.accounts.actions.projects import set_roles
from apps.accounts.enums import Scope
from apps.accounts.models import ApiToken, Visit
from apps.audit.models import Event
from tests.accounts.test_outages import nothing_can_be_written
from tests.factories import lead_of, make_project, make_user
from tests.judging.factories import make_round, people_of

pytestmark = pytest.mark.django_db

PASSWORD = "gravel orange lamp"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
    " Version/18.5 Mobile/15E148 Safari/604.1"
)
PROFILE = "/profile/"


@pytest.fixture(autouse=True)
def _uses(monkeypatch):
    monkeypatch.setattr(edge, "uses", edge.Uses())


@pytest.fixture
def mara():
    mara = make_user("Mara")
    people.change_password(user=mara, password=PASSWORD, at=timezone.now())
    return mara


def signed_in(person, agent: str = FIREFOX, address: str = "192.0.2.7") -> Client:
    client = Client(headers={"User-Agent": agent}, REMOTE_ADDR=address)
    assert client.post("/login/", {"email": person.email, "password": PASSWORD}).status_code == 302
    return client


def text_of(client: Client) -> str:
    return client.get(PROFILE).content.decode()


def is_in(client: Client) -> bool:
    return client.get(PROFILE).status_code == 200


class TestList:
    def test_the_profile_says_where_each_session_began_and_shows_no_key(self, mara):
        here = signed_in(mara)
        signed_in(mara, SAFARI, "2001:db8::5")

        text = text_of(here)

        assert "Firefox on Linux" in text
        assert "192.0.2.7" in text
        assert "Safari on iPhone" in text
        assert "2001:db8::5" in text
        assert "now, on this page" in text
        assert Session.objects.count() == 2
        assert not any(key in text for key in Session.objects.values_list("session_key", flat=True))

    def test_nobody_sees_or_ends_a_session_of_somebody_else(self, mara):
        tobias = make_user("Tobias")
        people.change_password(user=tobias, password=PASSWORD, at=timezone.now())
        hers, his = signed_in(mara), signed_in(tobias, SAFARI)

        answer = his.post(reverse("accounts:end-session", args=[Visit.objects.get(user=mara).pk]))

        assert answer.status_code == 404
        assert "Firefox" not in text_of(his)
        assert is_in(hers)

    def test_a_session_from_before_sessions_were_listed_is_listed_once_it_is_used(self, mara):
        here = signed_in(mara)
        Visit.objects.all().delete()
        edge.uses.forget()

        assert "Firefox on Linux" in text_of(here)

    def test_a_session_that_expired_or_was_signed_out_is_not_listed_and_goes_with_the_next_sign_in(self, mara):
        signed_in(mara, SAFARI)
        Session.objects.update(expire_date=timezone.now() - timedelta(minutes=1))

        here = signed_in(mara)
        here.post("/logout/")
        here.post("/login/", {"email": mara.email, "password": PASSWORD})

        assert "Safari" not in text_of(here)
        assert Session.objects.count() == Visit.objects.count() == 1

    def test_joining_by_an_invitation_begins_a_session_too(self, client):
        project = make_project()
        _, token = invitations.invite(project=project, actor=lead_of(project), roles=["viewer"], at=timezone.now())

        client.post(f"/join/{token}/", {"email": "new@example.org", "name": "New", "password": PASSWORD})

        assert Visit.objects.get().user.email == "new@example.org"


class TestLastUse:
    def test_it_is_noted_at_most_once_in_some_minutes(self, mara):
        here = signed_in(mara)
        long_ago = timezone.now() - timedelta(days=3)
        is_in(here)
        Visit.objects.update(last_used_at=long_ago)

        is_in(here)
        assert Visit.objects.get().last_used_at == long_ago

        edge.uses.forget()
        is_in(here)
        assert Visit.objects.get().last_used_at > long_ago
        key = here.session.session_key
        assert edge.uses.are_due(key, timezone.now() - timedelta(days=1)), "the clock was set back"

    def test_grading_is_use_too(self):
        round_ = make_round(queries=1, blocks=2, overlap=1.0, at=timezone.now())
        client = Client()
        client.force_login(people_of(round_)[0])

        client.get(reverse("judging-api:pairs", args=[round_.project.slug, round_.pk]))

        assert Visit.objects.get().user == people_of(round_)[0]

    def test_pages_are_shown_while_it_cannot_be_noted(self, mara):
        here = signed_in(mara)
        edge.uses.forget()

        with nothing_can_be_written():
            assert is_in(here)


class TestEnding:
    def test_a_session_that_is_ended_is_signed_out_on_its_next_request(self, mara):
        here, there = signed_in(mara), signed_in(mara, SAFARI)
        visit = Visit.objects.get(browser="Safari on iPhone")

        answer = here.post(reverse("accounts:end-session", args=[visit.pk]))

        assert answer.headers["Location"] == "/profile/#sessions"
        assert there.get(PROFILE).headers["Location"].startswith("/login/")
        assert is_in(here)

    def test_all_others_end_on_record_and_this_one_stays(self, mara):
        here, others = signed_in(mara), [signed_in(mara, SAFARI) for _ in range(2)]

        answer = here.post(reverse("accounts:end-sessions"), follow=True)

        assert "2 other sessions ended" in answer.content.decode()
        assert is_in(here)
        assert not any(is_in(other) for other in others)
        event = Event.objects.get(action="session.ended")
        assert (event.actor, event.before) == (mara, {"sessions": 2})
        people.deactivate_user(user_id=mara.pk, actor=None, at=timezone.now())
        assert not is_in(here)
        assert not Session.objects.exists()

    def test_the_short_way_of_grading_ends_with_the_session(self):
        round_ = make_round(queries=1, blocks=3, overlap=1.0, at=timezone.now())
        person, client = people_of(round_)[0], Client()
        client.force_login(person)
        pairs = reverse("judging-api:pairs", args=[round_.project.slug, round_.pk])
        seat = client.get(pairs).json()["pairs"][0]["seat"]

        sign_ins.end_visit(visit_id=Visit.objects.get(user=person).pk, user=person, at=timezone.now())

        grades = reverse("judging-api:judgements", args=[round_.project.slug, round_.pk])
        body = {"seat": seat, "grade": 1, "idempotency_key": "k"}
        assert client.get(pairs).status_code == 401
        assert client.post(grades, body, content_type="application/json").status_code == 401

    def test_a_new_password_ends_all_others_and_keeps_where_this_one_began(self, mara):
        here, there = signed_in(mara), signed_in(mara, SAFARI)
        began = Visit.objects.get(browser="Firefox on Linux").began_at

        here.post("/profile/password/", {"current": PASSWORD, "new": "another gravel lamp"})

        assert is_in(here)
        assert not is_in(there)
        assert Visit.objects.get().began_at == began


class TestTokens:
    @pytest.fixture
    def token(self, mara):
        return self.make(mara)

    def make(self, person, name: str = "nightly"):
        project = make_project()
        set_roles(project=project, user=person, roles=["viewer"], actor=lead_of(project), at=timezone.now())
        return tokens.create_token(
            project=project, user=person, name=name, scopes=[Scope.CORPUS_READ], lasts=timedelta(days=7),
            at=timezone.now(),
        )  # fmt: skip

    def status(self, token) -> int:
        url = reverse("corpus-api:snapshots", args=[token[0].project.slug])
        return Client().get(url, headers={"Authorization": f"Bearer {token[1]}"}).status_code

    def test_the_profile_lists_those_of_all_projects(self, mara, token):
        other = self.make(mara, "weekly")

        text = text_of(signed_in(mara))

        assert token[0].project.name in text
        assert other[0].project.name in text
        assert token[1] not in text

    def test_a_token_that_is_revoked_stops_at_once(self, mara, token):
        assert self.status(token) == 200

        signed_in(mara).post(reverse("accounts:revoke-own-token", args=[token[0].pk]))

        assert self.status(token) == 401

    def test_all_are_revoked_together_each_on_the_record_of_its_project(self, mara, token):
        other = self.make(mara, "weekly")

        signed_in(mara).post(reverse("accounts:revoke-tokens"))

        assert [self.status(one) for one in (token, other)] == [401, 401]
        revoked = {event.project for event in Event.objects.filter(action="token.revoked")}
        assert revoked == {token[0].project, other[0].project}

    def test_a_token_is_revoked_by_its_owner_after_they_left_the_project_and_by_nobody_else(self, mara, token):
        tobias = make_user("Tobias")
        mara.memberships.update(ended_at=timezone.now())
        his = Client()
        his.force_login(tobias)

        assert his.post(reverse("accounts:revoke-own-token", args=[token[0].pk])).status_code == 404
        signed_in(mara).post(reverse("accounts:revoke-own-token", args=[token[0].pk]))

        assert ApiToken.objects.get().revoked_at is not None


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (FIREFOX, "Firefox on Linux"),
        (SAFARI, "Safari on iPhone"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36", "Chrome on Windows"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on Windows"),
        ("Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36", "Chrome on Android"),
        ("Mozilla/5.0 (X11; Linux x86_64)", "A browser on Linux"),
        ("curl/8.9.1", "curl"),
        ("<b>me</b>", ""),
        ("", ""),
    ],
)
def test_a_browser_is_named_as_people_know_it(agent, words):
    assert browser_in(agent) == words
