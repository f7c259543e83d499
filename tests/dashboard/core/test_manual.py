"""Pages of the documents as HTML."""

from apps.dashboard.pages.manual import anchor, rendered

NAMES = frozenset({"glossary.md", "reference/pools.md", "images/a.png"})


def html(text, name="reference/pools.md"):
    return rendered(text, name, NAMES).html


def test_headings_can_be_linked():
    page = rendered("# Pools\n\n## What `the pool` misses\n", "reference/pools.md", NAMES)

    assert page.title == "Pools"
    assert page.anchors == {"pools", "what-the-pool-misses"}
    assert '<h2 id="what-the-pool-misses">' in page.html


def test_links_between_pages_stay_and_others_become_words():
    assert '<a href="../glossary.md#judging">word</a>' in html("[word](../glossary.md#judging)")
    assert '<a href="https://example.org/">there</a>' in html("[there](https://example.org/)")
    assert html("[code](../../apps/common/web.py), [up](../../../etc/passwd)").count("<a ") == 0
    assert "<span>code</span>" in html("[code](../../apps/common/web.py)")


def test_pictures_stay():
    assert 'src="images/a.png"' in html("![a](images/a.png)", "tour.md")


def test_markup_in_the_text_is_text():
    assert "<script>" not in html("<script>alert(1)</script>")
    assert "javascript:" not in html("[x](javascript:alert(1))").split("href")[-1].split(">")[0]


def test_tables_and_code_scroll_in_a_box_that_the_keyboard_reaches():
    shown = html("| a |\n| --- |\n| b |\n\n```\nkarat up\n```\n")

    assert shown.count('<div class="scroll" tabindex="0" role="region"') == 2
    assert shown.count("</div>") == 2


def test_anchors_are_those_of_other_readers_of_markdown():
    assert anchor("What `karat export` writes") == "what-karat-export-writes"


def test_columns_are_aligned_without_styles_in_their_cells():
    shown = html("| a | b |\n| :-: | --: |\n| 1 | 2 |\n")

    assert "style=" not in shown
    assert shown.count('data-align="center"') == shown.count('data-align="right"') == 2


def test_what_is_said_to_writers_is_left_out():
    shown = html("# Roles\n\n<!-- tables: python -m tests.roles -->\n\nWho may what.\n")

    assert "tests.roles" not in shown
    assert "<p>Who may what.</p>" in shown
