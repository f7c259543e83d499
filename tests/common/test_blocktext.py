import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.common.blocktext import merge, render

LEAF = re.compile(r'<(?:p|li|td|th|h3)(?: class="best")? data-at="(\d+)">(.*?)</(?:p|li|td|th|h3)>', re.S)


def leaves(html):
    unescaped = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'", "&amp;": "&"}
    for at, inner in LEAF.findall(html):
        plain = re.sub(r"</?mark>", "", inner)
        for entity, letter in unescaped.items():
            plain = plain.replace(entity, letter)
        yield int(at), plain


def test_blank_lines_part_paragraphs():
    assert render("One.\n\nTwo.") == '<p data-at="0">One.</p><p data-at="6">Two.</p>'


def test_markup_in_the_text_is_shown_not_obeyed():
    assert render("<b>x</b>") == '<p data-at="0">&lt;b&gt;x&lt;/b&gt;</p>'


def test_evidence_is_lit_inside_each_paragraph_it_crosses():
    html = render("One two.\n\nThree.", [(4, 15)])

    assert html == '<p data-at="0">One <mark>two.</mark></p><p data-at="10"><mark>Three</mark>.</p>'


def test_offsets_are_code_points_beyond_the_basic_plane_too():
    assert render("𝔸 b", [(2, 3)]) == '<p data-at="0">𝔸 <mark>b</mark></p>'


def test_a_list_keeps_the_wrapped_lines_of_its_items():
    assert [text for _, text in leaves(render("- one\n- two\n  and more"))] == ["one", "two\n  and more"]


def test_pipe_tables_become_tables_with_a_head():
    html = render("| a | b |\n|---|---|\n| 1 | 2 |")

    assert "<thead><tr><th" in html
    assert [text for _, text in leaves(html)] == ["a", "b", "1", "2"]


def test_the_best_passage_is_marked_by_paragraph():
    assert render("One.\n\nTwo.", best=(6, 8)) == '<p data-at="0">One.</p><p class="best" data-at="6">Two.</p>'


@pytest.mark.parametrize(
    ("spans", "merged"),
    [([(3, 5), (0, 2)], [(0, 2), (3, 5)]), ([(0, 3), (2, 5)], [(0, 5)]), ([(4, 4), (8, 20)], [(8, 10)])],
)
def test_spans_are_ordered_joined_and_cut(spans, merged):
    assert merge(spans, 10) == merged


@given(
    st.text(alphabet="ab <>&'\"|-\n\t1.#é𝔸", max_size=120),
    st.lists(st.tuples(st.integers(-2, 130), st.integers(-2, 130)), max_size=3),
)
def test_every_leaf_holds_exactly_the_slice_its_offset_names(text, spans):
    for at, plain in leaves(render(text, spans)):
        assert text[at : at + len(plain)] == plain


@given(st.text(max_size=200))
def test_nothing_but_known_elements_comes_out(text):
    known = {"p", "ul", "ol", "li", "h3", "div", "table", "thead", "tbody", "tr", "td", "th", "mark"}

    assert set(re.findall(r"</?([a-zA-Z0-9]+)", render(text))) <= known
