"""Runs of systems elsewhere, against a real server in a process of its own."""

import json
import logging
from urllib.request import urlopen

import pytest
from django.test import override_settings

from apps.accounts.actions.secrets import delete_secret, save_secret
from apps.accounts.models import Secret
from apps.audit.models import Event
from apps.jobs.actions.jobs import cancel_job, retry_job
from apps.jobs.models import Job
from apps.metrics.expected.rules import Returned
from apps.queries.models import Query
from apps.retrieval.actions.pools import PoolRefused, request_pool
from apps.retrieval.actions.runs import request_run
from apps.retrieval.actions.systems import change_pace, create_fusion, create_remote_system
from apps.retrieval.core import ranking
from apps.retrieval.enums import Returns
from apps.retrieval.execution import remote_queries
from apps.retrieval.models import Ranking, Run
from apps.retrieval.rules import SystemRefused
from apps.retrieval.selectors.runs import returned_of
from tests.factories import AT, lead_of
from tests.remote_server import SECRET, TOLD
from tests.retrieval.factories import make_pool, make_run, make_system
from tests.running_jobs import run_jobs

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("opened")]

QUICK = {"tries": 3, "first_wait": 0.01, "read": 1, "whole": 2, "stop_after": 5}


def http(port, path="search", **changes):
    return {
        "url": f"http://127.0.0.1:{port}/{path}",
        "body": '{"q": "{{query}}"}',
        "ids": "hits[*].doc.id",
        "scores": "hits[*].score",
        "strip": "doc:",
        **changes,
    }


def make_remote_system(project, parameters, *, kind="http", name="Elsewhere", **pace):
    return create_remote_system(
        project=project,
        name=name,
        kind=kind,
        parameters=parameters,
        pace={**QUICK, **pace},
        actor=lead_of(project),
        at=AT,
    )


def found(run):
    rows = Ranking.objects.filter(run=run).order_by("query__outside_id").values_list("query__outside_id", "packed")
    return {query: ranking.unpack(bytes(packed))[0].tolist() for query, packed in rows}


def seen(port):
    return json.loads(urlopen(f"http://127.0.0.1:{port}/seen").read())


def test_a_run_sends_every_query_and_is_timed(project, snapshot, port):
    run = make_run(project, snapshot, make_remote_system(project, http(port)))

    assert run.state == "complete"
    assert found(run) == {"Q01": [0, 3], "Q02": [2, 3, 1], "Q03": []}
    assert run.report is None
    assert run.usage == {"requests": 3, "errors": 0, "timeouts": 0}
    assert 0 < run.latency["p50"] < 1_000
    assert seen(port)["words"] == {"red key": 1, "green window": 1, "zebra": 1}


def test_a_run_over_search_of_a_cluster(project, snapshot, port):
    parameters = {"url": f"http://127.0.0.1:{port}", "index": "spring"}
    run = make_run(project, snapshot, make_remote_system(project, parameters, kind="opensearch"))

    assert found(run) == {"Q01": [0, 3], "Q02": [2, 3, 1], "Q03": []}
    assert run.report == {"incomplete": 1, "first_incomplete": [["Q03", "time ran out"]]}


def test_a_get_has_the_query_in_the_address(project, snapshot, port):
    system = make_remote_system(project, http(port, "search?q={{query}}", method="GET", body=""))

    assert found(make_run(project, snapshot, system))["Q01"] == [0, 3]


def test_ids_of_unknown_blocks_are_reported_with_the_run(project, snapshot, port):
    run = make_run(project, snapshot, make_remote_system(project, http(port, "unknown", scores="")))

    assert found(run)["Q01"] == [1, 0]
    assert run.report["unknown"] == 6
    assert run.report["unknown_queries"] == 3
    assert run.report["repeated"] == 3
    assert run.report["first_unknown"][:3] == [["Q01", "nowhere"], ["Q01", "lost"], ["Q02", "nowhere"]]


def test_a_request_to_a_busy_server_is_retried(project, snapshot, port):
    run = make_run(project, snapshot, make_remote_system(project, http(port, "busy")))

    assert run.state == "complete"
    assert run.report == {"retries": 3}
    assert run.usage == {"requests": 6, "errors": 3, "timeouts": 0}
    assert set(seen(port)["words"].values()) == {2}


def test_several_requests_run_at_once(project, snapshot, port):
    make_run(project, snapshot, make_remote_system(project, http(port, "together?n=3"), at_once=3))

    assert seen(port)["most_at_once"] == 3


def test_a_query_without_an_answer_costs_the_others_nothing(project, snapshot, port):
    system = make_remote_system(project, http(port, "moody?no=zebra"))
    run = make_run(project, snapshot, system)

    assert run.state == "failed"
    assert "1 of 3 queries to Elsewhere have no answer, Q03 first" in run.failure
    assert TOLD not in run.failure
    assert set(found(run)) == {"Q01", "Q02"}


def test_failures_are_counted_over_all_attempts_and_timeouts_apart(project, snapshot, port):
    system = make_remote_system(project, http(port, "hang"), tries=2, read=0.1, whole=0.3, stop_after=100)
    run = make_run(project, snapshot, system)
    assert (run.state, run.usage) == ("failed", {"requests": 6, "errors": 0, "timeouts": 6})

    retry_job(job_id=run.job_id, actor=lead_of(project), at=AT)
    run_jobs()

    run.refresh_from_db()
    assert run.usage == {"requests": 12, "errors": 0, "timeouts": 12}


def test_a_retry_sends_only_the_missing_queries(project, snapshot, port):
    run = make_run(project, snapshot, make_remote_system(project, http(port, "moody?no=zebra")))
    before = dict(Ranking.objects.filter(run=run).values_list("query_id", "pk"))
    urlopen(f"http://127.0.0.1:{port}/forget").read()

    retry_job(job_id=run.job_id, actor=lead_of(project), at=AT)
    run_jobs()

    assert set(seen(port)["words"]) == {"zebra"}
    assert dict(Ranking.objects.filter(run=run).values_list("query_id", "pk")) == before


def test_a_run_that_was_interrupted_is_completed_by_the_next_attempt(project, snapshot, port, monkeypatch):
    monkeypatch.setattr(remote_queries, "SHORTEST_PART", 1)
    monkeypatch.setattr(remote_queries, "PARTS_PER_LANE", 1)
    written, write = [], remote_queries.write_rankings

    def write_once(run, query_ids, found, **more):
        if len(written) == 1:
            written.append(None)
            raise OSError("the machine stumbles")
        written.append(query_ids)
        write(run, query_ids, found, **more)

    monkeypatch.setattr(remote_queries, "write_rankings", write_once)
    run = make_run(project, snapshot, make_remote_system(project, http(port), at_once=1))

    assert run.state == "complete"
    assert len(found(run)) == 3
    assert seen(port)["words"]["red key"] == 1


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("broken", "answered 500"),
        ("nowhere-at-all", "nothing at this address (404)"),
        ("redirect", "redirect"),
        ("nonsense", "not JSON"),
        ("nan", "not JSON"),
        ("cut", "closed the connection"),
        ("hang", "did not answer in time"),
    ],
)
def test_a_bad_day_fails_the_run_in_words_that_help(project, snapshot, port, path, words):
    run = make_run(project, snapshot, make_remote_system(project, http(port, path), tries=1, read=0.2, whole=0.5))

    assert run.state == "failed"
    assert words in run.failure
    assert "Q0" in run.failure
    for secret in (TOLD, "169.254"):
        assert secret not in run.failure


def test_an_address_inside_fails_the_run_at_once(project, snapshot, port):
    system = make_remote_system(project, http(port))
    with override_settings(OUTBOUND_ALLOW=()):
        run = make_run(project, snapshot, system)

    assert "KARAT_OUTBOUND_ALLOW" in run.failure
    assert seen(port)["paths"] == {}


def test_a_cancelled_run_sends_no_more_requests(project, snapshot, port, monkeypatch):
    system = make_remote_system(project, http(port), at_once=1, per_second=0.01)
    run = request_run(project=project, system_id=system.pk, snapshot_id=snapshot.pk, actor=lead_of(project), at=AT)
    search_all = remote_queries.search_all

    def cancelled_meanwhile(*args):
        cancel_job(job_id=run.job_id, actor=lead_of(project), at=AT)
        monkeypatch.setattr("apps.jobs.execution.context.PROGRESS_EVERY", 0)
        return search_all(*args)

    monkeypatch.setattr(remote_queries, "search_all", cancelled_meanwhile)
    run_jobs()

    run.refresh_from_db()
    assert (run.state, Job.objects.get(pk=run.job_id).state) == ("failed", "cancelled")
    assert seen(port)["paths"] == {"/search": 1}


def test_a_pool_draws_from_a_system_elsewhere(project, snapshot, port):
    pool = make_pool(project, snapshot, system_ids=[make_remote_system(project, http(port)).pk])

    assert pool.state == "complete"
    assert pool.entry_count == 4


# Secrets


def store_secret(project, value=SECRET, name="search-key"):
    return save_secret(project=project, name=name, value=value, actor=lead_of(project), at=AT)


def locked(port):
    return http(port, "locked", auth={"kind": "bearer", "secret": "search-key"})


def test_a_system_signs_in_with_its_secret(project, snapshot, port):
    store_secret(project)
    run = make_run(project, snapshot, make_remote_system(project, locked(port)))

    assert run.state == "complete"


def test_a_replaced_secret_is_used_from_the_next_run_on(project, snapshot, port):
    store_secret(project, "wrong")
    system = make_remote_system(project, locked(port))
    run = make_run(project, snapshot, system)
    assert "does not accept the secret (401)" in run.failure

    store_secret(project)
    retry_job(job_id=run.job_id, actor=lead_of(project), at=AT)
    run_jobs()

    run.refresh_from_db()
    assert run.state == "complete"


def test_a_system_names_a_secret_that_is_there(project, port):
    with pytest.raises(SystemRefused, match="no secret called search-key"):
        make_remote_system(project, locked(port))


def test_a_deleted_secret_fails_the_run_in_words(project, snapshot, port):
    store_secret(project)
    system = make_remote_system(project, locked(port))
    delete_secret(project=project, secret_id=Secret.objects.get().pk, actor=lead_of(project), at=AT)

    assert "no secret called search-key" in make_run(project, snapshot, system).failure


def test_a_secret_stays_out_of_everything_that_is_stored_or_shown(project, snapshot, port, caplog):
    store_secret(project, "sesame-wrong-8")
    system = make_remote_system(project, locked(port))
    with caplog.at_level(logging.DEBUG):
        run = make_run(project, snapshot, system)
        store_secret(project)
        retry_job(job_id=run.job_id, actor=lead_of(project), at=AT)
        run_jobs()

    kept = [
        list(Run.objects.values()), list(Job.objects.values()), list(Event.objects.values()),
        [system.config, system.digest], caplog.text,
    ]  # fmt: skip
    run.refresh_from_db()
    assert run.state == "complete"
    assert "search-key" in str(kept)
    assert "sesame" not in str(kept)


# Describing systems


def test_the_request_is_part_of_the_identity_and_the_pace_is_not(project, port):
    system = make_remote_system(project, http(port))

    with pytest.raises(SystemRefused, match="Elsewhere already has exactly this configuration"):
        make_remote_system(project, http(port), name="Twin", at_once=8)

    assert make_remote_system(project, http(port, version="2"), name="Next").digest != system.digest


def test_a_system_may_get_a_gentler_pace_and_keeps_its_identity(project, port):
    system = make_remote_system(project, http(port))

    changed = change_pace(system=system, pace={"at_once": 1}, actor=lead_of(project), at=AT)

    assert changed.digest == system.digest
    assert changed.config["pace"] == {**system.config["pace"], "at_once": 1}
    assert Event.objects.get(action="system.paced").after["at_once"] == 1
    with pytest.raises(SystemRefused, match="from 1 to 32"):
        change_pace(system=system, pace={"at_once": 99}, actor=lead_of(project), at=AT)


@pytest.mark.parametrize("url", ["http://user:pw@a.example/{{query}}", "http://0x7f.1/{{query}}", "file:///{{query}}"])
def test_an_address_that_cannot_be_requested_is_rejected_at_once(project, url):
    with pytest.raises(SystemRefused):
        make_remote_system(project, {"url": url, "method": "GET", "ids": "[*]"})


# One query, to see how it goes


def test_a_trial_shows_what_the_ids_come_to(project, snapshot, port):
    trial = remote_queries.try_query(project, "http", http(port), snapshot, "red key")

    assert [(hit.id, hit.score, hit.title) for hit in trial.shown] == [
        ("a", 2.0, "red key opens the red door"),
        ("d", 1.0, "the key to the window"),
    ]
    assert (trial.returned, trial.unknown, trial.failure) == (2, 0, "")
    assert trial.milliseconds > 0


def test_a_trial_marks_unknown_blocks(project, snapshot, port):
    trial = remote_queries.try_query(project, "http", http(port, "unknown", scores="", strip=""), snapshot, "x")

    assert [hit.title is None for hit in trial.shown] == [True, False, False, True, False]
    assert trial.unknown == 2


def test_a_trial_that_fails_says_why(project, snapshot, port):
    assert "answered 500" in remote_queries.try_query(project, "http", http(port, "broken"), snapshot, "x").failure
    with override_settings(OUTBOUND_ALLOW=()):
        assert "KARAT_OUTBOUND_ALLOW" in remote_queries.try_query(project, "http", http(port), snapshot, "x").failure


# Passages of its own --------------------------------------------------------------------------------------------------


def chunks(port, **changes):
    """An endpoint that cuts texts itself, and tells document, page and text."""
    paths = {"documents": "hits[*].doc", "texts": "hits[*].text", "first_pages": "hits[*].page"}
    return http(port, "chunks", ids="", strip="", **paths, **changes)


def returned(run):
    names = dict(Query.objects.filter(project=run.project).values_list("pk", "outside_id"))
    return {names[pk]: top for pk, top in returned_of(run, list(names), with_text=True)}


def test_an_endpoint_with_passages_of_its_own_makes_a_run_of_them(project, snapshot, port):
    run = make_run(project, snapshot, make_remote_system(project, chunks(port)))

    assert (run.state, run.returns, run.report) == ("complete", Returns.PASSAGES, None)
    assert returned(run) == {
        "Q01": [Returned("", "doc", None, "red key a"), Returned("", "doc", (1, 1), "red key d")],
        "Q02": [
            Returned("", "doc", None, "green window c"),
            Returned("", "doc", (1, 1), "green window b"),
            Returned("", "doc", (2, 2), "green window d"),
        ],
        "Q03": [],
    }
    assert 0 < run.latency["p50"] < 1_000


def test_a_cluster_with_passages_of_its_own_makes_a_run_of_them(project, snapshot, port):
    own = {"ids": "", "documents": "_source.file", "texts": "_source.text", "first_pages": "_source.page"}
    parameters = {"url": f"http://127.0.0.1:{port}", "index": "spring", **own}
    run = make_run(project, snapshot, make_remote_system(project, parameters, kind="opensearch"))

    assert (run.state, run.returns) == ("complete", Returns.PASSAGES)
    assert returned(run)["Q01"] == [Returned("", "doc", None, "red key a"), Returned("", "doc", (1, 1), "red key d")]


def test_its_passages_are_cut_at_the_depth_and_without_scores_come_as_they_came(project, snapshot, port):
    run = make_run(project, snapshot, make_remote_system(project, chunks(port, scores="")), depth=1)

    assert [top[0].text for top in returned(run).values() if top] == ["red key a", "green window c"]
    assert run.report == {"cut": 3}


def test_its_results_are_neither_pooled_nor_fused(project, snapshot, port):
    system = make_remote_system(project, chunks(port))
    this = {"project": project, "actor": lead_of(project), "at": AT}

    with pytest.raises(PoolRefused, match="Elsewhere returns passages of its own"):
        request_pool(name="First", snapshot_id=snapshot.pk, system_ids=[system.pk], depth=3, **this)
    with pytest.raises(SystemRefused, match="Elsewhere returns passages of its own"):
        create_fusion(name="Both", system_ids=[system.pk, make_system(project).pk], **this)


def test_a_trial_of_it_shows_the_beginning_of_its_texts(project, snapshot, port):
    trial = remote_queries.try_query(project, "http", chunks(port), snapshot, "red key")

    assert (trial.own, trial.returned, trial.unknown, trial.failure) == (True, 2, 0, "")
    assert trial.shown[0] == remote_queries.TrialResult("doc", 2.0, "red key a")
