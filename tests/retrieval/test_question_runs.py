"""Runs on the questions of a version, by every way that makes or brings in a run."""

import csv
import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from apps.goldsets.enums import VersionState
from apps.goldsets.selectors.questions import questions_of
from apps.jobs.models import Upload
from apps.queries.models import Query
from apps.retrieval.actions.pools import request_pool
from apps.retrieval.actions.runs import request_run
from apps.retrieval.enums import RunState
from apps.retrieval.models import PoolQuery, Ranking, Run
from apps.retrieval.rules import RunRefused
from apps.retrieval.selectors.question_sets import QueryChoice, queries_in
from apps.triples.models import AskedRevision
from tests.factories import AT, lead_of
from tests.goldsets.factories import Bench, draft, make_bench, make_version
from tests.module_rows import rows_of_module
from tests.retrieval.factories import as_upload, make_system, trec
from tests.review.factories import make_accepted_from
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db
BOTH = QueryChoice(questions="handbook/v1")


@rows_of_module
def bench() -> Bench:
    bench = make_bench()
    make_version(VersionState.RELEASED, bench)
    return bench


@pytest.fixture
def lead(client, bench):
    client.force_login(bench.lead)
    return client


def asked(bench: Bench) -> Query:
    return AskedRevision.objects.get(revision__triple__project=bench.project).query


def names(run: Run) -> list[str]:
    """The outside ids of the queries that the run answers."""
    ranked = Ranking.objects.filter(run=run).order_by("query__outside_id")
    return list(ranked.values_list("query__outside_id", flat=True))


def wanted(bench: Bench) -> list[str]:
    return [question.outside_id for question in questions_of(bench.project.gold_sets.get().versions.get(number=1))]


def at(name: str, bench: Bench, *args: object) -> str:
    return reverse(f"retrieval:{name}", args=[bench.project.slug, *args])


def test_a_run_on_the_questions_of_a_version_ranks_its_queries_and_the_questions_of_its_triples(bench):
    system = make_system(bench.project)
    at_now = {"actor": bench.lead, "at": AT}

    run = request_run(project=bench.project, system_id=system.pk, snapshot_id=bench.snapshot.pk, choice=BOTH, **at_now)
    run_jobs()

    run.refresh_from_db()
    assert (run.state, names(run)) == (RunState.COMPLETE, wanted(bench))
    assert asked(bench).outside_id in names(run)
    assert Ranking.objects.get(run=run, query=asked(bench)).length > 0


def test_without_a_version_a_run_asks_no_questions_of_triples(bench):
    assert asked(bench) not in queries_in(bench.project)
    assert asked(bench) in queries_in(bench.project, BOTH)


def test_questions_of_a_version_are_not_filtered(bench):
    system = make_system(bench.project)

    with pytest.raises(RunRefused, match="Choose one of them"):
        request_run(
            project=bench.project,
            system_id=system.pk,
            snapshot_id=bench.snapshot.pk,
            choice=QueryChoice(questions="handbook/v1", domain="rivers"),
            actor=bench.lead,
            at=AT,
        )


def test_the_form_of_a_run_offers_the_questions_of_each_version(lead, bench):
    draft(bench)
    system = make_system(bench.project)
    page = lead.get(at("system", bench, system.pk)).content.decode()
    assert "All queries, or those of the filters below" in page
    assert "Questions of Handbook v1" in page
    assert "Questions of Handbook as it is now" in page

    form = {"snapshot": bench.snapshot.pk, "depth": 10, "questions": "handbook/v1"}
    sent = lead.post(at("system", bench, system.pk), form)
    run_jobs()

    assert sent.status_code == 302
    assert names(Run.objects.get()) == wanted(bench)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"questions": "handbook/v1", "difficulty": "hard"}, "Choose one of them"),
        ({"questions": "handbook/v7"}, "Select a valid choice"),
    ],
)
def test_the_form_says_what_cannot_be_chosen(lead, bench, more, says):
    system = make_system(bench.project)

    answer = lead.post(at("system", bench, system.pk), {"snapshot": bench.snapshot.pk, "depth": 10, **more})

    assert answer.status_code == 400
    assert says in answer.content.decode()
    assert not Run.objects.exists()


def test_the_api_runs_a_system_on_the_questions_of_a_version(lead, bench):
    system = make_system(bench.project)
    address = reverse("systems-api:run", args=[bench.project.slug, system.pk])
    body = {"snapshot": bench.snapshot.digest, "questions": "handbook/v1"}

    answer = lead.post(address, json.dumps(body), content_type="application/json")
    run_jobs()
    unknown = lead.post(address, json.dumps(body | {"questions": "handbook/v7"}), content_type="application/json")

    assert answer.status_code == 202
    assert names(Run.objects.get()) == wanted(bench)
    assert (unknown.status_code, "there are: handbook/v1, handbook" in unknown.content.decode()) == (400, True)


def test_the_command_runs_a_system_on_the_questions_of_a_version(bench):
    place = ["--project", bench.project.slug, "--snapshot", f"{bench.snapshot.corpus.slug}@1"]
    out = io.StringIO()

    call_command("run", *place, "--system", "bm25", "--questions", "handbook/v1", stdout=out)
    with pytest.raises(CommandError, match="Available: handbook/v1, handbook") as ended:
        call_command("run", *place, "--system", "bm25", "--questions", "handbook/v7")
    with pytest.raises(CommandError, match="There is no system Ours"):
        call_command("run", *place, "--system", "Ours")

    run = Run.objects.get()
    assert names(run) == wanted(bench)
    assert out.getvalue() == f"bm25@1: {len(wanted(bench))} queries, sha256 {run.digest}\n"
    assert ended.value.returncode == 2


def test_the_command_runs_all_queries_or_leaves_the_run_to_a_worker(bench):
    place = ["--project", bench.project.slug, "--snapshot", f"{bench.snapshot.corpus.slug}@1"]
    out = io.StringIO()

    call_command("run", *place, "--system", "tfidf", "--queue", "--tag", "later", stdout=out)
    assert out.getvalue().startswith("Queued: later, job ")
    run_jobs()

    assert names(Run.objects.get()) == list(queries_in(bench.project).values_list("outside_id", flat=True))


def test_an_uploaded_run_names_a_question_by_id_label_or_text(lead, bench):
    question = asked(bench)
    for number, name in enumerate([question.outside_id, question.text]):
        lines = ["query,passage,score", f'"{name}",access,{number + 1}']
        file = as_upload(lines, f"theirs{number}.csv")
        lead.post(at("upload", bench), {"file": file, "snapshot": bench.snapshot.pk, "system": "Theirs"})
        lead.post(at("confirm", bench, Upload.objects.latest("pk").pk))

    assert [names(run) for run in Run.objects.order_by("pk")] == [[question.outside_id]] * 2


def test_the_label_of_a_triple_names_its_own_query(lead, bench):
    """As in a file of results whose question ids are those of the exported triples."""
    query = Query.objects.filter(project=bench.project).first()
    triple = make_accepted_from(query, bench.snapshot)
    file = as_upload(trec([(triple.label, "access", 1.0)]))

    lead.post(at("upload", bench), {"file": file, "snapshot": bench.snapshot.pk})
    lead.post(at("confirm", bench, Upload.objects.get().pk))

    assert names(Run.objects.get()) == [query.outside_id]


def test_the_questions_of_a_version_are_downloaded_with_their_ids(lead, bench):
    page = lead.get(at("upload", bench)).content.decode()
    assert 'upload/queries.csv?questions=handbook/v1" download>questions of Handbook v1' in page

    answer = lead.get(f"{at('queries-csv', bench)}?questions=handbook/v1")
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))

    assert [row["query"] for row in rows] == wanted(bench)
    assert {row["query"]: row["text"] for row in rows}[asked(bench).outside_id] == asked(bench).text
    assert 'filename="handbook-v1-questions.csv"' in answer["Content-Disposition"]
    assert lead.get(f"{at('queries-csv', bench)}?questions=handbook/v7").status_code == 404


def test_pools_are_made_of_queries_alone(bench):
    system = make_system(bench.project)
    request_run(
        project=bench.project, system_id=system.pk, snapshot_id=bench.snapshot.pk, choice=BOTH, actor=bench.lead, at=AT
    )
    run_jobs()

    pool = request_pool(
        project=bench.project,
        name="Second",
        snapshot_id=bench.snapshot.pk,
        run_ids=[Run.objects.get().pk],
        depth=3,
        actor=lead_of(bench.project),
        at=AT,
    )
    run_jobs()

    pooled = PoolQuery.objects.filter(pool=pool)
    assert pooled.count() == Query.objects.filter(project=bench.project, retired_at=None).count()
    assert not pooled.filter(query__is_asked=True).exists()


def test_the_page_of_the_run_shows_the_results_of_a_question(lead, bench):
    system = make_system(bench.project)
    run = request_run(
        project=bench.project, system_id=system.pk, snapshot_id=bench.snapshot.pk, choice=BOTH, actor=bench.lead, at=AT
    )
    run_jobs()

    page = lead.get(f"{at('run', bench, run.pk)}?find={asked(bench).outside_id}").content.decode()

    assert asked(bench).text in page
