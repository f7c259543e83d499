"""Small files that hold far too much: a request unpacks next to nothing of them, and a job gives up early."""

import gzip
import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from apps.common.files.linefiles import lines_in
from apps.common.files.tabular import TableFile
from apps.corpus.actions.imports import start_import
from apps.corpus.enums import ImportState
from apps.corpus.models import Import
from apps.corpus.selectors.import_kinds import READ_AT_ONCE
from apps.jobs.models import Job, Upload
from apps.retrieval.actions.intake import upload_run
from apps.retrieval.execution.run_reading import AT_ONCE_BYTES
from tests.corpus.factories import make_corpus
from tests.factories import AT, lead_of, make_project
from tests.retrieval.factories import make_snapshot
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db
BLANKS = gzip.compress(b"\n" * 100_000_000, compresslevel=9)
"""A hundred kilobytes that unpack to a hundred million empty lines."""
SPACE = 64 * 1024


@pytest.fixture(autouse=True)
def files(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "files"


@pytest.fixture
def unpacked(monkeypatch):
    """Counts the bytes that gzip hands out, however it is read."""
    counts = []

    def counted(name):
        plain = getattr(gzip.GzipFile, name)

        def read(self, *args):
            found = plain(self, *args)
            counts.append(len(found))
            return found

        monkeypatch.setattr(gzip.GzipFile, name, read)

    counted("read")
    counted("readline")
    return counts


def corpus_import(content, *, project=None):
    corpus = make_corpus(project or make_project(), {})
    return start_import(
        project=corpus.project,
        kind="corpus",
        file=SimpleUploadedFile("corpus.jsonl.gz", content),
        options={"corpus": corpus.slug, "name": "", "format": "jsonl", "mode": "replace", "ids": "file"},
        actor=lead_of(corpus.project),
        at=AT,
    )


def run_file(content):
    project = make_project()
    details = {"system": "theirs", "tag": "", "note": "", "commit": ""}
    snapshot = make_snapshot(project)
    file = SimpleUploadedFile("run.txt.gz", content)
    return upload_run(project=project, snapshot=snapshot, file=file, details=details, actor=lead_of(project), at=AT)


def test_a_corpus_of_blank_lines_is_passed_to_a_job_after_a_few_bytes(unpacked):
    item = corpus_import(BLANKS)

    assert (item.state, item.job.state) == (ImportState.READING, "queued")
    assert sum(unpacked) <= READ_AT_ONCE.size + SPACE


def test_the_job_gives_up_on_a_corpus_of_blank_lines_early(unpacked):
    item = corpus_import(BLANKS)

    run_jobs()

    item.refresh_from_db()
    assert item.state == ImportState.FAULTY
    assert "more than 100,000 empty lines" in item.plan["errors"][0]["message"]
    assert sum(unpacked) < 1_000_000


def test_a_run_of_blank_lines_is_passed_to_a_job_which_stops_early(unpacked):
    kept = run_file(BLANKS)
    assert Job.objects.get(pk=kept.options["job"]).state == "queued"
    assert sum(unpacked) <= AT_ONCE_BYTES + SPACE
    unpacked.clear()

    (job,) = run_jobs()

    assert job.state == "done"
    assert "100,000 lines are empty" in job.result["errors"][0]["message"]
    assert sum(unpacked) < 2_500_000


@pytest.mark.parametrize("read", [lambda file: lines_in(file, "run.gz"), lambda file: lines_of_source(file)])
def test_a_file_that_unpacks_to_far_more_than_it_weighs_is_refused_early(unpacked, read):
    bomb = gzip.compress(b"q1 Q0 d1 1 9.5 tag\n" * 2_000_000)

    with pytest.raises(Exception, match="200 times its size"):
        for _ in read(io.BytesIO(bomb)):
            pass

    assert sum(unpacked) < 8_000_000


def lines_of_source(file):
    source, number = TableFile("run.gz", file), 0
    while line := source.read_line(number := number + 1):
        yield line


def test_a_plain_file_of_many_short_lines_is_for_a_job_too():
    assert corpus_import(b"\n" * 60_000).job is not None
    assert corpus_import(b"\n" * 10).job is None


def test_a_large_file_is_never_stored_without_the_job_that_reads_it(monkeypatch, tmp_path):
    def fails(**values):
        raise RuntimeError("the disk is full")

    for module in ("apps.corpus.actions.imports", "apps.retrieval.actions.intake"):
        monkeypatch.setattr(f"{module}.enqueue", fails)

    with pytest.raises(RuntimeError):
        corpus_import(BLANKS)
    with pytest.raises(RuntimeError):
        run_file(BLANKS)

    assert (Upload.objects.count(), Import.objects.count(), Job.objects.count()) == (0, 0, 0)
    assert [path for path in (tmp_path / "files").rglob("*") if path.is_file()] == []
