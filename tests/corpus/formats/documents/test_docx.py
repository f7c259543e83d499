import io
import zipfile

import docx
import pytest

from apps.corpus.formats.documents import SourceFile, Unreadable
from apps.corpus.formats.documents.office_files import ENCRYPTED, LIMITS, OLE, read_docx
from tests.corpus.formats.documents.reading import one, reason

WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
TYPE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
CONTENT_TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'


def written(fill):
    """A Word file that `fill` has filled."""
    document = docx.Document()
    document.core_properties.title = document.core_properties.author = ""
    fill(document)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def by_hand(body, **parts):
    """A Word file of this XML; `parts` are other members, `__` in their names for `/` and `_dot_` for the dot."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", CONTENT_TYPES)
        archive.writestr("word/document.xml", document_xml(body) if isinstance(body, str) else body)
        for name, content in parts.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return out.getvalue()


def document_xml(body):
    return f"<w:document {WORD}><w:body>{body}</w:body></w:document>"


def paragraph(text):
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def test_headings_lists_and_emphasis_are_what_the_styles_say():
    def fill(document):
        document.add_heading("Pumps", 0)
        document.add_heading("Safety", 1)
        words = document.add_paragraph("Switch it ")
        words.add_run("off").bold = True
        words.add_run(" before you ")
        words.add_run("open").italic = True
        words.add_run(" it.")
        document.add_paragraph("a spanner", style="List Bullet")
        document.add_paragraph("oil", style="List Bullet")
        document.add_paragraph("first", style="List Number")
        document.add_paragraph("a wise word", style="Quote")

    text = one(read_docx, written(fill)).text

    assert text.split("\n\n") == [
        "# Pumps",
        "# Safety",
        "Switch it **off** before you *open* it.",
        "- a spanner\n- oil",
        "1. first",
        "> a wise word",
    ]


def test_a_table_keeps_all_its_columns():
    def fill(document):
        table = document.add_table(2, 3)
        table.cell(0, 0).merge(table.cell(0, 1)).text = "In hours"
        for place, text in enumerate(["a|b", "", "z"]):
            table.cell(1, place).text = text

    assert one(read_docx, written(fill)).text.splitlines() == [
        "| In hours | In hours |  |",
        "| --- | --- | --- |",
        "| a\\|b |  | z |",
    ]


def test_a_footnote_follows_the_paragraph_that_it_belongs_to():
    body = (
        '<w:p><w:r><w:t>Oil</w:t></w:r><w:r><w:footnoteReference w:id="1"/></w:r>'
        '<w:r><w:t> and grease</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>' + paragraph("Next.")
    )
    notes = "".join(
        f'<w:footnote w:id="{n}">{paragraph(text)}</w:footnote>' for n, text in [(1, "ISO 46"), (2, "NLGI")]
    )

    text = one(read_docx, by_hand(body, word__footnotes_dot_xml=f"<w:footnotes {WORD}>{notes}</w:footnotes>")).text

    assert text.split("\n\n") == ["Oil[1] and grease[2]", "[1] ISO 46", "[2] NLGI", "Next."]


def test_links_stay_and_anchors_inside_the_file_too():
    rels = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{TYPE}/hyperlink" Target="https://example.org/a" TargetMode="External"/>'
        "</Relationships>"
    )
    body = f'<w:p><w:hyperlink xmlns:r="{TYPE}" r:id="r1"><w:r><w:t>the guide</w:t></w:r></w:hyperlink></w:p>'

    text = one(read_docx, by_hand(body, word___rels__document_dot_xml_dot_rels=rels)).text

    assert text == "[the guide](https://example.org/a)"


def test_title_and_author_are_what_the_file_states():
    def fill(document):
        document.core_properties.title = "A  manual"
        document.core_properties.author = "Mara Voss"
        document.add_heading("Pumps", 1)

    document = one(read_docx, written(fill), "manuals/a.docx")

    assert (document.title, document.metadata, document.path) == ("A manual", {"author": "Mara Voss"}, "manuals/a.docx")


def test_without_a_title_the_first_heading_is_it_or_the_name_of_the_file():
    assert one(read_docx, written(lambda document: document.add_heading("Pumps", 2))).title == "Pumps"
    assert one(read_docx, written(lambda document: document.add_paragraph("Pumps")), "a/pumps.docx").title == "pumps"


def test_a_file_with_macros_is_read_without_them():
    document = one(read_docx, by_hand(paragraph("Text."), word__vbaProject_dot_bin=b"Sub AutoOpen()"))

    assert (document.text, document.note) == ("Text.", "read without its macros")


def test_deleted_text_and_pictures_are_left_out():
    body = paragraph("Kept.") + "<w:p><w:del><w:r><w:delText>Deleted.</w:delText></w:r></w:del></w:p>"

    assert one(read_docx, by_hand(body)).text == "Kept."


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (OLE + b"\0" * 2_000 + ENCRYPTED + b"\0" * 2_000, "Word file with a password"),
        (OLE + b"\0" * 100_000, "Word file of before 2007 (.doc)"),
        (b"PK\x03\x04rubbish", "damaged Word file"),
        (b"", "damaged Word file"),
        (by_hand(paragraph("Text."))[:-40], "damaged Word file"),
        (by_hand("<w:p>"), "damaged Word file"),
        (by_hand(""), "Word file without text"),
    ],
    ids=["password", "old", "rubbish", "empty", "cut", "not well-formed", "no text"],
)  # fmt: skip
def test_what_cannot_be_read_has_a_reason(content, why):
    assert reason(read_docx, content) == why


def test_a_zip_without_a_document_is_damaged():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("word/other.xml", "<a/>")

    assert reason(read_docx, out.getvalue()) == "damaged Word file"


LAUGHS = '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>' + document_xml(paragraph("&b;"))


@pytest.mark.parametrize(
    ("content", "limits", "why"),
    [
        (by_hand(LAUGHS.encode()), {}, "Word file with a document type"),
        (by_hand(LAUGHS.encode("utf-16")), {}, "Word file with a document type"),
        (by_hand((" " * 100_000 + LAUGHS).encode()), {}, "Word file with a document type"),
        (by_hand(paragraph("x" * 5_000_000)), {"xml_bytes": 1_000_000}, "Word file that is too large"),
        (by_hand(paragraph("x") * 1_000), {"elements": 1_000}, "Word file that is too large"),
        (
            by_hand("", **{f"word__m{n}_dot_xml": "<a/>" for n in range(20)}),
            {"members": 10},
            "Word file that is too large",
        ),
        (by_hand("<w:p>" * 200 + "</w:p>" * 200), {}, "Word file nested too deeply"),
    ],
    ids=["entities", "entities in UTF-16", "entities after blanks", "bytes", "elements", "members", "depth"],
)
def test_hostile_files_are_refused_before_they_are_built(content, limits, why):
    with pytest.raises(Unreadable) as caught:
        list(read_docx(SourceFile("a.docx", io.BytesIO(content), len(content)), LIMITS._replace(**limits)))

    assert caught.value.reason == why


def test_tables_nested_as_deeply_as_the_limit_allows_are_read():
    body = paragraph("core")
    for _ in range(30):
        body = f"<w:tbl><w:tr><w:tc>{body}</w:tc></w:tr></w:tbl>"

    assert "core" in one(read_docx, by_hand(body)).text


MATH = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def sign(text):
    return f"<m:r><m:t>{text}</m:t></m:r>"


def of(name, **parts):
    """A part of an equation; its own parts are signs, or parts that were made before."""
    inner = (f"<m:{part}>{one if one.startswith('<') else sign(one)}</m:{part}>" for part, one in parts.items())
    return f"<m:{name}>{''.join(inner)}</m:{name}>"


SQUARE = of("sSup", e="c", sup="2")


@pytest.mark.parametrize(
    ("equation", "text"),
    [
        (sign("a=b"), "a=b"),
        (of("sSup", e="10", sup="8"), "10⁸"),
        (of("sSub", e="CO", sub="2"), "CO₂"),
        (of("sSubSup", e="x", sub="i", sup="2"), "xᵢ²"),
        (of("sPre", sub="6", sup="14", e="C"), "₆¹⁴C"),
        (sign("E=m") + SQUARE, "E=mc²"),
        (of("f", num="1", den="2"), "1/2"),
        (of("f", num="a+b", den=SQUARE), "(a+b)/(c²)"),
        (of("rad", e="x+1"), "√(x+1)"),
        (of("rad", deg="3", e="x"), "³√x"),
        (of("sSup", e="x", sup=of("f", num="1", den="2")), "x^(1/2)"),
        (of("d", e="a+b"), "(a+b)"),
        ('<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val=""/></m:dPr><m:e>' + sign("a") + "</m:e></m:d>", "[a"),
        (
            '<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>' + sign("i=1") + "</m:sub><m:sup>" + sign("n")
            + "</m:sup><m:e>" + of("sSub", e="x", sub="i") + "</m:e></m:nary>",
            "∑ᵢ₌₁ⁿ xᵢ",
        ),
        (of("func", fName="sin", e="x"), "sin x"),
        (of("m", mr=of("e", r="1")), "1"),
        ("<m:m>" + 2 * ("<m:mr>" + 2 * ("<m:e>" + sign("1") + "</m:e>") + "</m:mr>") + "</m:m>", "1, 1; 1, 1"),
        (of("acc", e="x"), "x"),
    ],
)  # fmt: skip
def test_an_equation_is_text_in_its_paragraph(equation, text):
    content = by_hand(
        f"<w:p {MATH}><w:r><w:t xml:space='preserve'>At </w:t></w:r><m:oMath>{equation}</m:oMath>"
        "<w:r><w:t xml:space='preserve'> m</w:t></w:r></w:p>"
    )

    assert one(read_docx, content).text.replace("\\", "") == f"At {text} m"


def test_an_equation_of_its_own_is_a_paragraph_and_one_of_a_footnote_stays_there():
    content = by_hand(
        f"<w:p {MATH}><m:oMathPara><m:oMath>{sign('a=b')}</m:oMath><m:oMath>{sign('c=d')}</m:oMath></m:oMathPara></w:p>"
        f"<m:oMathPara {MATH}><m:oMath>{SQUARE}</m:oMath></m:oMathPara>" + paragraph("After.")
    )

    assert one(read_docx, content).text == "a=b c=d\n\nc²\n\nAfter."
