"""Of what kind a file is: by its content where that is certain, else by its name."""

import io

import pytest

from apps.corpus.formats.documents.recognition import recognise, unread_reason
from tests.corpus.factories import zipped


@pytest.mark.parametrize(
    ("path", "head", "kind"),
    [
        ("a/keys.md", b"# Keys", "markdown"),
        ("README", b"Read me.", "text"),
        ("notes.txt", b"Some notes.", "text"),
        ("guide.rst", b"Guide\n=====", "rst"),
        ("page.html", b"<p>x</p>", "html"),
        ("page.md", b"<!DOCTYPE html><html>", "html"),
        ("report.txt", b"%PDF-1.7\n", "pdf"),
        ("about-pdf.md", b"A file that begins with %PDF-1.7 is a PDF.", "markdown"),
        ("letter.bin", zipped({"[Content_Types].xml": "", "word/document.xml": ""}), "docx"),
        ("letter.docx", b"PK\x03\x04 cut off", "docx"),
        ("sheet.bin", zipped({"[Content_Types].xml": "", "xl/workbook.xml": ""}), "xlsx"),
        ("sheet.bin", zipped({"mimetype": "application/vnd.oasis.opendocument.spreadsheet"}), "xlsx"),
        ("slides.bin", zipped({"[Content_Types].xml": "", "ppt/presentation.xml": ""}), ""),
        ("novel.epub", zipped({"mimetype": "application/epub+zip"}), ""),
        ("all.zip", zipped({"docs/word/document.xml": "", "docs/[Content_Types].xml": "", "a.md": "xl/ %PDF-"}), "zip"),
        ("all.zip", zipped({"docs/mimetype": "application/epub+zip", "mimetype": "how it says its type"}), "zip"),
        ("all.zip", b"PK\x03\x04 cut off", "zip"),
        ("all", zipped({"a.md": "# A"}), "zip"),
        ("rows.csv", b"id;text\n1;x", "csv"),
        ("blocks.jsonl", b'{"block_id": "b", "document_id": "d", "text": "t"}\n', "jsonl"),
        ("corpus.jsonl", b'{"_id": "b", "text": "t"}\n', "beir"),
        ("pages.json", b'[{"title": "x"}]', "json"),
        ("rev5.json", b'{"catalog": {"uuid": "x"}}', "oscal"),
        ("cran.all.1400", b".I 1\n.T\nwings\n.W\nflow", "smart"),
        ("cran.txt", b".I 1\n.T\nwings\n.W\nflow", "smart"),
        ("cran", b".I 1\n.T\nwings\n.W\nflow", "smart"),
        ("docs.xml", b"<DOC>\n<DOCNO>1</DOCNO>", "trec"),
        ("rows.parquet", b"PAR1", "parquet"),
        ("AC_Policy/component.yaml", b"---\nname: Access\n", "opencontrol"),
        ("logo.png", b"\x89PNG\r\n\x1a\n\0\0", ""),
        ("keys.md", b"\0\0\0\0\0\0\0\0", ""),
        ("keys.md", b"", ""),
    ],
)
def test_kinds(path, head, kind):
    assert recognise(path, io.BytesIO(head)) == kind


@pytest.mark.parametrize(
    ("path", "head", "reason"),
    [
        ("a/logo.PNG", b"\x89PNG", "picture"),
        ("a/keys.md", b"", "empty file"),
        ("a/keys.md", b" \n", "empty file"),
        ("a/keys.md", b"\0\0\0", "not text"),
        ("a/inner.zip", b"PK\x03\x04", "archive inside the upload"),
        ("a/inner", b"PK\x03\x04", "archive inside the upload"),
        ("a/tool.py", b"print(1)", "no reader for .py files"),
        ("a/letter.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Word file of before 2007 (.doc)"),
    ],
)
def test_reasons(path, head, reason):
    assert unread_reason(path, head) == reason
