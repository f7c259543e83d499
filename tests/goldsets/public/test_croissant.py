"""The description of a public release in Croissant: what it says of the files is so."""

import hashlib
import json
import zipfile
from copy import deepcopy

import pytest

from apps.goldsets.enums import PublicState
from apps.goldsets.execution.publishing import stored_zip
from apps.goldsets.formats.public import croissant
from tests.goldsets.public.factories import make_public_release

pytestmark = pytest.mark.django_db
KINDS = {"sc:Text": str, "sc:Integer": int}
BARE = {"holder": "Hut", "about": "Doors", "licence": "CC0-1.0", "version": "v1", "frozen": "2026-03"}


@pytest.fixture
def folder(db, _publishable, tmp_path):
    """The files of a release that is out."""
    release = make_public_release(PublicState.RELEASED, deepcopy(_publishable[1]))
    with stored_zip(release) as stream, zipfile.ZipFile(stream) as archive:
        archive.extractall(tmp_path)
    return tmp_path


def described(folder):
    return json.loads((folder / croissant.FILE).read_bytes())


def test_the_release_says_what_it_is_under_which_licence_and_by_whom(folder):
    found = described(folder)

    assert found["conformsTo"] == "http://mlcommons.org/croissant/1.1"
    assert (found["name"], found["version"]) == ("Handbook v1", "v1")
    assert found["license"].startswith("https://creativecommons.org/licenses/")
    assert found["creator"]["name"] in (folder / "CITATION.cff").read_text()
    assert "3 passages, 4 queries, 12 graded pairs" in found["description"]
    assert found["isLiveDataset"] is False


def test_every_file_of_lines_is_named_with_its_size_and_digest(folder):
    files = described(folder)["distribution"]

    assert {one["contentUrl"] for one in files} == {
        path.relative_to(folder).as_posix() for path in (folder / "jsonl").iterdir()
    }
    for one in files:
        data = (folder / one["contentUrl"]).read_bytes()
        assert one["sha256"] == hashlib.sha256(data).hexdigest()
        assert one["contentSize"] == f"{len(data)} B"


def test_every_field_is_in_the_lines_with_its_type(folder):
    found = described(folder)
    places = {one["@id"]: folder / one["contentUrl"] for one in found["distribution"]}
    fields = [field for records in found["recordSet"] for field in records["field"]]

    assert len({field["@id"] for field in fields}) == len(fields) > 25
    for field in fields:
        source = field["source"]
        for line in places[source["fileObject"]["@id"]].read_text().splitlines():
            value = json.loads(line)[source["extract"]["column"]]
            value = value[source["transform"]["jsonPath"]] if "transform" in source else value
            values = value if field.get("isArray") else [value]
            assert all(one is None or type(one) is KINDS[field["dataType"]] for one in values), field["@id"]


def test_keys_and_references_lead_to_fields(folder):
    records = described(folder)["recordSet"]
    names = {field["@id"] for one in records for field in one["field"]}
    led = [one["key"]["@id"] for one in records if "key" in one]
    led += [field["references"]["field"]["@id"] for one in records for field in one["field"] if "references" in field]

    assert len(led) == 5
    assert set(led) <= names


def test_a_table_without_lines_is_a_file_and_has_no_records():
    schemas = {"queries": {"properties": {}}, "corpus": {"properties": {"text": {"type": "string"}}}}
    files = {"queries": (0, "0" * 64), "corpus": (9, "1" * 64)}

    found = json.loads(croissant.description(name="Doors v1", schemas=schemas, files=files, **BARE))

    assert [one["@id"] for one in found["distribution"]] == ["queries.jsonl", "corpus.jsonl"]
    assert [one["@id"] for one in found["recordSet"]] == ["corpus"]


def test_the_loader_of_croissant_reads_every_table(folder):
    loader = pytest.importorskip("mlcroissant")
    data = loader.Dataset(jsonld=str(folder / croissant.FILE))

    for records in described(folder)["recordSet"]:
        lines = (folder / f"jsonl/{records['name']}.jsonl").read_text().splitlines()
        assert len(list(data.records(records["@id"]))) == len(lines)
