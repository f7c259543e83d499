"""Traces are fetched from Langfuse and Phoenix, and come in by the door of any trace file."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from django.db.models import F
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.actions.secrets import save_secret
from apps.audit.models import Event
from apps.common.errors import Refusal
from apps.common.web.outbound import BrokenOff
from apps.corpus.actions.imports import confirm_import, discard_import
from apps.corpus.models import Import
from apps.jobs.actions.jobs import cancel_job, retry_job
from apps.jobs.execution.performing import perform
from apps.jobs.models import Job
from apps.querylogs import actions
from apps.querylogs.core.trace_servers import LANGFUSE, PHOENIX, Wanted
from apps.querylogs.execution import fetching
from apps.querylogs.execution.fetching import folder
from apps.querylogs.models import OfferedQuery
from tests.factories import AT, lead_of, make_project
from tests.jobs.workers import wait_until
from tests.querylogs.factories import draw
from tests.querylogs.test_traces import TEXTS, searched
from tests.running_jobs import run_jobs
from tests.trace_server import KEY, PUBLIC, SECRET, TOLD, TraceServer, running_traces
from tests.triples.factories import make_snapshot

pytestmark = pytest.mark.django_db
SINCE, UNTIL = "2026-08-04T00:00:00Z", "2026-08-05T00:00:00Z"
SERVERS = {"langfuse 4": (LANGFUSE, 4), "langfuse 3": (LANGFUSE, 3), "phoenix": (PHOENIX, 4)}


@pytest.fixture(autouse=True)
def _own_folder(settings, tmp_path, monkeypatch):
    settings.DATA_DIR, settings.MEDIA_ROOT = tmp_path, tmp_path / "files"
    monkeypatch.setattr(fetching, "PACE", replace(fetching.PACE, tries=3, first_wait=0.01))


@pytest.fixture
def project():
    project = make_project()
    make_snapshot(project, TEXTS)
    for name, value in (("langfuse", SECRET), ("phoenix", KEY), ("wrong", "sk-lf-not-this-one")):
        save_secret(project=project, name=name, value=value, actor=lead_of(project), at=AT)
    return project


@pytest.fixture(params=SERVERS)
def either(request):
    kind, version = SERVERS[request.param]
    with running_traces(searched(), version=version) as server:
        yield kind, server


def request(project, kind: str, server: TraceServer, *, secret: str = "", since=SINCE, until=UNTIL, **wanted) -> Job:
    named = {"project": "my assistant"} if kind == PHOENIX else {}
    origin = {"server": kind, "address": server.url, "wanted": Wanted(since, until, **named, **wanted).as_json()}
    return actions.request_fetch(
        project=project,
        origin=origin,
        user=PUBLIC if kind == LANGFUSE else "",
        secret=secret or kind,
        name="Traces of August",
        source="",
        grades_back=False,
        actor=lead_of(project),
        at=AT,
    )


def fetched(job: Job, django_capture_on_commit_callbacks=None) -> Job:
    run_jobs()
    job.refresh_from_db()
    return job


def import_of(job: Job) -> Import:
    assert job.state == "done", job.error
    return Import.objects.get(pk=job.result["import_id"])


def test_the_searches_of_every_server_are_those_of_a_file(either, project):
    kind, server = either

    item = import_of(fetched(request(project, kind, server)))

    figures = item.plan["log"]
    assert (figures["searches"], figures["queries"], figures["left_out"]["total"]) == (12, 2, 0)
    assert {run["name"]: (run["queries"], run["depth"]) for run in figures["runs"]} == {
        "assist-search": (2, 4), "assist-rerank": (1, 2),
    }  # fmt: skip
    assert figures["conversations"] == {"conversations": 6, "searches": 12, "follow": 6}
    assert figures["located"]["lost"] == 1
    assert len(server.seen) > 3, "it came on one page"
    log = draw(item)
    offered = OfferedQuery.objects.filter(log=log).values_list("text", "people")
    assert dict(offered) == {"how are keys rotated": 6, "and who deletes the old one": 6}


def test_the_file_has_of_a_language_model_nothing_that_it_was_asked(project, monkeypatch):
    with running_traces(searched()) as server:
        item = import_of(fetched(request(project, LANGFUSE, server)))

    lines = [json.loads(line) for line in item.upload.file_here().read_text().splitlines()]
    models = [one for one in lines if one["span_kind"] == "GENERATION"]
    assert len(models) == 12
    assert all(one["attributes"].keys() == {"user.id", "session.id"} for one in models)


def test_nothing_raw_stays_once_the_queries_are_drawn(either, project, django_capture_on_commit_callbacks):
    kind, server = either
    with django_capture_on_commit_callbacks(execute=True):
        item = import_of(fetched(request(project, kind, server)))
    assert [*folder().iterdir()] == []

    place = item.upload.place
    with django_capture_on_commit_callbacks(execute=True):
        confirm_import(import_id=item.pk, actor=lead_of(project), at=AT)

    assert not place.exists()


def test_a_filter_chooses_traces(project):
    for version in (3, 4):
        with running_traces(searched(), version=version) as server:
            for trace in server.traces[:4]:
                trace["tags"] = ["beta", "search"]

            item = import_of(fetched(request(project, LANGFUSE, server, tags=["beta", "search"])))

            assert item.plan["log"]["searches"] == 4


def test_a_time_without_searches_says_so(project):
    with running_traces(searched()) as server:
        job = fetched(request(project, LANGFUSE, server, since="2026-08-05T00:00:00Z", until="2026-08-06T00:00:00Z"))

    assert (job.state, job.attempt) == ("failed", 1)
    assert job.error.startswith("None of 0 spans is a search")


def test_the_same_searches_are_not_fetched_twice(either, project):
    kind, server = either
    waiting = request(project, kind, server)
    with pytest.raises(Refusal, match="were fetched with this filter already"):
        request(project, kind, server, since="2026-08-04T12:00:00Z")
    item = import_of(fetched(waiting))

    with pytest.raises(Refusal, match="were fetched with this filter already"):
        request(project, kind, server, until="2026-08-04T09:30:00Z")
    draw(item)
    with pytest.raises(Refusal, match="were fetched with this filter already"):
        request(project, kind, server)

    request(project, kind, server, since=UNTIL, until="2026-08-06T00:00:00Z")
    assert Job.objects.filter(kind=fetching.FETCH).count() == 2


def test_after_its_import_is_discarded_a_time_is_fetched_again(project):
    with running_traces(searched()) as server:
        item = import_of(fetched(request(project, LANGFUSE, server)))
        discard_import(import_id=item.pk, actor=lead_of(project), at=AT)

        again = import_of(fetched(request(project, LANGFUSE, server)))

    assert again.pk != item.pk


def test_of_a_failed_job_that_is_retried_after_another_nothing_comes_in_twice(project):
    with running_traces(searched()) as server:
        server.failures = [(401, {})]
        first = fetched(request(project, LANGFUSE, server))
        import_of(fetched(request(project, LANGFUSE, server)))
        retry_job(job_id=first.pk, actor=lead_of(project), at=AT)
        first = fetched(first)

    assert first.state == "failed"
    assert "were fetched with this filter already" in first.error
    assert Import.objects.filter(project=project, kind="log").count() == 1


def test_a_wrong_key_is_said_plainly_and_at_once(either, project):
    kind, server = either

    job = fetched(request(project, kind, server, secret="wrong"))

    assert (job.state, job.attempt, len(server.seen)) == ("failed", 1, 1)
    assert "does not accept the secret (401)" in job.error


def test_a_busy_server_is_asked_again_after_as_long_as_it_says(either, project, monkeypatch):
    kind, server = either
    waits = []
    monkeypatch.setattr(fetching, "wait_in", lambda ctx, seconds: waits.append(seconds))
    server.failures = [(429, {"Retry-After": "7"}), (503, {})]

    item = import_of(fetched(request(project, kind, server)))

    assert item.plan["log"]["searches"] == 12
    assert (waits[0], len(waits)) == (7.0, 2)


def test_a_server_that_stays_away_ends_the_job_after_some_tries(project, monkeypatch):
    monkeypatch.setattr(fetching, "wait_in", lambda ctx, seconds: None)
    with running_traces(searched()) as server:
        server.failures = [(503, {})] * 20
        job = fetched(request(project, LANGFUSE, server))

    assert (job.state, len(server.seen)) == ("failed", 3)
    assert job.error == "Langfuse: The server answered 503."


def test_an_attempt_goes_on_where_the_last_one_was_cut_off(either, project, monkeypatch):
    kind, server = either
    job = request(project, kind, server)
    pages = []
    once = fetching.asked

    def cut(send, asked, *rest, **options):
        if len(pages) == 2:
            pages.append("cut")
            with (folder() / f"{job.pk}.jsonl").open("ab") as out:
                out.write(b'{"half a li')
            raise BrokenOff("the power went")
        pages.append(asked.path)
        return once(send, asked, *rest, **options)

    monkeypatch.setattr(fetching, "asked", cut)

    item = import_of(fetched(job))

    assert job.attempt == 2
    assert item.plan["log"]["searches"] == 12
    paths = [one for one in pages if one != "cut"]
    assert len(paths) == len(set(paths)), "a page was asked for twice"


def test_of_an_attempt_that_is_overtaken_at_its_end_no_file_stays(project, monkeypatch, settings):
    """Its worker froze: another one has the job, and this one's commit fails."""
    kept = fetching.start_import

    def overtaken(**about):
        item = kept(**about)
        Job.objects.filter(kind=fetching.FETCH).update(attempt=F("attempt") + 1)
        return item

    monkeypatch.setattr(fetching, "start_import", overtaken)
    with running_traces(searched()) as server:
        job = request(project, LANGFUSE, server)
        perform(job.pk, worker="test", clock=timezone.now, with_heartbeat=False)

    assert not Import.objects.exists()
    assert [path for path in Path(settings.MEDIA_ROOT, "uploads").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("ends", ["failed", "cancelled"])
def test_the_file_goes_with_a_job_that_ends_without_an_import(project, ends, django_capture_on_commit_callbacks):
    with running_traces(searched()) as server, django_capture_on_commit_callbacks(execute=True):
        server.failures = [(500, {})] * 9 if ends == "failed" else []
        job = request(project, LANGFUSE, server)
        folder().mkdir()
        (folder() / f"{job.pk}.jsonl").write_text("what people asked")
        if ends == "cancelled":
            cancel_job(job_id=job.pk, actor=lead_of(project), at=AT)
        job = fetched(job)

    assert job.state == ends
    assert [*folder().iterdir()] == []


def test_a_file_of_a_job_that_ended_elsewhere_is_deleted_by_the_hour(project):
    with running_traces(searched()) as server:
        job = request(project, LANGFUSE, server)
    folder().mkdir()
    for number in (job.pk, job.pk + 1):
        (folder() / f"{number}.jsonl").write_text("what people asked")

    actions.delete_unread(AT)

    assert [path.name for path in folder().iterdir()] == [f"{job.pk}.jsonl"]


@pytest.mark.parametrize("answer", [{"data": {}}, {"data": ["text"]}, [], {"message": TOLD}])
def test_an_answer_that_is_no_page_is_refused_without_its_words(project, answer, monkeypatch):
    with running_traces(searched()) as server:
        monkeypatch.setattr(server, "langfuse", lambda *_: (200, answer))
        job = fetched(request(project, LANGFUSE, server))

    assert job.state == "failed"
    assert "not a page of traces" in job.error
    assert TOLD not in job.error


def test_a_server_whose_next_page_is_the_same_is_left(project, monkeypatch):
    with running_traces(searched()) as server:
        endless = {"data": [], "meta": {"cursor": "again"}}
        monkeypatch.setattr(server, "langfuse", lambda *_: (200, endless))
        job = fetched(request(project, LANGFUSE, server))

    assert "does not say where its next page begins" in job.error
    assert len(server.seen) == 2


def test_a_phoenix_that_takes_no_notice_of_a_filter_is_refused(project):
    with running_traces(searched()) as server:
        job = fetched(request(project, PHOENIX, server, attribute="metadata.tenant:acme"))

    assert "This Phoenix does not filter by attributes" in job.error


def over_the_api(project, **body):
    client = Client()
    client.force_login(lead_of(project))
    about = {"server": LANGFUSE, "public_key": PUBLIC, "secret": LANGFUSE, "since": SINCE, "until": UNTIL}
    address = reverse("querylogs-api:fetch", args=[project.slug])
    return client.post(address, about | body, content_type="application/json")


def test_the_api_fetches_too(project):
    with running_traces(searched()) as server:
        answer = over_the_api(project, address=server.url, since="2026-08-04T02:00+02:00", tags="")
        job = fetched(Job.objects.get(pk=answer.json()["job"]))
        again = over_the_api(project, address=f"{server.url}/")

    assert answer.status_code == 202
    assert fetching.last_server(project) == {"server": LANGFUSE, "address": server.url}
    assert import_of(job).options["name"] == "Langfuse, 2026-08-04 to 2026-08-05"
    assert (again.status_code, again.json()["code"]) == (409, "fetched_already")


@pytest.mark.parametrize(
    ("body", "field", "words"),
    [
        ({"since": "yesterday"}, "since", "“yesterday” is no time"),
        ({"until": SINCE}, "until", "not after the beginning"),
        ({"secret": ""}, "secret", "a public key and a secret key"),
        ({"public_key": "pk:sk"}, "public_key", "no colon"),
        ({"address": "ftp://there"}, "address", "neither https:// nor http://"),
        ({"address": "https://me:word@there"}, "address", "name or password"),
        ({"address": "https://there/?key=word"}, "address", "Leave out what begins"),
        ({"attribute": "a:b"}, "attribute", "Langfuse has no such thing"),
        ({"server": PHOENIX, "public_key": ""}, "project_name", "which project of Phoenix"),
        ({"server": PHOENIX, "project_name": "p", "attribute": "a"}, "attribute", "a colon and its value"),
        ({"server": PHOENIX, "project_name": "p", "tags": "a, b"}, "tags", "Phoenix has no such thing"),
    ],
)
def test_what_is_wrong_with_a_request_is_said_at_its_field(project, body, field, words):
    answer = over_the_api(project, **{"address": "https://cloud.langfuse.com"} | body)

    assert answer.status_code == 400
    assert words in str(answer.json()["errors"][field])
    assert not Job.objects.filter(kind=fetching.FETCH).exists()


def test_an_address_inside_the_network_is_not_asked(project, settings):
    with running_traces(searched()) as server:
        settings.OUTBOUND_ALLOW = ()
        job = fetched(request(project, LANGFUSE, server))

    assert job.state == "failed"
    assert "KARAT_OUTBOUND_ALLOW" in job.error
    assert server.seen == []


def test_the_key_is_in_no_row_page_or_log(either, project, caplog):
    kind, server = either
    job = fetched(request(project, kind, server, secret="wrong"))
    job = fetched(request(project, kind, server))
    client = Client()
    client.force_login(lead_of(project))

    pages = [
        client.get(path).content.decode()
        for path in (
            f"/p/{project.slug}/jobs/{job.pk}/",
            f"/p/{project.slug}/imports/{job.result['import_id']}/",
            f"/p/{project.slug}/queries/logs/fetch/",
        )
    ]
    rows = [*Job.objects.values(), *Import.objects.values("options", "plan"), *Event.objects.values("before", "after")]
    for text in (*pages, caplog.text, repr(rows), *(path.read_text() for path in folder().iterdir())):
        for key in (SECRET, KEY, "sk-lf-not-this-one"):
            assert key not in text


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_killed_in_the_middle_it_fetches_each_page_once_and_makes_one_import(either, project, workers, settings):
    kind, server = either
    settings.DATA_DIR, settings.MEDIA_ROOT = workers.data_dir, workers.data_dir / "files"
    workers.environment |= {
        "KARAT_OUTBOUND_ALLOW": server.url.removeprefix("http://"),
        "SECRET_KEY": settings.SECRET_KEY,
    }
    server.held_at = 3
    job = request(project, kind, server)

    worker = workers.start()
    wait_until(lambda: len(server.seen) == 3 or Job.objects.get(pk=job.pk).is_ended, "the third request")
    assert Job.objects.get(pk=job.pk).state == "running"
    workers.kill(worker)
    server.go_on.set()
    workers.start()
    wait_until(lambda: Job.objects.get(pk=job.pk).is_ended, "the end of the job")
    wait_until(lambda: not any(folder().iterdir()), "the end of its file")
    workers.stop()

    job.refresh_from_db()
    assert (import_of(job).plan["log"]["searches"], job.attempt) == (12, 2)
    assert Import.objects.filter(project=project, kind="log").count() == 1
    asked = [path for number, path in enumerate(server.seen, start=1) if number != 3]
    assert len(asked) == len(set(asked)), "a page was asked for twice"
