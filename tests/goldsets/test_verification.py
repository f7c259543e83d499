import io
import json
import zipfile

import pytest

from apps.goldsets.formats.folder import write_folder, zip_folder
from apps.goldsets.formats.verification import NotAnExport, verify
from tests.goldsets.content import FACTS, SMALL


@pytest.fixture
def export(tmp_path):
    folder = tmp_path / "export"
    folder.mkdir()
    write_folder(SMALL, folder, formats=["all"], facts=FACTS)
    return folder


def test_an_untouched_folder_is_intact(export):
    report = verify(export)

    assert report.is_intact
    assert report.checked == len(report.manifest["files"])


def test_a_zip_is_checked_like_its_folder(export, tmp_path):
    with (tmp_path / "export.zip").open("wb") as stream:
        zip_folder(export, stream)

    assert verify(tmp_path / "export.zip").is_intact


def test_changed_missing_and_foreign_files_are_named(export):
    (export / "trec/qrels.txt").write_text("Q01 0 b1 2\n")
    (export / "csv/judgements.csv").unlink()
    (export / "notes.txt").write_text("hello")

    assert verify(export).faults == [
        "csv/judgements.csv is missing.",
        "trec/qrels.txt differs from the manifest.",
        "notes.txt is not in the manifest.",
    ]


def test_one_appended_byte_is_seen(export):
    with (export / "trec/topics.txt").open("ab") as stream:
        stream.write(b"\n")

    assert verify(export).faults == ["trec/topics.txt differs from the manifest."]


@pytest.mark.parametrize(
    "manifest",
    [
        "not json",
        "[]",
        '{"files": 3}',
        '{"files": [{"path": "../x", "bytes": 1, "sha256": "a"}]}',
        '{"files": [{"path": "/etc/passwd", "bytes": 1, "sha256": "a"}]}',
        '{"files": [{"path": "a"}]}',
        "[" * 100_000,
    ],
)
def test_a_manifest_that_is_none_is_refused(tmp_path, manifest):
    (tmp_path / "manifest.json").write_text(manifest)

    with pytest.raises(NotAnExport):
        verify(tmp_path)


def test_a_folder_without_manifest_is_not_an_export(tmp_path):
    with pytest.raises(NotAnExport, match=r"contains no manifest\.json; it is not an export of Karat"):
        verify(tmp_path)


def test_a_zip_that_unpacks_to_more_than_its_manifest_says_is_not_read_to_the_end(tmp_path):
    manifest = {"files": [{"path": "big", "bytes": 3, "sha256": "0" * 64}]}
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("big", b"0" * 50_000_000)
        archive.writestr("manifest.json", json.dumps(manifest))

    report = verify(tmp_path / "x.zip")

    assert report.faults == ["big differs from the manifest."]
    assert report.size < 2 << 20


def test_a_file_that_is_not_a_zip_is_rejected(tmp_path):
    (tmp_path / "x").write_bytes(io.BytesIO(b"hello").getvalue())

    with pytest.raises(NotAnExport, match="neither a folder nor a zip file"):
        verify(tmp_path / "x")
