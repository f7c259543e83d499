"""Whether broker and mail server answer, told without a password and without sending anything."""

import os
import smtplib
import socket
import threading

import pytest
from django.core import mail

from apps.jobs.execution import probes
from apps.jobs.execution.probes import broker_fault, broker_name, mail_server_fault

SMTP = "django.core.mail.backends.smtp.EmailBackend"


@pytest.fixture
def nobody_listens() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@pytest.fixture
def mail_server(settings):
    """A server that knows nobody, as far as a client gets with it."""
    listener = socket.create_server(("127.0.0.1", 0))
    said: list[str] = []

    def serve() -> None:
        with listener, listener.accept()[0] as client, client.makefile("rw", newline="\r\n") as lines:
            answers = {
                "EHLO": "250-here\r\n250 AUTH PLAIN",
                "AUTH": "535 who are you",
                "RSET": "250 ok",
                "QUIT": "221 bye",
            }
            lines.write("220 here\n")
            lines.flush()
            for line in lines:
                said.append(line.split()[0].upper())
                lines.write(f"{answers.get(said[-1], '502 no')}\n")
                lines.flush()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    settings.EMAIL_BACKEND, settings.EMAIL_USE_TLS = SMTP, False
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", listener.getsockname()[1]
    settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = ""
    yield said
    thread.join(timeout=5)


def test_the_folder_of_messages_is_tried_by_its_mode_and_need_not_be_there_yet(settings, tmp_path, monkeypatch):
    settings.BROKER_URL, settings.BROKER_DIR = "filesystem://localhost", tmp_path / "broker"

    assert broker_fault() == ""
    monkeypatch.setattr(probes.os, "access", lambda *_: False)
    assert broker_fault() == f"Karat cannot write to {tmp_path}."
    assert list(tmp_path.iterdir()) == []


def test_a_broker_that_does_not_answer_is_named_without_its_password(settings, nobody_listens):
    settings.BROKER_URL = f"redis://karat:sesame-open-3@127.0.0.1:{nobody_listens}/0"

    fault = broker_fault()

    assert fault.startswith("Redis at 127.0.0.1 does not answer: ")
    assert "sesame" not in fault
    assert broker_name() == "Redis at 127.0.0.1"


@pytest.mark.skipif(not os.environ.get("BROKER_URL", "").startswith("redis://"), reason="BROKER_URL names no Redis")
def test_a_broker_that_answers_has_no_fault(settings):
    settings.BROKER_URL = os.environ["BROKER_URL"]

    assert broker_fault() == ""


def test_without_a_mail_server_nothing_is_tried(settings):
    settings.EMAIL_HOST = ""

    assert mail_server_fault() == ""


def test_a_mail_server_that_takes_us_is_fine_and_gets_no_mail(mail_server):
    assert mail_server_fault() == ""
    assert "MAIL" not in mail_server
    assert mail.outbox == []


def test_a_mail_server_that_refuses_the_password_is_told_as_that(mail_server, settings):
    settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = "sesame-open-3"

    assert mail_server_fault() == "The mail server refuses the user name or the password."


def test_a_mail_server_that_is_not_there_is_named_with_its_port(settings, nobody_listens):
    settings.EMAIL_BACKEND, settings.EMAIL_HOST, settings.EMAIL_PORT = SMTP, "127.0.0.1", nobody_listens

    assert mail_server_fault().startswith(f"127.0.0.1, port {nobody_listens}, does not take mail: ")


def test_another_error_of_the_protocol_is_a_fault_as_well(settings, monkeypatch):
    settings.EMAIL_HOST = "mail.example.org"

    class Refusing:
        def open(self):
            raise smtplib.SMTPNotSupportedError("STARTTLS extension not supported by server.")

        def close(self):
            pass

    monkeypatch.setattr(probes, "get_connection", lambda **_: Refusing())

    assert mail_server_fault().endswith("does not take mail: STARTTLS extension not supported by server.")
