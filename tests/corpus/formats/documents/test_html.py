"""Pages of a site: what is content, and what surrounds it."""

import io
import json

import pytest

from apps.corpus.formats.documents import SourceFile
from apps.corpus.formats.documents.html import read_html
from apps.corpus.formats.documents.json_records import read_json
from tests.corpus.formats.documents.reading import one, reason

PAGE = """<!doctype html>
<html><head><title>Pin a branch | Osterby</title><style>p {}</style></head>
<body><header>Osterby</header><nav><a href="/">Home</a></nav>
<main><h1>Pin a branch<a class="headerlink" href="#pin">¶</a></h1>
<p>A site follows <a href="../sites.html">its branch</a>.</p>
<aside>Next page</aside><script>alert(1)</script><p hidden>Hidden</p></main>
<footer>Imprint</footer></body></html>"""


def test_only_the_main_part_is_read():
    document = one(read_html, PAGE, "deploy/pin.html")

    assert document.title == "Pin a branch"
    assert document.text == "# Pin a branch\n\nA site follows [its branch](../sites.html)."


def test_what_a_page_states_of_itself_is_metadata_and_front_matter_comes_first():
    page = (
        '---\nauthor: Lev\n---\n<meta property="article:published_time" content="2026-03-01T09:00:00Z">'
        '<meta name="Author" content="Mara"><meta name="DC.publisher" content=" Osterby  press ">'
        '<meta name="dcterms.type" content="guide"><meta name="dc.type" content="text">'
        '<meta name="date" content="2020">'
        '<meta name="viewport" content="width=100"><main><p>Text.</p></main>'
    )

    assert one(read_html, page).metadata == {
        "date": "2026-03-01T09:00:00Z",
        "author": "Lev",
        "publisher": "Osterby press",
        "type": "guide",
    }


def test_without_a_main_part_the_body_is_read_without_its_surroundings():
    page = "<title>Keys</title><body><header>Top</header><nav>Menu</nav><p>Text.</p><footer>End</footer></body>"

    document = one(read_html, page)

    assert (document.title, document.text) == ("Keys", "Text.")


def test_links_are_completed_when_the_site_is_known():
    raw = PAGE.encode()
    file = SourceFile("deploy/pin.html", io.BytesIO(raw), len(raw), "https://docs.example.org/deploy/pin.html")

    (document,) = read_html(file)

    assert "[its branch](https://docs.example.org/sites.html)" in document.text


def test_code_keeps_its_lines_and_the_language_that_a_builder_of_sites_wrote_around_it():
    page = '<main><div class="highlight-yaml"><div class="highlight"><pre>a: 1\n  b: 2\n</pre></div></div></main>'

    assert one(read_html, page).text == "```yaml\na: 1\n  b: 2\n```"


def test_a_page_says_its_encoding():
    page = '<meta charset="windows-1251"><main><p>Ключи меняются.</p></main>'.encode("cp1251")

    document = one(read_html, page)

    assert (document.text, document.note) == ("Ключи меняются.", "")


def test_a_page_of_navigation_only_stays_unread():
    assert reason(read_html, "<body><nav>Menu</nav></body>") == "page without text"


@pytest.mark.parametrize(
    "hidden",
    [
        '<p style="display:none">secret</p>',
        '<div style="color: red; DISPLAY : None !important"><p>secret</p></div>',
        '<p style="visibility:hidden">secret</p>',
        "<p hidden>secret</p>",
        '<span hidden="hidden">secret</span>',
        '<span aria-hidden="true">secret</span>',
        "<!-- secret -->",
        "<!--[if IE]><p>secret</p><![endif]-->",
        "<![CDATA[secret]]>",
        "<?php secret ?>",
        "<template><p>secret</p></template>",
        "<noscript>secret</noscript>",
        "<noframes>secret</noframes>",
        "<datalist><option>secret</option></datalist>",
        '<script type="application/json">{"secret": 1}</script>',
        "<style>p.secret { display: none }</style>",
        '<details><summary>More</summary><p style="display:none">secret</p></details>',
    ],
)
@pytest.mark.parametrize("around", ["<main><p>Seen.</p>{}</main>", "<title>T</title><p>Seen.</p>{}"])
def test_what_a_reader_does_not_see_is_left_out(hidden, around):
    text = one(read_html, around.format(hidden)).text

    assert "Seen." in text
    assert "secret" not in text
    assert not text.startswith("T")


@pytest.mark.parametrize(
    "shown",
    [
        '<p style="display:block">Shown.</p>',
        '<p style="--display:none-of-it">Shown.</p>',
        '<p hidden="until-found">Shown.</p>',
        '<p aria-hidden="false">Shown.</p>',
        "<details><summary>More</summary>Shown.</details>",
        '<body style="visibility:hidden"><p>Shown.</p></body>',
        '<div style="visibility:hidden"><p style="visibility:visible">Shown.</p></div>',
        '<b style="display: none"><math alttext="Shown."><mi>x</mi></math></b><img aria-hidden="true" alt="Shown.">',
    ],
)
def test_what_a_reader_sees_or_opens_stays(shown):
    assert one(read_html, shown).text.count("Shown.") == 1


def test_hidden_parts_of_a_record_stay_out_too():
    record = {"url": "https://example.org/a", "html": '<p>Seen by all.</p><p style="display:none">secret</p>'}

    assert one(read_json, json.dumps([record]), "pages.json").text == "Seen by all."
