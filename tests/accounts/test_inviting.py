"""Several invitations at once: all or none, each with its link, by mail where there is a server."""

import re

import pytest
from django.urls import reverse

from apps.accounts.models import Invitation
from apps.common.web.requests import reach_warning
from apps.jobs.execution.outbox import deliver_due
from apps.jobs.models import Outbox
from tests.factories import AT, lead_of, make_project

pytestmark = pytest.mark.django_db
PEOPLE = "Mara Quill, mara@example.org, annotator\nTobias Reck, reviewer"


@pytest.fixture
def project(client):
    project = make_project()
    client.force_login(lead_of(project))
    return project


def send(client, project, people=PEOPLE, **more):
    return client.post(reverse("people:invite", kwargs={"slug": project.slug}), {"people": people, **more})


def links_on(response):
    return re.findall(r'id="link-\d+">([^<]+)<', response.content.decode())


def test_every_line_gets_a_link_of_its_own(client, project):
    links = links_on(send(client, project))

    assert len(set(links)) == 2
    rows = Invitation.objects.order_by("pk").values_list("name", "email", "roles")
    assert list(rows) == [("Mara Quill", "mara@example.org", ["annotator"]), ("Tobias Reck", "", ["reviewer"])]


def test_the_name_is_filled_in_for_who_joins(client, project):
    links = links_on(send(client, project))
    client.logout()

    page = client.get(links[0].removeprefix("http://testserver")).content.decode()

    assert 'value="Mara Quill"' in page


def test_a_mistake_in_one_line_invites_nobody(client, project):
    answer = send(client, project, f"{PEOPLE}\nInes, boss")

    assert answer.status_code == 400
    assert "Line 3: “boss” is neither an e-mail address nor a role" in answer.content.decode()
    assert not Invitation.objects.exists()


def test_the_form_sent_twice_shows_the_same_links_and_mails_once(client, project, settings):
    settings.EMAIL_HOST = "mail.example.org"

    first, second = (links_on(send(client, project, key="of-one-page", by_mail="on")) for _ in range(2))

    assert first == second
    assert Invitation.objects.count() == 2
    assert Outbox.objects.count() == 1


def test_a_mail_carries_the_link_to_who_has_an_address(client, project, settings, mailoutbox):
    settings.EMAIL_HOST = "mail.example.org"
    links = links_on(send(client, project, by_mail="on"))
    deliver_due(at=AT)

    (mail,) = mailoutbox
    assert mail.to == ["mara@example.org"]
    assert links[0] in mail.body
    assert Outbox.objects.get().payload["body"] == ""


@pytest.mark.parametrize("more", [{}, {"by_mail": "on"}])
def test_without_a_server_or_the_tick_nothing_is_mailed(client, project, settings, more):
    settings.EMAIL_HOST = "" if more else "mail.example.org"

    send(client, project, **more)

    assert not Outbox.objects.exists()


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("127.0.0.1:8000", "on this computer only"),
        ("localhost", "on this computer only"),
        ("[::1]:8000", "on this computer only"),
        ("192.168.1.20:8000", "in this network only"),
        ("karat", "in this network only"),
        ("karat.local", "in this network only"),
        ("karat.example.org", ""),
        ("93.184.216.34", ""),
    ],
)
def test_a_link_that_works_nowhere_else_is_announced(host, words):
    warning = reach_warning(f"http://{host}/join/x/")

    assert words in warning
    assert bool(warning) == bool(words)


def test_the_warning_is_on_the_page_before_anything_can_be_copied(client, project, settings):
    settings.ALLOWED_HOSTS = ["127.0.0.1"]
    page = client.get(reverse("people:people", kwargs={"slug": project.slug}), headers={"host": "127.0.0.1:8000"})
    sent = client.post(
        reverse("people:invite", kwargs={"slug": project.slug}), {"people": PEOPLE}, headers={"host": "127.0.0.1:8000"}
    )

    assert "work on this computer only" in page.content.decode()
    words = sent.content.decode()
    assert words.index("work on this computer only") < words.index('id="link-1"')
