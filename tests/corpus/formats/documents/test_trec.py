import io

import pytest

from apps.common.errors import InputErrors
from apps.corpus.formats.documents import SourceFile, trec
from apps.corpus.formats.documents.trec import read_trec
from tests.corpus.formats.documents.reading import reason, rows

TWO = """
<DOC>
<DOCNO> FT911-1 </DOCNO>
<HEADLINE>
Pumps
fail &amp; burn
</HEADLINE>
<TEXT>
First line.
  Second <F P=1>line</F>.
</TEXT>
<BYLINE>Nobody</BYLINE>
<TEXT>More.</TEXT>
</DOC>
<DOC><DOCNO>FT911-2</DOCNO><BODY>Only a body.</BODY></DOC>
"""


def test_each_document_is_a_passage_with_its_number():
    first, second = rows(read_trec, TWO)

    assert (first.block_id, first.document_id, first.line) == ("FT911-1", "FT911-1", 2)
    assert (first.title, first.text) == ("Pumps fail & burn", "First line.\n  Second line.\n\nMore.")
    assert (second.block_id, second.title, second.text) == ("FT911-2", "", "Only a body.")


def test_bytes_of_latin_1_are_read():
    (row,) = rows(read_trec, "<DOC><DOCNO>1</DOCNO><TEXT>café</TEXT></DOC>".encode("latin-1"))

    assert row.text == "café"


def test_a_page_of_the_web_is_read_as_html():
    page = "<html><body><h1>Pumps</h1><p>Fail.</body></html>"

    (row,) = rows(read_trec, f"<DOC><DOCNO>W1</DOCNO><DOCHDR>http://x 200</DOCHDR>{page}</DOC>")

    assert row.text == "# Pumps\n\nFail."


def test_blanks_in_a_number_are_written_as_addresses_write_them():
    assert rows(read_trec, "<doc><docno>a b</docno><text>x</text></doc>")[0].block_id == "a%20b"


def test_a_document_without_a_number_is_named_by_its_line():
    with pytest.raises(InputErrors) as caught:
        rows(read_trec, "<DOC>\n<DOCNO>1</DOCNO>\n</DOC>\n<DOC>\n<TEXT>x</TEXT>\n</DOC>")

    assert [(error.line, error.field) for error in caught.value.errors] == [(4, "DOCNO")]


@pytest.mark.parametrize(
    ("content", "why"),
    [("nothing", "TREC file without documents"), ("<DOC><DOCNO>1</DOCNO>", "TREC file that is cut off")],
)
def test_what_cannot_be_read_has_a_reason(content, why):
    assert reason(read_trec, content) == why


def test_long_lines_and_documents_stay_unread(monkeypatch):
    monkeypatch.setattr(trec, "DOCUMENT_BYTES", 100)

    assert reason(read_trec, "<DOC>\n" + "x\n" * 60) == "TREC document of more than 0 MB"
    assert reason(read_trec, "x" * (trec.LINE_BYTES + 1)) == "line of more than 5 million bytes"


def test_tags_that_nothing_closes_are_text_however_many_there_are():
    (row,) = rows(read_trec, "<DOC><DOCNO>1</DOCNO><TEXT>x</TEXT>" + "<p><b " * 200_000 + "</DOC>")

    assert row.text == "x"


def test_one_document_is_in_memory_at_a_time():
    class Counting(io.RawIOBase):
        done = 0

        def readable(self):
            return True

        def readinto(self, buffer):
            self.done += 1
            piece = (b"<DOC><DOCNO>%d</DOCNO><TEXT>x</TEXT></DOC>\n" % self.done)[: len(buffer)]
            buffer[: len(piece)] = piece
            return len(piece)

    stream = Counting()
    found = read_trec(SourceFile("big.trec", io.BufferedReader(stream, 100), 10**12))

    assert [next(found).block_id for _ in range(5)] == ["1", "2", "3", "4", "5"]
    assert stream.done < 20
