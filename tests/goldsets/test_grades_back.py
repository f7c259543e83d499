"""The frozen grades of queries that came from traces go back there, as files and to Langfuse and Phoenix."""

import io
import json
import zipfile
from contextlib import suppress
from dataclasses import replace

import pytest

from apps.accounts.actions.secrets import save_secret
from apps.accounts.enums import Role
from apps.accounts.selectors import membership_in
from apps.audit.models import Event
from apps.common.errors import Forbidden, Refusal
from apps.goldsets.actions.versions import request_sending
from apps.goldsets.enums import Split, VersionState
from apps.goldsets.formats.verification import verify
from apps.goldsets.models import Version
from apps.goldsets.presenters import export_response, offered_forms
from apps.goldsets.selectors.versions import version_now
from apps.querylogs.actions import close_log, mask_words, reject
from apps.querylogs.core.trace_servers import LANGFUSE, PHOENIX
from apps.querylogs.execution import fetching
from apps.querylogs.models import OfferedQuery
from tests.factories import AT, lead_of, make_member, make_project
from tests.goldsets.factories import Bench, make_source, make_version
from tests.judging.factories import judge_all, make_round, people_of
from tests.querylogs.factories import FORMS, Searched, draw, otlp_request, upload
from tests.querylogs.test_traces import DOOR, KEYS, START, TEXTS, keep_all, runs_from
from tests.retrieval.factories import make_pool
from tests.running_jobs import run_jobs
from tests.trace_server import KEY, PUBLIC, SECRET, running_traces
from tests.triples.factories import make_snapshot

pytestmark = pytest.mark.django_db
QUERY = "how are keys rotated"
LISTED = [("", "nothing that anybody has"), ("SEC-1", KEYS), ("", DOOR), ("SEC-1", KEYS)]
"""A passage that no document has, one by its id, one by its text, and the first again."""


@pytest.fixture(autouse=True)
def _quick(settings, tmp_path, monkeypatch):
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(fetching, "PACE", replace(fetching.PACE, tries=2, first_wait=0.01))


def asked(people: int = 5) -> list[Searched]:
    return [Searched(QUERY, LISTED, person=f"u{one}", trace=f"{one:032x}", at=START) for one in range(people)]


def traces(name: str = "otlp.json") -> bytes:
    return FORMS[name](asked())


def make_traced(*, grades_back: bool = True, test_share: float = 0.0, name: str = "otlp.json") -> Version:
    """A frozen version with one query from traces, of whose passages two people graded that of SEC-2 differently."""
    project = make_project()
    snapshot = make_snapshot(project, TEXTS)
    source = make_source(project)
    log = draw(upload(project, traces(name), name=name, source=source.slug, grades_back=grades_back))
    keep_all(log)
    runs = runs_from(log, snapshot)
    pool = make_pool(project, snapshot, run_ids=[run.pk for run in runs.values()], depth=4)
    round_ = make_round(project, pool=pool, annotators=2, overlap=1.0)
    for person in people_of(round_):
        judge_all(round_, person, lambda seat: 3 if seat.entry.version.block.outside_id == "SEC-1" else 1)
    bench = Bench(project, snapshot, pool, round_, source)
    return make_version(VersionState.FROZEN, bench, test_share=test_share)


def files_of(version: Version, *, split: str = "", role: Role | None = None) -> dict[str, list[dict]]:
    project = version.gold_set.project
    person = make_member(project, role) if role else lead_of(project)
    answer = export_response(version, member=membership_in(person, project.slug), form="annotations", split=split)
    archive = zipfile.ZipFile(io.BytesIO(answer.getvalue()))
    names = [name for name in archive.namelist() if name.startswith("annotations/")]
    return {name: [json.loads(line) for line in archive.read(name).splitlines()] for name in names}


def send(version: Version, kind: str, url: str, *, secret: str = ""):
    project = version.gold_set.project
    for name, value in ((LANGFUSE, SECRET), (PHOENIX, KEY), ("wrong", "sk-lf-not-this-one")):
        save_secret(project=project, name=name, value=value, actor=lead_of(project), at=AT)
    job = request_sending(
        version=version,
        server=kind,
        address=url,
        public_key=PUBLIC if kind == LANGFUSE else "",
        secret=secret or kind,
        answers=True,
        actor=lead_of(project),
        at=AT,
    )
    run_jobs()
    job.refresh_from_db()
    return job


def test_each_graded_passage_of_a_search_is_an_annotation_of_its_span():
    version = make_traced()

    found = files_of(version)

    (span,) = found["annotations/openinference.jsonl"]
    assert span["name"] == "assist-search"
    assert span["context"] == {"trace_id": f"{4:032x}", "span_id": f"{1:016x}"}
    values = span["attributes"]
    assert {
        name: value for name, value in values.items() if name.startswith("annotations.0.") and "meta" not in name
    } == {
        "annotations.0.annotation.name": "relevance 2",
        "annotations.0.annotation.score": 3.0,
        "annotations.0.annotation.label": "Answers all",
        "annotations.0.annotation.explanation": "SEC-1: unanimous, 2 judges",
        "annotations.0.annotation.annotator_kind": "HUMAN",
        "annotations.0.annotation.identifier": "person 1, person 2",
    }
    assert json.loads(values["annotations.0.annotation.metadata"])["document_position"] == 1
    assert (values["annotations.1.annotation.name"], values["annotations.1.annotation.score"]) == ("relevance 3", 1.0)
    assert not any(name.startswith("annotations.2.") for name in values)
    scores = found["annotations/langfuse.jsonl"]
    assert [(one["name"], one["value"], one["traceId"], one["observationId"]) for one in scores] == [
        ("relevance 2", 3.0, f"{4:032x}", f"{1:016x}"),
        ("relevance 3", 1.0, f"{4:032x}", f"{1:016x}"),
    ]


@pytest.mark.parametrize("name", ["otlp.jsonl", "otlp.pb", "phoenix.jsonl", "phoenix.parquet"])
def test_every_form_that_has_the_ids_of_spans_keeps_them(name):
    version = make_traced(name=name)

    assert len(files_of(version)["annotations/langfuse.jsonl"]) == 2


def test_the_file_is_the_same_bytes_twice():
    version = make_traced()

    assert files_of(version) == files_of(version)


def test_nobody_is_named_in_what_goes_back():
    version = make_traced()

    text = json.dumps(files_of(version))

    for user in version.gold_set.project.memberships.values_list("user__name", "user__email"):
        assert not any(word in text for word in user)


def test_without_leave_no_id_of_a_trace_is_kept():
    version = make_traced(grades_back=False)

    kept = json.dumps(list(OfferedQuery.objects.values_list("returned", flat=True)))
    assert f"{4:032x}" not in kept
    with pytest.raises(Refusal, match="has the ids of its trace"):
        files_of(version)


def test_an_id_that_may_be_made_of_a_name_is_not_kept():
    project = make_project()
    request = otlp_request(asked())
    for span in request["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        span["traceId"] = f"order-of-jane-doe-{span['traceId']}"
    log = draw(upload(project, json.dumps(request).encode(), name="otlp.json", grades_back=True))

    assert "jane" not in json.dumps(list(OfferedQuery.objects.filter(log=log).values("returned", "text")))


def test_of_a_query_that_is_rejected_the_ids_go_with_its_text():
    project = make_project()
    log = draw(upload(project, traces(), name="otlp.json", grades_back=True))
    (offered,) = OfferedQuery.objects.filter(log=log)
    assert offered.returned["assist-search"]["span"] == f"{1:016x}"

    reject(offered_id=offered.pk, actor=lead_of(project), at=AT)
    close_log(log_id=log.pk, actor=lead_of(project), at=AT)

    assert OfferedQuery.objects.get(pk=offered.pk).returned == {}


def test_words_that_are_masked_change_no_id():
    project = make_project()
    log = draw(upload(project, traces(), name="otlp.json", grades_back=True))
    (offered,) = OfferedQuery.objects.filter(log=log)
    for words in ("rotated", f"{4:032x}", f"{1:016x}"):
        with suppress(Refusal):
            mask_words(
                offered_id=offered.pk, words=words, kind="name on list", listed=True, actor=lead_of(project), at=AT
            )

    told = OfferedQuery.objects.get(pk=offered.pk).returned["assist-search"]
    assert (told["trace"], told["span"]) == (f"{4:032x}", f"{1:016x}")


def test_the_file_is_offered_to_leads_of_a_version_with_traces_and_never_under_all():
    version = make_traced()
    project = version.gold_set.project
    lead, viewer = (
        membership_in(lead_of(project), project.slug),
        membership_in(make_member(project, Role.VIEWER), project.slug),
    )
    has_traces = version_now(version, at=AT).has_traces

    assert "annotations" in [name for name, *_ in offered_forms(version, lead, has_traces=has_traces)]
    assert "annotations" not in [name for name, *_ in offered_forms(version, viewer, has_traces=has_traces)]
    assert "annotations" not in [name for name, *_ in offered_forms(version, lead, has_traces=False)]
    with pytest.raises(Forbidden):
        files_of(version, role=Role.VIEWER)
    answer = export_response(version, member=lead, form="all", split="")
    assert not any("annotations" in name for name in zipfile.ZipFile(io.BytesIO(answer.getvalue())).namelist())


def test_the_file_passes_its_own_check(tmp_path):
    version = make_traced()
    project = version.gold_set.project
    answer = export_response(
        version, member=membership_in(lead_of(project), project.slug), form="annotations", split=""
    )
    (tmp_path / "gold.zip").write_bytes(answer.getvalue())

    assert verify(tmp_path / "gold.zip").faults == []


@pytest.mark.parametrize("release", [4, 5])
def test_langfuse_has_each_grade_once_however_often_it_is_sent(release):
    version = make_traced()
    with running_traces(asked(), version=release) as server:
        first = send(version, LANGFUSE, server.url)
        again = send(version, LANGFUSE, server.url)

    assert (first.state, first.result) == ("done", {"grades_sent": 2, "spans": 1, "spans_gone": 0})
    assert again.result == first.result
    assert sorted(one["value"] for one in server.scores.values()) == [1.0, 3.0]
    assert {one["comment"] for one in server.scores.values()} == {
        "Answers all; SEC-1: unanimous, 2 judges; person 1, person 2",
        "Related; SEC-2: unanimous, 2 judges; person 1, person 2",
    }


def test_a_score_that_langfuse_rejects_fails_the_job():
    version = make_traced()
    with running_traces(asked(), version=5) as server:
        server.unwanted = {"relevance 3"}
        job = send(version, LANGFUSE, server.url)

    assert (job.state, job.error) == ("failed", "Langfuse: The server rejected a score.")


def test_phoenix_has_each_grade_at_its_document_and_a_span_that_is_gone_stops_nothing():
    version = make_traced()
    with running_traces(asked()) as server:
        known, server.spans = server.spans, []
        gone = send(version, PHOENIX, server.url)
        server.spans = known
        sent = send(version, PHOENIX, server.url)

    assert gone.result == {"grades_sent": 0, "spans": 1, "spans_gone": 1}
    assert sent.result == {"grades_sent": 2, "spans": 1, "spans_gone": 0}
    assert {key[1:]: one["result"]["score"] for key, one in server.annotations.items()} == {
        (1, "relevance"): 3.0,
        (2, "relevance"): 1.0,
    }
    assert all(one["annotator_kind"] == "HUMAN" for one in server.annotations.values())


def test_the_sealed_side_is_never_sent():
    version = make_traced(test_share=1.0)
    assert version.queries.get().split == Split.TEST
    with running_traces(asked()) as server:
        job = send(version, LANGFUSE, server.url)

    assert job.result == {"grades_sent": 0, "spans": 0, "spans_gone": 0}
    assert server.seen == []
    assert files_of(version, split="dev")["annotations/langfuse.jsonl"] == []


def test_grades_of_a_draft_are_not_sent():
    version = make_traced()
    draft = make_version(
        VersionState.DRAFT,
        Bench(version.gold_set.project, version.snapshot, None, version.rounds.get(), None),
    )

    with pytest.raises(Refusal, match="is a draft"):
        send(draft, LANGFUSE, "http://127.0.0.1:9")


def test_a_wrong_key_is_said_plainly_and_shown_nowhere():
    version = make_traced()
    with running_traces(asked()) as server:
        job = send(version, LANGFUSE, server.url, secret="wrong")

    assert (job.state, job.attempt, server.scores) == ("failed", 1, {})
    assert "does not accept the secret (401)" in job.error
    told = json.dumps([job.params, *Event.objects.values("before", "after")], default=str)
    assert "sk-lf-not-this-one" not in told
    assert SECRET not in told


def test_who_sent_what_where_is_on_the_record():
    version = make_traced()
    with running_traces(asked()) as server:
        send(version, LANGFUSE, server.url)

    event = Event.objects.get(action="version.grades_sent")
    assert event.after == {"server": LANGFUSE, "address": server.url, "split": "dev"}
