"""The two writers of reports: everything stands in both, and nothing in a text can become markup."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from apps.common.drawing.svg import DrawnEstimate
from apps.reports.core.document import Document, Facts, Paragraph, ReportChart, ReportSection, Table, dots, stacked
from apps.reports.formats.html import as_html, style
from apps.reports.formats.markdown import as_markdown
from tests.conftest import REPO

NASTY = '<script>alert(1)</script>"&*_|`#'


class Seen(HTMLParser):
    """The tags and the text of a file."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text += data


def make_document(word: str = "plain", rows: int = 2) -> Document:
    figures = Table("Means", ["Measure", "Mean"], [[word, "0.5000"]] * rows, code=frozenset({0}))
    drawing = dots(
        "Means", [DrawnEstimate(word, 0.5, 0.4, 0.6, 9, word), DrawnEstimate("none", None, why=word, measure=word)]
    )
    parts = [
        ReportSection(
            word,
            [Paragraph(word), Paragraph(word, quiet=True), Facts([(word, word)]), Facts([(word, word)], code=True)],
        ),
        ReportSection("Figures", [ReportChart([drawing], figures), Table(word, ["Name"], [[word]])], note=word),
    ]
    return Document(word, word, parts, about=[word])


@pytest.mark.parametrize("write", [as_html, as_markdown])
def test_the_same_document_gives_the_same_text(write):
    assert write(make_document()) == write(make_document())


def test_no_text_becomes_markup_in_html():
    written = as_html(make_document(NASTY))

    assert "<script" not in written
    assert Seen(written).text.count(NASTY) >= 12


def test_no_text_becomes_markup_in_markdown():
    shown = MarkdownIt("commonmark", {"html": True}).enable("table").render(as_markdown(make_document(NASTY)))

    assert "<script" not in shown
    assert Seen(shown).text.count(NASTY) >= 9
    assert not {"a", "img", "h3"} & set(Seen(shown).tags)


@pytest.mark.parametrize("start", ["# one", "- one", "+ one", "1. one", "2) one"])
def test_a_paragraph_never_becomes_a_list_or_a_heading(start):
    document = Document("Title", "Lead.", [ReportSection("Part", [Paragraph(start)])])

    assert f"<p>{start}</p>" in MarkdownIt().render(as_markdown(document))


def test_a_table_is_a_table_in_markdown():
    shown = MarkdownIt().enable("table").render(as_markdown(make_document()))

    assert shown.count("<table>") == 2
    assert '<td style="text-align:right">0.5000</td>' in shown
    assert "<code>plain</code>" in shown


def test_the_html_needs_nothing_from_outside_and_runs_nothing():
    written = as_html(make_document())

    assert "default-src 'none'" in written
    assert not re.search(r"""\b(src|href|@import|url)\s*[=(]""", written)
    assert not {"script", "link", "img", "iframe", "object"} & set(Seen(written).tags)


def test_every_part_is_named_and_every_table_can_be_reached_by_keyboard():
    written = as_html(make_document())

    assert written.count("<section aria-labelledby=") == written.count("<h2 id=") == 2
    assert written.count("<table>") == written.count('tabindex="0" role="region"')


def test_few_figures_are_expanded_and_many_are_collapsed():
    assert "<details open>" in as_html(make_document(rows=24))
    assert "<details><summary>" in as_html(make_document(rows=25))


def test_an_undefined_value_is_drawn_as_its_reason():
    drawing = dots("Means", [DrawnEstimate("base", None, why="nothing was judged", measure="Judged@10")])

    assert "nothing was judged" in drawing
    assert "<circle" not in drawing


def test_differences_are_drawn_around_zero_with_their_signs():
    rows = [
        DrawnEstimate("new", -0.2, -0.3, -0.1, 9, "AP"),
        DrawnEstimate("new", 0.05, -0.1, 0.2, 9, "RR", open=True),
    ]

    drawing = dots("Differences", rows, signs=True)

    assert 'class="zero"' in drawing
    assert "AP, new: −0.200, −0.300 to −0.100, n 9" in drawing
    assert drawing.count('class="open"') == 1


def test_the_tokens_of_reports_are_those_of_the_pages():
    declared = re.compile(r"^\s*(--[\w-]+):\s*(.+?);", re.MULTILINE)
    tokens = (REPO / "static" / "css" / "tokens.css").read_text()
    ours, theirs = (dict(reversed(declared.findall(sheet))) for sheet in (style(), tokens))

    assert ours
    assert {name: theirs.get(name) for name in ours} == ours


def test_every_class_of_a_drawing_has_a_style():
    drawing = dots(
        "Means", [DrawnEstimate("a", 0.1, 0.0, 0.2, 5, "AP"), DrawnEstimate("a", 0.1, 0.0, 0.2, 5, "RR", open=True)]
    )

    for name in set(re.findall(r'class="([^"]+)"', drawing)):
        assert all(f".{css}" in style() for css in name.split()), name


def test_columns_of_sentences_have_a_minimum_width_on_a_narrow_screen():
    table = Table("Gates", ["Gate", "n", "Found"], [["a", "3", "A sentence of some length."]], prose=frozenset({2}))

    page = as_html(Document("t", "l", [ReportSection("p", [table])]))

    assert '<th scope="col" class="prose">Found</th>' in page
    assert '<td class="prose">A sentence of some length.</td>' in page
    assert ".prose { min-inline-size:" in style()


@pytest.mark.parametrize("signs", [False, True])
def test_a_phone_has_its_own_chart_with_the_same_marks_inside_its_width(signs):
    rows = [
        DrawnEstimate("base", 0.1, -0.05, 0.2, 5, "AP"),
        DrawnEstimate("a name that is longer than a phone is wide", 0.3, 0.1, 0.4, 5, "AP"),
        DrawnEstimate("base", None, why="nothing was judged", measure="Judged@10"),
    ]

    wide, narrow = (ElementTree.fromstring(draw("Means", rows, low=-0.1, signs=signs)) for draw in (dots, stacked))

    assert [node.text for node in narrow.iter("title")] == [node.text for node in wide.iter("title")]
    assert float(narrow.get("width")) <= 350
    assert all(0 <= float(node.get("x")) <= float(narrow.get("width")) for node in narrow.iter("text"))
    assert all(0 <= float(node.get("cx")) <= float(narrow.get("width")) for node in narrow.iter("circle"))


def test_a_file_shows_one_of_both_drawings():
    figures = Table("Means", ["Measure"], [["AP"]])
    chart = ReportChart(["<svg>wide</svg>"], figures, ["<svg>narrow</svg>"])

    written = as_html(Document("t", "l", [ReportSection("p", [chart])]))

    assert '<div class="drawing"><svg>wide</svg></div><div class="drawing narrow"><svg>narrow</svg></div>' in written
    assert ".narrow { display: none; }" in style()
