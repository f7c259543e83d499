import pytest

from apps.common.errors import InputErrors
from apps.corpus.core.documents import Document
from apps.corpus.formats.documents.registry import read_table
from apps.corpus.formats.rows import BlockRow
from tests.common.workbooks import binary_workbook, workbook
from tests.corpus.formats.documents.reading import notes, reason, rows

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def test_karats_own_columns_are_read_with_sections_and_metadata():
    content = 'block_id;document_id;text;section;metadata.owner\nb;d;"one\ntwo";S > T;it\n'

    assert rows(read_table, content) == [BlockRow(2, "b", "d", "", "one\ntwo", ("S", "T"), metadata={"owner": "it"})]


def test_any_separator_and_encoding_is_read():
    content = "Id|Überschrift|Text\n1|Schlüssel|für Türen\n".encode("cp1252")

    (row,) = rows(read_table, content)

    assert (row.block_id, row.text, row.metadata) == ("1", "für Türen", {"Überschrift": "Schlüssel"})


def test_rows_with_title_and_address_but_no_id_are_documents():
    content = "url,title,body,lang\nhttps://a.org/x,X,# One,en\n"

    assert rows(read_table, content, "pages.csv") == [
        Document("pages.csv/a.org/x", "table", "X", "# One", {"url": "https://a.org/x", "lang": "en"})
    ]


def test_a_note_shows_what_each_column_was_taken_for():
    assert notes(read_table, "Seite;Inhalt;name\n/a;Text of more than twenty letters;A\n") == [
        "read as records, text from Inhalt, title from name"
    ]
    assert notes(read_table, "id,text\na,x\n") == ["read as records, text from text, id from id"]


def test_every_sheet_with_a_column_of_text_is_read():
    content = workbook({
        "Figures": [["n", "m"], [1, 2]],
        "A": [["ID", "Text"], ["a1", "one"]],
        "B": [["A table of pages"], [], ["Title", "Text"], ["Keys", "two"]],
        "Empty": [],
        "Hidden": [["ID", "Text"], ["h", "x"]],
    }, hidden=["Hidden"])  # fmt: skip

    found = rows(read_table, content, "book.xlsx")

    assert found == [BlockRow(2, "a1", "a1", "", "one"), Document("book.xlsx/B/Keys", "table", "Keys", "two", {})]


def test_whole_numbers_of_a_sheet_are_ids_without_decimals():
    (row,) = rows(read_table, workbook({"A": [["id", "text"], [7, "x"]]}))

    assert row.block_id == "7"


def test_a_binary_workbook_is_read():
    assert rows(read_table, binary_workbook([["id", "text"], ["a", "one"]]), "a.xlsb") == [
        BlockRow(2, "a", "a", "", "one")
    ]


def test_lines_that_end_in_a_carriage_return_alone_are_read():
    assert [row.text for row in rows(read_table, "id;text\ra;one\rb;two\r")] == ["one", "two"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"PK\x03\x04 xl/ rubbish", "damaged spreadsheet"),
        (OLE + b"\0" * 5_000, "damaged spreadsheet"),
        (workbook({"A": [["n"], [1]]}), "table without a column of text"),
        (workbook({"A": []}), "empty table"),
        (binary_workbook([["id", "text"]])[:-300], "damaged spreadsheet"),
        (b"PK\x03\x04" + bytes(100), "damaged spreadsheet"),
        ("\n\n", "empty table"),
        ("n,m\n1,2\n", "table without a column of text"),
    ],
)
def test_what_cannot_be_read_has_a_reason(content, why):
    assert reason(read_table, content, "rows.xlsx") == why


def test_rows_that_are_wrong_are_named():
    with pytest.raises(InputErrors) as caught:
        rows(read_table, "id,text\na,x\n,y\nb,z,too much\n")

    assert [error.line for error in caught.value.errors] == [3, 4]

    with pytest.raises(InputErrors) as caught:
        rows(read_table, "block_id,document_id,text\n,d,x\nb,d,y\n")

    assert [(error.line, error.field) for error in caught.value.errors] == [(2, "block_id")]
