"""Run files that are too large to be read in a request. "Large" begins at a few bytes here."""

import gzip

import pytest
from django.utils import timezone

from apps.jobs.actions.jobs import cancel_job
from apps.jobs.models import Job, Upload
from apps.queries.models import Query
from apps.retrieval.execution import run_reading
from apps.retrieval.models import Run
from tests.factories import lead_of
from tests.reading import plain_words
from tests.retrieval.factories import import_lines, trec
from tests.retrieval.test_api import ROWS, push, url
from tests.retrieval.test_views import THEIRS, at, send
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db

UNKNOWN = "Q01 Q0 =ghost 9 1.0 theirs"


@pytest.fixture(autouse=True)
def every_file_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_reading, "AT_ONCE_BYTES", 10)


def confirm(client, project, **values):
    return client.post(at("confirm", project, Upload.objects.get().pk), values)


def test_a_large_file_is_read_and_imported_by_jobs(lead, project, snapshot):
    page = send(lead, project, snapshot, THEIRS).url
    assert "waiting for a worker" in plain_words(lead.get(page))

    run_jobs()
    assert "<dt>Rows</dt><dd>3</dd>" in plain_words(lead.get(page))
    assert not Run.objects.exists()

    assert confirm(lead, project).url == page
    assert "waiting for a worker" in plain_words(lead.get(page))
    assert not Run.objects.exists()

    run_jobs()
    run = Run.objects.get()
    assert lead.get(page).url == at("run", project, run.pk)
    assert (run.tag, run.state, run.query_count) == ("theirs", "complete", 2)
    assert run.origin.startswith("run.txt, sha256 ")


def test_a_large_file_comes_to_the_same_run_as_a_small_one(lead, project, snapshot):
    import_lines(project, snapshot, THEIRS)

    page = send(lead, project, snapshot, THEIRS).url
    run_jobs()
    assert "This run is already here" in plain_words(lead.get(page))
    confirm(lead, project)
    run_jobs()

    assert lead.get(page).url == at("run", project, Run.objects.get().pk)
    assert "Nothing changed: this run is already here." in plain_words(lead.get(page, follow=True))


def test_the_page_of_a_large_import_leads_to_the_run_and_names_the_next_step(lead, project, snapshot):
    page = send(lead, project, snapshot, THEIRS).url
    run_jobs()
    confirm(lead, project)
    run_jobs()

    said = plain_words(lead.get(page, follow=True))
    assert "theirs is imported." in said
    assert ">Choose results to judge</a>" in said


def test_pressing_twice_queues_one_job(lead, project, snapshot):
    send(lead, project, snapshot, THEIRS)
    run_jobs()

    confirm(lead, project)
    confirm(lead, project)

    assert Job.objects.filter(kind="retrieval.take_file").count() == 1


def test_a_file_that_is_being_read_is_neither_imported_nor_discarded(lead, project, snapshot):
    send(lead, project, snapshot, THEIRS)

    assert confirm(lead, project).status_code == 409
    assert lead.post(at("discard", project, Upload.objects.get().pk)).status_code == 409


def test_unknown_ids_of_a_large_file_are_left_out_only_when_ticked(lead, project, snapshot):
    page = send(lead, project, snapshot, [*THEIRS, UNKNOWN]).url
    run_jobs()
    assert "'=ghost' is not a passage of this snapshot." in plain_words(lead.get(page))
    listed = lead.get(at("mistakes", project, Upload.objects.get().pk)).content.decode().splitlines()
    assert listed[1].startswith("run.txt,4,block,'=ghost")

    assert confirm(lead, project).status_code == 409
    confirm(lead, project, skip_unknown="yes")
    run_jobs()

    assert Run.objects.get().query_count == 2


def test_a_faulty_large_file_is_never_imported(lead, project, snapshot):
    page = send(lead, project, snapshot, ["Q01 Q0 a 1 nan theirs"]).url
    run_jobs()

    assert "cannot be imported as it is" in plain_words(lead.get(page))
    assert confirm(lead, project, skip_unknown="yes").status_code == 409


def test_a_file_that_no_longer_fits_when_its_turn_comes_shows_why_and_changes_nothing(lead, project, snapshot):
    page = send(lead, project, snapshot, THEIRS).url
    run_jobs()
    confirm(lead, project)
    Query.objects.filter(project=project, outside_id="Q02").update(outside_id="Q99")

    run_jobs()

    assert "'Q02' is not a query of this project." in plain_words(lead.get(page))
    assert not Run.objects.exists()
    assert Upload.objects.get().state == "stored"


def test_a_cancelled_file_can_be_discarded(lead, project, snapshot):
    page = send(lead, project, snapshot, THEIRS).url
    cancel_job(job_id=Job.objects.get().pk, actor=lead_of(project), at=timezone.now())
    assert "The job was cancelled." in plain_words(lead.get(page))

    lead.post(at("discard", project, Upload.objects.get().pk))

    assert Upload.objects.get().state == "discarded"


def test_a_snapshot_of_many_blocks_makes_any_file_large(snapshot):
    snapshot.block_count = run_reading.AT_ONCE_BLOCKS + 1

    assert not run_reading.has_few_blocks(snapshot)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize(("lines", "is_small"), [(1_000, True), (100_000, False)])
def test_a_file_is_large_for_what_is_in_it(snapshot, monkeypatch, tmp_path, pack, lines, is_small):
    monkeypatch.undo()
    path = tmp_path / "run"
    path.write_bytes(pack(b"q Q0 d 1 1 t\n" * lines))

    assert run_reading.is_read_at_once(path, snapshot) is is_small


def test_a_large_push_is_answered_with_its_job_and_then_the_run(lead, project, snapshot):
    asked = push(lead, project, snapshot, tag="night-1", system="ours", rows=ROWS, commit="a1b2")

    assert asked.status_code == 202
    body = asked.json()
    assert (body["job"]["state"], body["run"], body["is_new"]) == ("queued", None, None)
    run_jobs()

    body = lead.get(url(project, f"pushes/{body['job']['id']}/")).json()
    assert (body["job"]["state"], body["is_new"], body["skipped_rows"], body["mistakes"]) == ("done", True, 0, [])
    assert (body["run"]["tag"], body["run"]["system"], body["run"]["commit"]) == ("night-1", "ours", "a1b2")
    assert Run.objects.get().origin.startswith("run pushed over the API, sha256 ")


def test_a_large_text_is_pushed_as_rows_are(lead, project, snapshot):
    push(lead, project, snapshot, trec="\n".join(trec([("Q01", "a", 2.0), ("Q01", "b", 1.0)])))

    run_jobs()

    assert (Run.objects.get().tag, Run.objects.get().query_count) == ("theirs", 1)


def test_a_large_push_that_does_not_fit_names_its_mistakes_and_takes_nothing_in(lead, project, snapshot):
    rows = [*ROWS, {"query_id": "Q01", "block_id": "ghost", "score": 1}]
    job = push(lead, project, snapshot, tag="night-1", rows=rows).json()["job"]
    run_jobs()

    body = lead.get(url(project, f"pushes/{job['id']}/")).json()

    assert (body["run"], body["mistakes_total"]) == (None, 1)
    assert body["mistakes"][0]["message"] == "'ghost' is not a passage of this snapshot."
    assert not Run.objects.exists()


@pytest.mark.parametrize("block_id", ["b\0", "b\ud800"])
def test_a_mistake_is_stored_without_characters_that_the_database_cannot_store(lead, project, snapshot, block_id):
    rows = [*ROWS, {"query_id": "Q01", "block_id": block_id, "score": 1}]
    job = push(lead, project, snapshot, tag="night-1", rows=rows).json()["job"]
    run_jobs()

    body = lead.get(url(project, f"pushes/{job['id']}/")).json()

    assert body["mistakes_total"] == 1
    assert body["mistakes"][0]["value"] == "b�"


@pytest.mark.parametrize("row", [3, {}, {"query_id": "Q01", "block_id": "a", "score": "much"}])
def test_malformed_rows_of_a_large_push_are_among_its_mistakes(lead, project, snapshot, row):
    ghost = {"query_id": "Q01", "block_id": "ghost", "score": 1}
    job = push(lead, project, snapshot, tag="night-1", rows=[*ROWS, row, ghost], skip_unknown=True).json()["job"]
    run_jobs()

    body = lead.get(url(project, f"pushes/{job['id']}/")).json()

    assert (body["run"], body["mistakes_total"]) == (None, 2)
    assert [(mistake["line"], mistake["message"]) for mistake in body["mistakes"]] == [
        (4, "A row is an object with query_id, block_id and score, a number."),
        (5, "'ghost' is not a passage of this snapshot."),
    ]
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    "body",
    [{}, {"rows": ROWS}, {"rows": ROWS, "trec": "x", "tag": "t"}, {"rows": "x" * 20, "tag": "t"}, {"trec": "\ud800"}],
    ids=["neither", "rows without a tag", "both", "rows that are text", "half a character"],
)
def test_what_can_be_seen_at_once_is_refused_at_once(lead, project, snapshot, body):
    assert push(lead, project, snapshot, **body).status_code == 400
    assert not Job.objects.exists()


def test_another_job_is_not_a_push(lead, project, snapshot):
    send(lead, project, snapshot, THEIRS)

    assert lead.get(url(project, f"pushes/{Job.objects.get().pk}/")).status_code == 404


def test_rows_and_text_of_a_large_push_are_the_same_run(lead, project, snapshot):
    push(lead, project, snapshot, tag="theirs", rows=ROWS)
    push(lead, project, snapshot, trec="\n".join(trec([("Q02", "c", 1.0), ("Q01", "a", 9.0), ("Q01", "d", 8.5)])))

    first, second = sorted(run_jobs(), key=lambda job: job.pk)

    assert (first.result["is_new"], second.result["is_new"]) == (True, False)
    assert first.result["run_id"] == second.result["run_id"]
