"""A run file is read once: the preview, the import and whoever comes after them work from what was read."""

import os
import signal
from datetime import timedelta
from multiprocessing import get_context
from pathlib import Path

import pytest
from django.utils import timezone

from apps.accounts.models import Membership
from apps.jobs.models import Upload
from apps.queries.models import Query
from apps.retrieval.core.ranking import unpack
from apps.retrieval.execution import intake, run_reading
from apps.retrieval.execution.run_reading import READING, READINGS_STORED_DAYS, reading_path, tidy_readings
from apps.retrieval.formats import draft_from_lines, draft_from_rows
from apps.retrieval.models import Ranking, Run
from tests.reading import plain_words
from tests.retrieval.factories import as_rows, import_lines, make_queries
from tests.retrieval.test_api import ROWS, push
from tests.retrieval.test_commands import karat, place
from tests.retrieval.test_views import THEIRS, at, send
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db

BASIS = {"file": "f" * 64, "snapshot": "s" * 64}
KNOWN = {"queries": {"q1": 11, "q2": 12}, "blocks": {"a": 0, "b": 1, "c": 2}}
UNKNOWN = "Q77 Q0 a 1 1.0 theirs"


@pytest.fixture
def read(monkeypatch):
    """How often a run file, a text or rows were read."""
    calls = []

    def counted(reader):
        def call(*args, **kwargs):
            calls.append(reader.__name__)
            return reader(*args, **kwargs)

        return call

    for reader in (draft_from_lines, draft_from_rows):
        monkeypatch.setattr(run_reading, reader.__name__, counted(reader))
    return calls


@pytest.fixture(params=["small", "large"])
def size(request, monkeypatch):
    if request.param == "large":
        monkeypatch.setattr(run_reading, "AT_ONCE_BYTES", 10)
    return request.param


def uploaded(lead, project, snapshot, lines=THEIRS):
    """The address of the preview of a file that was uploaded and read."""
    page = send(lead, project, snapshot, lines).url
    run_jobs()
    return page


def confirm(lead, project, **values):
    answer = lead.post(at("confirm", project, Upload.objects.get().pk), values)
    run_jobs()
    return answer


def test_a_file_is_read_once_from_the_upload_to_the_run(lead, project, snapshot, size, read):
    page = uploaded(lead, project, snapshot)
    lead.get(page)
    lead.get(at("mistakes", project, Upload.objects.get().pk))
    confirm(lead, project)

    assert read == ["draft_from_lines"]
    assert (Run.objects.get().state, Run.objects.get().query_count) == ("complete", 2)


def test_what_was_previewed_is_imported_even_when_the_file_is_gone(lead, project, snapshot, size):
    page = uploaded(lead, project, snapshot)
    Upload.objects.get().place.unlink()

    assert "<dt>Rows</dt><dd>3</dd>" in plain_words(lead.get(page))
    confirm(lead, project)

    stored = {row.query.outside_id: unpack(bytes(row.packed)) for row in Ranking.objects.select_related("query")}
    assert {key: (len(positions), scores.tolist()) for key, (positions, scores) in stored.items()} == {
        "Q01": (2, [9.0, 8.0]),
        "Q02": (1, [3.5]),
    }


def test_a_run_comes_to_the_same_by_every_way(lead, project, snapshot, tmp_path, read):
    uploaded(lead, project, snapshot)
    confirm(lead, project)
    file = tmp_path / "run.txt"
    file.write_text("\n".join(THEIRS))

    pushed = push(lead, project, snapshot, trec="\n".join(THEIRS))
    printed = karat("import_run", file, *place(project, snapshot))

    assert (pushed.json()["is_new"], printed.split(",")[0]) == (False, "Nothing changed")
    assert read == ["draft_from_lines"] * 3
    assert Run.objects.count() == 1


def test_a_large_push_is_read_once_though_its_import_is_tried_twice(lead, project, snapshot, monkeypatch, read):
    monkeypatch.setattr(run_reading, "AT_ONCE_BYTES", 10)
    tries = []

    def fails_first(*args, **kwargs):
        tries.append(args)
        if len(tries) == 1:
            raise OSError("no connection")
        return stored(*args, **kwargs)

    stored = intake.complete_run
    monkeypatch.setattr(intake, "complete_run", fails_first)

    push(lead, project, snapshot, tag="night-1", rows=ROWS)
    run_jobs()

    assert (len(tries), read) == (2, ["draft_from_rows"])
    assert Run.objects.get().query_count == 2


# What may have changed between the preview and the import ----------------------------------------------------------


def test_a_query_that_came_meanwhile_is_found(lead, project, snapshot, read):
    page = uploaded(lead, project, snapshot, [*THEIRS, UNKNOWN])
    assert "'Q77' is not a query of this project." in plain_words(lead.get(page))
    make_queries(project, {"Q77": "new"})

    confirm(lead, project)

    assert len(read) == 2
    assert Run.objects.get().query_count == 3


def test_a_query_that_was_renamed_meanwhile_stops_the_import(lead, project, snapshot, size, read):
    page = uploaded(lead, project, snapshot)
    Query.objects.filter(project=project, outside_id="Q02").update(outside_id="Q99")

    confirm(lead, project)

    assert len(read) == 2
    assert "'Q02' is not a query of this project." in plain_words(lead.get(page))
    assert not Run.objects.exists()


def test_ids_that_changed_places_meanwhile_are_matched_again(lead, project, snapshot, size, read):
    uploaded(lead, project, snapshot)
    first, second = Query.objects.filter(project=project, outside_id__in=["Q01", "Q02"]).order_by("outside_id")
    for query, name in ((first, "aside"), (second, "Q01"), (first, "Q02")):
        Query.objects.filter(pk=query.pk).update(outside_id=name)

    confirm(lead, project)

    assert len(read) == 2
    assert dict(Ranking.objects.values_list("query_id", "length")) == {second.pk: 2, first.pk: 1}


def test_a_query_found_by_its_text_is_matched_again_when_its_text_changed_meanwhile(lead, project, snapshot, read):
    page = uploaded(lead, project, snapshot, ["zebra Q0 a 1 1.0 theirs", "Q01 Q0 a 1 1.0 theirs"])
    lead.get(page)
    assert len(read) == 1
    Query.objects.filter(project=project, outside_id="Q03").update(text="horse")

    assert "'zebra' is not a query of this project." in plain_words(lead.get(page))
    assert len(read) == 2


def test_queries_that_the_file_does_not_name_may_come_and_go(lead, project, snapshot, size, read):
    uploaded(lead, project, snapshot)
    make_queries(project, {"Q88": "another"})
    Query.objects.filter(project=project, outside_id="Q03").update(retired_at=timezone.now())

    confirm(lead, project)

    assert len(read) == 1
    assert Run.objects.get().query_count == 2


def test_the_same_run_may_have_come_meanwhile(lead, project, snapshot, size):
    uploaded(lead, project, snapshot)
    there = import_lines(project, snapshot, THEIRS).run

    confirm(lead, project)

    assert Run.objects.get() == there
    assert Upload.objects.get().state == "used"


def test_a_former_lead_confirms_nothing(lead, project, snapshot, size):
    uploaded(lead, project, snapshot)
    Membership.objects.filter(project=project).update(role="viewer")

    assert confirm(lead, project).status_code == 403
    assert not Run.objects.exists()


# What becomes of a reading -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["confirm", "discard"])
def test_a_reading_goes_with_its_preview(lead, project, snapshot, name, django_capture_on_commit_callbacks):
    uploaded(lead, project, snapshot)
    upload = Upload.objects.get()
    assert reading_path(upload).exists()

    with django_capture_on_commit_callbacks(execute=True):
        lead.post(at(name, project, upload.pk))

    assert not reading_path(upload).exists()


def test_a_reading_that_nobody_confirms_is_removed_after_days_and_made_again(lead, project, snapshot, read):
    uploaded(lead, project, snapshot)
    upload, now = Upload.objects.get(), timezone.now()

    tidy_readings(now + timedelta(days=READINGS_STORED_DAYS - 1))
    assert reading_path(upload).exists()
    tidy_readings(now + timedelta(days=READINGS_STORED_DAYS + 1))
    assert not reading_path(upload).exists()
    assert upload.place.exists()

    confirm(lead, project)
    assert len(read) == 2
    assert Run.objects.get().query_count == 2


@pytest.mark.parametrize(
    "harm", [lambda whole: whole[:-1], lambda whole: whole[:40] + b"~" + whole[41:], lambda _: b""]
)
def test_a_damaged_reading_is_not_used(lead, project, snapshot, harm, read):
    uploaded(lead, project, snapshot)
    path = reading_path(Upload.objects.get())
    path.write_bytes(harm(path.read_bytes()))

    confirm(lead, project)

    assert len(read) == 2
    assert Run.objects.get().query_count == 2


def some_draft():
    lines = [b"q1 Q0 a 1 3 t", b"q2 Q0 c 1 2 t", b"q1 Q0 b 2 3 t", b"q9 Q0 x 1 1 t"]
    return draft_from_lines(lines, "f.run", **KNOWN)


def plain(draft):
    return draft._replace(errors=[str(error) for error in draft.errors]), draft.errors.total


def test_a_reading_is_what_was_read(tmp_path):
    draft = some_draft()

    run_reading.store(tmp_path / "x.reading", draft, BASIS)

    assert plain(run_reading.load(tmp_path / "x.reading", BASIS)) == plain(draft)


def test_ids_may_contain_anything(tmp_path):
    rows = [("q1", "a", 1.0), ("q1", "b\0", 1.0), ("q\ud800", "b\n", 1.0)]
    draft = draft_from_rows(as_rows(*rows), "t", "rows", **KNOWN)

    run_reading.store(tmp_path / "x.reading", draft, BASIS)

    assert plain(run_reading.load(tmp_path / "x.reading", BASIS)) == plain(draft)


def test_mistakes_beyond_the_stored_ones_are_counted(tmp_path):
    draft = draft_from_lines((b"q1 Q0 x%d 1 3 t" % number for number in range(1_200)), "f.run", **KNOWN)

    run_reading.store(tmp_path / "x.reading", draft, BASIS)

    errors = run_reading.load(tmp_path / "x.reading", BASIS).errors
    assert (len(errors.listed), errors.total, errors.unlisted) == (1_000, 1_200, 200)


@pytest.mark.parametrize("part", ["file", "snapshot"])
def test_the_reading_of_another_file_or_snapshot_is_none(tmp_path, part):
    run_reading.store(tmp_path / "x.reading", some_draft(), BASIS)

    assert run_reading.load(tmp_path / "x.reading", {**BASIS, part: "o" * 64}) is None


def die_while_writing(path: Path) -> None:
    """The process is killed when everything but the digest is on the way to the disk."""
    run_reading.os.fsync = lambda number: os.kill(os.getpid(), signal.SIGKILL)
    run_reading.store(path, some_draft(), BASIS)


def test_a_kill_leaves_nothing_half_read(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path
    path = tmp_path / run_reading.FOLDER / "2026-11" / f"x{READING}"
    path.parent.mkdir(parents=True)
    child = get_context("fork").Process(target=die_while_writing, args=[path])
    child.start()
    child.join()

    assert child.exitcode == -signal.SIGKILL
    assert (run_reading.load(path, BASIS), len(list(path.parent.iterdir()))) == (None, 1)
    run_reading.store(path, some_draft(), BASIS)
    assert plain(run_reading.load(path, BASIS)) == plain(some_draft())

    tidy_readings(timezone.now() + timedelta(days=READINGS_STORED_DAYS + 1))
    assert list(path.parent.iterdir()) == []
