"""Marking a rendered text: what is selected on the page is the same stretch of the canonical text."""

from hypothesis import given, settings
from hypothesis import strategies as st

from apps.common.text.blocktext import render
from tests.common.test_blocktext import Page
from tests.walks import often

WORD = st.sampled_from(["door", "key", "Schlüssel", "𝔸", "a_b", "x=1", "5 %", "naïve", "--flag", "AES-256"])
WORDS = st.lists(WORD, min_size=1, max_size=5).map(" ".join)
INLINE = st.one_of(
    WORDS,
    WORDS.map("**{}**".format),
    WORDS.map("*{}*".format),
    WORDS.map("`{}`".format),
    WORDS.map("[{}](https://docs.example/a?b=1)".format),
    WORDS.map("~~{}~~".format),
)
LINE = st.lists(INLINE, min_size=1, max_size=4).map(" ".join)
CODE = st.lists(st.sampled_from(["if x:", "    return 1", "", "# no heading", "| no | table |"]), max_size=5)


@st.composite
def tables(draw):
    width = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(INLINE, min_size=width, max_size=width), min_size=1, max_size=4))
    head, *body = [f"| {' | '.join(cells)} |" for cells in rows]
    return "\n".join([head, f"|{' --- |' * width}", *body])


@st.composite
def lists(draw):
    marks = draw(
        st.sampled_from([["- "] * 5, ["* "] * 5, [f"{n}. " for n in range(1, 6)], [f"{n}) " for n in range(3, 8)]])
    )
    lines = draw(st.lists(st.tuples(st.integers(0, 2), LINE), min_size=1, max_size=5))
    return "\n".join("    " * depth + mark + words for mark, (depth, words) in zip(marks, lines, strict=False))


BLOCK = st.one_of(
    LINE,
    st.lists(LINE, min_size=2, max_size=4).map("\n".join),
    LINE.map("## {}".format),
    LINE.map("> {}".format),
    CODE.map(lambda lines: "\n".join(["```py", *lines, "```"])),
    CODE.map(lambda lines: "\n".join(f"    {line}" for line in lines)),
    tables(),
    lists(),
)
TEXT = st.lists(BLOCK, min_size=1, max_size=5).map("\n\n".join)


class Seen(Page):
    """Also the places of the text that a reader sees, for each leaf, and what is seen outside of all leaves."""

    def __init__(self, html):
        self.places = []
        self.outside = ""
        super().__init__(html)

    def handle_starttag(self, tag, attributes):
        super().handle_starttag(tag, attributes)
        if "data-at" in dict(attributes):
            self.places.append([])

    def handle_data(self, data):
        is_sign = any(tag == "i" and "class" not in attributes for tag, attributes, _ in self._open)
        is_in_leaf = any("data-at" in attributes for _, attributes, _ in self._open)
        if not is_sign and is_in_leaf:
            self.places[-1] += range(len(self.text), len(self.text) + len(data))
        elif not is_sign:
            self.outside += data
        super().handle_data(data)


@given(TEXT, st.data())
@settings(max_examples=often(25, 150))
def test_a_selection_on_the_page_is_that_stretch_of_the_text_and_is_lit_as_such(text, data):
    page = Seen(render(text))
    leaves = [places for places in page.places if places]
    if not leaves:
        return
    leaf = data.draw(st.sampled_from(leaves))
    first, last = sorted(data.draw(st.tuples(*[st.sampled_from(range(len(leaf)))] * 2)))
    start, end = leaf[first], leaf[last] + 1

    marked = Seen(render(text, [(start, end)]))

    assert page.text == marked.text == text
    selected = leaf[first : last + 1]
    assert [place for place in marked.lit if place in set(leaf)] == selected
    assert "".join(text[place] for place in selected) in page.seen
    assert set(marked.lit) <= set(range(start, end))


@given(TEXT)
@settings(max_examples=often(25, 60))
def test_every_word_that_is_seen_can_be_selected(text):
    assert not Seen(render(text)).outside.strip()
