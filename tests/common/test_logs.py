import io
import json
import logging
import secrets
import sys
import threading
import warnings

import pytest
from django.conf import settings
from django.utils.module_loading import import_string

from apps.accounts.enums import Role
from apps.common.web import logs
from apps.common.web.logs import (
    JsonLines,
    Lines,
    formatter,
    log_what_python_prints,
    reset_request_id,
    set_request_id,
    without_secrets,
)
from apps.common.web.tokens import new_link_token, new_token
from tests.factories import make_member

pytestmark = pytest.mark.django_db


@pytest.fixture
def log():
    """What the log of the server would say."""
    told = io.StringIO()
    handler = logging.StreamHandler(told)
    for name in settings.LOGGING["handlers"]["stderr"]["filters"]:
        handler.addFilter(import_string(settings.LOGGING["filters"][name]["()"])())
    logger = logging.getLogger("django.request")
    logger.addHandler(handler)
    yield told
    logger.removeHandler(handler)


def test_a_refusal_for_a_role_brings_no_traceback_into_the_log(client, log, project):
    client.force_login(make_member(project, Role.VIEWER))

    assert client.get(f"/p/{project.slug}/settings/").status_code == 403

    assert log.getvalue() == f"Forbidden (Permission denied): /p/{project.slug}/settings/\n"


def test_the_log_names_the_variable_that_lets_a_host_in(client, log):
    logger = logging.getLogger("django.security.DisallowedHost")
    for handler in (handlers := list(logging.getLogger("django.request").handlers)):
        logger.addHandler(handler)

    client.get("/login/", headers={"Host": "desk"})

    for handler in handlers:
        logger.removeHandler(handler)
    assert log.getvalue().splitlines()[0].endswith("You may need to add 'desk' to KARAT_ALLOWED_HOSTS.")


def test_a_fault_of_ours_still_does(log):
    try:
        raise ValueError("a slip")
    except ValueError:
        logging.getLogger("django.request").exception("Internal Server Error", extra={"status_code": 500})

    assert "ValueError: a slip" in log.getvalue()


@pytest.fixture
def told() -> list[dict]:
    """What the log would say in JSON, each line read back."""
    found: list[dict] = []

    class Reader(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            line = JsonLines().format(record)
            assert "\n" not in line
            found.append(json.loads(line))

    reader = Reader()
    logging.getLogger().addHandler(reader)
    yield found
    logging.getLogger().removeHandler(reader)


def test_a_line_in_json_names_its_time_level_logger_and_message(told):
    logging.getLogger("apps.example").warning("Two\nlines and %s", "“quotes”")

    (line,) = told
    assert line.pop("time").startswith("20")
    assert line == {"level": "WARNING", "logger": "apps.example", "message": "Two\nlines and “quotes”"}


def test_whatever_is_logged_is_one_line_of_ascii_with_its_time_in_utc():
    record = logging.makeLogRecord({"created": 1_767_225_600.25, "msg": "Ünï \ud800 \x00 %s", "args": ({"a": object},)})

    line = JsonLines().format(record)

    assert line.isascii()
    assert "\n" not in line
    assert json.loads(line)["time"] == "2026-01-01T00:00:00.250Z"


def test_an_exception_is_text_within_its_line(told):
    try:
        raise ValueError("a slip")
    except ValueError:
        logging.getLogger("apps.example").exception("It failed.")

    assert told[0]["message"] == "It failed."
    assert told[0]["exception"].startswith("Traceback (most recent call last):\n")
    assert told[0]["exception"].endswith("ValueError: a slip")


def test_lines_of_a_request_name_it_and_its_project(client, told, monkeypatch, project):
    client.force_login(make_member(project, Role.VIEWER))

    answer = client.get(f"/p/{project.slug}/settings/")

    assert answer.status_code == 403
    (line,) = told
    assert (line["request_id"], line["project"]) == (answer["X-Request-Id"], project.slug)
    assert "job" not in line
    assert "exception" not in line


def test_lines_of_a_request_to_the_api_name_its_project_and_those_about_none_name_none(client, told):
    client.get("/api/v1/projects/elsewhere/jobs/")
    assert {line["project"] for line in told} == {"elsewhere"}
    told.clear()

    client.get("/nothing/like/this/")

    assert {*told[0]} == {"time", "level", "logger", "message", "request_id"}


def test_lines_of_a_job_name_it_and_its_project(told):
    token = set_request_id("job-7-1", job=7, project="hut")
    logging.getLogger("apps.example").warning("Halfway.")
    reset_request_id(token)
    logging.getLogger("apps.example").warning("Afterwards.")

    assert (told[0]["request_id"], told[0]["job"], told[0]["project"]) == ("job-7-1", 7, "hut")
    assert not {"request_id", "job", "project"} & set(told[1])


def test_what_python_would_print_is_logged(told, monkeypatch):
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)

    def slip() -> None:
        raise ValueError("a slip")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        log_what_python_prints()
        try:
            warnings.warn("It is old.", DeprecationWarning, stacklevel=1)
            thread = threading.Thread(target=slip)
            thread.start()
            thread.join()
        finally:
            logging.captureWarnings(False)

    warned, failed = told
    assert (warned["logger"], "It is old." in warned["message"]) == ("py.warnings", True)
    assert failed["exception"].endswith("ValueError: a slip")


SECRETS = {
    "a token of the API": new_token(),
    "a link that works once": f"/join/{new_link_token()}/",
    "the link of a form": f"/setup/{new_link_token('key', 1)}/",
    "a bearer token": f"Authorization: Bearer {secrets.token_urlsafe(20)}",
    "a session": f"Cookie: karat-session={secrets.token_hex(16)}; other=1",
    "a session over HTTPS": f"__Host-karat-session={secrets.token_hex(16)}",
    "a password in an address": f"postgres://karat:{secrets.token_urlsafe(12)}@db.example/karat",
    "a password in a query": f"/login/?password={secrets.token_urlsafe(12)}",
}


@pytest.mark.parametrize("text", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize("way", [Lines(), JsonLines()], ids=["lines", "json"])
def test_no_line_contains_what_looks_like_a_secret(text, way):
    secret = max(text.replace("=", " ").replace("/", " ").replace(":", " ").replace("@", " ").split(), key=len)
    try:
        raise ValueError(f"broken by {text}")
    except ValueError:
        record = logging.makeLogRecord({"msg": "Not Found: %s", "args": (text,), "exc_info": sys.exc_info()})

    line = way.format(record)

    assert secret not in line
    assert line.count("***") >= 2


def test_no_line_contains_what_the_operator_has_set(settings, monkeypatch):
    monkeypatch.setattr(logs, "_own_secrets", logs._own_secrets.__wrapped__)
    settings.METRICS_TOKEN = "watch-me-please"
    settings.EMAIL_HOST_PASSWORD = "mail-me-please"
    settings.BROKER_URL = "redis://:wake-me-please@queue.example/0"

    text = f"{settings.SECRET_KEY} {settings.AUDIT_KEY} watch-me-please mail-me-please wake-me-please"

    assert without_secrets(text) == "*** *** *** *** ***"


@pytest.mark.parametrize(
    "text",
    [
        "Snapshot 3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea is frozen.",
        "UNIQUE constraint failed: judging_one_seat_per_person_pair_and_pass_of_rd",
        "Forbidden (CSRF token missing.): /p/hut/settings/tokens/",
        "Job 3 (corpus.import) failed in attempt 2. The password was wrong.",
        "http://localhost:8000/p/hut/ 10.0.0.3:5432 karat_database_up",
    ],
)
def test_ordinary_words_and_digests_stay_as_they_are(text):
    assert without_secrets(text) == text


def test_the_format_is_a_setting_and_lines_are_what_they_were(settings):
    record = logging.makeLogRecord({"msg": "So.", "name": "apps.example", "levelname": "INFO"})
    settings.LOG_FORMAT = "lines"
    assert formatter("{levelname} {name}: {message}", style="{").format(record) == "INFO apps.example: So."
    settings.LOG_FORMAT = "json"
    assert json.loads(formatter("{message}", style="{").format(record))["message"] == "So."
