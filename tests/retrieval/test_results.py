"""Runs of passages of a system's own: read, previewed, imported, shown, downloaded; and refused where grades count."""

import csv
import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from apps.jobs.models import Upload
from apps.metrics.expected.rules import Returned
from apps.queries.models import Query
from apps.retrieval.core.ranking import as_stored
from apps.retrieval.enums import Returns
from apps.retrieval.execution import run_reading
from apps.retrieval.models import Ranking, Run
from apps.retrieval.selectors.runs import returned_of
from tests.common.workbooks import workbook
from tests.judging.archives import parquet_of
from tests.judging.factories import make_pool, make_round
from tests.retrieval.factories import TEXTS, import_lines, make_queries, make_snapshot, trec
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db

LINES = [
    {"qid": "Q01", "rank": 2, "text": "Key cabinets are red."},
    {"qid": "Q01", "rank": 1, "id": "chunk-7", "document_id": "handbook", "pages": [3, 4], "text": "A red key."},
    {"qid": "green window", "rank": 1, "document_id": "rules", "pages": [5, 5]},
]
RETURNED = {
    "Q01": [Returned("chunk-7", "handbook", (3, 4), "A red key."), Returned(text="Key cabinets are red.")],
    "Q02": [Returned(document_id="rules", pages=(5, 5))],
}
TABLE = [
    ["qid", "rank", "id", "document_id", "pages", "text"],
    ["Q01", "2", "", "", "", "Key cabinets are red."],
    ["Q01", "1", "chunk-7", "handbook", "3-4", "A red key."],
    ["green window", "1", "", "rules", "5", ""],
]


@pytest.fixture
def snapshot(project):
    """Four texts in three documents, and the three queries that ask for them."""
    make_queries(project)
    return make_snapshot(project, documents={"b": "handbook", "c": "rules"})


def jsonl(*lines: dict, name: str = "chunks.jsonl") -> io.BytesIO:
    file = io.BytesIO("\n".join(map(json.dumps, lines)).encode())
    file.name = name
    return file


def table(rows: list[list[str]], name: str = "chunks.csv") -> io.BytesIO:
    file = io.BytesIO("\n".join(",".join(row) for row in rows).encode())
    file.name = name
    return file


def book(rows: list[list[str]]) -> io.BytesIO:
    file = io.BytesIO(workbook({"Results": rows}))
    file.name = "chunks.xlsx"
    return file


def at(name: str, project, *args: object) -> str:
    return reverse(f"retrieval:{name}", args=[project.slug, *args])


def send(client, project, snapshot, file: io.BytesIO):
    return client.post(at("upload", project), {"file": file, "snapshot": snapshot.pk, "system": "Chunks"})


def import_results(client, project, snapshot, file: io.BytesIO | None = None) -> Run:
    send(client, project, snapshot, file or jsonl(*LINES))
    client.post(at("confirm", project, Upload.objects.latest("pk").pk))
    return Run.objects.latest("pk")


def returned(run: Run) -> dict[str, list[Returned]]:
    names = dict(Query.everything.filter(project=run.project).values_list("pk", "outside_id"))
    return {names[pk]: top for pk, top in returned_of(run, list(names), with_text=True)}


@pytest.mark.parametrize("file", [lambda: jsonl(*LINES), lambda: table(TABLE), lambda: book(TABLE)])
def test_results_are_previewed_and_become_a_run_that_returns_passages(lead, project, snapshot, file):
    sent = send(lead, project, snapshot, file())
    page = lead.get(sent.url).content.decode()
    assert "Every question in the file exists in this project." in page
    assert "passages of its own, in the order of their ranks" in page
    assert not Run.objects.exists()

    lead.post(at("confirm", project, Upload.objects.get().pk))

    run = Run.objects.get()
    assert (run.tag, run.system.name, run.returns, run.depth) == ("chunks", "Chunks", Returns.PASSAGES, 2)
    assert returned(run) == RETURNED
    assert not any(bytes(packed) for packed in Ranking.objects.values_list("packed", flat=True))


def test_a_line_of_the_file_says_what_the_run_used_and_a_lead_may_type_it(lead, project, snapshot):
    usage = {"requests": 3, "errors": 1}
    run = import_results(lead, project, snapshot, jsonl({"usage": usage}, *LINES))
    fields = {"snapshot": snapshot.pk, "tag": "typed"}
    lead.post(at("upload", project), {"file": jsonl(*LINES), "usage": "requests=4 timeouts=2", **fields})
    lead.post(at("confirm", project, Upload.objects.latest("pk").pk))
    refused = lead.post(at("upload", project), {"file": jsonl(*LINES), "usage": "requests=4 timeouts=5", **fields})
    wrong = send(lead, project, snapshot, jsonl(*LINES, {"usage": {"requests": 1, "errors": 2}}))

    assert (run.usage, returned(run)) == (usage, RETURNED)
    assert Run.objects.get(tag="typed").usage == {"requests": 4, "timeouts": 2}
    assert "errors and timeouts are 5 in all, of 4 requests" in refused.content.decode()
    page = lead.get(wrong.url).content.decode()
    assert "usage.errors" in page
    assert "errors and timeouts are 2 in all, of 1 requests" in page


def test_the_same_results_under_the_same_tag_change_nothing(lead, project, snapshot):
    run = import_results(lead, project, snapshot)

    again = send(lead, project, snapshot, jsonl(*LINES))

    assert "This run is already here" in lead.get(again.url).content.decode()
    assert import_results(lead, project, snapshot) == run


def test_what_a_rag_evaluation_has_retrieved_is_a_run(lead, project, snapshot):
    line = {"user_input": "green window", "retrieved_contexts": ["A green window.", "Rules."], "reference": "Green."}

    run = import_results(lead, project, snapshot, jsonl(line, name="eval.jsonl"))

    assert (run.tag, run.returns) == ("eval", Returns.PASSAGES)
    assert returned(run) == {"Q02": [Returned(text="A green window."), Returned(text="Rules.")]}


def test_mistakes_are_listed_with_line_field_and_value_and_nothing_is_imported(lead, project, snapshot):
    sent = send(
        lead,
        project,
        snapshot,
        jsonl(LINES[0], LINES[0] | {"rank": "1"}, {"qid": "Q77", "rank": 1, "id": "b1"}, LINES[0] | {"qid": "red key"}),
    )

    page = lead.get(sent.url).content.decode()
    mistakes = lead.get(at("mistakes", project, Upload.objects.get().pk)).content.decode().splitlines()

    assert "The file cannot be imported as it is." in page
    assert mistakes[1].startswith("chunks.jsonl,2,rank,1,")
    assert mistakes[2].startswith("chunks.jsonl,3,qid,Q77,")
    assert mistakes[3].startswith("chunks.jsonl,4,qid,red key,")
    assert len(mistakes) == 4
    lead.post(at("confirm", project, Upload.objects.get().pk))
    assert not Run.objects.exists()


WRONG = [
    ({"id": "b", "start": 2, "end": 99}, "end", "99"),
    ({"id": "b", "start": 0, "end": 5, "text": "Other words."}, "text", "Other words."),
    ({"id": "nowhere", "start": 0, "end": 5}, "id", "nowhere"),
    ({"document_id": "doc", "start": 0, "end": 5}, "id", ""),
    ({"document_id": "nowhere", "text": "A red key."}, "document_id", "nowhere"),
    ({"id": "b", "start": 5, "end": 5}, "end", "5"),
    ({"text": " "}, "text", " "),
]


def test_what_the_snapshot_contradicts_is_a_mistake_of_the_file(lead, project, snapshot):
    lines = [{"qid": "Q01", "rank": rank, **line} for rank, (line, _, _) in enumerate(WRONG, 1)]
    send(lead, project, snapshot, jsonl(*lines))

    mistakes = lead.get(at("mistakes", project, Upload.objects.get().pk)).content.decode()

    found = [row[:4] for row in csv.reader(io.StringIO(mistakes))][1:]
    assert found == [["chunks.jsonl", str(line), field, value] for line, (_, field, value) in enumerate(WRONG, 1)]


def test_a_place_in_a_passage_of_the_snapshot_is_stored_under_its_id(lead, project, snapshot):
    lines = [
        {"qid": "Q01", "id": "b", "start": 0, "end": 3},
        {"qid": "Q01", "document_id": "rules", "start": 1, "end": 4},
    ]

    run = import_results(lead, project, snapshot, jsonl(*lines))

    assert returned(run) == {
        "Q01": [Returned("b", "", None, TEXTS["b"][:3], (0, 3)), Returned("c", "rules", None, TEXTS["c"][1:4], (1, 4))]
    }


def test_results_are_read_from_parquet(lead, project, snapshot):
    file = io.BytesIO(
        parquet_of([{"qid": "Q01", "score": score, "text": text} for text, score in [("A", 1.5), ("B", 2.0)]])
    )
    file.name = "chunks.parquet"

    run = import_results(lead, project, snapshot, file)

    assert returned(run) == {"Q01": [Returned(text="B"), Returned(text="A")]}


def test_results_of_unknown_questions_can_be_left_out(lead, project, snapshot):
    send(lead, project, snapshot, jsonl(*LINES, {"qid": "Q77", "rank": 1, "id": "b1"}))

    lead.post(at("confirm", project, Upload.objects.get().pk), {"skip_unknown": "yes"})

    assert returned(Run.objects.get()) == RETURNED


@pytest.mark.parametrize(
    ("heading", "returns"),
    [
        ("query,passage,rank,score,text", Returns.BLOCKS),
        ("query,document,rank,text", Returns.PASSAGES),
        ("qid,id,rank,pages", Returns.PASSAGES),
        ("topic,docno,position", Returns.BLOCKS),
    ],
)
def test_a_table_is_of_the_corpus_when_it_has_a_column_of_its_passages(project, snapshot, tmp_path, heading, returns):
    cells = {"query": "Q01", "qid": "Q01", "topic": "Q01", "rank": "1", "position": "1", "score": "2", "pages": "3"}
    cells |= {"document": "handbook"} if returns == Returns.PASSAGES else {}
    path = tmp_path / "run.csv"
    path.write_text(f"{heading}\n{','.join(cells.get(name, 'a') for name in heading.split(','))}\n")

    draft = run_reading.draft_of_file(path, project=project, snapshot=snapshot)

    assert (draft.returns, list(draft.errors), len(draft.rankings)) == (returns, [], 1)


@pytest.mark.parametrize(("cell", "pages"), [("3", (3, 3)), ("3-4", (3, 4)), ("3–4", (3, 4)), ("", None)])
def test_pages_of_a_table_are_one_or_a_range(project, snapshot, tmp_path, cell, pages):
    path = tmp_path / "run.csv"
    path.write_text(f"qid,rank,id,pages\nQ01,1,c,{cell}\n")

    (ranking,) = run_reading.draft_of_file(path, project=project, snapshot=snapshot).rankings

    assert ranking.passages == as_stored([Returned("c", "", pages)])


@pytest.mark.parametrize("cell", ["three", "3-x", "1-2-3", "4-3"])
def test_pages_that_are_none_are_refused(project, snapshot, tmp_path, cell):
    path = tmp_path / "run.csv"
    path.write_text(f"qid,rank,id,pages\nQ01,1,c,{cell}\n")

    (error,) = run_reading.draft_of_file(path, project=project, snapshot=snapshot, name="run.csv").errors

    assert (error.file, error.line, error.field) == ("run.csv", 2, "pages")


def test_an_empty_file_of_results_says_so(project, snapshot, tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("qid,rank,id,pages\n")

    (error,) = run_reading.draft_of_file(path, project=project, snapshot=snapshot).errors

    assert error.message == "the file contains no results."


def test_the_texts_of_a_file_are_bounded(project, snapshot, tmp_path, monkeypatch):
    monkeypatch.setattr("apps.retrieval.formats.MOST_LETTERS", 20)
    path = tmp_path / "run.jsonl"
    path.write_bytes(jsonl(*LINES).getvalue())

    (error,) = run_reading.draft_of_file(path, project=project, snapshot=snapshot).errors

    assert (error.line, error.field) == (1, "text")


def test_a_large_file_of_results_is_read_and_imported_by_jobs(lead, project, snapshot, monkeypatch):
    monkeypatch.setattr(run_reading, "AT_ONCE_BYTES", 1)
    send(lead, project, snapshot, jsonl(*LINES))
    run_jobs()
    upload = Upload.objects.get()
    assert "passages of its own" in lead.get(at("preview", project, upload.pk)).content.decode()

    lead.post(at("confirm", project, upload.pk))
    run_jobs()

    assert returned(Run.objects.get()) == RETURNED


def test_the_command_reads_results(project, snapshot, tmp_path):
    path, out = tmp_path / "chunks.jsonl", io.StringIO()
    path.write_bytes(jsonl(*LINES).getvalue())
    place = ["--project", project.slug, "--snapshot", f"{snapshot.corpus.slug}@1"]

    call_command("import_run", str(path), *place, stdout=out)
    path.write_text('{"qid": "Q01"}\n')
    with pytest.raises(CommandError, match=r"chunks.jsonl, line 1: .* says nothing of the passage"):
        call_command("import_run", str(path), *place)

    assert out.getvalue().startswith("Imported: chunks, 2 queries, 3 results, 1 queries found by text or Q&A, sha256 ")
    assert returned(Run.objects.get()) == RETURNED


def push(client, project, snapshot, results: object, **more):
    body = {"snapshot": snapshot.digest, "tag": "pushed", "results": results, **more}
    address = reverse("retrieval-api:runs", args=[project.slug])
    return client.post(address, json.dumps(body), content_type="application/json")


@pytest.mark.parametrize("most", [1, 1_000_000])
def test_results_are_pushed_over_the_api(lead, project, snapshot, monkeypatch, most):
    monkeypatch.setattr(run_reading, "AT_ONCE_BYTES", most)

    answer = push(lead, project, snapshot, LINES)
    run_jobs()

    run = Run.objects.get()
    assert answer.status_code == (202 if most == 1 else 201)
    assert (run.tag, run.returns, returned(run)) == ("pushed", Returns.PASSAGES, RETURNED)


@pytest.mark.parametrize(
    ("results", "more", "status", "says"),
    [
        ([], {}, 400, "it must not be empty"),
        ("all", {}, 400, "must be lists of objects"),
        (LINES, {"tag": ""}, 400, "results have none"),
        (LINES, {"trec": "Q01 Q0 a 1 1 x"}, 400, "one of rows, trec and results"),
        ([7], {}, 400, "a result is an object with qid and rank"),
        ([{"qid": "Q01", "rank": 1, "text": "a\0b"}], {}, 400, "NUL"),
        ([{"qid": "Q01"}], {}, 400, "says nothing of the passage"),
    ],
)
def test_a_push_that_is_none_is_refused_with_a_sentence(lead, project, snapshot, results, more, status, says):
    answer = push(lead, project, snapshot, results, **more)

    assert (answer.status_code, says in answer.content.decode()) == (status, True)
    assert not Run.objects.exists()


# The page, and the way back ------------------------------------------------------------------------------------------


def test_the_page_shows_the_passages_with_document_pages_and_text(lead, project, snapshot):
    run = import_results(lead, project, snapshot)

    page = " ".join(lead.get(at("run", project, run.pk)).content.decode().split())

    assert '<b class="id">chunk-7</b> <small>handbook</small> <small>pages 3–4</small>' in page
    assert '<span class="quote" dir="auto">A red key.</span>' in page
    assert (
        '<b class="id">rules</b> <small>page 5</small><span class="quote" dir="auto">returned without its text</span>'
        in page
    )
    assert "<dt>Returns</dt><dd>passages of its own</dd>" in page


@pytest.mark.parametrize("rows", [1, 5])
def test_the_page_takes_as_many_statements_however_many_passages(
    lead, project, snapshot, rows, django_assert_max_num_queries
):
    lines = [{"qid": query, "rank": rank, "text": "A"} for query in ("Q01", "Q02", "Q03") for rank in range(rows)]
    run = import_results(lead, project, snapshot, jsonl(*lines))
    lead.get(at("run", project, run.pk))

    with django_assert_max_num_queries(20):
        lead.get(at("run", project, run.pk))


def test_what_is_downloaded_is_uploaded_again_as_the_same_run(lead, project, snapshot):
    run = import_results(lead, project, snapshot)

    answer = lead.get(at("results", project, run.pk))
    written = b"".join(answer.streaming_content)

    assert [json.loads(line)["rank"] for line in written.splitlines()] == [1, 2, 1]
    assert 'filename="chunks-results.jsonl"' in answer["Content-Disposition"]
    file = io.BytesIO(written)
    file.name = "chunks.jsonl"
    assert import_results(lead, project, snapshot, file) == run


def test_places_are_downloaded_as_they_were_uploaded(lead, project, snapshot):
    line = {"qid": "Q01", "rank": 1, "id": "b", "start": 0, "end": 3}
    run = import_results(lead, project, snapshot, jsonl(line))

    written = b"".join(lead.get(at("results", project, run.pk)).streaming_content)

    assert json.loads(written) == line | {"text": TEXTS["b"][:3]}
    assert import_results(lead, project, snapshot, jsonl(json.loads(written))) == run


def test_a_run_of_blocks_is_downloaded_with_documents_and_pages(lead, project, snapshot):
    run = import_lines(project, snapshot, trec([("Q01", "a", 2.0), ("Q01", "d", 1.0)])).run

    lines = b"".join(lead.get(at("results", project, run.pk)).streaming_content).splitlines()

    assert [json.loads(line) for line in lines] == [
        {"qid": "Q01", "rank": 1, "id": "a", "document_id": "doc"},
        {"qid": "Q01", "rank": 2, "id": "d", "document_id": "doc"},
    ]


def test_who_still_judges_a_query_downloads_no_ranks_of_it(client, lead, project):
    pool = make_pool(project)
    round_ = make_round(project, pool=pool)
    person = round_.annotators.first().annotator
    query = pool.pool_queries.first().query
    run = import_results(lead, project, pool.snapshot, jsonl({"qid": query.outside_id, "rank": 1, "text": "A"}))

    client.force_login(person)

    assert client.get(at("results", project, run.pk)).status_code == 403
    assert "so the ranks of all its queries are hidden" in client.get(at("run", project, run.pk)).content.decode()
