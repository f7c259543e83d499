"""The page of the server, which only operators see."""

from datetime import timedelta

import pytest
from django.core import mail
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.accounts.enums import Role
from apps.accounts.selectors import AccountCounts
from apps.backups.actions.backups import request_backup
from apps.backups.enums import BACK_UP
from apps.backups.models import Backup
from apps.common.errors import Forbidden, Refusal
from apps.dashboard.pages import health
from apps.dashboard.pages.server import libraries
from apps.jobs.actions.jobs import enqueue
from apps.jobs.execution.outbox import deliver_due, post_mail
from apps.jobs.execution.sweep import beat
from apps.jobs.models import Job, Outbox
from tests.factories import AT, make_member, make_project, make_user
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db

PAGE = "/server/"
SECRET = "sesame-open-3"


@pytest.fixture(autouse=True)
def place(settings, tmp_path):
    settings.DATA_DIR, settings.BACKUP_TO, settings.EMAIL_HOST = tmp_path, "", ""
    tmp_path.chmod(0o700)
    return tmp_path


@pytest.fixture
def operator(client):
    person = make_user("Dana", is_operator=True)
    client.force_login(person)
    return person


def text_of(answer) -> str:
    return " ".join(answer.content.decode().replace("\N{NO-BREAK SPACE}", " ").split())


@pytest.mark.parametrize("name", ["server", "check-server", "measure-server", "back-up", "test-mail", "send-mail"])
def test_a_lead_who_is_no_operator_does_not_see_it(client, name):
    client.force_login(make_member(make_project(), Role.LEAD))
    address = reverse(f"dashboard:{name}")

    assert client.get(address).status_code == 403
    assert client.post(address).status_code == 403
    assert "/server/" not in client.get("/projects/").content.decode()


def test_an_operator_finds_it_from_every_page(client, operator):
    assert client.get("/projects/").content.decode().count('href="/server/"') == 2
    assert 'href="/server/"' in client.get("/profile/").content.decode()


def test_it_says_in_one_sentence_what_needs_somebody_and_how_to_mend_it(client, operator):
    words = text_of(client.get(PAGE))

    assert "<h1>No worker is at work; there is no backup.</h1>" in words
    assert "10 of 12 checks are fine." in words
    assert words.index("None has been seen yet.") < words.index("Answers in")
    assert "<code>karat worker</code>" in words
    assert "Nothing was measured yet." in words


def test_the_button_asks_the_other_servers_and_the_page_alone_does_not(client, operator, settings, monkeypatch):
    settings.EMAIL_HOST, settings.BROKER_URL = "mail.example.org", "redis://queue.example.org/0"
    asked = []
    monkeypatch.setattr(health, "mail_server_fault", lambda: asked.append("mail") or "It refuses the password.")
    monkeypatch.setattr(health, "broker_fault", lambda: asked.append("broker") or "")

    client.get(PAGE)
    assert asked == []
    answer = client.post(reverse("dashboard:check-server"))

    assert sorted(asked) == ["broker", "mail"]
    assert answer.status_code == 200
    assert "It refuses the password." in text_of(answer)
    assert client.get(reverse("dashboard:check-server")).status_code == 405


def test_people_jobs_workers_and_messages_are_counted(client, operator, monkeypatch):
    make_project("Handbook")
    beat("one")
    enqueue(kind="dashboard.measure", params={}, project=None, actor=None, at=timezone.now())
    monkeypatch.setattr("apps.jobs.execution.outbox.EmailMessage.send", lambda self: 1 / 0)
    post_mail(to=["ada@example.org"], subject="Invited", body="Come in.", project=None, at=AT)
    deliver_due(at=timezone.now())

    found = client.get(PAGE).context

    assert found["accounts"] == AccountCounts(active=2, seen_lately=1, operators=1, deactivated=0, projects=1)
    [row] = found["jobs"]
    assert (row.title, row.waiting, row.running) == ("Measure what is stored", 1, 0)
    assert [worker.name for worker in found["workers"]] == ["one"]
    assert [(title, queue.waiting, queue.failing) for title, queue in found["queues"]] == [
        ("Mail", 1, 1),
        ("Webhooks", 0, 0),
    ]


def test_what_was_measured_is_shown_with_its_time_and_asked_for_anew(client, operator):
    make_project("Handbook")
    answer = client.post(reverse("dashboard:measure-server"), follow=True)
    assert "A worker is at it." in text_of(answer)
    run_jobs()

    words = text_of(client.get(PAGE))

    assert "Measured less than a minute ago on" in words
    assert '<td class="card-line card-title">Handbook</td>' in words
    assert "are used; by Karat, by kind" in words


def test_computed_figures_are_cleared_by_a_worker(client, operator, place):
    (place / "figures").mkdir()
    (place / "figures" / "one.figures").write_bytes(b"x" * 300)
    client.post(reverse("dashboard:measure-server"))
    run_jobs()
    assert "Clear 300 bytes" in text_of(client.get(PAGE))

    answer = client.post(reverse("dashboard:clear-storage", args=["figures"]), follow=True)

    assert "Computed figures: a worker clears what is not in use." in text_of(answer)
    assert client.post(reverse("dashboard:clear-storage", args=["database"])).status_code == 409
    assert client.post(reverse("dashboard:clear-storage", args=["unknown"])).status_code == 409


def test_backups_are_listed_with_the_next_and_made_when_asked_for(client, operator, settings, tmp_path):
    now = timezone.now()
    Backup.objects.create(path="old.zip", made_at=now - timedelta(hours=7), size=4_200_000, rows=1, digest="0" * 64)
    Backup.objects.create(
        path="good.zip", made_at=now - timedelta(hours=5), verified_at=now, size=4_200_000, rows=1, digest="0" * 64
    )
    assert "none is scheduled" in text_of(client.get(PAGE))
    assert client.post(reverse("dashboard:back-up")).status_code == 409

    settings.BACKUP_TO, settings.BACKUP_HOURS = str(tmp_path), 24
    answer = client.post(reverse("dashboard:back-up"), follow=True)
    client.post(reverse("dashboard:back-up"))

    assert Job.objects.filter(kind=BACK_UP, created_by=operator).count() == 1
    words = text_of(answer)
    assert words.index("good.zip") < words.index("old.zip")
    assert "4.2 MB" in words
    assert answer.context["next_backup"] == Backup.objects.get(path="good.zip").made_at + timedelta(hours=24)


def test_only_an_operator_makes_a_backup(settings, tmp_path):
    settings.BACKUP_TO = str(tmp_path)

    with pytest.raises(Forbidden):
        request_backup(actor=make_user(), at=AT)
    settings.BACKUP_TO = ""
    with pytest.raises(Refusal, match="KARAT_BACKUP_TO"):
        request_backup(actor=make_user(is_operator=True), at=AT)


def test_a_test_goes_to_whoever_asks_by_the_way_of_every_mail(client, operator, settings):
    assert client.post(reverse("dashboard:test-mail")).status_code == 409

    settings.EMAIL_HOST = "mail.example.org"
    assert "Send me a test" in text_of(client.get(PAGE))
    client.post(reverse("dashboard:test-mail"))
    deliver_due(at=timezone.now())

    [message] = mail.outbox
    assert message.to == [operator.email]
    assert Outbox.objects.get().state == "sent"


def test_mail_that_failed_is_sent_again_when_its_server_is_mended(client, operator, settings, monkeypatch):
    settings.EMAIL_HOST = "mail.example.org"
    with monkeypatch.context() as broken:
        broken.setattr("apps.jobs.execution.outbox.EmailMessage.send", lambda self: 1 / 0)
        post_mail(to=["ada@example.org"], subject="Invited", body="Come in.", project=None, at=AT)
        deliver_due(at=timezone.now())
    assert "Send the 1 again" in text_of(client.get(PAGE))

    assert "A worker sends 1 again" in text_of(client.post(reverse("dashboard:send-mail"), follow=True))
    deliver_due(at=timezone.now())

    assert [message.to for message in mail.outbox] == [["ada@example.org"]]
    assert "No mail is left to send" in text_of(client.post(reverse("dashboard:send-mail"), follow=True))


def test_settings_name_their_source_and_no_secret_is_on_the_page(client, operator, settings, monkeypatch):
    for name in ("HEALTH_TOKEN", "METRICS_TOKEN", "EMAIL_HOST_PASSWORD", "SECRET_KEY", "AUDIT_KEY"):
        setattr(settings, name, SECRET)
    client.force_login(operator)
    for name in ("KARAT_HEALTH_TOKEN", "KARAT_OIDC_CLIENT_SECRET", "KARAT_BACKUP_PASSPHRASE", "EMAIL_HOST_PASSWORD"):
        monkeypatch.setenv(name, SECRET)
    monkeypatch.setenv("BROKER_URL", f"redis://karat:{SECRET}@queue/0")
    settings.BROKER_URL = f"redis://karat:{SECRET}@queue/0"

    answer = client.get(PAGE)

    assert SECRET not in answer.content.decode()
    sources = {one.name: (one.value, one.source) for one in answer.context["settings_set"]}
    assert sources["KARAT_HEALTH_TOKEN"] == ("set, not shown", "environment")
    assert sources["BROKER_URL"][0] == "redis://karat@queue/0"
    assert "KARAT_PROXY_HOPS" in {one.name for one in answer.context["settings_default"]}


def test_versions_of_everything_are_named(client, operator):
    found = client.get(PAGE).context

    assert [one.what for one in found["versions"]][:3] == ["Karat", "Python", "Django"]
    assert "migrations" in found["versions"][4].version
    assert {"celery", "PyYAML", "psycopg"} <= {one.what for one in libraries()}
    assert "Django" not in {one.what for one in libraries()}


def test_the_number_of_queries_does_not_grow_with_what_is_there(client, operator):
    def asked() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert client.get(PAGE).status_code == 200
        return len(queries)

    def add(times: int) -> None:
        for n in range(times):
            make_project(f"Project {n}")
            beat(f"worker {n}")
            enqueue(kind="dashboard.measure", params={}, project=None, actor=None, at=timezone.now())
            post_mail(to=["ada@example.org"], subject="Invited", body="Come in.", project=None, at=AT)
            Backup.objects.create(
                path=f"{Backup.objects.count()}.zip", made_at=AT, verified_at=AT, size=1, rows=1, digest="0" * 64
            )

    add(1)
    client.post(reverse("dashboard:measure-server"))
    run_jobs()
    client.get(PAGE)
    few = asked()
    add(6)
    run_jobs()

    assert asked() == few
    assert few <= 16


def test_the_notices_above_a_page_lead_operators_there_and_are_not_repeated_on_it(client, operator, settings, tmp_path):
    settings.BACKUP_TO, settings.BACKUP_HOURS = str(tmp_path), 24
    made = timezone.now() - timedelta(days=9)
    Backup.objects.create(path="old.zip", made_at=made, verified_at=made, size=1, rows=1, digest="0" * 64)
    project = make_project(lead=operator)
    told = "The last verified backup was made 9 days ago"

    home = text_of(client.get(f"/p/{project.slug}/"))
    assert 'one is due every 24 h. <a href="/server/#backups">Backups</a>' in home
    assert '<a href="/server/">How to mend it</a>' in home
    assert text_of(client.get(PAGE)).count(told) == 1

    client.force_login(make_member(project, Role.LEAD))
    home = text_of(client.get(f"/p/{project.slug}/"))
    assert told not in home
    assert "/server/" not in home
