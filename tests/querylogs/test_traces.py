"""From traces of a running system to queries, runs and conversations."""

import html
import io
import json
import re
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from apps.accounts.models import Project
from apps.common.errors import Refusal
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.corpus.actions.corpora import create_corpus, import_blocks
from apps.corpus.execution.freezing import snapshot_as_it_is
from apps.corpus.formats.rows import BlockRow
from apps.corpus.models import Corpus, Snapshot
from apps.jobs.enums import JobState
from apps.jobs.models import Job
from apps.metrics.by_text.index import RUN
from apps.queries.core.masking import mask
from apps.queries.models import Query
from apps.querylogs import actions
from apps.querylogs.execution.drawing import located_in
from apps.querylogs.formats.traces import Passage, Results, passages_in
from apps.querylogs.models import OfferedQuery, QueryLog
from apps.retrieval.models import Ranking, Run
from tests.factories import AT, lead_of, make_project
from tests.metrics.by_text.real_windows import answers_of, windows_of
from tests.queries.factories import make_permission, make_source
from tests.querylogs.factories import FORMS, START, Searched, draw, otlp_json, otlp_request, upload
from tests.running_jobs import run_jobs
from tests.triples.factories import make_snapshot

pytestmark = pytest.mark.django_db

KEYS = "Keys are rotated every ninety days by the person who owns the account, and the old key is deleted at once."
DOOR = "The archive is opened with a badge at the side door, on every day of the week until eight in the evening."
BADGE = "A lost badge is reported to the front desk, which blocks it within the hour and prints a new one for you."
TEXTS = {"SEC-1": KEYS, "SEC-2": DOOR, "SEC-3": BADGE}


ACCESS = '203.0.113.7 - - [04/Aug/2026:09:12:00 +0000] "GET /search?q=key+rotation HTTP/1.1" 200 512 "-" "Firefox"'


def searched(people: int = 6, *, reranked: bool = True) -> list[Searched]:
    """What some people asked, each in a conversation of two searches."""
    found = []
    for person in range(people):
        about = {"person": f"u{person}", "conversation": f"s{person}"}
        at = START + timedelta(minutes=10 * person)
        keys, door = ("SEC-1", KEYS), ("", DOOR)
        found.append(Searched("how are keys rotated", [keys, door], at=at, trace=f"{person:030x}01", **about))
        found.append(
            Searched(
                "and who deletes the old one",
                [door, ("", BADGE), keys, ("c-9", "Lunch is served at noon in the garden behind the old house.")],
                at=at + timedelta(minutes=1),
                trace=f"{person:030x}02",
                reranked=[keys, door] if reranked else None,
                **about,
            )
        )
    return found


def keep_all(log: QueryLog) -> None:
    for one in OfferedQuery.objects.filter(log=log).order_by("position"):
        actions.decide(offered=one, step="keep", actor=lead_of(log.project), at=AT)


def runs_from(log: QueryLog, snapshot=None) -> dict[str, Run]:
    actions.request_runs(log_id=log.pk, snapshot=snapshot, actor=lead_of(log.project), at=AT)
    jobs = run_jobs()
    assert [job.error for job in jobs if job.state != JobState.DONE] == []
    return {run.system.name: run for run in Run.objects.filter(project=log.project).select_related("system")}


@pytest.mark.parametrize("name", FORMS)
def test_traces_of_every_form_are_the_same_searches(name):
    project = make_project()
    make_snapshot(project, TEXTS)
    item = upload(project, FORMS[name](searched()), name=name)

    figures = item.plan["log"]
    assert (figures["searches"], figures["queries"], figures["left_out"]["total"]) == (12, 2, 0)
    assert {run["name"]: (run["queries"], run["depth"]) for run in figures["runs"]} == {
        "assist-search": (2, 4), "assist-rerank": (1, 2),
    }  # fmt: skip
    assert figures["conversations"] == {"conversations": 6, "searches": 12, "follow": 6}
    located = figures["located"]
    assert (located["by_id"], located["by_text"], located["lost"], located["total"]) == (1, 2, 1, 4)
    assert [one["begins"][:15] for one in located["missing"]] == ["Lunch is served"]
    assert figures["unused"]["language model"] == 12


@pytest.mark.parametrize("name", ["otlp.json", "langfuse.jsonl"])
def test_kept_queries_make_a_run_before_reranking_and_one_after(name):
    project = make_project()
    snapshot = make_snapshot(project, TEXTS)
    log = draw(upload(project, FORMS[name](searched()), name=name))
    keep_all(log)

    runs = runs_from(log, snapshot)

    search, rerank = runs["assist-search"], runs["assist-rerank"]
    assert (search.returns, search.query_count, rerank.returns, rerank.query_count) == ("passages", 2, "passages", 1)
    assert search.latency["p50"] == pytest.approx(84, abs=0.01)
    passages = Ranking.objects.get(run=search, query__text="how are keys rotated").passages
    assert [(one.get("id", ""), one["text"]) for one in passages] == [("SEC-1", KEYS), ("", DOOR)]
    again = runs_from(log, snapshot)
    assert again == runs


def test_passages_with_known_ids_alone_make_a_run_of_the_documents():
    project = make_project()
    snapshot = make_snapshot(project, TEXTS)
    found = [Searched("who blocks it", [("SEC-3", ""), ("SEC-1", "")], person=f"u{n}") for n in range(5)]
    log = draw(upload(project, otlp_json(found), name="otlp.json"))
    keep_all(log)

    (run,) = runs_from(log, snapshot).values()

    assert (run.returns, run.query_count) == ("blocks", 1)


def test_without_documents_the_passages_become_a_corpus_as_they_were_returned():
    project = make_project()
    log = draw(upload(project, otlp_json(searched()), name="otlp.json"))
    assert log.figures["unused"]["language model"] == 12
    keep_all(log)

    runs = runs_from(log)

    corpus = Corpus.objects.get(project=project)
    assert (corpus.slug, corpus.name) == (f"as-returned-{log.pk}", "Search log, August, as returned")
    assert {run.returns for run in runs.values()} == {"blocks"}
    assert runs["assist-search"].snapshot.block_count == 4
    assert set(runs_from(log).values()) == set(runs.values())


def test_a_query_is_kept_with_what_enough_people_had_asked_before_it():
    log = draw(upload(make_project(), otlp_json(searched()), name="otlp.json"))
    keep_all(log)

    query = Query.objects.get(text="and who deletes the old one")
    assert query.asked_before == ["how are keys rotated"]
    assert Query.objects.get(text="how are keys rotated").asked_before == []


def test_a_conversation_that_too_few_people_had_is_not_kept():
    found = [one for one in searched(8) if one.query.startswith("and") or one.person in {"u0", "u1", "u2", "u3"}]
    found += [Searched("how are keys rotated", [], person=f"v{n}", conversation=f"w{n}") for n in range(5)]

    log = draw(upload(make_project(), otlp_json(found), name="otlp.json"))

    assert set(log.offered.values_list("text", flat=True)) == {"how are keys rotated", "and who deletes the old one"}
    assert [one.history for one in log.offered.all()] == [[], []]


def test_what_was_asked_before_is_masked_and_goes_with_the_text():
    project = make_project()
    found = []
    for person in range(6):
        about = {"person": f"u{person}", "conversation": f"s{person}"}
        mail = f"person{person}@example.com"
        found.append(Searched(f"mail {mail} of Brightwater", [("", f"Write to {mail} today.")], **about))
        later = START + timedelta(minutes=1)
        found.append(Searched("and the next one of Brightwater", [("", "Ask Brightwater first.")], at=later, **about))
    log = draw(upload(project, otlp_json(found), name="otlp.json"))
    one = log.offered.get(text__startswith="and")
    assert one.history == ["mail [e-mail] of Brightwater"]

    actions.decide(offered=one, step="mask", words="Brightwater", kind="customer", actor=lead_of(project), at=AT)

    one.refresh_from_db()
    assert one.history == ["mail [e-mail] of [customer]"]
    assert one.returned["assist-search"]["passages"] == [{"text": "Ask [customer] first."}]
    other = log.offered.get(text__startswith="mail")
    assert other.returned["assist-search"]["passages"] == [{"text": "Write to [e-mail] today."}]
    actions.decide(offered=one, step="reject", actor=lead_of(project), at=AT)
    actions.decide(offered=other, step="keep", actor=lead_of(project), at=AT)
    one.refresh_from_db()
    assert (one.text, one.history, one.returned) == ("", [], {})
    with pytest.raises(Exception, match="forgets_with_its_text"):
        log.offered.filter(pk=one.pk).update(returned={"a": {}})


def test_one_person_is_enough_with_a_permission_on_record():
    project = make_project()
    source = make_source(project)
    make_permission(source)
    log = draw(upload(project, otlp_json(searched(1)), name="otlp.json", people=1, source=source.slug))

    assert log.offered.get(text__startswith="and").history == ["how are keys rotated"]


def reasons(*spans: dict, **about) -> dict[str, int]:
    request = otlp_request([Searched("how are keys rotated", [("", KEYS)], person="u1", trace="0" * 31 + "1")])
    inside = request["resourceSpans"][0]["scopeSpans"][0]["spans"]
    inside[:] = inside[1:2]
    for place, values in enumerate(spans):
        values = {"traceId": f"{place + 7:032x}", "name": "search"} | values
        attributes = values.pop("attributes")
        kind = {"openinference.span.kind": "RETRIEVER"} | attributes
        inside.append(values | {"attributes": [{"key": k, "value": {"stringValue": v}} for k, v in kind.items()]})
    found: dict[str, int] = upload(make_project(), json.dumps(request).encode(), name="a.json").plan["log"]["unused"]
    return found


@pytest.mark.parametrize(
    ("span", "reason"),
    [
        ({"attributes": {"retrieval.documents.0.document.content": KEYS}}, "no words of the search"),
        ({"attributes": {"input.value": "open the door"}}, "no list of passages"),
        ({"attributes": {"input.value": "open the door"}, "status": {"code": 2}}, "ended with an error"),
        (
            {"attributes": {"input.value": "x", "retrieval.documents.0.document.score": "0.5"}},
            "passage without id or text",
        ),
        (
            {"attributes": {"openinference.span.kind": "RERANKER", "reranker.output_documents.0.document.id": "a"}},
            "reranking without a search before it",
        ),
        ({"attributes": {"openinference.span.kind": "EMBEDDING"}}, "embedding"),
        ({"attributes": {"openinference.span.kind": "of bob@example.com"}}, "something else"),
        (
            {"traceId": "0" * 31 + "1", "attributes": {"input.value": "how are keys rotated"}},
            "within another search for the same",
        ),
    ],
)
def test_what_is_missing_is_counted_by_reason(span, reason):
    assert reasons(span) == {reason: 1}


GENAI = {
    "new": {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": "how are keys rotated"},
    "old": {"gen_ai.operation.name": "retrieve", "gen_ai.retrieval.query": "how are keys rotated"},
    "langfuse": {
        "langfuse.observation.type": "retriever",
        "langfuse.observation.input": '{"query": "how are keys rotated"}',
    },
    "messages": {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.input.messages": json.dumps(
            [
                {"role": "system", "content": "Be short."},
                {"role": "user", "parts": [{"type": "text", "content": "how are keys rotated"}]},
            ]
        ),
    },
}  # fmt: skip


@pytest.mark.parametrize("names", GENAI)
def test_names_of_the_genai_conventions_and_lists_as_json_are_known(names):
    listed = json.dumps([{"id": "SEC-1", "content": KEYS, "score": 0.9}])
    where = "langfuse.observation.output" if names == "langfuse" else "gen_ai.retrieval.documents"
    spans = []
    for person in range(5):
        values = GENAI[names] | {where: listed, "user.id": f"u{person}", "gen_ai.conversation.id": "c"}
        attributes = [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]
        spans.append({"traceId": f"{person:032x}", "name": "retrieval docs", "attributes": attributes})
    request = {"resourceSpans": [{"instrumentationLibrarySpans": [{"spans": spans}]}]}

    log = draw(upload(make_project(), json.dumps(request).encode(), name="otlp.json"))

    one = log.offered.get()
    assert (one.text, one.people) == ("how are keys rotated", 5)
    assert one.returned["retrieval docs"]["passages"] == [{"text": KEYS}]


def test_plain_lines_with_a_list_of_passages_go_by_the_columns():
    project = make_project()
    snapshot = make_snapshot(project, TEXTS)
    lines = [
        {"question": "how are keys rotated", "user": f"u{n}", "latency_ms": 50 + n, "retriever": "dense",
         "results": [{"id": "SEC-1", "text": KEYS}, {"text": DOOR}]}
        for n in range(6)
    ]  # fmt: skip
    item = upload(project, "\n".join(map(json.dumps, lines)).encode(), name="lines.jsonl")
    assert item.plan["table"]["choice"]["columns"] == {
        "question": "text", "user": "person", "latency_ms": "milliseconds", "retriever": "system",
        "results": "passages",
    }  # fmt: skip
    log = draw(item)
    keep_all(log)

    (run,) = runs_from(log, snapshot).values()

    assert (run.system.name, run.query_count) == ("dense", 1)


@pytest.mark.parametrize(
    ("cell", "ids"),
    [
        ('["a", {"id": 7}]', ["", "7"]),
        ('{"hits": [{"_id": "x", "_source": {"text": "t"}}]}', ["x"]),
        ('[[{"page_content": "t", "metadata": {"doc_id": "m"}}, 0.5]]', ["m"]),
        ('{"1": {"document.id": "b"}, "0": {"document": {"id": "a"}}}', ["a", "b"]),
        ("a; b", ["a", "b"]),
        ('["<Node(id=1)>"]', [""]),
        ('[{"id": "a", "te', ['[{"id": "a", "te']),
    ],
)
def test_lists_of_passages_are_read_as_systems_write_them(cell, ids):
    assert [one.id for one in passages_in(cell)] == ids


def test_runs_need_a_kept_query():
    project = make_project()
    log = draw(upload(project, otlp_json(searched()), name="otlp.json"))

    with pytest.raises(Refusal, match="Keep some first"):
        actions.request_runs(log_id=log.pk, snapshot=None, actor=lead_of(project), at=AT)


@pytest.mark.parametrize(
    "content",
    [
        b"\x0a\x05\x0a\x03abc",
        b'{"resourceSpans": []}',
        b"\x00\x00\x00\x09\x0a\x05\x0a",
        b'{"resourceSpans": [{"scopeSpans": 7}]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": ["abc"]}]}]}\n7\n"abc"\n[1]\n',
    ],
)
def test_a_file_without_spans_says_so_and_shows_nothing_of_it(content):
    item = upload(make_project(), content, name="otlp.pb")

    assert "abc" not in json.dumps(item.plan)
    assert item.plan["errors"][0]["message"] in {
        "The file has no spans that can be read.", "the file is cut off",
    }  # fmt: skip


def frozen(project: Project, documents: list[list[str]]) -> Snapshot:
    """The documents, each of several passages."""
    lead = lead_of(project)
    corpus = create_corpus(project=project, name="cloud.gov", actor=lead, at=AT)
    rows = [
        BlockRow(1, f"{place}-{number}", f"doc-{place}", "", text)
        for place, document in enumerate(documents)
        for number, text in enumerate(document)
    ]
    source = TableFile("answers", io.BytesIO())
    import_blocks(corpus_id=corpus.pk, rows=rows, source=source, errors=ErrorList(), actor=lead, at=AT)
    return snapshot_as_it_is(corpus_id=corpus.pk, actor=lead, at=AT)


def test_passages_of_four_chunkings_of_real_documents_are_located(shared_data):
    """Raw for the page before the draw, and with their masks as runs have them."""
    documents = answers_of(shared_data).documents
    snapshot = frozen(make_project(), documents)

    for size, overlap in ((50, 0.0), (100, 0.5), (200, 0.0), (400, 0.5)):
        cut = windows_of(documents, size, overlap)
        windows = [one.text for one in cut if one.last - one.first >= RUN]
        assert len(windows) >= len(cut) - 1  # a last word alone is no passage
        for texts in (windows, [mask(text).text for text in windows]):
            results = Results()
            results.add([Passage("", text) for text in texts])
            by_id, by_text = located_in(snapshot, results)
            assert not by_id.any()
            assert by_text.mean() == 1, (size, overlap)


def test_the_command_line_reads_traces_too(tmp_path):
    project = make_project()
    file = tmp_path / "spans.pb"
    file.write_bytes(FORMS["otlp.pb"](searched()))

    lead_of(project)
    call_command("import_log", str(file), project=project.slug)

    assert QueryLog.objects.get(project=project).offered.count() == 2


@pytest.mark.parametrize("name", [*FORMS, "access.log"])
def test_among_queries_a_log_is_refused_and_led_to_its_own_import(name, client, tmp_path):
    project, access = make_project(), "\n".join([ACCESS] * 3).encode()
    content = access if name == "access.log" else FORMS[name](searched())
    what = "this is the log of a server" if name == "access.log" else "these are traces"
    sentence = f"{what}, not a list of queries; import the file as a search log, under Queries, Search logs"
    options = {"format": "auto", "ids": "file", "source": "", "first_row": ""}

    item = upload(project, content, name=name, kind="queries", **options)

    assert sentence in item.plan["errors"][0]["message"]
    client.force_login(lead_of(project))
    page = client.get(reverse("corpus:import", args=[project.slug, item.pk])).content.decode()
    door = reverse("corpus:import-new", args=[project.slug, "log"])
    assert f'<a class="button primary" href="{door}">Import a search log</a>' in page
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CommandError, match=sentence):
        call_command("import_queries", str(tmp_path / name), project=project.slug)


@pytest.mark.parametrize(
    "content",
    [
        b"\n\n\nkey rotation\nwho opens the archive\n",
        b'{"question": "key rotation", "context": {"title": ["Keys"]}}\n{"question": "who opens it", "context": {}}\n',
        b'{"query_id": "Q1", "text": "key rotation", "trace_id": "4bf9", "type": "easy"}\n',
        b"trace_id,query\n4bf9,key rotation\n4bfa,who opens the archive\n",
        b"203.0.113.7 is the address of what\nwhat is a slow log\npath=/select params is what\n",
    ],
)
def test_queries_that_only_look_like_a_log_are_no_log(content):
    item = upload(make_project(), content, name="queries", kind="queries", format="auto", ids="file")

    assert "search log" not in json.dumps(item.plan["errors"])


def test_from_the_import_the_way_leads_on_to_a_pool(client):
    project = make_project()
    item = upload(project, otlp_json(searched()), name="otlp.json")
    log = draw(item)
    client.force_login(lead_of(project))
    applied = client.get(reverse("corpus:import", args=[project.slug, item.pk])).content.decode()
    page_of_log = reverse("querylogs:log", args=[project.slug, log.pk])
    assert f'href="{page_of_log}">See the result</a>' in applied
    keep_all(log)
    assert "Make a pool" not in client.get(page_of_log).content.decode()

    runs = runs_from(log)

    job = client.get(reverse("jobs:job", args=[project.slug, Job.objects.latest("pk").pk])).content.decode()
    assert re.findall(r"<dt>([^<]+)</dt><dd>(\d+)</dd>", job)[-2:] == [("Runs", "2"), ("Passages left out", "0")]
    link = re.search(r'href="([^"]+)">Make a pool of these runs', client.get(page_of_log).content.decode())
    pool = client.get(html.unescape(link[1])).context["form"]
    assert {int(pk) for pk in pool["runs"].value()} == {run.pk for run in runs.values()}
    assert pool["snapshot"].value() in {str(run.snapshot_id) for run in runs.values()}
