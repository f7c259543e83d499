"""Files of every kind on their way to passages, each recognised; and the data of others as their readmes count it."""

import json
from collections.abc import Iterator

import docx
import pytest

from apps.corpus.actions.imports import confirm_import
from apps.corpus.enums import ImportState
from apps.corpus.models import Block, Import
from tests.common.workbooks import workbook
from tests.corpus.factories import make_document_import, zipped
from tests.corpus.formats.documents.pdfs import Line, make_pdf
from tests.corpus.formats.documents.test_docx import written as word_file
from tests.corpus.formats.documents.test_parquet import written as parquet_file
from tests.factories import AT, lead_of, make_project
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def files(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "files"


def read(content: bytes, filename: str, **options) -> Import:
    """The upload, read at once or by the job that it became."""
    item = make_document_import(content, filename, **options)
    run_jobs()
    item.refresh_from_db()
    return item


def imported(item: Import) -> Import:
    assert item.state == ImportState.READY, item.plan["errors"]
    confirm_import(import_id=item.pk, actor=lead_of(item.project), at=AT)
    run_jobs()
    item.refresh_from_db()
    assert item.state == ImportState.APPLIED
    return item


def passages() -> Iterator[tuple[str, str]]:
    for block in Block.objects.select_related("current").exclude(current=None).order_by("outside_id"):
        yield block.outside_id, block.current.text


def fill(document: docx.document.Document) -> None:
    document.add_heading("Pumps", 1)
    document.add_paragraph("A pump in Word.")


CATALOG = {
    "catalog": {
        "groups": [
            {
                "id": "ac",
                "title": "Access",
                "controls": [{"id": "ac-1", "title": "Policy", "parts": [{"name": "statement", "prose": "Have one."}]}],
            }
        ]
    }
}
FOLDER = {
    "a.pdf": make_pdf([[Line("Pumps", 20), "", "A pump in a PDF."], ["On page two."]]),
    "b.docx": word_file(fill),
    "c.xlsx": workbook({"A": [["id", "text"], ["sheet-1", "A pump in a sheet."]]}),
    "d.tsv": "id\ttext\ntable-1\tA pump in a table.\n",
    "e.json": json.dumps({"pumps": [{"id": "json-1", "text": "A pump in JSON."}]}),
    "f.jsonl": '{"key": "line-1", "body": "A pump on a line."}\n',
    "g.parquet": parquet_file({"id": ["parquet-1"], "text": ["A pump in Parquet."]}),
    "h.sgml": "<DOC><DOCNO>trec-1</DOCNO><TEXT>A pump of TREC.</TEXT></DOC>",
    "i.json": json.dumps(CATALOG, indent=1),
    "k/component.yaml": "name: Pump\nsatisfies:\n- control_key: PE-9\n  narrative: A pump of OpenControl.\n",
    "j.json": json.dumps({"data": [{"title": "Pump", "paragraphs": [{"context": "A pump of SQuAD."}]}]}),
}


def test_each_file_of_a_folder_is_read_as_what_it_is():
    item = imported(read(zipped(FOLDER), "folder.zip"))

    assert dict(passages()) == {
        "a.pdf": "A pump in a PDF.\n\nOn page two.",
        "b.docx": "A pump in Word.",
        "sheet-1": "A pump in a sheet.",
        "table-1": "A pump in a table.",
        "json-1": "A pump in JSON.",
        "line-1": "A pump on a line.",
        "parquet-1": "A pump in Parquet.",
        "trec-1": "A pump of TREC.",
        "ac-1": "Have one.",
        "Pump/1": "A pump of SQuAD.",
        "k/PE-9": "A pump of OpenControl.",
    }
    assert item.plan["unread"] == []
    assert "1 file read as records, text from body, id from key." in item.plan["notes"]
    block = Block.objects.select_related("current").get(outside_id="a.pdf")
    assert (block.current.page_start, block.current.page_end) == (1, 2)


@pytest.mark.parametrize("name", sorted(FOLDER))
def test_a_single_file_needs_no_zip_either(name):
    content = FOLDER[name]

    item = read(content if isinstance(content, bytes) else content.encode(), name)

    assert (item.state, item.plan["rows"]) == (ImportState.READY, 1)


@pytest.mark.slow
def test_three_editions_of_nist_800_53_one_after_the_other(shared_data):
    """The counts of its readme: 267 new and none gone; then nothing new.

    Of the last 134, 100 have another text, 16 another title or place only, 18 other related controls only.
    """
    project = make_project()

    def edition(name: str) -> dict:
        (path,) = (shared_data / "nist_800_53" / name).glob("*.json")
        corpus = {"corpus": "nist"} if Block.objects.exists() else {"name": "NIST"}
        return imported(read(path.read_bytes(), path.name, project=project, **corpus)).result["counts"]

    assert edition("rev4_2021-06") == {"new": 922, "changed": 0, "unchanged": 0, "gone": 0}
    assert edition("rev5_2020-12") == {"new": 267, "changed": 869, "unchanged": 53, "gone": 0}
    assert edition("rev5_2021-06") == {"new": 0, "changed": 134, "unchanged": 1055, "gone": 0}


def test_two_dates_of_cloud_govs_answers_one_after_the_other(shared_data):
    """The counts of its readme by (component, control, key): 460 new, 45 gone, 38 changed and 30 equal but for blanks.

    Five of the 30 differ in blanks. The passages of its Markdown come along: 18 new, 15 gone, 24 changed, 7 equal.
    """
    project = make_project()

    def edition(date: str) -> tuple[dict, dict[str, list[str]]]:
        folder = shared_data / "cg_compliance" / date
        files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        corpus = {"corpus": "cloud"} if Block.objects.exists() else {"name": "Cloud"}
        item = imported(read(zipped(files), f"{date}.zip", project=project, **corpus))
        assert item.plan["unread"] == []
        blocks = Block.objects.select_related("current").filter(current__metadata__has_key="control")
        return item.result["counts"], {block.outside_id: block.current.text.split() for block in blocks}

    first, before = edition("2016-04-13")
    second, after = edition("2016-11-04")

    assert first == {"new": 113 + 46, "changed": 0, "unchanged": 0, "gone": 0}
    assert second == {"new": 460 + 18, "changed": 38 + 5 + 24, "unchanged": 30 - 5 + 7, "gone": 45 + 15}
    both = before.keys() & after.keys()
    assert sum(before[name] != after[name] for name in both) == 38
    assert sum(before[name] == after[name] for name in both) == 30
