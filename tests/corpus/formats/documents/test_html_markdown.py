from html import escape

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from apps.corpus.formats.documents import Unreadable, html_converter
from apps.corpus.formats.documents.html_converter import DEEPEST
from apps.corpus.formats.documents.html_markdown import markdown_of, soup_of


def markdown(html):
    return markdown_of(soup_of(html))


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (
            '<h2>Keys <em>now</em></h2><p>Rotate <b>all</b> of them, see <a href="../a b.html">here</a>.</p>',
            "## Keys *now*\n\nRotate **all** of them, see [here](<../a%20b.html>).",
        ),
        (
            "<p>one<p>two<ul><li>a<li>b</ul><p>three<dl><dt>T<dd>D</dl>",
            "one\n\ntwo\n\n- a\n- b\n\nthree\n\nT\n:   D",
        ),
        (
            "<ol start=3><li>one<ul><li>in it<p>more</ul><li>two</ol>",
            "3. one\n   - in it\n\n     more\n4. two",
        ),
        (
            '<pre><code class="language-python">def f():\n\n\n\n    return "```"\n</code></pre>',
            '````python\ndef f():\n\n\n\n    return "```"\n````',
        ),
        ('<p>See <img src="a.png" alt="the  pump"> and <img src="b.png"></p>', "See the pump and"),
        ("<p>one\n# two\n  three<br>- four</p>", "one # two three  \n\\- four"),
    ],
    ids=["emphasis and links", "no end tags", "lists", "code", "a picture", "lines of the source"],
)
def test_what_is_read_of_a_page_is_markdown(html, text):
    assert markdown(html) == text


@pytest.mark.parametrize("target", ["javascript:alert(1)", "data:text/html,x", "", " JavaScript:x"])
def test_a_link_that_leads_nowhere_is_its_text(target):
    assert markdown(f'<a href="{target}">press</a>') == "press"


def test_a_table_keeps_all_its_columns():
    html = """<table><tr><th>Key<th colspan=2>Days|hours<tr><td rowspan=2>A<td>1<td>x
    <tr><td>2<td><p>y</p><p>z</p><tr><td>short</table>"""

    assert markdown(html).splitlines() == [
        "| Key | Days\\|hours | Days\\|hours |",
        "| --- | --- | --- |",
        "| A | 1 | x |",
        "| A | 2 | y z |",
        "| short |  |  |",
    ]


def test_a_table_inside_a_table_becomes_a_line():
    inner = "<table><tr><td>1<td>2<tr><td>3<td>4</table>"

    assert markdown(f"<table><tr><th>H<tr><td>{inner}</table>").splitlines()[-1] == "| 1, 2; 3, 4 |"


MARKUP = st.text(alphabet='ab1 *_`#<>[]()!&;\\-+=~.|:/"\n{}^', max_size=40).map(lambda text: " ".join(text.split()))


@given(MARKUP.filter(bool))
@example("# five")
@example("1. five")
@example("[five]: six")
@example("a | b")
@example("__init__ and snake_case")
@example("- - -")
def test_text_that_looks_like_markup_is_shown_as_it_was_written(text):
    shown = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(markdown(f"<p>{escape(text)}"))

    assert shown.strip() == f"<p>{escape(text).replace('&#x27;', chr(39))}</p>"


@pytest.mark.parametrize("text", ["snake_case_name", "a * b", "x < y", "C:\\new", "100 % of #5", "well-known - it is"])
def test_what_is_no_markup_is_not_escaped(text):
    assert markdown(f"<p>{escape(text)} <b>- x</b> - y</p>") == f"{text} **- x** - y"


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        ("<div>" * (DEEPEST + 10), "HTML nested too deeply"),
        ("<b></b>" * 1_001, "HTML with more than 1,000 tags"),
        ("<table>" + f"<tr><td colspan=200 rowspan=200>{'long ' * 100}" * 9 + "</table>", "table that is too large"),
        (f"<table><tr>{'<td>x' * 300}{'<tr><td>x' * 300}</table>", "table that is too large"),
    ],
    ids=["depth", "tags", "cells that span", "one wide row and many short ones"],
)
def test_hostile_pages_stay_unread(monkeypatch, html, reason):
    monkeypatch.setattr(html_converter, "MOST_TAGS", 1_000)
    monkeypatch.setattr(html_converter, "LARGEST_TABLE", 50_000)

    with pytest.raises(Unreadable, match=reason):
        markdown(html)


def test_a_page_of_thousands_of_open_paragraphs_is_read():
    assert markdown("<p>x" * 2_000).count("x") == 2_000
