"""The renderer of texts: nothing of a text is lost or moved, code and lines stay, HTML in it is shown."""

import re
import sys
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from apps.common.text.blocktext import difference, is_cut, merge, plain, quote, render
from apps.common.text.worddiff import word_diff
from tests.technical import CUT, HOSTILE, INCIDENT, RETRIES, TEXTS
from tests.walks import often

KNOWN = {
    *("p", "ul", "ol", "li", "h3", "div", "pre", "blockquote", "table", "thead", "tbody", "tr", "td", "th"),
    *("i", "code", "em", "strong", "s", "span", "br", "mark", "del", "ins"),
}
ATTRIBUTES = {"data-at", "dir", "class", "title", "start", "value", "tabindex", "role", "aria-label"}
SIGNS = [
    *("# ", "- ", "* ", "1. ", "2) ", "```", "```py\n", "~~~", "`", "``", "*", "**", "_", "__", "~~", "[", "![", "]"),
    *("](http://a/b)", "](x)", "[a]: /u", "| ", "|", "---", "===", "\n", "\n\n", "\r\n", "    ", "  ", "\t", "> "),
    *("word", "more words", "x = 1", "foo()", "<b>", "&amp;", "\\", "é", "𝔸", "\u2003", "\x1f", "'", '"', "."),
    *("دليل ", "שלום"),
]
MARKDOWN = st.lists(st.sampled_from(SIGNS), max_size=40).map("".join)
SPANS = st.lists(st.tuples(st.integers(-2, 130), st.integers(-2, 130)), max_size=3)


class Page(HTMLParser):
    """What a browser makes of the HTML: its text, its leaves, what is lit and what a reader sees."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.text = self.seen = ""
        self.lit = []
        self.leaves = []
        self.tags = set()
        self.attributes = set()
        self._open = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}
        if tag != "br":
            self._open.append((tag, dict(attributes), len(self.text)))

    def handle_endtag(self, tag):
        name, attributes, start = self._open.pop()
        assert name == tag
        if "data-at" in attributes:
            self.leaves.append((int(attributes["data-at"]), self.text[start:]))

    def handle_data(self, data):
        around = [tag for tag, _, _ in self._open]
        is_sign = any(tag == "i" and "class" not in attributes for tag, attributes, _ in self._open)
        if "mark" in around:
            self.lit += range(len(self.text), len(self.text) + len(data))
        self.text += data
        self.seen += "" if is_sign else data


def shown(html):
    """The HTML without signs, offsets and directions: what a reader gets."""
    return re.sub(r' dir="auto"| data-at="\d+"|<i>[^<]*</i>', "", html)


def steps_of(text):
    """How many lines of Python rendering takes: the same on every machine."""
    steps = 0

    def count(frame, event, argument):
        nonlocal steps
        steps += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        render(text)
    finally:
        sys.settrace(before)
    return steps


# Nothing is lost or moved ------------------------------------------------------------------------------------------


@given(MARKDOWN | st.text(max_size=200), SPANS, st.booleans())
@example("> ```\n> a\n\n- `` ` ``\r\n", [], False)
@settings(max_examples=often(25, 200))
def test_the_page_contains_every_character_of_the_text_in_order(text, spans, as_written):
    page = Page(render(text, spans, as_written=as_written))

    assert page.text == text
    assert all(text[at : at + len(words)] == words for at, words in page.leaves)


@given(MARKDOWN, SPANS, st.booleans())
@settings(max_examples=often(25, 200))
def test_what_is_lit_is_the_span_and_nothing_else(text, spans, as_written):
    page = Page(render(text, spans, as_written=as_written))

    wanted = {place for start, end in merge(spans, len(text)) for place in range(start, end)}
    leaves = {place for at, words in page.leaves for place in range(at, at + len(words))}
    assert set(page.lit) == wanted & leaves
    assert all(text[place].isspace() for place in wanted - leaves)


@given(MARKDOWN, st.integers(0, 120), st.integers(1, 40))
@settings(max_examples=often(25, 100))
def test_a_span_with_words_or_signs_is_seen(text, start, length):
    page = Page(render(text, [(start, start + length)]))

    lit = "".join(text[place] for place in page.lit)
    assert not lit.strip() or Page(quote(text, (start, start + length))).seen.strip()


@pytest.mark.parametrize("name", TEXTS)
def test_a_technical_text_is_whole(name):
    text = TEXTS[name]

    assert Page(render(text, [(3, 90)], (10, 40))).text == text


def test_each_element_of_the_first_level_has_the_direction_of_its_letters_and_code_none():
    text = "دليل\n\n- בדיקה `ls`\n- b\n\n> اقتباس\n\n| أ | ب |\n| - | - |\n| ج | د |\n\n```\nls\n```"

    html = render(text, [(0, 3)])

    assert re.findall(r"<(\w+)[^>]* dir=\"auto\"", html) == ["p", "ul", "blockquote", "div"]
    assert re.findall(r"<pre[^>]*>", html) == [f'<pre data-at="{text.index("```")}">']
    assert html.startswith('<p dir="auto" data-at="0"><mark>دلي</mark>ل</p>')
    assert quote(text, (0, 3)) == '<p dir="auto"><mark>دلي</mark></p>'


# Nothing of the text is obeyed -------------------------------------------------------------------------------------


@given(MARKDOWN | st.text(max_size=200))
@example(HOSTILE)
@example('[a](http://x" onclick="y)')
@example('```" onclick="x\ny\n```')
@settings(max_examples=often(25, 150))
def test_nothing_but_known_elements_and_attributes_comes_out(text):
    page = Page(render(text))

    assert page.tags <= KNOWN
    assert page.attributes <= ATTRIBUTES


def test_links_are_inactive_and_show_their_address():
    html = render("[the guide](https://x.y/z?a=1&b=2)")

    assert '<span class="address" title="https://x.y/z?a=1&amp;b=2">the guide</span>' in html
    assert "href" not in render(HOSTILE)


# What a reader sees ------------------------------------------------------------------------------------------------


BOX = '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>'
END = "</table></div>"


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("One.\n\nTwo.", "<p>One.</p>\n\n<p>Two.</p>"),
        ("Use `x` now", "<p>Use <code>x</code> now</p>"),
        ("**Bold *and* so**", "<p><strong>Bold <em>and</em> so</strong></p>"),
        ("~~gone~~", "<p><s>gone</s></p>"),
        ("## Title ##", "<h3>Title</h3>"),
        ("Title\n=====\nText", "<h3>Title</h3>\n<p>Text</p>"),
        ("[a *b*](/u)", '<p><span class="address" title="/u">a <em>b</em></span></p>'),
        ("[a][1]\n\n[1]: /u", '<p><span class="address">a</span></p>\n\n<p>[1]: /u</p>'),
        ("![A map](m.png)", '<p><span class="image" title="m.png">A map</span></p>'),
        ("<https://a.b/c>", "<p>https://a.b/c</p>"),
        ("snake\\_case", "<p>snake_case</p>"),
        ("a  \nb " + "long " * 12 + "\ncontinues in lower case", None),
        ("> quoted\n> more", "<blockquote><p>quoted\nmore</p></blockquote>"),
        ("***", '<div class="rule" role="separator"></div>'),
        ("- one\n- two\n  and more", "<ul><li>one</li>\n<li>two\nand more</li></ul>"),
        ("- a\n  - b\n- c", "<ul><li><p>a</p><ul>\n  <li>b</li></ul></li>\n<li>c</li></ul>"),
        ("3. a\n4. b\n9. c", '<ol start="3"><li>a</li>\n<li>b</li>\n<li value="9">c</li></ol>'),
        (
            "| a |\n|---|\n| `1` \\| y |",
            BOX
            + "<thead><tr><th>a</th></tr></thead><tbody><tr>\n<td><code>1</code> | y</td></tr></tbody></table></div>",
        ),
        (
            "a\tb\nc\td",
            BOX + "<tbody><tr><td>a</td>\t<td>b</td></tr><tr>\n<td>c</td>\t<td>d</td></tr></tbody>" + END,
        ),
        ("host\nport", '<p class="fixed-lines">host\nport</p>'),
        ("```\na\n\n  b\n```", "<pre>a\n\n  b</pre>"),
        ("Text:\n\n    a = 1\n      b", "<p>Text:</p>\n\n    <pre>a = 1\n  b</pre>"),
        ("<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>"),
        ("<div>\n  <p>Hi</p>\n</div>", "<pre>&lt;div&gt;\n  &lt;p&gt;Hi&lt;/p&gt;\n&lt;/div&gt;</pre>"),
        (">>> 1 + 1\n2", "<pre>&gt;&gt;&gt; 1 + 1\n2</pre>"),
        ("- run\n\n  ```sh\n  ls\n  ```", "<ul><li><p>run</p>\n\n  <pre>ls</pre></li></ul>"),
    ],
)
def test_markdown_is_laid_out(text, html):
    page = shown(render(text))

    assert html is None or page == html
    assert Page(render(text)).text == text


@pytest.mark.parametrize(
    "text",
    [
        *(
            "__init__",
            "2*3*4",
            "snake_case_name",
            "``TeX quotes''",
            "a `b' and `c'",
            "C:\\_old",
            "call[0](argument)",
        ),
        *(
            "5 * 3 * 2",
            "**kwargs and *args",
            "[1] and [2]",
            "\\[x\\]",
            "3. 4. 2020",
            "R&D",
            "x < y > z",
            "*.py /* c */",
        ),
    ],
)
def test_plain_text_that_only_looks_like_markdown_stays_as_it_is(text):
    assert Page(render(text)).seen.strip() == text


WRITTEN = "# Port\n  port:   80\n* host *\n\n\n<b> & more\n"


def test_a_text_without_markup_keeps_its_signs_in_quotations_and_differences_too():
    html = shown(render(WRITTEN, [(9, 13)], (30, 36), as_written=True))

    assert html == (
        '<p class="fixed-lines"># Port\n  <mark>port</mark>:   80\n* host *</p>\n\n\n'
        '<p class="best fixed-lines">&lt;b&gt; &amp; more</p>\n'
    )
    assert "# Port\n  port" in quote(WRITTEN, (0, 13), as_written=True)
    assert is_cut(WRITTEN, [(0, 4)], as_written=True)
    assert "<h3" not in difference(word_diff("# Port 80", "# Port 81"), as_written=True)
    assert "<h3" in difference(word_diff("# Port 80", "# Port 81"))


def test_code_keeps_lines_and_indentation_and_shows_its_language():
    page = render(RETRIES)

    code = re.search(
        r'<pre class="scroll" tabindex="0" role="region" aria-label="Code, python"[^>]*>(.*?)</pre>', page, re.S
    )
    assert code is not None
    assert "def fetch(query: str) -&gt; list[str]:\n    &quot;&quot;&quot;Ask once" in code.group(1)
    assert "\n        if (answer := client" in code.group(1)
    assert "```" not in Page(page).seen
    assert "WARN  retry 1 of 3" in re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.S)[1]


def test_lines_of_plain_text_stay_and_filled_prose_flows():
    page = shown(render(INCIDENT))

    assert '<p class="fixed-lines">Reported by: Mara Voss\nHost:        db-3.eu-west\nStatus:      closed</p>' in page
    assert "<p>The connection pool ran empty because every worker held its connection while it\nwaited" in page
    assert "  File &quot;/srv/app/pool.py&quot;, line 88, in take\n    raise PoolEmpty" in page
    assert "<li>set max_connections=200</li>" in page


def test_a_text_that_begins_inside_of_code_shows_that_code():
    page = shown(render(CUT))

    assert page.startswith("<pre>    def close(self):\n        self._pool.clear()")
    assert "<code>close()</code>" in page


# Evidence ----------------------------------------------------------------------------------------------------------


def test_evidence_is_lit_through_code_links_and_emphasis():
    text = "Call `send()` or [*retry*](/r) twice."
    html = render(text, [(text.index("send"), text.index(" twice"))])

    assert "<code><mark>send()</mark></code>" in html
    assert "<em><mark>retry</mark></em>" in html
    assert "".join(text[place] for place in Page(html).lit) == "send()` or [*retry*](/r)"


@pytest.mark.parametrize(
    ("text", "span", "html"),
    [
        ("One two.\n\nThree.", (4, 15), "<p>One <mark>two.</mark></p>\n\n<p><mark>Three</mark>.</p>"),
        ("𝔸 b", (2, 3), "<p>𝔸 <mark>b</mark></p>"),  # offsets are code points
    ],
)
def test_evidence_is_lit_inside_each_paragraph_it_crosses(text, span, html):
    assert shown(render(text, [span])) == html


def test_a_mark_on_an_address_alone_shows_the_address():
    text = "See [here](https://a.b/c)."

    assert "https" not in Page(render(text, [(0, 5)])).seen
    assert "https://a.b/c" in Page(render(text, [(11, 24)])).seen


def test_the_best_passage_is_marked_by_paragraph():
    html = render("One.\n\n- a\n- b\n\n```\nc\n```", best=(6, 12))

    assert shown(html) == '<p>One.</p><ul>\n\n<li class="best">a</li>\n<li class="best">b</li></ul>\n\n<pre>c</pre>'
    assert '<pre class="best"' in render("```\nc\n```", best=(3, 5))


def test_with_spans_only_what_they_meet_is_written_and_whole():
    html = render(RETRIES, within=[(RETRIES.index("`fixed` waits"), RETRIES.index("`fixed` waits") + 3)])

    assert "three times" not in html
    assert '<ol><li value="2">' in shown(html)
    assert is_cut(RETRIES, [(3, 5)])
    assert not is_cut("One.", [(0, 2)])
    assert render("One.\n\nTwo.") == render("One.\n\nTwo.", within=[(4, 5)])


def test_a_quote_is_the_marked_words_alone():
    text = "Call `send()` or:\n\n```\nretry(3)\nstop()\n```"

    assert shown(quote(text, (6, 12))) == "<p><code><mark>send()</mark></code></p>"
    assert (
        quote("- [ ] a\n- b `c`", (10, 14))
        == '<p dir="auto"><mark>b </mark><i><mark>`</mark></i><code><mark>c</mark></code></p>'
    )
    assert shown(quote(text, (text.index("retry"), text.index("\nstop")))) == "<pre><mark>retry(3)</mark></pre>"


# Differences -------------------------------------------------------------------------------------------------------


def test_a_difference_shows_the_signs_that_changed_and_no_others():
    html = difference(word_diff("Use `a` or [x](/u)", "Use `a` or [x](/v)"))

    seen = Page(html).seen
    assert seen.startswith("Use a or x](/")
    assert "<del>u</del>" in html
    assert "<ins>v</ins>" in html


def test_a_difference_of_what_changed_leaves_out_the_other_paragraphs_and_items():
    pieces = word_diff("First.\n\nPort 80.\n\n- a\n- b", "First.\n\nPort 81.\n\n- a\n- c")

    html = difference(pieces, only_changed=True)

    assert shown(html) == "<p>Port <del>80</del><ins>81</ins>.</p><ul><li><del>b</del><ins>c</ins></li></ul>"
    assert "First" in difference(pieces)
    assert "First" in difference(word_diff("First.", "First."), only_changed=True)


@given(MARKDOWN, MARKDOWN)
@settings(max_examples=often(25, 50))
def test_a_difference_contains_both_texts(old, new):
    pieces = word_diff(old, new)

    assert Page(difference(pieces)).text == "".join(words for _, words in pieces)


# In one line -------------------------------------------------------------------------------------------------------


def test_a_gist_has_no_signs_and_one_line():
    assert plain("# Keys\n\nUse `a` or\n[b](/c):\n\n```\nx\n```") == "Keys Use a or b: x"
    assert plain("word " * 40, 12) == "word word w…"


@given(st.text(max_size=300), st.integers(1, 40))
@settings(max_examples=often(25, 50))
def test_a_gist_is_no_longer_than_the_limit(text, most):
    assert len(plain(text, most)) <= most


@pytest.mark.parametrize(
    ("spans", "merged"),
    [([(3, 5), (0, 2)], [(0, 2), (3, 5)]), ([(0, 3), (2, 5)], [(0, 5)]), ([(4, 4), (8, 20)], [(8, 10)])],
)
def test_spans_are_ordered_joined_and_cut(spans, merged):
    assert merge(spans, 10) == merged


# Hostile shapes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "unit",
    ["`` ` ", "*_", "[", '[a](x "', ">", "- ", "|", "__a", "a(", "<a ", "\\", "> a\n\n", "  - a\n", "```\na\n~~~\n"],
)
def test_work_grows_with_the_text_and_not_with_its_square(unit):
    few, many = steps_of(unit * 100), steps_of(unit * 800)

    assert many < 2 * 8 * few
