"""503 in words, with Retry-After, when nothing can be saved."""

import errno
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from apps.accounts.actions.tokens import create_token
from apps.accounts.enums import Scope
from apps.jobs.actions import uploads
from apps.judging.actions.seats import claim_seats
from tests.accounts.test_outages import nothing_can_be_written
from tests.factories import make_user
from tests.judging.factories import make_round, people_of

pytestmark = pytest.mark.django_db
FULL = "The server&#x27;s disk is full, so this was not saved. Reading works."


@pytest.fixture
def person(client):
    """Signed in, with a client that shows what the server answers."""
    user = make_user()
    client.force_login(user)
    client.raise_request_exception = False
    return user


def test_a_page_that_cannot_save_says_so_and_when_to_try_again(client, person):
    with nothing_can_be_written():
        answer = client.post("/profile/", {"name": "Somebody Else", "time_zone": "UTC"})

    assert answer.status_code == 503
    assert answer["Retry-After"] == "60"
    assert FULL in answer.content.decode()
    person.refresh_from_db()
    assert person.name != "Somebody Else"


def test_the_log_says_it_in_a_line(client, person, caplog):
    with nothing_can_be_written():
        client.post("/profile/", {"name": "Somebody Else", "time_zone": "UTC"})

    assert [record.getMessage() for record in caplog.records] == [
        "The disk is full: database or disk is full",
        "Service Unavailable: /profile/",
    ]
    assert not any(record.exc_info for record in caplog.records)


def test_pages_are_read_as_ever(client, person):
    with nothing_can_be_written():
        assert client.get("/").status_code == 200
        assert client.get("/profile/").status_code == 200


def test_a_fragment_gets_the_plain_words(client, person):
    with nothing_can_be_written():
        answer = client.post("/profile/", {"name": "A", "time_zone": "UTC"}, headers={"HX-Request": "true"})

    assert (answer.status_code, answer["Content-Type"]) == (503, "text/plain; charset=utf-8")
    assert answer.content.decode().startswith("The server's disk is full")


def test_an_upload_for_which_the_disk_has_no_room_is_refused_in_words(client, monkeypatch, project, lead_signed_in):
    client.raise_request_exception = False

    def no_room(target: Any, pieces: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(uploads, "_write", no_room)
    form = {"format": "jsonl", "ids": "file", "corpus": "+", "name": "Handbook", "mode": "replace"}
    form["file"] = SimpleUploadedFile("blocks.jsonl", b"{}")
    answer = client.post(reverse("corpus:import-new", args=[project.slug, "corpus"]), form)

    assert answer.status_code == 503
    assert FULL in answer.content.decode()


@pytest.fixture
def machine():
    round_ = make_round()
    person = people_of(round_)[0]
    (seat,) = claim_seats(round_=round_, annotator=person, n=1, at=timezone.now())
    _, secret = create_token(
        project=round_.project,
        user=person,
        name="t",
        scopes=[Scope.JUDGING_WRITE],
        at=timezone.now(),
        lasts=timezone.timedelta(days=1),
    )
    return round_, seat, {"Authorization": f"Bearer {secret}"}


def test_the_api_returns_a_problem_and_accepts_the_same_grade_later(client, machine):
    round_, seat, headers = machine
    address = f"/api/v1/projects/{round_.project.slug}/judging/rounds/{round_.pk}/judgements/"
    grade = {"seat": seat.pk, "grade": 2, "idempotency_key": "one"}

    with nothing_can_be_written():
        answer = client.post(address, grade, content_type="application/json", headers=headers)
    later = client.post(address, grade, content_type="application/json", headers=headers)

    assert answer.status_code == 503
    assert answer["Content-Type"] == "application/problem+json"
    assert answer["Retry-After"] == "60"
    assert answer.json()["code"] == "disk_full"
    assert later.status_code == 201


def test_a_token_reads_while_its_use_cannot_be_noted(client, machine):
    round_, _, headers = machine

    with nothing_can_be_written():
        answer = client.get(f"/api/v1/projects/{round_.project.slug}/judging/rounds/", headers=headers)

    assert answer.status_code in {200, 403}
    assert answer.status_code == client.get(answer.wsgi_request.path, headers=headers).status_code
