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
        ("a/logo.PNG", b"\x89PNG", "PNG picture"),
        ("a/logo.md", b"\x89PNG\r\n\x1a\n\0\0", "PNG picture"),
        ("a/logo.png", b"\xff\xd8\xff\xe0\0\x10JFIF", "JPEG picture"),
        ("a/logo.png", b"\0\1\2", "picture"),
        ("a/logo.svg", b"<svg>", "SVG picture"),
        ("a/b", b"RIFF\x24\0\0\0WEBPVP8 ", "WebP picture"),
        ("a/film.txt", b"\0\0\0\x18ftypmp42", "sound or film (MP4)"),
        ("a/setup.exe", b"MZ\x90\0\3\0", "Windows program"),
        ("a/setup.pdf", b"MZ\x90\0\3\0", "Windows program"),
        ("a/karat", b"\x7fELF\2\1\1\0", "Linux program"),
        ("a/Otter.class", b"\xca\xfe\xba\xbe\0\0\0=", "Java class or a macOS program"),
        ("a/data.db", b"SQLite format 3\0", "SQLite database"),
        ("a/letter.rtf", b"{\\rtf1 Hello", "formatted text (RTF)"),
        ("a/novel.epub", b"PK\x03\x04" + b"\0" * 26 + b"mimetypeapplication/epub+zip", "e-book (EPUB)"),
        ("a/letter.odt", b"PK\x03\x04mimetypeapplication/vnd.oasis.opendocument.text", "OpenDocument text (.odt)"),
        ("a/talk.pptx", zipped({"[Content_Types].xml": "", "ppt/presentation.xml": ""}), "presentation"),
        ("a/inner.zip", b"PK\x03\x04\x14\0\1\0", "zip with a password"),
        ("a/inner.md", b"PK\x03\x04\x14\0\0\0a.mdPK\x03\x04\x14\0\1\0", "zip with a password"),
        ("a/inner.7z", b"7z\xbc\xaf\x27\x1c\0", "archive inside the upload"),
        ("a/MZ.py", b"MZ = 1", "no reader for .py files"),
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
