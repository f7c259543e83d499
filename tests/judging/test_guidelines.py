"""A guideline's Markdown is text: whatever is written into it, nothing of it runs."""

import re

import pytest

from apps.judging.guidelines import few_examples, to_html


def test_markdown_becomes_plain_structure():
    html = to_html("# Grades\n\nTake the **lower** one.\n\n- first\n- second\n\n| a | b |\n|---|---|\n| 1 | 2 |")

    for part in ("<h2>Grades</h2>", "<strong>lower</strong>", "<li>first</li>", "<td>1</td>"):
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


def test_links_keep_their_address_and_tell_nobody_where_they_come_from():
    html = to_html("[the paper](https://example.org/paper)")

    assert 'href="https://example.org/paper"' in html
    assert "noreferrer" in html


def test_grades_with_few_examples_are_named():
    grades = [
        {"grade": 0, "name": "No", "definition": "d", "examples": ["e"] * 5},
        {"grade": 1, "name": "Yes", "definition": "d", "examples": ["e"] * 4},
    ]

    assert few_examples(grades) == [1]
