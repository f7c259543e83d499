"""Some 200 mixed files, broken, huge and hostile ones among them: each is read or listed, and nothing is half kept."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from apps.corpus.actions.imports import confirm_import
from apps.corpus.enums import ImportState
from apps.corpus.models import Block, Document
from tests.corpus.factories import make_document_import, zipped
from tests.corpus.hostile_folder import LONG_LINE, MISTAKES, READ, files, write_zip
from tests.factories import AT, lead_of
from tests.house import REPO
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.slow

MOST_FOR_THE_FOLDER = 600_000
"""Kilobytes by which reading may let the process grow; the files are 1.6 GB when they are unpacked."""
MOST_FOR_A_LINE = 20_000
"""The same for a single line of a gigabyte."""


def read_elsewhere(path: Path) -> dict:
    """What became of the files of an upload, read in a process of its own whose memory is measured."""
    command = [sys.executable, "-m", "tests.corpus.hostile_folder", str(path)]
    ended = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=True)
    return json.loads(ended.stdout)


@pytest.mark.slow
@pytest.mark.long
def test_each_of_200_mixed_files_is_read_or_listed_with_its_reason(tmp_path):
    expected = write_zip(tmp_path / "folder.zip", list(files()))
    assert len(expected) > 200

    found = read_elsewhere(tmp_path / "folder.zip")

    assert found["became"] == expected
    assert found["grew_kilobytes"] < MOST_FOR_THE_FOLDER


@pytest.mark.slow
@pytest.mark.parametrize("name", ["line.md", "line.jsonl", "line.trec"])
def test_a_line_of_a_gigabyte_is_never_in_memory(tmp_path, name):
    path = tmp_path / name
    with path.open("wb") as file:
        file.write(b'{"id": "a", "text": "')
        file.truncate(LONG_LINE)

    found = read_elsewhere(path)

    assert found["became"] == {name: "larger than 500 MB"}
    assert found["grew_kilobytes"] < MOST_FOR_A_LINE


@pytest.fixture
def folder(settings, tmp_path):
    """The smaller files of the folder, by path, and what has to become of each."""
    settings.MEDIA_ROOT = tmp_path / "files"
    kept = [file for file in files() if len(file.content) < 100_000 and not file.path.startswith(("pdf/", "office/"))]
    return {file.path: file for file in kept}


def imported_from(folder, becomes):
    wanted = {path: file.content for path, file in folder.items() if file.becomes in becomes(file)}
    item = make_document_import(zipped(wanted))
    run_jobs()
    item.refresh_from_db()
    return item


@pytest.mark.django_db
@pytest.mark.slow
def test_mistakes_in_one_file_keep_the_whole_folder_out(folder):
    item = imported_from(folder, lambda file: {file.becomes})

    assert item.state == ImportState.FAULTY
    assert {error["file"] for error in item.plan["errors"]} == {
        path for path, file in folder.items() if file.becomes == MISTAKES
    }
    assert (Document.objects.count(), Block.objects.count()) == (0, 0)


@pytest.mark.django_db
@pytest.mark.slow
def test_without_them_every_file_is_in_the_corpus_or_in_the_list(folder):
    item = imported_from(folder, lambda file: {file.becomes} - {MISTAKES})

    confirm_import(import_id=item.pk, actor=lead_of(item.project), at=AT)
    run_jobs()
    item.refresh_from_db()

    unread = {path: group["reason"] for group in item.plan["unread"] for path in group["paths"]}
    expected = {
        path.removesuffix(".gz") if path.endswith("good.md.gz") else path.replace("\\", "/"): file.becomes
        for path, file in folder.items()
        if file.becomes not in {READ, MISTAKES}
    } | {"text/no-text.md": "no text of its own"}
    assert item.state == ImportState.APPLIED
    assert unread == expected
    read = sum(kind["files"] for kind in item.plan["files"])
    assert read + len(unread) == sum(file.becomes != MISTAKES for file in folder.values())
    assert Block.objects.count() == item.plan["rows"] > read / 2
