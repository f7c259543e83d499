import json

import pytest

from apps.common.errors import InputErrors
from apps.corpus.core.documents import Document
from apps.corpus.formats.documents import MOST_JSON_VALUES, SourceFile
from apps.corpus.formats.documents.json_records import read_json
from apps.corpus.formats.rows import BlockRow
from tests.corpus.formats.documents.reading import one, reason, rows


def read(value, path="a.json"):
    return rows(read_json, json.dumps(value), path)


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def test_records_with_an_id_are_passages():
    (row,) = read([{"id": 7, "Title": "Keys", "Text": "Rotate.", "tags": ["a"], "empty": ""}])

    assert row == BlockRow(1, "7", "7", "Keys", "Rotate.", metadata={"tags": ["a"]})


@pytest.mark.parametrize("name", ["title", "doc_title", "Document title", "passage-title", "name"])
def test_a_title_goes_by_the_names_that_exports_give_it(name):
    assert read([{"doc_id": "d1", name: "Keys", "text": "Rotate."}])[0].title == "Keys"


@pytest.mark.parametrize(
    "value", [{"count": 1, "few": [], "docs": [{"id": "a", "text": "x"}]}, {"a": {"text": "x"}, "b": {"text": "y"}}]
)
def test_the_records_may_be_inside_an_object_or_its_values(value):
    assert (read(value)[0].block_id, read(value)[0].text) == ("a", "x")


def test_records_without_an_id_are_documents_named_by_address_or_title():
    found = read([
        {"url": "https://example.org/a", "title": "A", "body": "One.", "lang": "en"},
        {"title": "B", "body": "Two."},
        {"title": "B", "body": "Three."},
        {"body": "Four."},
        {"title": "No text", "body": " "},
    ])  # fmt: skip

    assert [document.path for document in found] == [
        "a.json/example.org/a", "a.json/B", "a.json/B~43c4d94e", "a.json/2f7820a5",
    ]  # fmt: skip
    assert found[0] == Document(found[0].path, "json", "A", "One.", {"url": "https://example.org/a", "lang": "en"})


def test_the_longest_field_is_the_text_where_none_has_a_known_name():
    assert read([{"id": "1", "kind": "note", "Inhalt": "a text of more than twenty letters"}])[0].text.startswith(
        "a text"
    )
    assert reason(read_json, '[{"id": "1", "kind": "note"}]') == "table without a column of text"


def test_html_in_a_record_becomes_markdown():
    assert one(read_json, json.dumps([{"title": "A", "body": "<p>One <b>two</b></p>"}])).text == "One **two**"


def test_karats_own_form_keeps_sections_and_pages():
    record = {"block_id": "b", "document_id": "d", "text": "t", "section": ["S"], "page_start": 2}

    assert read([record]) == [BlockRow(1, "b", "d", "", "t", ("S",), 2, 2)]


def test_one_object_a_line_is_read_line_by_line():
    content = lines({"id": "a", "text": "x"}, {"id": "b", "text": "y"})

    assert [(row.line, row.block_id) for row in rows(read_json, content)] == [(1, "a"), (2, "b")]
    assert [row.block_id for row in rows(read_json, content.splitlines()[0], "one.jsonl")] == ["a"]


def test_every_line_that_is_wrong_is_named():
    with pytest.raises(InputErrors) as caught:
        rows(read_json, lines({"id": "a", "text": "x"}, {"text": "y"}, {"id": "c", "text": 5}) + "{\n", "a.jsonl")

    assert [(error.line, error.field) for error in caught.value.errors] == [(2, "id"), (3, "text"), (4, "")]


def test_ids_with_blanks_or_too_long_become_ids():
    found = read([{"id": "a b\n", "text": "x"}, {"id": "x" * 500, "text": "y"}])

    assert found[0].block_id == "a%20b"
    assert len(found[1].block_id) == 200


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "damaged JSON"),
        ("{", "damaged JSON"),
        ("[1, 2]", "JSON without records"),
        ('"text"', "JSON without records"),
        ("[]", "JSON without records"),
        ('[{"id": "a", "text": NaN}]', "damaged JSON"),
        ('[{"id": "a", "text": "\\u0000"}]', "damaged JSON"),
        ("[" * 100_000, "JSON nested too deeply"),
        ('{"a":' * 100_000, "JSON nested too deeply"),
    ],
)
def test_what_cannot_be_read_has_a_reason(content, why):
    assert reason(read_json, content) == why


def test_a_file_of_millions_of_empty_values_stays_unread():
    assert (
        reason(read_json, "[" + "{}," * MOST_JSON_VALUES + "{}]")
        == "JSON of more than 5 million values; JSONL may have more"
    )


def test_utf_16_is_read():
    assert rows(read_json, '[{"id": "a", "text": "é"}]'.encode("utf-16"))[0].text == "é"


# SQuAD

SQUAD = {
    "version": "1.1",
    "data": [
        {"title": "Red_Pump", "paragraphs": [{"context": " Two  pumps.\n", "qas": []}, {"context": "# One pump."}]},
        {"title": "Oil", "paragraphs": [{"context": "Black."}]},
        {"title": "Red_Pump", "paragraphs": [{"context": "Again."}]},
    ],
}


def test_paragraphs_of_squad_are_passages_as_they_are():
    found = read(SQUAD)

    assert [row.block_id for row in found] == ["Red_Pump/1", "Red_Pump/2", "Oil/1", "Red_Pump/3"]
    assert [row.text for row in found[:2]] == [" Two  pumps.\n", "# One pump."]
    assert (found[0].document_id, found[0].document_title) == ("Red_Pump", "Red Pump")


@pytest.mark.parametrize("data", [[{"paragraphs": [{}]}], [{"paragraphs": [{"context": 5}]}], [{"paragraphs": []}, 7]])
def test_damaged_squad_stays_unread(data):
    assert reason(read_json, json.dumps({"data": data})) == "damaged SQuAD"


@pytest.mark.parametrize("language", ["en", "de", "zh"])
def test_every_answer_of_xquad_is_at_its_offset(shared_data, language):
    path = shared_data / "xquad" / f"xquad.{language}.json"
    with path.open("rb") as stream:
        found = {row.block_id: row for row in read_json(SourceFile(path.name, stream, path.stat().st_size))}
    articles = json.loads(path.read_text())["data"]

    assert (len({row.document_id for row in found.values()}), len(found)) == (48, 240)
    answers = 0
    for article in articles:
        for place, paragraph in enumerate(article["paragraphs"], 1):
            text = found[f"{article['title'].replace(' ', '%20')}/{place}"].text
            for answer in (answer for question in paragraph["qas"] for answer in question["answers"]):
                answers += 1
                start = answer["answer_start"]
                assert text[start : start + len(answer["text"])] == answer["text"]
    assert answers == 1190
