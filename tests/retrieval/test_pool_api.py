"""Pools over the API, built, read, grown and estimated as on their pages; and the notes of runs."""

import csv
import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.accounts.enums import Role
from apps.judging.models import Judgement
from apps.queries.models import Query
from apps.retrieval.core.sampling import PoolPlan, plan_of
from apps.retrieval.models import Pool, System
from apps.retrieval.selectors import pools
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import make_round
from tests.retrieval.factories import import_lines, make_pool, make_queries, make_run, make_snapshot, make_system, trec
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db

BLOCKS = {f"b{number:02}": f"red text {number}" for number in range(30)}


@pytest.fixture
def snapshot(project):
    make_queries(project)
    return make_snapshot(project, BLOCKS)


@pytest.fixture
def run(project, snapshot):
    rows = [(query, f"b{place:02}", float(20 - place)) for query in ("Q01", "Q02", "Q03") for place in range(12)]
    return import_lines(project, snapshot, trec(rows)).run


@pytest.fixture
def ask(client, project):
    """Asks the API of runs as somebody, with a body or without one."""

    def ask(place="pools/", body=None, by=None):
        client.force_login(by or lead_of(project))
        address = f"/api/v1/projects/{project.slug}/runs/{place}"
        return client.get(address) if body is None else client.post(address, body, content_type="application/json")

    return ask


def described(snapshot, **fields):
    return {"name": "Mine", "snapshot": snapshot.digest, **fields}


# Building


def test_a_pool_is_built_by_its_job_and_read(project, snapshot, run, ask):
    bm25 = make_system(project)

    built = ask(body=described(snapshot, systems=[bm25.pk], runs=[run.pk], depth=3))

    assert built.status_code == 202
    assert (built.json()["state"], built.json()["job"]["state"]) == ("pending", "queued")
    run_jobs()
    pool = ask(f"pools/{built.json()['id']}/").json()
    assert (pool["name"], pool["state"], pool["depth"], pool["run_count"]) == ("Mine", "complete", 3, 2)
    assert pool["plan"]["method"] == "depth"
    found = {share["tag"]: (share["found"], share["alone"]) for share in pool["runs"]}
    assert found["theirs"][0] == 9
    assert pool["entry_count"] == sum(alone for _, alone in found.values()) + 9 - found["theirs"][1]
    assert (pool["grow_refusal"], pool["missing"], pool["job"]["state"]) == (None, None, "done")
    assert "random passages" in pool["missing_refusal"]
    assert [one["id"] for one in ask().json()["results"]] == [pool["id"]]


def test_a_plan_and_the_choice_of_queries_are_taken(project, snapshot, run, ask):
    fields = {"method": "bandit", "pairs": 9, "each": False, "random": 3, "edge": 1, "easy": 2, "seed": 7}

    built = ask(body=described(snapshot, runs=[run.pk], depth=10, same_once=True, **fields))

    plan = PoolPlan("bandit", 9, each=False, random=3, edge=1, easy=2, seed=7, same_once=True, edge_runs=(run.pk,))
    assert plan_of(Pool.objects.get().plan) == plan
    assert built.json()["plan"] == fields | {"same_once": True}
    none_left = ask(body=described(snapshot, name="Other", runs=[run.pk], difficulty="hard"))
    assert none_left.json()["code"] == "no_queries"


def test_the_systems_that_are_built_in_are_made_where_there_is_none(project, snapshot, ask):
    assert ask(body=described(snapshot, built_in=True)).status_code == 202
    assert System.objects.filter(project=project).count() == 2
    again = ask(body=described(snapshot, name="Again", built_in=True))
    assert (again.status_code, "built_in" in again.json()["errors"]) == (400, True)


@pytest.mark.parametrize(
    ("change", "status", "named"),
    [
        ({"name": ""}, 400, "name"),
        ({"snapshot": "nowhere"}, 400, "snapshot"),
        ({"depth": 0}, 400, "depth"),
        ({"method": "guess"}, 400, "method"),
        ({"method": "rrf"}, 400, "pairs"),
        ({"pairs": 5}, 400, "pairs"),
        ({"random": 1_001}, 400, "random"),
        ({"source": "elsewhere"}, 400, "source"),
        ({"deep": 5}, 400, "deep"),
        ({"runs": [10**9]}, 400, "runs"),
        ({"systems": ["bm25"]}, 400, "systems"),
        ({"runs": []}, 409, "no_runs"),
        ({"edge": 1}, 409, "plan"),
    ],
)
def test_a_pool_that_cannot_be_is_not_built(snapshot, run, ask, change, status, named):
    answer = ask(body={**described(snapshot, runs=[run.pk]), **change})

    assert (answer.status_code, named in str(answer.json())) == (status, True)
    assert not Pool.objects.exists()


def test_a_name_is_taken_once(project, snapshot, run, ask):
    assert ask(body=described(snapshot, runs=[run.pk])).status_code == 202
    assert ask(body=described(snapshot, runs=[run.pk])).json()["code"] == "name_taken"


def test_nothing_of_another_project_is_pooled(snapshot, run, ask):
    other = make_project()
    make_queries(other)
    theirs = make_snapshot(other, BLOCKS | {"b99": "red"})
    foreign = make_run(other, theirs)

    assert "runs" in ask(body=described(snapshot, runs=[foreign.pk])).json()["errors"]
    assert "systems" in ask(body=described(snapshot, systems=[foreign.system_id])).json()["errors"]
    assert "snapshot" in ask(body=described(theirs, runs=[run.pk])).json()["errors"]
    pool = make_pool(other, theirs, run_ids=[foreign.pk])
    for place, body in (("", None), ("grow/", {"depth": 9}), ("missing/", {})):
        assert ask(f"pools/{pool.pk}/{place}", body).status_code == 404


# Growing and estimating


def test_a_pool_grows_by_runs_depth_and_samples(project, snapshot, run, ask):
    pool = make_pool(project, snapshot, depth=2, run_ids=[run.pk])
    bm25 = make_system(project)

    grown = ask(f"pools/{pool.pk}/grow/", {"systems": [bm25.pk], "depth": 4, "random": 2})

    assert (grown.status_code, grown.json()["state"]) == (202, "pending")
    run_jobs()
    after = ask(f"pools/{pool.pk}/").json()
    assert (after["state"], after["depth"], after["run_count"], after["plan"]["random"]) == ("complete", 4, 2, 2)
    assert after["sampled"]["random"] == 6
    assert after["missing_refusal"] is None


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({}, 409, "nothing_to_add"),
        ({"depth": 1}, 409, "never loses pairs"),
        ({"pairs": 3}, 409, "no budget"),
        ({"runs": [10**9]}, 400, "runs"),
        ({"name": "Other"}, 400, "name"),
        ({"depth": "deep"}, 400, "depth"),
    ],
)
def test_what_cannot_be_added_is_named(project, snapshot, run, ask, body, status, said):
    pool = make_pool(project, snapshot, depth=2, run_ids=[run.pk])

    answer = ask(f"pools/{pool.pk}/grow/", body)

    assert (answer.status_code, said in str(answer.json())) == (status, True)


def test_what_a_pool_misses_is_estimated_on_request(project, snapshot, run, ask, monkeypatch):
    pool = make_pool(project, snapshot, depth=10, run_ids=[run.pk], plan=PoolPlan(random=20))
    pairs = pool.entries.values_list("query", "version", "version__block__outside_id")
    grades = {(query, version): int(block < "b15") for query, version, block in pairs}
    monkeypatch.setattr(pools, "grade_sources", [lambda asked: grades])

    asked = ask(f"pools/{pool.pk}/missing/", {})
    again = ask(f"pools/{pool.pk}/missing/", {})

    assert (asked.status_code, asked.json()["id"]) == (202, again.json()["id"])
    assert ask(f"pools/{pool.pk}/").json()["missing_job"]["id"] == asked.json()["id"]
    run_jobs()
    told = ask(f"pools/{pool.pk}/").json()
    assert (told["missing_job"], told["missing"]["sampled"], told["missing"]["judged"]) == (None, 60, 60)
    assert (told["missing"]["blocks"]["value"], told["missing"]["relevant"], told["missing"]["found"]) == (15, 15, 30)
    assert told["missing"]["share"]["value"] == pytest.approx(30 / 45)


def test_without_random_passages_nothing_is_estimated(project, snapshot, run, ask):
    pool = make_pool(project, snapshot, run_ids=[run.pk])

    assert ask(f"pools/{pool.pk}/missing/", {}).json()["code"] == "nothing_drawn"


# Notes of runs


def test_a_lead_changes_the_note_and_the_commit_of_a_run_one_by_one(run, ask):
    first = ask(f"{run.pk}/", {"note": "Longer passages.", "commit": "a1b2c3"})
    second = ask(f"{run.pk}/", {"note": "Shorter passages."})

    assert (first.status_code, second.status_code) == (200, 200)
    assert (second.json()["note"], second.json()["commit"]) == ("Shorter passages.", "a1b2c3")
    assert second.json()["digest"] == run.digest
    assert ask(f"{run.pk}/", {"note": ""}).json()["note"] == ""


@pytest.mark.parametrize("body", [{}, {"tag": "other"}, {"commit": "x" * 81}, {"note": None}])
def test_a_wrong_note_is_refused(run, ask, body):
    assert ask(f"{run.pk}/", body).status_code == 400


# Who may


def test_no_rank_and_no_pair_is_in_a_pool(project, snapshot, run, ask):
    pool = make_pool(project, snapshot, run_ids=[run.pk])

    told = ask(f"pools/{pool.pk}/").content

    assert b"b01" not in told
    assert b"rank" not in told


@pytest.mark.parametrize("runs", [1, 3])
def test_the_number_of_queries_does_not_depend_on_the_runs(project, snapshot, ask, runs):
    rows = [("Q01", "b01", 2.0), ("Q02", "b02", 1.0)]
    ids = [import_lines(project, snapshot, trec(rows, tag), system=tag).run.pk for tag in "abc"[:runs]]
    pool = make_pool(project, snapshot, run_ids=ids)
    ask(f"pools/{pool.pk}/")

    with CaptureQueriesContext(connection) as queries:
        assert len(ask(f"pools/{pool.pk}/").json()["runs"]) == runs

    assert len(queries) == 15


# The sheet for somebody who grades elsewhere


def rows_of(answer):
    return list(csv.DictReader(io.StringIO(answer.getvalue().decode("utf-8-sig"))))


def test_the_pairs_go_out_as_a_sheet_without_a_trace_of_who_found_them_and_come_back_as_grades(
    project, snapshot, run, ask, client
):
    """As Excel saves it: with semicolons. Only what was graded comes in."""
    pool = make_pool(project, snapshot, name="May pool", run_ids=[run.pk], plan=PoolPlan(random=2, seed=1), depth=3)
    query = Query.objects.get(project=project, outside_id="Q01")

    answer = ask(f"pools/{pool.pk}/sheet/")
    sent_out = answer.getvalue()
    rows = list(csv.DictReader(io.StringIO(sent_out.decode("utf-8-sig"))))

    assert answer["Content-Disposition"] == 'attachment; filename="may-pool-sheet.csv"'
    assert sent_out == client.get(f"/p/{project.slug}/runs/pools/{pool.pk}/sheet.csv").getvalue()
    assert list(rows[0]) == ["query_id", "query_text", "doc_id", "doc_title", "doc_text", "relevance", "notes"]
    assert len(rows) == pool.entry_count == 15
    assert [(row["query_id"], row["doc_id"]) for row in rows] == sorted((r["query_id"], r["doc_id"]) for r in rows)
    assert (rows[0]["query_text"], rows[0]["doc_text"]) == (query.text, BLOCKS[rows[0]["doc_id"]])
    assert run.tag not in sent_out.decode()

    for row, grade, note in zip(rows, ("2", "0", "1", ""), ("exactly this", "", "so, so", ""), strict=False):
        row |= {"relevance": grade, "notes": note}
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=";")
    writer.writeheader()
    writer.writerows(rows)
    sent = {"file": SimpleUploadedFile("ana.csv", out.getvalue().encode("utf-8-sig")), "person": "Ana"}
    imports = f"/api/v1/projects/{project.slug}/judging/imports/"
    item = client.post(imports, sent | {"format": "auto", "snapshot": snapshot.pk}).json()
    assert client.post(f"{imports}{item['id']}/confirm/").json()["state"] == "applied", item
    given = Judgement.objects.filter(annotator__name="Ana").order_by("pk")
    assert list(given.values_list("grade", "note")) == [(2, "exactly this"), (0, ""), (1, "so, so")]
    assert [each.seat.entry.version.block.outside_id for each in given] == [row["doc_id"] for row in rows[:3]]


def test_how_each_pair_was_chosen_is_for_a_lead_who_has_none_of_them_left_to_judge(project, snapshot, run, ask):
    pool = make_pool(project, snapshot, run_ids=[run.pk], plan=PoolPlan(random=1, seed=1), depth=2)
    address = f"pools/{pool.pk}/sheet/?chosen=yes"

    chosen = [row["chosen"] for row in rows_of(ask(address)) if row["query_id"] == "Q01"]
    assert sorted(chosen) == ["random", f"{run.tag} 1", f"{run.tag} 2"]

    lead = make_member(project, Role.LEAD, Role.ANNOTATOR)
    make_round(project, pool=pool, annotators=[lead], overlap=0.0)
    assert ask(address, by=lead).status_code == 403
    assert "chosen" not in rows_of(ask(f"pools/{pool.pk}/sheet/", by=lead))[0]


def test_a_sheet_has_no_pair_of_a_retired_query_and_a_pool_that_is_not_built_has_none(project, snapshot, run, ask):
    pool = make_pool(project, snapshot, run_ids=[run.pk], depth=2)
    Query.objects.filter(project=project, outside_id="Q02").update(retired_at=AT)

    assert {row["query_id"] for row in rows_of(ask(f"pools/{pool.pk}/sheet/"))} == {"Q01", "Q03"}
    waiting = ask(body=described(snapshot, runs=[run.pk], depth=3)).json()
    answer = ask(f"pools/{waiting['id']}/sheet/")
    assert (answer.status_code, answer.json()["code"]) == (409, "pool_not_complete")
    assert answer.json()["detail"] == "The pool is pending. Its pairs can be downloaded once it is complete."
