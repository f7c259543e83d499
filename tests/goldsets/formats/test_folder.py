import io
import json
import zipfile
from pathlib import Path

import pytest

from apps.goldsets.formats.folder import FORMS, chosen, with_table, write_folder, zip_folder
from tests.goldsets.content import SMALL


def _zipped(folder) -> bytes:
    stream = io.BytesIO()
    zip_folder(folder, stream)
    return stream.getvalue()


def test_the_same_content_gives_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_folder(SMALL, tmp_path / name, formats=["all"], facts={"seed": 7, "a": "ä"})

    assert _zipped(tmp_path / "one") == _zipped(tmp_path / "two")


def test_zip_has_sorted_names_and_a_fixed_time(tmp_path):
    write_folder(SMALL, tmp_path, formats=["trec", "csv"], facts={})

    entries = zipfile.ZipFile(io.BytesIO(_zipped(tmp_path))).infolist()

    assert [entry.filename for entry in entries] == [
        "SHA256SUMS",
        "csv/judgements.csv",
        "manifest.json",
        "trec/qrels.dev.txt",
        "trec/qrels.test.txt",
        "trec/qrels.txt",
        "trec/topics.txt",
    ]
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}


def test_manifest_names_every_file_with_size_and_digest(tmp_path):
    manifest = write_folder(SMALL, tmp_path, formats=["csv"], facts={"version": "v1"})

    written = (tmp_path / "csv/judgements.csv").read_bytes()
    assert [entry["path"] for entry in manifest["files"]] == ["csv/judgements.csv"]
    assert manifest["files"][0]["bytes"] == len(written)
    assert json.loads((tmp_path / "manifest.json").read_text()) == manifest


def test_all_means_every_format_of_the_version_alone_and_an_unknown_one_is_rejected():
    assert chosen(["all"]) == [name for name in FORMS if name not in {"letor", "annotations"}]
    assert chosen(["letor", "all", "annotations"]) == list(FORMS)
    assert chosen(["trec", "csv"]) == ["csv", "trec"]
    with pytest.raises(ValueError, match="exe is no form; use jsonl, csv, xlsx, relevance, notes, trec"):
        chosen(["exe"])


def test_the_reference_has_what_each_form_loses():
    """That the forms hold the rest is in test_round_trip."""
    text = (Path(__file__).parents[3] / "docs/reference/files.md").read_text()

    assert with_table(text) == text
