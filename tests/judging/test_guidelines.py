"""A guideline's Markdown is text: whatever is written into it, nothing of it runs."""

import re

import pytest

from apps.common.text.markdown import to_html
from apps.judging.core.guidelines import as_example, as_stored, changes, fault, few_examples, in_words


def test_markdown_becomes_plain_structure():
    html = to_html("# Grades\n\nTake the **lower** one.\n\n- first\n- second\n\n| a | b |\n|---|---|\n| 1 | 2 |")

    for part in ('<h2 dir="auto">Grades</h2>', "<strong>lower</strong>", "<li>first</li>", "<td>1</td>"):
        assert part in html


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg onload=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "![x](https://example.org/pixel.png)",
        '<a href="https://example.org" style="position:fixed" onclick="alert(1)">x</a>',
        "<iframe src=//example.org></iframe>",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "<details open ontoggle=alert(1)>",
    ],
)
def test_nothing_in_it_runs_or_loads(hostile):
    html = to_html(hostile)

    tags = re.findall(r"<\s*/?\s*([a-z0-9]+)([^>]*)>", html)
    assert {name for name, _ in tags} <= {"p", "a"}
    for _, attributes in tags:
        assert not re.search(r"\b(on\w+|style|src)\s*=", attributes)
        assert not re.search(r"(javascript|data):", attributes)


def test_links_keep_their_address_and_send_no_referrer():
    html = to_html("[the paper](https://example.org/paper)")

    assert 'href="https://example.org/paper"' in html
    assert "noreferrer" in html


@pytest.mark.parametrize("address", ["//evil.example", "///evil.example", "<//evil.example>"])
def test_a_link_to_another_site_that_looks_like_one_here_has_no_address(address):
    assert "href" not in to_html(f"[x]({address})")
    assert 'href="/account/"' in to_html("[x](/account/)")


def test_grades_with_few_examples_are_named():
    grades = [
        {"grade": 0, "name": "No", "definition": "d", "examples": ["e"] * 5},
        {"grade": 1, "name": "Yes", "definition": "d", "examples": ["e"] * 4},
    ]

    assert few_examples(grades) == [1]


SHOWN = {"query": "Which cipher?", "text": "Backups use AES.", "why": "no mode"}


def grade_text(grade=1, **more):
    return {"grade": grade, "name": "Related", "definition": "Same subject.", "examples": [], **more}


@pytest.mark.parametrize("example", ["A line.", SHOWN, {**SHOWN, "query": "", "why": ""}, {"text": "Alone."}])
def test_an_example_is_a_text_or_a_pair_with_its_why(example):
    assert fault([grade_text(examples=[example])], [1]) is None


@pytest.mark.parametrize("example", ["", "  ", {}, {"query": "q"}, {**SHOWN, "text": ""}, {**SHOWN, "grade": "2"}, 7])
def test_an_example_without_its_text_or_with_more_is_rejected(example):
    assert fault([grade_text(examples=[example])], [1]) == "An example of grade 1 is empty."


@pytest.mark.parametrize("example", ["A line.", SHOWN])
def test_examples_are_stored_as_they_were_written(example):
    assert as_stored(as_example(example)) == example


def test_an_example_reads_as_one_text():
    assert in_words(SHOWN) == "Which cipher? “Backups use AES.” (no mode)"
    assert in_words("A line.") == "“A line.”"


def test_only_different_wording_is_a_change():
    before = [grade_text(0), grade_text(1, examples=["a", "b"]), grade_text(2)]
    after = [
        grade_text(0),
        grade_text(1, examples=["b", "a"]),
        grade_text(2, definition="Same narrow subject.", examples=["c"]),
    ]

    two, one, zero = changes(before, after)

    assert [change.is_touched for change in (two, one, zero)] == [True, False, False]
    assert [piece for piece in two.definition if piece.kind != "same"] == [("ins", "narrow ")]
    assert two.examples == [[("ins", "“c”")]]
    assert one.examples == []


def test_an_example_that_was_reworded_shows_its_words():
    before, after = [grade_text(examples=["Names the mode."])], [grade_text(examples=["Names the mode only."])]

    (change,) = changes(before, after)

    assert [(piece.kind, piece.text) for piece in change.examples[0] if piece.kind != "same"] == [("ins", " only")]


def test_another_example_in_the_place_of_one_is_not_mixed_with_it():
    before, after = [grade_text(examples=["Names the mode."])], [grade_text(examples=["Lists three regions, no more."])]

    (change,) = changes(before, after)

    assert [[piece.kind for piece in pieces] for pieces in change.examples] == [["del"], ["ins"]]


def test_a_grade_that_is_new_is_all_insertion():
    (change,) = changes([], [grade_text(4)])

    assert {piece.kind for piece in (*change.name, *change.definition)} == {"ins"}
