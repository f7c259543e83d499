"""The relay to Slack in docs/pipelines.md, between messages that Karat sends and a server that answers as Slack."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from apps.common.database.functions import from_now
from apps.common.web.addresses import parse_openings
from apps.jobs.actions import webhooks
from apps.jobs.enums import WebhookEvent
from apps.jobs.execution import outbox
from apps.jobs.execution.outbox import post_to_webhooks
from apps.jobs.models import Outbox
from tests.conftest import REPO
from tests.factories import AT, lead_of, make_project

pytestmark = pytest.mark.django_db
CODE = re.findall(r"```python\n(.*?)```", (REPO / "docs/pipelines.md").read_text(), re.S)[-1]


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    """Serve requests in a thread; the port."""
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


class Slack:
    """Takes `{"text": …}` and answers "ok", as documented; 500 as often as it is told to."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.failures = 0

    def handler(self) -> type[BaseHTTPRequestHandler]:
        slack = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                failed, slack.failures = slack.failures > 0, slack.failures - 1
                if not failed:
                    slack.said.append(body["text"])
                self.send_response(500 if failed else 200)
                self.end_headers()
                self.wfile.write(b"server_error" if failed else b"ok")

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


@pytest.fixture
def slack() -> Slack:
    return Slack()


@pytest.fixture
def project(slack, monkeypatch, settings):
    """A project with a webhook to the relay, which posts to Slack."""
    made = make_project("Hut rules")
    relay: dict = {"__name__": "relay"}
    exec(CODE, relay)
    monkeypatch.setattr(relay["Relay"], "log_message", lambda *_: None)
    with serving(slack.handler()) as slack_port, serving(relay["Relay"]) as port:
        settings.OUTBOUND_ALLOW = parse_openings([f"127.0.0.1:{port}"])
        url = f"http://127.0.0.1:{port}/"
        _, secret = webhooks.add_webhook(project=made, url=url, actor=lead_of(made), at=AT)
        monkeypatch.setenv("KARAT_SECRET", secret)
        monkeypatch.setenv("SLACK_URL", f"http://127.0.0.1:{slack_port}/services/T0/B0/x")
        yield made


def send(project, event: WebhookEvent, **facts: str) -> None:
    post_to_webhooks(project=project, event=event, facts=facts, at=AT)


def deliver() -> int:
    Outbox.objects.update(next_at=from_now(-1))
    return outbox.deliver_due(at=AT)


def test_each_message_becomes_one_line_and_one_that_is_sent_again_none(project, slack):
    send(project, WebhookEvent.GATE, words="nDCG@10 is 0.43; the gate requires at least 0.45.", url="https://k/7/")
    send(project, WebhookEvent.RELEASED, gold_set="doors", url="https://k/v2/")
    assert deliver() == 2
    webhooks.send_again(delivery=Outbox.objects.earliest("pk"), actor=lead_of(project), at=AT)
    assert deliver() == 1

    assert sorted(slack.said) == [
        "hut-rules: gate.changed nDCG@10 is 0.43; the gate requires at least 0.45. https://k/7/",
        "hut-rules: version.released doors https://k/v2/",
    ]


def test_what_slack_did_not_take_is_tried_again(project, slack):
    slack.failures = 1
    send(project, WebhookEvent.JOB, title="Import passages")

    assert deliver() == 0
    assert Outbox.objects.get().answered == 502
    assert deliver() == 1
    assert len(slack.said) == 1


def test_what_is_not_signed_with_the_secret_goes_no_further(project, slack, monkeypatch):
    monkeypatch.setenv("KARAT_SECRET", "whsec_AAAA")
    send(project, WebhookEvent.JOB)

    assert deliver() == 0
    assert (Outbox.objects.get().answered, slack.said) == (401, [])
