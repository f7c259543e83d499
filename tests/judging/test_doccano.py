"""Judgements from doccano: labels of texts, in one file for all or one for each annotator."""

import json

import pytest

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import open_source
from apps.corpus.enums import ImportState
from apps.judging.formats.recognition import opener_of, recognise
from apps.judging.models import Judgement
from tests.factories import make_project
from tests.judging.archives import zipped
from tests.judging.factories import make_snapshot
from tests.judging.test_table_import import form_of, send, upload
from tests.queries.factories import make_query

KEYS = {"id": 1, "text": "Keys are rotated every year.", "query": "key rotation", "doc_id": "b00000"}
DOORS = {"id": 2, "text": "Doors are shut.", "query": "who may open", "doc_id": "b00001"}
ANA = [
    {**KEYS, "label": ["Relevant"], "Comments": ["says how often", "yes"]},
    {**DOORS, "label": ["Not"], "Comments": []},
]
BEN = [{**KEYS, "label": ["Partly", "Short"], "Comments": []}, {**DOORS, "label": [], "Comments": []}]


def lines(records: list[dict]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


CSV = b"""id,text,query,doc_id,label,Comments
1,Keys are rotated every year.,key rotation,b00000,Relevant,
2,Doors are shut.,who may open,b00001,Not,
3,Left,x,y,,
"""
EACH = {"ana.jsonl": lines(ANA), "ben.jsonl": lines(BEN)}


def table(tmp_path, content: bytes, errors: ErrorList | None = None, *, name: str = "export.zip"):
    path = tmp_path / name
    path.write_bytes(content)
    with open_source(path) as source:
        assert recognise(source) == "doccano"
        found = opener_of("doccano")(source, ErrorList() if errors is None else errors)
        return found._replace(rows=list(found.rows))


def test_a_zip_has_a_file_for_each_annotator(tmp_path):
    found = table(tmp_path, zipped(EACH))

    assert found.headings == ["id", "text", "query", "doc_id", "label", "comment", "annotator"]
    assert found.known == {
        "id": "", "query": "query", "doc_id": "passage", "label": "grade", "comment": "note", "annotator": "person",
    }  # fmt: skip
    assert [(line, cells[4:]) for line, cells in found.rows] == [
        (1, ["Relevant", "says how often; yes", "ana"]),
        (2, ["Not", "", "ana"]),
        (1, ["Partly; Short", "", "ben"]),
    ]
    assert found.notes == ["1 text has no label and stays out."]


@pytest.mark.parametrize("name", ["all.jsonl", "ana.jsonl"])
def test_a_file_alone_is_of_whoever_is_named_on_the_page(tmp_path, name):
    found = table(tmp_path, lines(ANA), name=name)

    assert "annotator" not in found.headings


def test_what_all_agreed_on_has_no_annotator(tmp_path):
    assert "annotator" not in table(tmp_path, zipped({"all.jsonl": lines(ANA)})).headings


@pytest.mark.parametrize(
    "files",
    [
        {"ana.json": json.dumps(ANA).encode()},
        {"ana.csv": CSV},
    ],
)
def test_json_and_csv_are_read_too(tmp_path, files):
    found = table(tmp_path, zipped(files))

    at = found.headings.index("label")
    assert [cells[at] for _, cells in found.rows] == ["Relevant", "Not"]


def test_labels_of_a_csv_are_divided_as_doccano_joins_them(tmp_path):
    content = b"id,text,query,doc_id,label,Comments\n1,Keys,key rotation,b00000,Relevant#Short,\n"

    found = table(tmp_path, zipped({"ana.csv": content}))

    assert found.rows[0][1][found.headings.index("label")] == "Relevant; Short"


def test_a_mistake_names_the_file_of_the_annotator_and_the_line(tmp_path):
    errors = ErrorList()
    parts = [{**KEYS, "label": [[0, 4, "Evidence"]]}]

    table(tmp_path, zipped(EACH | {"cleo.jsonl": lines(parts)}), errors)

    (error,) = errors
    assert (error.file, error.line, error.field) == ("cleo.jsonl", 1, "label")
    assert "no grades" in error.message


def test_a_zip_with_a_path_that_leads_out_is_refused(tmp_path):
    with pytest.raises(InputError, match="path that leads out of the archive"):
        table(tmp_path, zipped(EACH | {"../zoe.jsonl": lines(ANA)}))


def test_an_export_without_labels_is_none(tmp_path):
    with pytest.raises(InputError, match="the file has no grade"):
        table(tmp_path, zipped({"all.jsonl": lines([{**KEYS, "label": []}])}))


@pytest.mark.django_db
def test_the_page_imports_a_zip_with_its_annotators(client):
    project = make_project()
    make_query(project, outside_id="Q1", text="Key rotation")
    snapshot = make_snapshot(project)
    item = upload(client, snapshot, zipped(EACH), "rel.zip")
    assert item.state == ImportState.READY

    names = [value for value, _, _ in item.plan["table"]["grades"]]
    changes = {f"grade-{names.index('Partly; Short')}": "1"}
    send(client, item, "import-columns", form_of(item, **changes))
    send(client, item, "import-columns", form_of(item, **changes, **{"import": "1"}))

    found = Judgement.objects.values_list("entry__version__block__outside_id", "annotator__name", "grade")
    assert sorted(found) == [("b00000", "ana", 3), ("b00000", "ben", 1), ("b00001", "ana", 0)]
