"""An operator looks whether everything is all right, has all of it checked, and clears what can go."""

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from apps.backups.models import Backup
from apps.dashboard.pages import health
from apps.jobs.execution.outbox import deliver_due, post_mail
from apps.jobs.execution.sweep import beat
from apps.jobs.models import Outbox
from tests.e2e import looking
from tests.e2e.waiting import go, press, turned, worked
from tests.factories import AT, make_project, make_user

pytestmark = pytest.mark.django_db(transaction=True)

FIGURES = 300_000


@pytest.fixture
def place(settings, tmp_path):
    """A data directory with figures in it, a backup of today, and mail that nobody takes."""
    settings.DATA_DIR, settings.EMAIL_HOST = tmp_path, "mail.example.org"
    tmp_path.chmod(0o700)
    (tmp_path / "figures").mkdir(mode=0o700)
    (tmp_path / "figures" / "one.figures").write_bytes(b"x" * FIGURES)
    settings.CACHES = {**settings.CACHES, "default": {**settings.CACHES["default"], "LOCATION": tmp_path / "figures"}}
    now = timezone.now()
    Backup.objects.create(
        path="/backups/karat-20261124-020000.zip",
        made_at=now,
        verified_at=now,
        size=4_200_000,
        rows=13_798,
        digest="0" * 64,
    )
    return tmp_path


@pytest.fixture
def refused(place, monkeypatch):
    """The mail server refuses the password, and two mails wait."""
    monkeypatch.setattr(health, "mail_server_fault", lambda: "The mail server refuses the user name or the password.")
    monkeypatch.setattr("apps.jobs.execution.outbox.EmailMessage.send", lambda self: 1 / 0)
    for name in ("ada", "mara"):
        post_mail(to=[f"{name}@example.org"], subject="Invited", body="Come in.", project=None, at=AT)
    deliver_due(at=timezone.now())


def test_an_operator_sees_what_is_broken_clears_what_can_go_and_reads_one_sentence_when_all_is_fine(
    page, refused, signed_in, settings, witness
):
    make_project("Tarnwick Handbook")
    beat("one")
    signed_in(make_user("Dana Wirth", is_operator=True))
    go(page, "/projects/")
    with turned(page):
        page.get_by_role("main").get_by_role("link", name="Server").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Mail does not go out.")
    expect(page.get_by_text("11 of 12 checks are fine.")).to_be_visible()
    first = page.locator(".checks > li").first
    expect(first).to_contain_text("2 messages could not be sent")
    with turned(page):
        press(page, "c")
    expect(first).to_contain_text("The mail server refuses the user name or the password. Waiting: 2 messages.")
    expect(first).to_contain_text("To mend it: Correct EMAIL_HOST, EMAIL_HOST_USER and EMAIL_HOST_PASSWORD")

    with turned(page):
        page.get_by_role("button", name="Measure now").click()
    expect(page.get_by_text("A worker is at it.")).to_be_visible()
    worked(page)
    go(page, "/server/")
    expect(page.get_by_role("row", name="Tarnwick Handbook")).to_be_visible()
    page.locator("details").first.click()
    looking.looks_well(page, "server", widths=(320, 390, 1000))

    with turned(page):
        page.get_by_role("button", name="Clear 300 kB of computed figures").click()
    worked(page)
    go(page, "/server/")
    expect(page.get_by_role("button", name="Clear")).to_have_count(0)

    Outbox.objects.all().delete()
    settings.EMAIL_HOST = ""
    go(page, "/server/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Everything is all right.")
    press(page, "?")
    expect(page.get_by_role("dialog")).to_contain_text("Check everything now")
    assert witness.drain() == []
