"""Superscripts and subscripts are told from digits, whatever the kind of the file."""

import io
import zipfile

import docx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.common.text.words import LEVEL, LOWERED, RAISED, lowered, raised, with_scripts
from apps.corpus.formats.documents.html import read_html
from apps.corpus.formats.documents.office_files import read_docx
from apps.corpus.formats.documents.pdf import read_pdf
from apps.corpus.formats.documents.registry import read_markdown, read_table
from apps.corpus.formats.documents.rst import read_rst
from apps.corpus.formats.documents.trec import read_trec
from tests.common.workbooks import binary_workbook, open_workbook, workbook
from tests.corpus.formats.documents.pdfs import Line, make_pdf
from tests.corpus.formats.documents.reading import notes, one, rows
from tests.corpus.formats.documents.test_docx import written

HTML = (
    "<h1>Units of 10<sup>8</sup></h1><p>At 3&times;10<sup>8</sup> m/s, 5 m<sup>2</sup>; see note<sup>1</sup>. CO<sub>2"
    "</sub>, 10<sup>&minus;6</sup>, year<sup>2,3</sup>, x<sub>i</sub><sup><i>n</i></sup>, the 1<sup>st</sup>, Karat"
    "<sup>TM</sup>, word<sup>*</sup>, a<sup>[4]</sup>, b<sup><a href='#n5'>5</a></sup><pre>x<sup>2</sup></pre>"
)
MARKDOWN = (
    "# Units of 10⁸\n\nAt 3×10⁸ m/s, 5 m²; see note¹. CO₂, 10⁻⁶, year^(2,3), xᵢⁿ, the 1st, Karatᵀᴹ, word\\*, a[4],"
    " b[5](#n5)\n\n```\nx²\n```"
)


@pytest.mark.parametrize(
    ("text", "before", "expected"),
    [
        ("8", "0", "⁸"),
        (" 2 ", "m", " ² "),
        ("n+1", "x", "ⁿ⁺¹"),
        ("th", "5", "th"),
        ("th", "e", "ᵗʰ"),
        ("q", "x", "^q"),
        ("2,3", "r", "^(2,3)"),
        ("[1]", "r", "[1]"),
        ("†", "r", "†"),
        ("", "r", ""),
    ],
)
def test_a_superscript_is_letters_of_its_own_or_marked(text, before, expected):
    assert raised(text, before) == expected


def test_a_subscript_too():
    assert [lowered(text) for text in ("2", "max", "B", "1,2")] == ["₂", "ₘₐₓ", "_B", "_(1,2)"]


@given(st.text(st.characters(exclude_characters=RAISED + LOWERED + LEVEL)))
def test_a_text_without_scripts_stays_as_it_is(text):
    assert with_scripts(text) == text


@given(st.text("0123456789", min_size=1), st.text("0123456789", min_size=1))
def test_figures_that_are_raised_never_join_those_before_them(base, exponent):
    assert with_scripts(f"{base}{RAISED}{exponent}{LEVEL}").startswith(base)
    assert base + exponent not in with_scripts(f"{base}{RAISED}{exponent}{LEVEL}")
    assert base + exponent not in with_scripts(f"{base}{LOWERED}{exponent}{LEVEL}")


def test_pages_of_the_web():
    page = one(read_html, HTML)

    assert page.text == MARKDOWN
    assert page.title == "Units of 10⁸"


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("10<sup>x<sup>2</sup></sup>", "10^(x²)"),
        ("<math><msup><mn>10</mn><mn>8</mn></msup></math>", "10⁸"),
        ("<math><msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup></math>", "xᵢ²"),
        ("<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>", "1/2"),
        ("<math><mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow><mn>2</mn></mfrac></math>", "(a+1)/(2)"),
        ('<math alttext="10^{8}"><msup><mn>10</mn><mn>8</mn></msup></math>', "10^{8}"),
        (
            "<math><semantics><msup><mn>10</mn><mn>8</mn></msup>"
            '<annotation encoding="application/x-tex">10^8</annotation></semantics></math>',
            "10^8",
        ),
    ],
)
def test_formulas_of_the_web(formula, text):
    assert one(read_html, f"<p>At {formula} m</p>").text == f"At {text} m"


def test_word_files():
    def fill(document: docx.document.Document) -> None:
        words = document.add_paragraph("At 10")
        words.add_run("8").font.superscript = True
        words.add_run(" m/s, CO")
        words.add_run("2").font.subscript = True

    assert one(read_docx, written(fill)).text == "At 10⁸ m/s, CO₂"


def test_restructured_text_trec_and_markdown():
    assert one(read_rst, "At 10\\ :sup:`8` m/s, CO\\ :sub:`2`\n").text == "At 10⁸ m/s, CO₂"
    (row,) = rows(read_trec, "<DOC><DOCNO>1</DOCNO><TEXT>At 10<SUP class='x'>8</SUP> m/s, CO<sub>2</sub></TEXT></DOC>")
    assert row.text == "At 10⁸ m/s, CO₂"
    assert one(read_markdown, "At 10<sup>8</sup> m/s").text == "At 10<sup>8</sup> m/s"  # as it was written


def test_workbooks():
    rich = (
        '<r><t>At 10</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>8</t></r><r><t xml:space="preserve"> m/s, CO'
        '</t></r><r><rPr><b/><vertAlign val="subscript"/></rPr><t>2</t></r>'
    )
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(workbook({"A": [["id", "text"], ["1", "RICH"]]}))) as archive,
        zipfile.ZipFile(out, "w") as copy,
    ):
        for name in archive.namelist():
            copy.writestr(name, archive.read(name).decode().replace("<t>RICH</t>", rich))

    (row,) = rows(read_table, out.getvalue(), "a.xlsx")
    assert row.text == "At 10⁸ m/s, CO₂"


@pytest.mark.parametrize(("up", "down"), [("super 58%", "sub 58%"), ("33% 58%", "-33% 58%")])
def test_open_workbooks(up, down):
    style = '<style:style style:name="{}" style:family="text"><style:text-properties {}/></style:style>'
    styles = [("T0", 'fo:font-weight="bold" xmlns:fo="fo"'), ("T1", f'style:text-position="{up}"'),
              ("T2", f'style:text-position="{down}"'), ("T3", 'style:text-position="0% 100%"')]  # fmt: skip
    span = '<text:span text:style-name="T{}">{}</text:span>'
    text = f"At 10{span.format(1, 8)} {span.format(0, 'm/s')}, CO{span.format(2, 2)} {span.format(3, 7)}"
    content = open_workbook([["id", "text"], ["1", text]], "".join(style.format(*one) for one in styles))

    (row,) = rows(read_table, content, "a.ods")

    assert row.text == "At 10⁸ m/s, CO₂ 7"
    assert notes(read_table, content, "a.ods") == ["read as records, text from text, id from id"]


def test_a_binary_workbook_says_that_its_superscripts_are_lost_and_what_to_do():
    said = notes(read_table, binary_workbook([["id", "text"], ["a", "one"]]), "a.xlsb")

    assert said[1:] == ["read with superscripts as plain digits, as XLS and XLSB are: save as XLSX to keep them"]


def test_a_pdf_keeps_a_sentence_together_around_a_mark_and_an_exponent():
    page = [
        "Units",
        "",
        [Line("At 3x10"), Line("8", 7, rise=4), Line(" m/s"), Line("1", 7, rise=4), Line(", and CO")],
        [Line("1", 7, rise=4), Line(" A note below.")],
    ]
    page[2] += [Line("2", 7, rise=-2), Line(".")]

    text = one(read_pdf, make_pdf([page])).text

    assert "At 3x10⁸ m/s¹, and CO₂." in text
    assert "¹ A note below." in text


def test_the_cases_of_the_first_team(shared_data):
    cases = shared_data.parent / "cases" / "superscripts"
    if not cases.exists():
        pytest.skip("the cases are not here")

    html = one(read_html, (cases / "math.html").read_bytes()).text
    pdf = one(read_pdf, (cases / "table.pdf").read_bytes()).text

    assert html == "# Units\n\nThe speed is 3×10⁸ m/s and area 5 m²; see note¹. CO₂"
    assert pdf.endswith("\n\nWords after the table¹.\n\n¹ A footnote.")
