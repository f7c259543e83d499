"""A stranger names a host of their own: no page, no link, no mail follows it."""

import re

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.jobs.actions.notifications import choose_mail
from apps.jobs.enums import MailHow
from apps.jobs.execution import mailing
from apps.jobs.models import Outbox
from tests.factories import AT, PASSWORD, lead_of, make_member, make_project, make_user
from tests.jobs.test_notifications import notify_once

pytestmark = pytest.mark.django_db
EVIL = "evil.example.net"
OURS = "https://karat.example.org"
LINKS = re.compile(r"""(?:href|src|action|content)=["'][^"']*["']|https?://\S*""")
HOSTS = [EVIL, f"{EVIL}:80", f"localhost@{EVIL}", f"localhost.{EVIL}"]
HEADERS = {"X-Forwarded-Host": EVIL, "X-Forwarded-Server": EVIL, "X-Original-Host": EVIL, "Forwarded": f"host={EVIL}"}
FORGED_HEADERS = [{"Host": "localhost", name: value} for name, value in HEADERS.items()]
FORGED = [*({"Host": host} for host in HOSTS), *FORGED_HEADERS]


@pytest.mark.parametrize("headers", FORGED, ids=str)
@pytest.mark.parametrize("behind", [False, True])
def test_no_answer_names_the_host_of_a_stranger(client, settings, headers, behind):
    settings.BEHIND_PROXY = behind
    client.raise_request_exception = False

    for path in ("/", "/login/", "/login/?next=/people/", "/nowhere/", "/api/v1/nowhere/", "/p/nothing/"):
        answer = client.get(path, headers=headers)

        assert answer.status_code in {200, 302, 400, 404}
        assert EVIL not in LINKS.sub("", answer.content.decode()) or answer.status_code == 400
        assert EVIL not in "".join(LINKS.findall(answer.content.decode()))
        assert EVIL not in str(dict(answer.items()))


@pytest.mark.parametrize("host", ["192.168.1.20", "192.168.1.20:8000", "[fd00::2]:8000", "desk"])
def test_the_refusal_names_the_host_and_what_to_set(client, caplog, host):
    page = client.get("/login/", headers={"Host": host})
    problem = client.get("/api/v1/projects/", headers={"Host": host})

    name = host.removesuffix(":8000")
    assert (page.status_code, problem.status_code, problem.json()["code"]) == (400, 400, "unknown_host")
    for words in (page.content.decode(), problem.json()["detail"]):
        assert name in words
        assert "KARAT_ALLOWED_HOSTS" in words


@pytest.mark.parametrize("host", ["<b>bold</b>", "a" * 300, "localhost@desk", ""])
def test_what_can_be_no_host_is_not_repeated(client, host):
    page = client.get("/login/", headers={"Host": host}).content.decode()

    assert "KARAT_ALLOWED_HOSTS" in page
    assert not host or host not in page


@pytest.mark.parametrize("host", [*HOSTS, "[::1"])
def test_a_host_that_nobody_allowed_is_refused(client, host):
    assert client.get("/login/", headers={"Host": host}).status_code == 400


def test_signing_in_does_not_lead_to_another_host(client):
    user = make_user()

    for where in (f"https://{EVIL}/", f"//{EVIL}/", f"/\\{EVIL}", f"https:{EVIL}", f"javascript:alert('{EVIL}')"):
        answer = client.post("/login/", {"email": user.email, "password": PASSWORD, "next": where})
        client.post("/logout/")

        assert answer["Location"] == "/"


def invited(client, project, **headers: str) -> str:
    """The link that the page shows to the lead."""
    client.force_login(lead_of(project))
    form = {"email": "new@example.org", "roles": ["viewer"]}
    page = client.post(reverse("people:invite", args=[project.slug]), form, headers=headers)
    (link,) = set(re.findall(r"https?://[^\s\"<]+/join/[\w-]+/", page.content.decode()))
    return link


@pytest.mark.parametrize("headers", FORGED_HEADERS, ids=str)
def test_the_link_of_an_invitation_follows_no_forged_header(client, headers):
    assert invited(client, make_project(), **headers).startswith("http://localhost/join/")


@pytest.mark.parametrize(
    ("host", "changed"),
    [
        (EVIL, {"ALLOWED_HOSTS": ["*"]}),
        (EVIL, {"ALLOWED_HOSTS": [".example.net"]}),
        (EVIL, {"ALLOWED_HOSTS": ["localhost", EVIL], "PRODUCTION": True}),
        ("localhost", {"IS_PUBLIC_URL_SET": True}),
    ],
    ids=["any host allowed", "allowed by a pattern", "in production", "set by the operator"],
)
def test_links_begin_with_the_address_of_the_server(client, settings, host, changed):
    for name, value in {"PUBLIC_URL": OURS, **changed}.items():
        setattr(settings, name, value)

    assert invited(client, make_project(), Host=host).startswith(f"{OURS}/join/")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_who_invites_on_the_machine_itself_sends_the_address_that_its_network_knows(client, settings, host):
    settings.ALLOWED_HOSTS, settings.PUBLIC_URL = [host, "192.168.1.20", "desk"], "http://192.168.1.20:8000"

    assert invited(client, make_project(), Host=f"{host}:8000").startswith("http://192.168.1.20:8000/join/")
    assert invited(client, make_project(), Host="desk:8000").startswith("http://desk:8000/join/")


def test_the_links_of_a_mail_begin_with_the_address_of_the_server(client, settings):
    """What was caused by a request with a forged host is told by mail, with links of ours only."""
    settings.ALLOWED_HOSTS, settings.PUBLIC_URL = ["*"], OURS
    project = make_project()
    person = make_member(project, Role.ANNOTATOR)
    client.force_login(person)
    client.get(reverse("notifications:list", args=[project.slug]), headers={"Host": EVIL})
    choose_mail(person=person, how=MailHow.AT_ONCE, from_hour=0, to_hour=24, weekdays_only=False, at=AT)
    notify_once(person, project)

    assert mailing.mail_what_is_due(AT) == 1
    letter = Outbox.objects.get().payload["body"]
    assert set(re.findall(r"https?://[^/\s]+", letter)) == {OURS}
