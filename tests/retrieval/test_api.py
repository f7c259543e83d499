import json

import pytest
from django.db import DatabaseError, transaction
from django.urls import reverse

from apps.retrieval.models import Run
from tests.factories import make_project
from tests.reading import plain_words
from tests.retrieval.factories import make_pool, make_run, make_snapshot, trec

pytestmark = pytest.mark.django_db

ROWS = [
    {"query_id": "Q01", "block_id": "a", "score": 9.0},
    {"query_id": "Q01", "block_id": "d", "score": 8.5},
    {"query_id": "Q02", "block_id": "c", "score": 1},
]


def url(project, rest=""):
    return f"/api/v1/projects/{project.slug}/runs/{rest}"


def push(client, project, on, **body):
    body = {"snapshot": getattr(on, "digest", on), **body}
    return client.post(url(project), json.dumps(body), content_type="application/json")


def test_a_run_is_pushed_as_rows(lead, project, snapshot):
    answer = push(lead, project, snapshot, tag="night-1", system="ours", rows=ROWS, commit="a1b2", note="nightly")

    assert answer.status_code == 201
    body = answer.json()
    assert (body["is_new"], body["skipped_rows"]) == (True, 0)
    assert body["run"]["tag"] == "night-1"
    assert body["run"]["system"] == "ours"
    assert body["run"]["snapshot"] == snapshot.digest
    assert (body["run"]["state"], body["run"]["query_count"], body["run"]["commit"]) == ("complete", 2, "a1b2")


def test_a_pushed_run_says_what_it_used_and_that_never_changes(lead, project, snapshot):
    usage = {"requests": 148, "errors": 15, "timeouts": 0, "input_tokens": 900}
    pushed = push(lead, project, snapshot, tag="night-1", rows=ROWS, usage=usage)
    same = push(lead, project, snapshot, tag="night-1", rows=ROWS)
    other = push(lead, project, snapshot, tag="night-1", rows=ROWS, usage={**usage, "errors": 14})

    run = pushed.json()["run"]
    assert run["usage"] == usage
    assert round(run["failures"]["errors"]["high"], 4) == 0.1605
    assert (run["failures"]["timeouts"]["value"], run["failures"]["timeouts"]["n"]) == (0, 148)
    assert same.json()["is_new"] is False
    assert (other.status_code, other.json()["code"]) == (409, "tag_taken")
    page = plain_words(lead.get(reverse("retrieval:run", args=[project.slug, run["id"]])))
    assert "Errors</dt><dd>10.1 %" in page
    assert "Used in all: 148 requests, 900 input tokens." in page
    with pytest.raises(DatabaseError, match="what a complete run used never changes"), transaction.atomic():
        Run.objects.filter(pk=run["id"]).update(usage=None)


def test_a_usage_that_cannot_be_is_refused_by_field(lead, project, snapshot):
    answer = push(lead, project, snapshot, tag="night-1", rows=ROWS, usage={"requests": 2, "errors": 3})

    assert answer.status_code == 400
    assert "errors and timeouts are 3 in all, of 2 requests" in answer.content.decode()
    assert not Run.objects.exists()


def test_a_run_is_pushed_as_the_text_of_a_run_file(lead, project, snapshot):
    text = "\n".join(trec([("Q01", "a", 2.0), ("Q01", "b", 1.0)]))

    answer = push(lead, project, snapshot, trec=text)

    assert answer.status_code == 201
    assert answer.json()["run"]["tag"] == "theirs"


@pytest.mark.parametrize(
    ("trec", "said"),
    [
        ("Q01 Q0 a 1 2.0 t\rQ01 Q0 b 2 1.0 t\r", "the line contains a carriage return (CR)"),
        ("Q01 Q0 a 1 2.0 t\nQ01 Q0 b 2 1 8.5 t\n", "7 fields where there must be six"),
    ],
)
def test_a_text_that_would_be_misread_is_refused_with_its_line(lead, project, snapshot, trec, said):
    answer = push(lead, project, snapshot, trec=trec)

    assert answer.status_code == 400
    assert said in answer.content.decode()
    assert not Run.objects.exists()


def test_rows_and_text_of_the_same_rankings_are_the_same_run(lead, project, snapshot):
    push(lead, project, snapshot, tag="theirs", rows=ROWS)

    text = "\n".join(trec([("Q02", "c", 1.0), ("Q01", "a", 9.0), ("Q01", "d", 8.5)]))
    answer = push(lead, project, snapshot, trec=text)

    assert (answer.status_code, answer.json()["is_new"]) == (200, False)
    assert Run.objects.count() == 1


def test_equal_rankings_under_another_tag_keep_their_own_commit(lead, project, snapshot):
    first = push(lead, project, snapshot, tag="night-1", system="ours", rows=ROWS, commit="a1b2")

    other = push(lead, project, snapshot, tag="night-2", system="ours", rows=ROWS, commit="c3d4")

    assert (first.status_code, other.status_code) == (201, 201)
    runs = Run.objects.order_by("pk").values_list("tag", "commit", "system__name")
    assert list(runs) == [("night-1", "a1b2", "ours"), ("night-2", "c3d4", "ours")]
    assert len(set(Run.objects.values_list("digest", flat=True))) == 1


def test_the_same_push_twice_is_one_run(lead, project, snapshot):
    sent = {"tag": "night-1", "system": "ours", "rows": ROWS, "commit": "a1b2", "note": "nightly"}
    first, second = (push(lead, project, snapshot, **sent) for _ in range(2))

    assert (second.status_code, second.json()["run"]) == (200, first.json()["run"])
    assert Run.objects.count() == 1


@pytest.mark.parametrize("line", [{"commit": "c3d4"}, {"note": "another try"}])
def test_the_same_tag_with_another_commit_is_refused_and_not_swallowed(lead, project, snapshot, line):
    push(lead, project, snapshot, tag="night-1", rows=ROWS, commit="a1b2", note="nightly")

    answer = push(lead, project, snapshot, tag="night-1", rows=ROWS, **{"commit": "a1b2", **line})

    assert (answer.status_code, answer.json()["code"]) == (409, "tag_taken")
    assert answer.json()["detail"].startswith("night-1 is already here with these rankings and the ")
    assert Run.objects.get().commit == "a1b2"


def test_the_snapshot_is_named_by_digest_or_by_corpus_and_number(lead, project, snapshot):
    for name in (snapshot.digest[:8], f"{snapshot.corpus.slug}@1"):
        assert push(lead, project, name, tag="t", rows=ROWS).status_code in {200, 201}

    for name in ("ghost@1", snapshot.digest[:7], "x@99999999999999999999"):
        assert push(lead, project, name, tag="t", rows=ROWS).status_code == 400


def test_unknown_ids_are_returned_as_a_problem(lead, project, snapshot):
    row = {"query_id": "Q01", "block_id": "ghost", "score": 1}

    answer = push(lead, project, snapshot, tag="t", rows=[*ROWS, row])

    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
    assert [(e["line"], e["field"], e["value"]) for e in answer.json()["errors"]] == [(4, "block", "ghost")]
    assert push(lead, project, snapshot, tag="t", rows=[*ROWS, row], skip_unknown=True).json()["skipped_rows"] == 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"tag": "t"},
        {"tag": "t", "rows": []},
        {"rows": ROWS},
        {"tag": "t", "rows": ROWS, "trec": "x"},
        {"tag": "t", "rows": [{"query_id": "Q01"}]},
        {"tag": "t", "rows": "Q01"},
        {"tag": "t", "rows": [{"query_id": "Q01", "block_id": "a", "score": "high"}]},
        {"trec": "Q01 Q0 a 1"},
    ],
)
def test_a_wrong_body_is_a_400_and_stores_nothing(lead, project, snapshot, body):
    assert push(lead, project, snapshot, **body).status_code == 400
    assert not Run.objects.exists()


def test_a_refusal_is_a_409_with_its_code(lead, project, snapshot):
    push(lead, project, snapshot, tag="t", rows=ROWS)

    answer = push(lead, project, snapshot, tag="t", rows=ROWS[:1])

    assert (answer.status_code, answer.json()["code"]) == (409, "tag_taken")


def test_too_large_a_body_is_refused(lead, project, snapshot):
    answer = lead.post(url(project), b"{}", content_type="application/json", CONTENT_LENGTH=str(65 * 1024**2))

    assert answer.status_code == 413


def test_runs_and_pools_are_read(lead, project, snapshot):
    run = make_run(project, snapshot)
    pool = make_pool(project, snapshot)

    listed = lead.get(url(project)).json()
    assert (listed["results"][0]["tag"], listed["next"]) == (run.tag, None)
    assert lead.get(url(project, f"{run.pk}/")).json()["latency_ms"].keys() == {"p50", "p95", "p99", "mean", "n"}
    assert lead.get(url(project, "pools/")).json()["results"][0]["entry_count"] == pool.entry_count
    assert "found_by" not in lead.get(url(project, f"pools/{pool.pk}/")).json()


@pytest.mark.parametrize("rows", [1, 3])
def test_the_list_runs_as_many_queries_however_long_it_is(lead, project, snapshot, rows, django_assert_num_queries):
    for number in range(rows):
        push(lead, project, snapshot, tag=f"t{number}", rows=ROWS)

    lead.get(url(project))
    with django_assert_num_queries(4):
        lead.get(url(project))


@pytest.mark.parametrize(("before", "status"), [("1", 200), ("x", 400), ("-1", 400), ("9" * 30, 400)])
def test_the_cursor_is_an_id(lead, project, before, status):
    assert lead.get(url(project, f"?before={before}")).status_code == status


def test_a_push_names_a_snapshot_of_its_project(lead, project):
    strange = make_snapshot(make_project(), {"a": "red"})

    assert push(lead, project, strange, tag="t", rows=ROWS).status_code == 400
