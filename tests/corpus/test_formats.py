import io
import json

import pytest

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile, open_source
from apps.corpus.formats import read_blocks
from apps.corpus.formats.rows import BlockRow


def read(text: str, *, format: str, ids: str = "file") -> tuple[list[BlockRow], ErrorList]:
    errors = ErrorList()
    rows = list(read_blocks(TableFile("f", io.BytesIO(text.encode())), errors, format=format, ids=ids))
    return rows, errors


def faults(errors: ErrorList) -> list[tuple]:
    return [(error.line, error.field, error.message) for error in errors]


def test_jsonl_gives_every_field():
    value = {
        "block_id": "b1",
        "document_id": "d1",
        "title": "Keys",
        "text": "Rotate keys.",
        "section": ["Security", "Keys"],
        "page_start": 3,
        "page_end": 4,
        "metadata": {"owner": "it"},
    }

    rows, errors = read(json.dumps(value), format="jsonl")

    assert rows == [BlockRow(1, "b1", "d1", "Keys", "Rotate keys.", ("Security", "Keys"), 3, 4, {"owner": "it"})]
    assert not errors


def test_jsonl_needs_only_ids_and_text():
    rows, errors = read('{"block_id": "b", "document_id": "d", "text": "t", "page_start": 2}', format="jsonl")

    assert (rows[0].title, rows[0].section_path, rows[0].page_end) == ("", (), 2)
    assert not errors


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"block_id": None}, "block_id", "is empty"),
        ({"block_id": 7}, "block_id", "must be text"),
        ({"block_id": "a b"}, "block_id", "an id must not contain blanks or control characters"),
        ({"document_id": ""}, "document_id", "is empty"),
        ({"text": 5}, "text", "must be text"),
        ({"sectoin": "x"}, "sectoin", "unknown field"),
        ({"page_start": "three"}, "page_start", "must be a whole number from 0 up"),
        ({"page_start": True}, "page_start", "must be a whole number from 0 up"),
        ({"page_end": 3}, "page_end", "page_end needs a page_start"),
        ({"page_start": 5, "page_end": 3}, "page_end", "the last page comes before the first, 5"),
        ({"metadata": []}, "metadata", "must be a JSON object"),
        ({"section": [1]}, "section", "must be a list of texts"),
    ],
)
def test_jsonl_names_what_is_wrong(change, field, message):
    good = {"block_id": "b", "document_id": "d", "text": "t"}

    rows, errors = read(json.dumps(good | change) + "\n" + json.dumps(good), format="jsonl")

    assert [row.line for row in rows] == [2]
    line, name, said = faults(errors)[0]
    assert (line, name) == (1, field)
    assert said.startswith(message)


def test_a_block_without_text_is_kept_with_a_warning():
    rows, errors = read('{"block_id": "b", "document_id": "d", "text": ""}', format="jsonl")

    assert len(rows) == 1
    assert not errors
    assert errors.warnings[0].message == "the block has no text"


def test_csv_divides_headings_and_gathers_metadata():
    text = 'block_id,document_id,text,section,page_start,metadata.owner\nb,d,"x, y",One > Two,4,it\n'

    rows, errors = read(text, format="csv")

    assert rows == [BlockRow(2, "b", "d", "", "x, y", ("One", "Two"), 4, 4, {"owner": "it"})]
    assert not errors


def test_beir_records_are_their_own_documents_and_keep_other_fields():
    rows, _ = read('{"_id": "7", "title": "T", "text": "x", "url": "u", "metadata": {"a": 1}}', format="beir")

    assert rows == [BlockRow(1, "7", "7", "T", "x", metadata={"a": 1, "url": "u"})]


SMART = ".I 10\n.T\na title\nin two lines\n.A\nsmith,j.\n.W\nfirst\n  second\n.I 12\n.W\nthird\n"


def test_smart_takes_ids_from_the_file_or_by_position_as_chosen():
    by_file, _ = read(SMART, format="smart", ids="file")
    by_position, _ = read(SMART, format="smart", ids="position")

    assert [row.block_id for row in by_file] == ["10", "12"]
    assert [row.block_id for row in by_position] == ["1", "2"]


def test_smart_joins_the_title_and_leaves_the_text_unchanged():
    rows, _ = read(SMART, format="smart")

    assert rows[0] == BlockRow(
        1, "10", "10", "a title in two lines", "first\n  second", metadata={"author": "smith,j."}
    )


def test_a_marker_that_occurs_twice_is_skipped_with_a_warning():
    rows, errors = read(".I 1\n.A\nx\n.W\none\n.A\ntwo\n", format="smart")

    assert rows[0].text == "one\ntwo"
    assert [(w.line, w.value) for w in errors.warnings] == [(6, ".A")]


def test_a_file_of_another_form_is_refused_as_smart():
    with pytest.raises(InputError, match=r"begins with \.I"):
        read('{"block_id": "b"}', format="smart")


def test_ids_by_position_are_for_smart_only():
    with pytest.raises(InputError, match="for SMART files only"):
        read("", format="jsonl", ids="position")


def test_cranfield_has_1400_blocks_two_of_them_empty(shared_data):
    errors = ErrorList()

    with open_source(shared_data / "cranfield" / "cran.all.1400") as source:
        rows = list(read_blocks(source, errors, format="smart", ids="position"))

    assert len(rows) == 1400
    assert [row.block_id for row in rows] == [str(number) for number in range(1, 1401)]
    assert [row.block_id for row in rows if not row.text] == ["471", "995"]
    assert not errors
    assert rows[239].text.endswith("heat\ntransfer in a laminar separated flow .")
