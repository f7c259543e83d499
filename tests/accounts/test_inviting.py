"""Several invitations at once: all or none, each with its link, by mail where there is a server."""

import html
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from apps.accounts.actions.invitations import invite
from apps.accounts.models import Invitation
from apps.common.web.requests import reach_warning
from apps.jobs.execution.outbox import deliver_due
from apps.jobs.models import Outbox
from tests.factories import AT, lead_of, make_member, make_project

pytestmark = pytest.mark.django_db
PEOPLE = "Mara Quill, mara@example.org, annotator\nTobias Reck, reviewer"


@pytest.fixture
def project(client):
    project = make_project()
    client.force_login(lead_of(project))
    return project


def send(client, project, people=PEOPLE, **more):
    return preview(client, project, people, confirmed="1", **more)


def preview(client, project, people=PEOPLE, **more):
    return client.post(reverse("people:invite", kwargs={"slug": project.slug}), {"people": people, **more})


def as_file(text, name="team.csv"):
    return SimpleUploadedFile(name, text if isinstance(text, bytes) else text.encode(), content_type="text/csv")


def links_on(response):
    return re.findall(r'id="link-\d+">([^<]+)<', response.content.decode())


def test_every_line_gets_a_link_of_its_own_with_the_name_filled_in(client, project):
    links = links_on(send(client, project))

    assert len(set(links)) == 2
    rows = Invitation.objects.order_by("pk").values_list("name", "email", "roles")
    assert list(rows) == [("Mara Quill", "mara@example.org", ["annotator"]), ("Tobias Reck", "", ["reviewer"])]
    client.logout()
    assert 'value="Mara Quill"' in client.get(links[0].removeprefix("http://testserver")).content.decode()


def test_a_list_is_shown_before_anybody_is_invited(client, project):
    make_member(project, "viewer", name="Ines")
    invite(project=project, actor=lead_of(project), roles=["viewer"], email="mara@example.org", at=timezone.now())
    member, stranger = project.memberships.get(role="viewer").user, make_member(make_project(), "lead")

    answer = preview(client, project, f"{PEOPLE}\n{member.email}\n{stranger.email}", roles=["annotator"])

    text = answer.content.decode()
    assert answer.status_code == 200
    assert "Invite 4 people" in text
    assert "has an open invitation; this is another one" in text
    assert "is a member already: viewer" in text
    assert text.count("already") == 1, "of accounts of other projects nothing is told"
    assert Invitation.objects.count() == 1


def test_what_is_confirmed_is_what_was_shown(client, project):
    shown = preview(
        client, project, "", file=as_file('"Quill, Mara",mara@example.org,lead\nTobias,,\n'), roles=["viewer"]
    )
    (lines,) = re.findall(r"<textarea name=\"people\" hidden>\n(.*?)</textarea>", shown.content.decode(), re.DOTALL)

    send(client, project, html.unescape(lines))

    rows = Invitation.objects.order_by("pk").values_list("name", "email", "roles")
    assert list(rows) == [("Quill, Mara", "mara@example.org", ["lead"]), ("Tobias", "", ["viewer"])]


def test_the_list_can_be_changed_after_it_was_shown(client, project):
    answer = preview(client, project, change="1")

    assert "Tobias Reck, reviewer</textarea>" in answer.content.decode()
    assert not Invitation.objects.exists()


def test_one_person_is_invited_without_a_preview_unless_in_a_file(client, project):
    assert len(links_on(preview(client, project, "Mara, mara@example.org", roles=["viewer"]))) == 1
    assert "Invite 1 person" in preview(client, project, "", file=as_file("m@b.org, lead")).content.decode()


@pytest.mark.parametrize(
    ("people", "file", "words"),
    [
        (f"{PEOPLE}\nInes, boss", None, "Line 3, role: “boss” is no role"),
        (PEOPLE, "m@b.org, lead", "Paste a list or choose a file, not both."),
        ("", "Mara, mara@example", "team.csv, line 1, e-mail: “mara@example” is not an e-mail address."),
        ("", "name,e-mail\n", "team.csv names nobody."),
        ("", "x" * 100_001, "team.csv is longer than a list of 200 people."),
        ("", "Jürgen, j@b.org, lead\nJürgen, j@b.org, lead".encode("cp1252"), "“j@b.org” is in line 1 too."),
    ],
)
def test_a_list_with_a_mistake_invites_nobody(client, project, people, file, words):
    more = {"file": as_file(file)} if file else {}

    answer = send(client, project, people, roles=["viewer"], **more)

    assert answer.status_code == 400
    assert words in answer.content.decode()
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


@pytest.mark.parametrize(
    ("is_set", "production", "names_option"), [(False, False, True), (True, False, False), (False, True, False)]
)
def test_the_remedy_is_one_that_lets_others_in(settings, is_set, production, names_option):
    settings.IS_PUBLIC_URL_SET, settings.PRODUCTION = is_set, production

    warning = reach_warning("http://127.0.0.1:8000/join/x/")

    assert ("--host 0.0.0.0" in warning) == names_option
    assert "KARAT_URL set to the address that others reach" in warning


def test_the_warning_is_on_the_page_before_anything_can_be_copied(client, project, settings):
    settings.ALLOWED_HOSTS = ["127.0.0.1"]
    host = {"host": "127.0.0.1:8000"}
    page = client.get(reverse("people:people", kwargs={"slug": project.slug}), headers=host)
    form = {"people": PEOPLE, "confirmed": "1"}
    sent = client.post(reverse("people:invite", kwargs={"slug": project.slug}), form, headers=host)

    assert "work on this computer only" in page.content.decode()
    words = sent.content.decode()
    assert words.index("work on this computer only") < words.index('id="link-1"')
