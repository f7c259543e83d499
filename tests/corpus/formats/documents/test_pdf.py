import io

import pytest

from apps.corpus.formats.documents import SourceFile, Unreadable, pdf
from apps.corpus.formats.documents.pdf import LIMITS, RIGHT_TO_LEFT, read_pdf
from tests.corpus.formats.documents import pdfs
from tests.corpus.formats.documents.pdfs import Line, make_pdf
from tests.corpus.formats.documents.reading import one, reason

PROSE = "The pump has to be switched off before anybody opens the housing of it, and stays"


def full(text):
    """A line that is as long as the page is wide."""
    return (text + " " + PROSE)[: len(PROSE)].strip()


def test_the_text_of_a_pdf_is_paragraphs_in_reading_order():
    document = one(read_pdf, make_pdf([[PROSE, "off until it is cold.", "", "A second paragraph begins here."]]))

    assert document.text == f"{PROSE} off until it is cold.\n\nA second paragraph begins here."
    assert (document.kind, document.page_starts) == ("pdf", (0,))


def test_each_page_begins_where_page_starts_has_it():
    document = one(read_pdf, make_pdf([["First page."], ["Second page."], ["Third page."]]))

    assert [document.text[start : start + 5] for start in document.page_starts] == ["First", "Secon", "Third"]


def test_an_empty_page_begins_where_the_next_one_does():
    document = one(read_pdf, make_pdf([["First page."], [], ["Third page."], []]))

    third = document.text.index("Third")
    assert document.page_starts == (0, third, third, len(document.text))
    assert document.metadata == {"pages": 4, "pages_without_text": 2}


def test_a_sentence_goes_on_over_the_end_of_a_page():
    document = one(read_pdf, make_pdf([[PROSE], ["off until it is cold."]]))

    assert document.text == f"{PROSE} off until it is cold."
    assert document.text[document.page_starts[1] :] == "off until it is cold."


def test_words_divided_at_the_end_of_a_line_are_put_together():
    document = one(read_pdf, make_pdf([[full("The para-")[:-1] + "g-", "raph has a long Anglo-", "Saxon word"]]))

    assert "graph has a long Anglo-Saxon word" in document.text


def test_a_word_divided_at_the_end_of_a_page_is_whole_on_the_first():
    document = one(read_pdf, make_pdf([["It depends on the tempera-"], ["ture of the oil."]]))

    assert document.text == "It depends on the temperature of the oil."
    assert document.text[document.page_starts[1] :] == "of the oil."


def test_running_headers_and_footers_are_left_out():
    pages = [
        [Line("Manual of pumps", y=770), Line(f"Chapter {n * n}", y=600), Line(f"Page {n} of 4", y=30)]
        for n in range(1, 5)
    ]

    document = one(read_pdf, make_pdf(pages))

    assert document.text.split("\n\n") == ["Chapter 1", "Chapter 4", "Chapter 9", "Chapter 16"]


def test_what_only_two_pages_begin_with_is_not_a_running_header():
    document = one(read_pdf, make_pdf([["Note", "one thing."], ["Note", "another thing."]]))

    assert document.text.count("Note") == 2


def test_larger_type_makes_headings():
    lines = [Line("Pumps", 20), "", PROSE, "off.", "", Line("Cold pumps and", 15), Line("hot pumps", 15), "", PROSE]

    document = one(read_pdf, make_pdf([lines]))

    assert document.text.split("\n\n") == ["# Pumps", f"{PROSE} off.", "## Cold pumps and hot pumps", PROSE]
    assert document.title == "Pumps"


def test_bookmarks_are_the_headings_of_a_document_that_has_them():
    pages = [[Line("Some title", 20), "1 Safety", "", PROSE], ["2 Repair", "", PROSE]]

    document = one(read_pdf, make_pdf(pages, bookmarks=[(0, "Safety"), (1, "2  Repair"), (1, "Not on the page")]))

    headings = [line for line in document.text.splitlines() if line.startswith("#")]
    assert headings == ["# 1 Safety", "# 2 Repair"]


def test_endless_bookmarks_cost_no_more_than_a_book_has():
    bookmarks = [(0, "x" * 600), *[(0, f"Part {number}") for number in range(20_500)]]

    found = pdf._found_in(io.BytesIO(make_pdf([["Part 7", "", PROSE]], bookmarks=bookmarks)), LIMITS)

    assert (len(found["outline"]), len(found["outline"][0][2])) == (20_000, 500)


def test_lists_and_short_lines_keep_their_breaks():
    lines = ["Needed are", "", "• a spanner", "• oil", "", "Voltage 230", "Power 1100", "", PROSE, PROSE]

    document = one(read_pdf, make_pdf([lines]))

    assert "Needed are\n\n- a spanner\n- oil\n\nVoltage 230  \nPower 1100\n\n" in document.text


@pytest.mark.parametrize("line", ["# no comment", "> no quotation", "```", "====", "| no | table |", "+ no item"])
def test_what_markdown_would_obey_at_the_beginning_of_a_line_is_text(line):
    assert one(read_pdf, make_pdf([[line]])).text == "\\" + line


def test_the_title_that_the_file_states_comes_first():
    assert one(read_pdf, make_pdf([[Line("Large", 30), "small"]], title="A manual", author="Mara Voss"))[2:5:2] == (
        "A manual",
        {"author": "Mara Voss", "pages": 1},
    )


@pytest.mark.parametrize(
    ("stated", "day"),
    [
        ("D:20260301093000+01'00'", "2026-03-01"),
        ("D:20260301", "2026-03-01"),
        ("D:20260631", ""),
        ("D:2026", ""),
        ("1 March 2026", ""),
    ],
)
def test_a_date_that_a_pdf_states_is_read_where_it_names_a_day(stated, day):
    dates = pdf._metadata({"about": {"CreationDate": stated}}, [["a line"]])

    assert dates == {"pages": 1} | ({"created": day} if day else {})


def test_characters_that_no_database_stores_are_left_out_of_titles():
    document = one(read_pdf, make_pdf([["Safety", "", PROSE]], title="Pumps\0 and\x07oil", bookmarks=[(0, "Safe\0ty")]))

    assert document.title == "Pumps and oil"


@pytest.mark.parametrize("title", ["", "untitled", "pumps_final.docx", "Microsoft Word - pumps"])
def test_the_name_of_a_file_is_no_title(title):
    assert one(read_pdf, make_pdf([[Line("Pumps", 30), "small"]], title=title)).title == "Pumps"


def test_a_pdf_with_a_password_stays_unread():
    assert reason(read_pdf, make_pdf([["secret"]], encrypted=True)) == "PDF with a password"


def test_pages_without_text_are_a_scan():
    assert reason(read_pdf, make_pdf([[], []])) == "scanned PDF without text"


@pytest.mark.parametrize(
    "content",
    [b"%PDF-1.7", b"%PDF-1.4\n" + b"rubbish " * 1000, make_pdf([["x"]])[:400], b"", make_pdf([])],
    ids=["head", "rubbish", "cut", "empty", "no page"],
)
def test_a_broken_pdf_is_damaged(content):
    assert reason(read_pdf, content) == "damaged PDF"


def test_too_many_pages_or_too_much_text_stay_unread():
    content = make_pdf([["one"], ["two"], ["three"]])

    assert refused(content, LIMITS._replace(pages=2)) == "PDF with more than 2 pages"
    assert refused(content, LIMITS._replace(characters=5)) == "PDF with more than 5 characters"


def test_a_pdf_that_unpacks_to_gigabytes_costs_that_file_only():
    bomb = make_pdf([["one"]], blanks=300_000_000)

    assert refused(bomb, LIMITS._replace(memory=200_000_000)) == "PDF that takes too long or too much memory"


@pytest.mark.parametrize("script", ["import os; os.abort()", "while True: pass"])
def test_a_pdf_that_crashes_its_reader_or_never_ends_costs_that_file_only(monkeypatch, tmp_path, script):
    path = tmp_path / "script.py"
    path.write_text(script)
    monkeypatch.setattr(pdf, "SCRIPT", path)

    assert refused(make_pdf([["one"]]), LIMITS._replace(seconds=0.1)) == "PDF that takes too long or too much memory"


def refused(content, limits):
    with pytest.raises(Unreadable) as caught:
        list(read_pdf(SourceFile("a.pdf", io.BytesIO(content), len(content)), limits))
    return caught.value.reason


def test_a_pdf_written_from_right_to_left_says_that_its_words_may_be_turned_round(monkeypatch):
    hebrew = b"<< /Type /Encoding /Differences [97 /afii57664 /afii57665 /afii57666] >>"
    monkeypatch.setattr(pdfs, "FONT", pdfs.FONT.replace(b"/WinAnsiEncoding", hebrew))

    document = one(read_pdf, make_pdf([["cba"]]))

    assert document.text == "\u05d0\u05d1\u05d2"
    assert document.note == RIGHT_TO_LEFT
