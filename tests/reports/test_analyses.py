"""What reports on bias and on stability have in common: the request, who sees them, their list and form, the API."""

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.audit.models import Event
from apps.evaluation.actions.scoring import EvaluationRefused
from apps.reports.models import BiasReport, StabilityReport
from tests.reports.factories import USUAL, compute, request_analysis
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db
SCENE = {"queries": 4, "test_share": 0.0}
NAMES = {BiasReport: "bias", StabilityReport: "stability"}


@pytest.fixture(params=NAMES, ids=NAMES.values())
def kind(request):
    return request.param


def address(scene, kind, report=None, side="reports") -> str:
    if report is None:
        return reverse(f"{side}:{NAMES[kind]}-reports", args=[scene.project.slug])
    return reverse(f"{side}:{NAMES[kind]}", args=[scene.project.slug, report.pk])


@pytest.mark.parametrize(
    ("kind", "turned", "others"),
    [
        (BiasReport, "nDCG@10 P@2", [{"measures": "P@2 nDCG@10"}, {"depth": 3}, {"split": "dev"}]),
        (StabilityReport, "RR nDCG@10", [{"measures": "RR"}, {"split": "dev"}]),
    ],
)
def test_the_same_request_again_is_the_same_report_and_another_is_another(scene, kind, turned, others):
    """The first measure of a bias report decides what to judge first, so their order counts there."""
    report = compute(kind, scene)
    counted = kind.objects.count(), scene.project.jobs.count(), Event.objects.count()

    again = request_analysis(kind, scene, run_ids=[run.pk for run in reversed(scene.runs.values())], measures=turned)

    assert again.pk == report.pk
    assert (kind.objects.count(), scene.project.jobs.count(), Event.objects.count()) == counted
    assert report.pk not in [request_analysis(kind, scene, **other).pk for other in others]


def test_a_computed_report_never_changes(scene, kind):
    report = compute(kind, scene)

    for change in (lambda rows: rows.update(result={}), lambda rows: rows.delete()):
        with pytest.raises(DatabaseError), transaction.atomic():
            change(kind.objects.filter(pk=report.pk))


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        *((kind, {"run_ids": []}, "Choose at least two") for kind in NAMES),
        *((kind, {"split": "train"}, "no split called train") for kind in NAMES),
        *((kind, {"measures": "nope"}, "not a measure") for kind in NAMES),
        (BiasReport, {"depth": 2_000}, "from 0 to 1,000"),
        (StabilityReport, {"measures": "AP Judged@10"}, "Judged@10 measures how much was judged"),
    ],
)
def test_what_cannot_be_reported_is_refused(scene, kind, options, said):
    with pytest.raises(EvaluationRefused, match=said):
        request_analysis(kind, scene, **options)


def test_the_form_requests_a_report_and_waits_for_it(scene, kind, client):
    client.force_login(scene.lead)
    url = reverse(f"reports:request-{NAMES[kind]}", args=[scene.project.slug, scene.version.pk])
    values = {**USUAL[kind], "runs": [run.pk for run in scene.runs.values()], "split": ""}

    answer = client.post(url, values, follow=True)

    assert "waiting for a worker" in answer.content.decode()
    run_jobs()
    assert f"Report {kind.objects.get().pk}" in client.get(address(scene, kind)).content.decode()
    assert client.post(url, {**values, "measures": "nope"}).status_code == 400


def statements_of(client, url: str) -> int:
    client.get(url)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(url).status_code == 200
    return len(queries)


def test_the_pages_run_as_many_statements_for_three_reports_as_for_one(scene, kind, client):
    client.force_login(scene.lead)
    urls = [address(scene, kind), address(scene, kind, compute(kind, scene))]
    one = [statements_of(client, url) for url in urls]

    for measures in ("RR", "AP"):
        compute(kind, scene, measures=measures)

    assert [statements_of(client, url) for url in urls] == one


def test_api_clients_request_a_report_once(scene, kind, client):
    client.force_login(scene.lead)
    runs = [run.pk for run in scene.runs.values()]
    body = {**USUAL[kind], "runs": runs, "version": scene.version.pk}

    def asked(**other):
        url = address(scene, kind, side="reports-api")
        return client.post(url, {**body, **other}, content_type="application/json")

    waiting = asked()
    run_jobs()
    done = asked()

    assert (waiting.status_code, done.status_code) == (202, 200)
    assert (waiting.json()["id"], waiting.json()["result"]) == (done.json()["id"], {})
    assert asked(runs=[1]).status_code == 400
