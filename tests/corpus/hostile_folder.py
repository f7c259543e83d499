"""A folder of some 200 files as people and enemies send them, made in memory: good, broken, huge and hostile.

`python -m tests.corpus.hostile_folder ZIP` reads a zip as an import of documents does, and prints what became of each
file and how much memory it took.
"""

import gzip
import io
import json
import resource
import stat
import struct
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from openpyxl import Workbook

from tests.common.workbooks import binary_workbook, saved, workbook
from tests.corpus.formats.documents.pdfs import Line, make_pdf
from tests.corpus.formats.documents.test_docx import LAUGHS, by_hand, document_xml, paragraph
from tests.corpus.formats.documents.test_oscal import catalog, control, part
from tests.corpus.formats.documents.test_parquet import repeated
from tests.corpus.formats.documents.test_parquet import written as parquet_file

READ = "read"
MISTAKES = "mistakes"
"""The file is read line by line, and what is wrong is named with its line."""
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ENCRYPTED = OLE + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le") + b"\0" * 600
MARKS = {"utf-16-be": b"\xfe\xff"}
LONG_LINE = 1_000_000_000
ENCODED = {
    "latin-1": "Café für Größe",
    "shift_jis": "日本語の文書です。" * 20,
    "koi8_r": "Это обычный русский текст. " * 20,
}


class Hostile(NamedTuple):
    """A file, and what has to become of it: READ, MISTAKES or the reason why it stays unread."""

    path: str
    content: bytes
    becomes: str


def files() -> Iterator[Hostile]:
    """All files but those that only an archive can hold."""
    for number in range(30):
        yield _file(f"good/{number}.md", f"# Page {number}\n\nText of page {number}.\n", READ)
        yield _file(f"good/{number}.html", f"<h1>Page {number}</h1><p>Text of page {number}.", READ)
        yield _file(f"good/{number}.txt", f"Text of page {number}.", READ)
    yield from _texts()
    yield from _markups()
    yield from _pdfs()
    yield from _office_files()
    yield from _tables()
    yield from _records()
    yield from _other_kinds()
    yield from _packed()
    yield from _names()


def _file(path: str, content: str | bytes, becomes: str) -> Hostile:
    return Hostile(path, content.encode() if isinstance(content, str) else content, becomes)


def _texts() -> Iterator[Hostile]:
    for encoding, text in ENCODED.items():
        yield _file(f"text/{encoding}.txt", text.encode(encoding), READ)
        yield _file(f"text/{encoding}.md", f"# {text}\n\n{text}\n".encode(encoding), READ)
    for encoding in ("utf-16", "utf-16-be", "utf-8-sig"):
        yield _file(f"text/{encoding}.md", MARKS.get(encoding, b"") + "# Größe\n\nText.\n".encode(encoding), READ)
    yield _file("text/returns.md", "# One\r\rText.\r", READ)
    yield _file("text/crlf.md", "# One\r\n\r\nText.\r\n", READ)
    yield _file("text/one-nul.md", "# One\n\nText\0.\n", "not text")
    yield _file("text/nuls.txt", b"\0" * 5_000, "not text")
    yield _file("text/binary.md", bytes(range(256)) * 40, "not text")
    yield _file("text/half-utf-16.txt", "Größe".encode("utf-16") + b"\xd8", "text of unknown encoding")
    yield _file("text/utf-32.txt", "Größe".encode("utf-32"), "not text")
    yield _file("text/empty.md", "", "empty file")
    yield _file("text/blank.txt", " \n\t\n" * 1_000, "empty file")
    yield _file("text/no-text.md", "---\ntitle: Nothing\n---\n", READ)
    yield _file("text/long-line.txt", _noise(6_000_000), "line of more than 5 million letters")
    yield _file("text/large.txt", _noise(21_000_000), "text of more than 20 MB")


def _markups() -> Iterator[Hostile]:
    lol = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 20))
    yield _file("markup/yaml-bomb.md", f"---\nl0: &l0 lol\n{lol}---\n# Text\n\nText.\n", READ)
    yield _file("markup/yaml-object.md", "---\na: !!python/object/apply:os.system [id]\n---\n# Text\n\nText.\n", READ)
    yield _file("markup/front-matter-without-end.md", "---\ntitle: x\n\n# Text\n\nText.\n", READ)
    yield _file("markup/lists.md", "".join(f"{'  ' * n}- item {n}\n" for n in range(1_000)), READ)
    yield _file("markup/quotations.md", ">" * 20_000 + " text\n", READ)
    yield _file("markup/brackets.md", "[" * 50_000 + "\n", READ)
    yield _file("markup/emphasis.md", "*a **b " * 20_000 + "\n", READ)
    yield _file("markup/fence-without-end.md", "# One\n\n```\n# no heading\n", READ)
    yield _file("markup/table.md", "| a | b |\n| --- | --- |\n" + "| 1 | 2 |\n" * 20_000, READ)
    yield _file("markup/script.md", "# One\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1))\n", READ)
    yield _file("markup/open-paragraphs.html", "<p>text" * 5_000, READ)
    yield _file("markup/deep.html", "<div>" * 20_000 + "text", "HTML nested too deeply")
    yield _file("markup/tags.html", "<p>" + "<b>x</b>" * 210_000, "HTML with more than 200,000 tags")
    yield _file(
        "markup/spans.html", f"<table>{'<tr><td colspan=999 rowspan=999>x' * 500}</table>", "table that is too large"
    )
    yield _file("markup/script.html", "<h1>One</h1><script>while(1){}</script><p onload=x>Text.", READ)
    yield _file("markup/comment.html", "<p>Text.</p><!-- never closed " + "x" * 100_000, READ)
    yield _file("markup/entities.html", "<p>&lol; &#x110000; &amp" * 2_000, READ)
    yield _file("markup/nothing.html", "<html><body><nav>Only this</nav></body></html>", "page without text")
    yield _file(
        "markup/include.rst",
        "Text\n====\n\n.. include:: /etc/passwd\n.. raw:: html\n   :file: /etc/passwd\n\nText.\n",
        READ,
    )
    yield _file(
        "markup/deep.rst", "".join(f"{'  ' * n}* item\n\n" for n in range(400)), "reStructuredText nested too deeply"
    )


def _pdfs() -> Iterator[Hostile]:
    good = make_pdf([[Line("Pumps", 20), "", "Switch it off."], ["Page two."]], title="Pumps")
    yield _file("pdf/good.pdf", good, READ)
    yield _file("pdf/named-as-text.txt", good, READ)
    yield _file("pdf/locked.pdf", make_pdf([["secret"]], encrypted=True), "PDF with a password")
    yield _file("pdf/scanned.pdf", make_pdf([[], [], []]), "scanned PDF without text")
    yield _file("pdf/no-page.pdf", make_pdf([]), "damaged PDF")
    for share in (0.05, 0.3):
        yield _file(f"pdf/cut-{share}.pdf", good[: int(share * len(good))], "damaged PDF")
    yield _file("pdf/rubbish.pdf", b"%PDF-1.7\n" + bytes(range(256)) * 200, "damaged PDF")
    yield _file("pdf/unpacks-to-much.pdf", make_pdf([["Text."]], blanks=20_000_000), READ)
    kids = good.replace(b"/Kids [5 0 R", b"/Kids [2 0 R")
    yield _file("pdf/turning.pdf", kids, READ)


def _office_files() -> Iterator[Hostile]:
    good = by_hand(paragraph("Text."))
    yield _file("office/good.docx", good, READ)
    yield _file("office/macros.docm", by_hand(paragraph("Text."), word__vbaProject_dot_bin=b"Sub AutoOpen()"), READ)
    yield _file("office/locked.docx", ENCRYPTED, "Word file with a password")
    yield _file("office/old.docx", OLE + b"\0" * 3_000, "Word file of before 2007 (.doc)")
    yield _file("office/old.doc", OLE + b"\0" * 3_000, "Word file of before 2007 (.doc)")
    for cut in (40, 300):
        yield _file(f"office/cut-{cut}.docx", good[:-cut], "damaged Word file")
    yield _file("office/entities.docx", by_hand(LAUGHS.encode()), "Word file with a document type")
    yield _file("office/deep.docx", by_hand("<w:p>" * 5_000 + "</w:p>" * 5_000), "Word file nested too deeply")
    yield _file(
        "office/bomb.docx", by_hand(document_xml("").encode() + b" " * 110_000_000), "Word file that is too large"
    )
    yield _file("office/many.docx", by_hand(paragraph("x") * 140_000), "Word file that is too large")
    yield _file("office/no-text.docx", by_hand(""), "Word file without text")
    far = Workbook()
    far.active["A1"], far.active["XFD1048576"] = "text", "far away"
    sheet = workbook({"A": [["id", "text"], ["sheet-1", "Text."]]})
    yield _file("office/good.xlsx", sheet, READ)
    yield _file("office/locked.xlsx", ENCRYPTED, "spreadsheet with a password")
    yield _file("office/far.xlsx", saved(far), "spreadsheet that needs too much memory or time")
    yield _file("office/cut.xlsx", sheet[:-300], "damaged spreadsheet")
    yield _file("office/rubbish.xls", OLE + b"\0" * 3_000, "damaged spreadsheet")
    binary = binary_workbook([["id", "text"], ["sheet-2", "Text."]])
    yield _file("office/good.xlsb", binary, READ)
    yield _file("office/cut.xlsb", binary[:-300], "damaged spreadsheet")
    yield _file("office/archive.xlsx", _zip("a.md", "# Text"), "damaged spreadsheet")
    yield _file("office/numbers.xlsx", workbook({"A": [["n", "m"], [1, 2]]}), "table without a column of text")
    yield _file("office/slides.pptx", _zip("ppt/presentation.xml", "<p/>"), "presentation")


def _tables() -> Iterator[Hostile]:
    yield _file("tables/good.csv", "id;text\ntable-1;Text.\n", READ)
    yield _file("tables/utf-16.csv", "id,text\ntable-2,Größe\n".encode("utf-16"), READ)
    yield _file("tables/latin-1.tsv", "id\ttext\ntable-3\tGröße\n".encode("latin-1"), READ)
    yield _file("tables/returns.csv", "id,text\rtable-5,Text.\r", READ)
    yield _file(
        "tables/half-utf-16.csv", "id,text\na,x\n".encode("utf-16") + b"\xd8", "damaged, or not what its name says"
    )
    yield _file("tables/formula.csv", "id,text\ntable-4,\"=cmd|' /C calc'!A0\"\n", READ)
    yield _file("tables/numbers.csv", "n,m\n1,2\n", "table without a column of text")
    yield _file("tables/ragged.csv", "id,text\na,x\nb,y,z\n,w\n", MISTAKES)
    yield _file("tables/wide.csv", ",".join(f"c{n}" for n in range(2_000)) + "\n", MISTAKES)
    yield _file("tables/quote.csv", b'id,text\na,"' + _noise(6_000_000).replace(b"f", b"\n"), MISTAKES)
    yield _file("tables/line.csv", b"id,text\na," + _noise(6_000_000), MISTAKES)
    yield _file("tables/nul.csv", "id,text\na,\0\n", MISTAKES)


def _records() -> Iterator[Hostile]:
    doubling = [{"id": f"p{n}", "label": f"{{{{ p{n - 1} }}}} {{{{ p{n - 1} }}}}"} for n in range(1, 60)]
    yield _file("records/good.json", json.dumps([{"id": "json-1", "text": "Text."}]), READ)
    yield _file("records/deep.json", "[" * 100_000, "JSON nested too deeply")
    yield _file("records/deep-objects.json", '{"a":' * 100_000, "JSON nested too deeply")
    yield _file("records/infinite.json", '[{"id": "a", "text": "x", "n": Infinity}]', "damaged JSON")
    yield _file("records/nul.json", '[{"id": "a", "text": "\\u0000"}]', "damaged JSON")
    yield _file("records/cut.json", '[{"id": "a", "te', "damaged JSON")
    yield _file("records/settings.json", '{"name": "karat", "version": 1}', "JSON without records")
    yield _file("records/large.json", b"[" + _noise(51_000_000), "JSON of more than 50 MB; JSONL may be larger")
    yield _file("records/good.jsonl", '{"id": "line-1", "text": "Text."}\n', READ)
    yield _file("records/wrong.jsonl", '{"id": "line-2", "text": "Text."}\n{"id": 5.5}\n{\n', MISTAKES)
    yield _file("records/long-line.jsonl", b'{"id": "a", "text": "' + _noise(6_000_000), MISTAKES)
    yield _file("records/wrong-beir.jsonl", '{"_id": "a b", "text": "x"}\n', MISTAKES)
    yield _file("records/squad.json", '{"data": [{"title": "S", "paragraphs": [{"context": "Text."}]}]}', READ)
    yield _file("records/wrong-squad.json", '{"data": [{"paragraphs": [{"context": 5}]}]}', "damaged SQuAD")
    yield _file("records/catalog.json", catalog(control("ac-1", "AC-1", "P", part("statement", "Text."))), READ)
    bomb = catalog(control("ac-2", "AC-2", "P", part("statement", "{{ p59 }}"), params=doubling))
    yield _file("records/doubling.json", bomb, "OSCAL whose parameters grow without end")
    yield _file("records/good.parquet", parquet_file({"id": ["parquet-1"], "text": ["Text."]}), READ)
    yield _file("records/bomb.parquet", repeated(300, 100_000), "Parquet packed far too tightly")
    yield _file("records/cut.parquet", parquet_file({"id": ["a"], "text": ["x"]})[:-30], "damaged Parquet")
    yield _file("records/rubbish.parquet", b"PAR1" + bytes(range(256)) * 9 + b"PAR1", "damaged Parquet")
    yield _file("records/good.sgml", "<DOC><DOCNO>trec-1</DOCNO><TEXT>Text.</TEXT></DOC>", READ)
    yield _file("records/cut.trec", "<DOC>\n<DOCNO>trec-2</DOCNO>\n<TEXT>Text.", "TREC file that is cut off")
    yield _file("records/no-number.trec", "<DOC><TEXT>x</TEXT></DOC>", MISTAKES)
    component = "name: Access\nsatisfies:\n- control_key: AC-1\n  narrative: Text.\n"
    yield _file("records/component.yaml", component, READ)
    yield _file("records/settings.yml", "site: karat\n", "YAML other than OpenControl")
    yield _file("records/cut.yaml", component + "- [", "damaged YAML")
    yield _file("records/deep.yaml", "a: " + "[" * 100_000, "YAML nested too deeply")
    yield _file("records/many.yaml", "- a\n" * 1_000_000, "YAML that is too large")
    yield _file("records/laughs.yaml", "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "YAML other than OpenControl")
    yield _file("records/good.all", ".I 1\n.W\nText.\n", READ)
    yield _file("records/wrong.all", ".I 2\n.W\nText.\n.Z\nx\n", MISTAKES)


def _other_kinds() -> Iterator[Hostile]:
    yield _file("other/picture.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "PNG picture")
    yield _file("other/sound.mp3", b"ID3" + b"\0" * 100, "sound or film")
    yield _file("other/tool.exe", b"MZ" + b"\0" * 100, "Windows program")
    yield _file("other/data.sqlite", b"SQLite format 3\0" + b"\0" * 100, "SQLite database")
    yield _file("other/old.7z", b"7z\xbc\xaf\x27\x1c" + b"\0" * 100, "archive inside the upload")


def _packed() -> Iterator[Hostile]:
    yield _file("packed/inner.zip", _zip("a.md", "# Text"), "archive inside the upload")
    yield _file("packed/inner.md", _zip("a.md", "# Text"), "archive inside the upload")
    yield _file("packed/good.md.gz", gzip.compress(b"# Text\n\nText.\n"), READ)
    yield _file("packed/cut.md.gz", gzip.compress(b"# Text\n\nText.\n")[:-9], "damaged in the archive")
    yield _file("packed/bomb.md.gz", gzip.compress(b"x" * 100_000_000), "packed far too tightly")


def _names() -> Iterator[Hostile]:
    out = "path that leads out of the archive"
    for number, name in enumerate(("../../evil.md", "a/../../evil.md", "/etc/evil.md", "C:\\evil.md", "a//evil.md")):
        yield _file(name, f"# Evil {number}", out)
    for letter in ("\n", "\x07", "\x1b[2J", "\u202e"):
        yield _file(f"names/a{letter}b.md", "# Evil", "name with control characters")
    for name in (
        "#1 & 50%.md",
        "a b\u00a0c.md",
        "naïve/日本語.md",
        "é" * 100 + ".md",
        "x" * 240 + ".md",
        "-rf.md",
        "a;b'c\".md",
    ):
        yield _file(f"names/{name}", f"# {len(name)}\n\nText.\n", READ)
    yield _file("/".join(["deep"] * 60) + "/a.md", "# Deep\n\nText.\n", READ)


def write_zip(path: Path, found: list[Hostile]) -> dict[str, str]:
    """A zip of these files and of what only an archive can hold; what has to become of each, by path."""
    expected = {file.path.replace("\\", "/").removesuffix(".gz"): file.becomes for file in found}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for file in found:
            archive.writestr(zipfile.ZipInfo(file.path), file.content, zipfile.ZIP_DEFLATED, compresslevel=1)
        link = zipfile.ZipInfo("odd/link.md")
        link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        expected["odd/link.md"] = "link to another file"
        archive.writestr("odd/locked.md", "# Secret")
        archive.filelist[-1].flag_bits |= 0x1
        expected["odd/locked.md"] = "locked with a password"
        archive.writestr("odd/damaged.md", "# Damaged")
        archive.filelist[-1].CRC ^= 0xFFFF
        expected["odd/damaged.md"] = "damaged in the archive"
        with archive.open("odd/one-line.txt", "w", force_zip64=True) as out:
            for _ in range(LONG_LINE // 10_000_000):
                out.write(b"x" * 10_000_000)
        expected["odd/one-line.txt"] = "larger than 500 MB"
        archive.writestr("odd/bomb.txt", b"\n" * 100_000_000)
        expected["odd/bomb.txt"] = "packed far too tightly"
        for hidden in (".git/config", "node_modules/a.md", "__MACOSX/._a.md", ".hidden.md"):
            archive.writestr(hidden, "# Not looked at")
            top, slash, _ = hidden.partition("/")
            expected[f"{top}{slash}"] = "hidden"
    return expected


def _zip(name: str, content: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, content)
    return out.getvalue()


def _noise(size: int) -> bytes:
    """Letters that cannot be packed to a two-hundredth, made quickly."""
    block = b"".join(struct.pack(">Q", n * 0x9E3779B97F4A7C15 % 2**64).hex().encode() for n in range(65_536))
    return (block * (size // len(block) + 1))[:size]


def main(path: str) -> None:
    import django

    django.setup()
    from apps.common.errors import InputError
    from apps.common.files.tabular import open_source
    from apps.corpus.core.documents import UnreadFile
    from apps.corpus.execution.document_reading import Choices, documents_in
    from apps.corpus.formats.document_readings import ReadFile

    became: dict[str, str] = {}
    rows = 0
    at_first = _most_memory()
    with open_source(path) as source, documents_in(source, Choices()) as items:
        for item in items:
            if isinstance(item, ReadFile):
                became[item.path] = READ
            elif isinstance(item, UnreadFile):
                became[item.path.removesuffix(".gz")] = item.reason
            elif isinstance(item, InputError):
                became[item.file] = MISTAKES
            else:
                rows += 1
    json.dump({"became": became, "rows": rows, "grew_kilobytes": _most_memory() - at_first}, sys.stdout)


def _most_memory() -> int:
    """The most kilobytes of this process. What `getrusage` has begins with those of the process that started it."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))


if __name__ == "__main__":
    main(sys.argv[1])
