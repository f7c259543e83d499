"""/metrics: for whoever has the token, and about nobody by name."""

import re

import pytest
import yaml
from django.db import DatabaseError, connection
from django.test import Client
from django.utils import timezone
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_open
from prometheus_client.parser import text_string_to_metric_families as parse

from apps.accounts.models import Project
from apps.common.web import request_counts
from apps.dashboard.pages import metrics
from apps.judging.actions.seats import claim_seats
from apps.judging.models import Judgement
from tests.conftest import REPO
from tests.factories import make_member, make_project, make_user
from tests.jobs.factories import make_job
from tests.judging.factories import judge_all, make_round, people_of
from tests.test_statements import Statements
from tests.world import ROUTES

pytestmark = pytest.mark.django_db(transaction=True)

TOKEN = "watch-me-please"
OPEN = {"Accept": "application/openmetrics-text"}
STATEMENTS = 8


@pytest.fixture
def monitor(settings) -> Client:
    """Whoever has the token. Nobody has counted anything before."""
    settings.METRICS_TOKEN = TOKEN
    request_counts.REQUESTS.clear()
    request_counts.TIMES.clear()
    return Client(headers={"Authorization": f"Bearer {TOKEN}"})


def read(client: Client) -> dict[str, float]:
    """Every sample by its name and labels, as they are written."""
    answer = client.get("/metrics")
    assert answer.status_code == 200
    lines = [line.rpartition(" ") for line in answer.content.decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}


def test_without_a_token_of_the_server_there_are_none(client, settings):
    settings.METRICS_TOKEN = ""

    assert client.get("/metrics").status_code == 404
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


@pytest.mark.parametrize("given", ["Bearer watch-me", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer", TOKEN, ""])
def test_whoever_does_not_send_the_token_gets_nothing(monitor, given):
    answer = Client().get("/metrics", headers={"Authorization": given})

    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, 'Bearer realm="metrics"')
    assert b"karat_" not in answer.content


def test_neither_the_token_for_health_nor_being_an_operator_opens_them(monitor, settings):
    settings.HEALTH_TOKEN = "sesame-open-3"
    operator = Client()
    operator.force_login(make_user("Olga", is_operator=True))

    assert Client().get("/metrics", headers={"Authorization": "Bearer sesame-open-3"}).status_code == 401
    assert operator.get("/metrics").status_code == 401


def test_they_are_in_the_format_that_was_asked_for(monitor):
    monitor.get("/metrics")  # from the first answer on, requests are among them
    text, opened = monitor.get("/metrics"), monitor.get("/metrics", headers=OPEN)

    assert text["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert opened["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    names = [family.name for family in parse(text.content.decode())]
    assert names == [family.name for family in parse_open(opened.content.decode())]
    assert len(names) == len(set(names)) > 12
    assert all(family.documentation for family in parse(text.content.decode()))


def test_operations_describe_each_metric_with_its_type_and_labels(monitor):
    monitor.get("/metrics")
    page = (REPO / "docs" / "operations.md").read_text()
    described = {
        name: (kind, set(re.findall(r"`(\w+)`", labels)))
        for name, kind, labels in re.findall(r"^\| `(karat_\w+)` \| (\w+) \| (.*?) ?\|", page, re.MULTILINE)
    }

    written = {
        (f"{family.name}_total" if family.type == "counter" else family.name): (
            family.type,
            {name for sample in family.samples for name in sample.labels},
        )
        for family in parse(monitor.get("/metrics").content.decode())
    }

    assert described == written


def test_the_rules_of_operations_can_be_read_and_name_metrics_that_are_there(monitor):
    page = (REPO / "docs" / "operations.md").read_text()
    scrape, alerts = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)]
    rules = alerts["groups"][0]["rules"]
    monitor.get("/metrics")
    names = {family.name for family in parse_open(monitor.get("/metrics", headers=OPEN).content.decode())}

    assert scrape["scrape_configs"][0]["job_name"] == "karat"
    assert len(rules) == 4
    for rule in rules:
        used = {re.sub(r"_(total|bucket)$", "", name) for name in re.findall(r"karat_\w+", rule["expr"])}
        assert used
        assert used <= names


def test_they_answer_by_any_address_and_over_http(monitor, settings):
    settings.ALLOWED_HOSTS = ["karat.example.org"]
    settings.SECURE_SSL_REDIRECT = True

    assert monitor.get("/metrics", headers={"host": "10.1.2.3:8000"}).status_code == 200


def test_they_are_only_read(monitor):
    assert monitor.post("/metrics").status_code == 405


def test_a_fresh_server_has_nothing_to_tell_but_that_no_worker_was_seen(monitor):
    found = read(monitor)

    assert found["karat_database_up"] == 1
    assert found["karat_worker_last_seen_seconds"] == float("inf")
    nothing = {"karat_jobs_oldest_queued_seconds", "karat_leases_lapsed", "karat_grades_total", "karat_verdicts_total"}
    nothing |= {f'karat_jobs{{state="{state}"}}' for state in ("queued", "running", "done", "failed", "cancelled")}
    nothing |= {f'karat_outbox{{state="{state}"}}' for state in ("waiting", "failed")}
    assert {name: found[name] for name in nothing} == dict.fromkeys(nothing, 0)


def test_requests_are_counted_by_view_and_status(monitor):
    stranger = Client()
    stranger.get("/login/")
    stranger.get("/p/somewhere/")
    stranger.get("/nothing/like/this/")
    stranger.get("/healthz")

    found = read(monitor)

    assert found['karat_requests_total{status="2xx",view="accounts:login"}'] == 1
    assert found['karat_requests_total{status="3xx",view="dashboard:home"}'] == 1
    assert found['karat_requests_total{status="4xx",view="unknown"}'] == 1
    assert found['karat_requests_total{status="2xx",view="healthz"}'] == 1
    assert found['karat_request_duration_seconds_count{view="accounts:login"}'] == 1
    assert found["karat_web_threads_busy"] == 1


def test_whatever_an_outsider_sends_makes_no_series(monitor):
    stranger = Client()
    methods = ["GET", "BREW", "PROPFIND", "A" * 5_000, 'a"} 1']
    paths = [
        "/nothing/",
        "/p/%00/",
        "/a%22%7D%201%0Akarat_database_up%200/",
        "/p/" + "b" * 5_000 + "/",
        "/login/%F0%9F",
    ]
    for number, method in enumerate(methods):
        for path in paths:
            headers = {"host": f"evil-{number}.example", "x-request-id": f'{number}"', "user-agent": f"spider {number}"}
            stranger.generic(method, path, headers=headers)
            stranger.generic(method, path)

    counted = [name for name in read(monitor) if name.startswith("karat_requests_total")]

    views = {re.search('view="(.*?)"', name)[1] for name in counted}
    assert "unknown" in views
    assert views <= {"unknown", "files", *ROUTES}
    assert read(monitor)["karat_database_up"] == 1


def test_every_view_together_is_a_megabyte_and_a_half(monitor):
    """Each view with each of its numbers: what a server tells at most, whatever happens on it."""
    views = [request_counts.UNKNOWN, request_counts.FILES, *ROUTES]
    for view in views:
        request_counts.TIMES.labels(view).observe(0.1)
        for status in request_counts.STATUS_CLASSES:
            request_counts.REQUESTS.labels(view, status).inc()

    answer = monitor.get("/metrics")

    assert answer.content.count(b"karat_requests_total{") == 4 * len(views)
    assert len(answer.content) < 1_500_000


def test_a_grade_and_the_pairs_before_it_are_counted(monitor):
    round_ = make_round(queries=1, annotators=1, overlap=0.0, at=timezone.now())
    person, judge = people_of(round_)[0], Client()
    judge.force_login(person)
    address = f"/api/v1/projects/{round_.project.slug}/judging/rounds/{round_.pk}"

    read_pairs = judge.get(f"{address}/pairs/")
    grade = {"seat": read_pairs.json()["pairs"][0]["seat"], "grade": 1, "idempotency_key": "one"}
    judge.post(f"{address}/judgements/", grade, content_type="application/json")

    found = read(monitor)
    assert found['karat_requests_total{status="2xx",view="judging-api:pairs"}'] == 1
    assert found['karat_requests_total{status="2xx",view="judging-api:judgements"}'] == 1
    assert found["karat_grades_total"] == Judgement.objects.get().pk


@pytest.mark.parametrize("size", [1, 3])
def test_they_take_the_same_few_statements_however_much_there_is(monitor, size):
    for _ in range(size):
        round_ = make_round(queries=size, annotators=1, overlap=0.0, at=timezone.now())
        judge_all(round_, people_of(round_)[0], lambda entry: 1)
        make_job(project=round_.project)
    make_round(make_project(), queries=size)

    with Statements() as found:
        for source in metrics.SOURCES:
            source(timezone.now())
    with Statements() as asked:
        read(monitor)

    assert found.number == STATEMENTS
    assert asked.number == (STATEMENTS if connection.vendor == "sqlite" else 0)  # elsewhere by another connection


def test_when_the_database_is_away_what_the_processes_know_is_still_there(monitor, monkeypatch):
    def away(at):
        raise DatabaseError("connection refused at 10.0.0.3 by user karat")

    monkeypatch.setattr(metrics, "SOURCES", (away,))
    Client().get("/login/")

    found = read(monitor)

    assert found["karat_database_up"] == 0
    assert found['karat_requests_total{status="2xx",view="accounts:login"}'] == 1
    assert "karat_jobs" not in "".join(found)


def test_they_name_no_person_and_no_project(monitor, project):
    person = make_member(project, "lead")
    person.name, person.email = "Ottoline Quennell", "ottoline@example.org"
    person.save()
    Project.objects.filter(pk=project.pk).update(name="Zephyr", slug="zephyr-slug")
    visitor = Client()
    visitor.force_login(person)
    visitor.get("/p/zephyr-slug/")
    visitor.get("/profile/")
    claim_seats(round_=(round_ := make_round(project)), annotator=people_of(round_)[0], n=1, at=timezone.now())

    text = monitor.get("/metrics").content.decode()

    assert re.search("otto|quennell|zephyr|@", text, re.IGNORECASE) is None
    labels = {name for family in parse(text) for sample in family.samples for name in sample.labels}
    assert labels == {"version", "state", "view", "status", "le"}
