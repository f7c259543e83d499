"""Spans that a running system sends over HTTP wait as a file, and become an ordinary import of a search log."""

import gzip
import json
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from apps.accounts.actions.tokens import create_token
from apps.accounts.enums import Scope
from apps.accounts.models import Project
from apps.common.errors import Refusal
from apps.querylogs import actions
from apps.querylogs.execution import received
from tests.factories import AT, lead_of, make_project
from tests.querylogs.factories import START, Searched, draw, otlp_json, otlp_protobuf

pytestmark = pytest.mark.django_db
PROTOBUF, JSON = "application/x-protobuf", "application/json"


@pytest.fixture(autouse=True)
def _turned_on(settings, tmp_path):
    settings.RECEIVE_TRACES = True
    settings.DATA_DIR = tmp_path


@pytest.fixture
def project(db) -> Project:
    return make_project()


def searched(people: int = 5) -> list[Searched]:
    return [
        Searched(
            "how are keys rotated",
            [("", "Keys are rotated every ninety days.")],
            person=f"u{n}",
            at=START + timedelta(minutes=n),
            trace=f"{n:032x}",
        )
        for n in range(people)
    ]


def token_of(project: Project, *scopes: str) -> str:
    about = {"name": f"Exporter {len(scopes)}", "at": timezone.now(), "lasts": timedelta(days=1)}
    _, secret = create_token(project=project, user=lead_of(project), scopes=scopes or [Scope.TRACES_WRITE], **about)
    return secret


def send(project: Project, body: bytes, kind: str = PROTOBUF, *, token: str = "", **headers):
    secret = token or token_of(project)
    headers = {"HTTP_AUTHORIZATION": f"Bearer {secret}", **headers}
    return Client().post("/v1/traces", body, content_type=kind, **headers)


@pytest.mark.parametrize(
    ("kind", "body", "headers"),
    [
        (PROTOBUF, otlp_protobuf(searched()), {}),
        (JSON, otlp_json(searched()), {}),
        (PROTOBUF, gzip.compress(otlp_protobuf(searched())), {"HTTP_CONTENT_ENCODING": "gzip"}),
    ],
    ids=["protobuf", "json", "gzip"],
)
def test_what_was_sent_becomes_an_import_from_which_queries_are_drawn(
    project, kind, body, headers, django_capture_on_commit_callbacks
):
    answer = send(project, body, kind, **headers)
    assert (answer.status_code, answer["Content-Type"], answer.content) == (
        200,
        kind,
        b"" if kind == PROTOBUF else b"{}",
    )
    assert received.waiting_in(project).spans == 15

    item = actions.take_received(project=project, actor=lead_of(project), at=AT)

    assert received.waiting_in(project) is None
    with django_capture_on_commit_callbacks(execute=True):
        log = draw(item)
    assert log.offered.get().returned["assist-search"]["milliseconds"] == 84
    assert not item.upload.place.exists()
    assert not list(received.folder().glob("*.taken"))
    with pytest.raises(Refusal, match="No traces have come in"):
        actions.take_received(project=project, actor=lead_of(project), at=AT)


def test_what_a_language_model_was_told_is_not_written(project):
    request = json.loads(otlp_json(searched(1)))
    for span in request["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        if span["name"] == "answer":
            span["attributes"].append({"key": "output.value", "value": {"stringValue": "a private answer"}})

    send(project, json.dumps(request).encode(), JSON)

    (file,) = received.folder().glob("*.jsonl")
    assert "private" not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("body", "kind", "headers", "status"),
    [
        (b"\xff\xff\xff", PROTOBUF, {}, 400),
        (b"{", JSON, {}, 400),
        (b'{"resourceSpans": [{"scopeSpans": 7}]}', JSON, {}, 400),
        (b"[" * 100_000, JSON, {}, 400),
        (b"plain", JSON, {"HTTP_CONTENT_ENCODING": "gzip"}, 400),
        (gzip.compress(b"x" * 60_000_000), JSON, {"HTTP_CONTENT_ENCODING": "gzip"}, 400),
        (gzip.compress(b"{}")[:-9], JSON, {"HTTP_CONTENT_ENCODING": "gzip"}, 400),
        (b"{}", JSON, {"HTTP_CONTENT_ENCODING": "br"}, 400),
        (b"{}", "text/plain", {}, 415),
        (b"", JSON, {"CONTENT_LENGTH": "5000001"}, 413),
    ],
    ids=["bytes", "cut", "shape", "deep", "not packed", "bomb", "packed and cut", "other packing", "kind", "long"],
)
def test_what_is_no_export_request_is_refused_with_a_status(project, body, kind, headers, status):
    answer = send(project, body, kind, **headers)

    assert answer.status_code == status
    if status == 400 and kind == JSON:
        assert json.loads(answer.content)["code"] == 3
    assert received.waiting_in(project) is None


def test_only_a_token_for_it_of_a_lead_may_send_and_only_where_it_is_on(project, settings):
    body = otlp_protobuf(searched(1))

    assert send(project, body, token="karat_nobody").status_code == 401
    assert send(project, body, token=token_of(project, Scope.CORPUS_WRITE, Scope.RUNS_WRITE)).status_code == 403
    settings.RECEIVE_TRACES = False
    assert send(project, body).status_code == 404
    assert received.waiting_in(project) is None


def test_too_many_requests_wait_and_a_full_file_rejects_in_part(project, monkeypatch):
    token, body = token_of(project), otlp_protobuf(searched(1))
    monkeypatch.setattr(received, "MOST_BYTES", 10)
    answer = send(project, body, token=token)
    told = ExportTraceServiceResponse.FromString(answer.content).partial_success
    assert (answer.status_code, told.rejected_spans, told.error_message) == (200, 3, received.FULL)

    monkeypatch.setattr(received, "MOST_A_MINUTE", 0)
    answer = send(project, body, token=token)
    assert answer.status_code == 429
    assert 0 < int(answer["Retry-After"]) <= 60


def test_what_nobody_takes_is_deleted_and_so_is_what_a_deleted_project_had(project):
    spans = [*searched(1)]
    send(project, otlp_protobuf(spans))
    until = received.waiting_in(project).until
    (received.folder() / "999999.json").write_text("{}")
    (received.folder() / "999999.jsonl").write_text("raw")

    received.forget(until - timedelta(minutes=1))
    assert received.waiting_in(project) is not None
    assert not list(received.folder().glob("999999*"))

    received.forget(until)
    assert received.waiting_in(project) is None


def test_what_a_crash_forgot_to_date_is_shown_and_deleted_all_the_same(project):
    send(project, otlp_protobuf([*searched(1)]))
    (received.folder() / f"{project.pk}.json").write_text("")

    waiting = received.waiting_in(project)
    received.forget(waiting.until)

    assert waiting.size
    assert received.waiting_in(project) is None
