"""Rows whose parts share one line: the cards of a table on a phone, the files of a version, the fields of a form."""

from tests.conftest import REPO
from tests.e2e import looking

CSS = REPO / "static/css"
RIGHT_ENDS = """(selector) => [...document.querySelectorAll(selector)].map((row) => {
  const range = document.createRange();
  range.selectNodeContents(row);
  return Math.round(row.parentElement.getBoundingClientRect().right - range.getBoundingClientRect().right);
})"""


def styled(page, body: str, *names: str) -> None:
    styles = "".join((CSS / name).read_text(encoding="utf-8") for name in ("tokens.css", *names))
    page.set_content(f"<!doctype html><style>{styles}</style>{body}")


def test_what_shares_a_line_ends_where_the_line_ends_and_fields_of_a_row_are_of_one_height(page):
    a_value_stays_at_the_end_of_its_line_beside_a_long_label(page)
    the_links_of_a_file_stay_at_the_end_of_its_row_beside_a_long_description(page)
    fields_of_every_kind_in_one_row_begin_and_end_at_the_same_height(page)


def a_value_stays_at_the_end_of_its_line_beside_a_long_label(page):
    page.set_viewport_size(looking.NARROW)
    cells = "".join(
        f'<td class="num" data-label="{label}"><b>0.869</b></td>'
        for label in ("Hybrid", "BM25, long passages damped", "BM25, long passages damped and plurals folded")
    )

    styled(page, f'<table class="data cards"><tbody><tr>{cells}</tr></tbody></table>', "components/table.css")

    assert page.evaluate(RIGHT_ENDS, "td > b") == [0, 0, 0]


def the_links_of_a_file_stay_at_the_end_of_its_row_beside_a_long_description(page):
    rows = "".join(
        f"<li><span><b>Format</b><small>{about}</small></span>"
        '<span class="row"><a>dev</a><a>dev and test</a></span></li>'
        for about in ("Qrels and topics", "Q&As, queries, judgements and corpus, one object per line")
    )

    body = f'<ul class="lines files" style="inline-size: 440px">{rows}</ul>'
    styled(page, body, "components/layout.css", "components/table.css", "versions.css")

    assert page.evaluate(RIGHT_ENDS, ".files .row") == [0, 0]
    tops = page.evaluate(
        "[...document.querySelectorAll('.files li')].map((li) => li.lastChild.offsetTop - li.offsetTop)"
    )
    assert max(tops) < 30


def fields_of_every_kind_in_one_row_begin_and_end_at_the_same_height(page):
    page.set_viewport_size(looking.WIDE)
    controls = [
        '<input class="input">',
        '<input class="input" type="number" value="3">',
        '<input class="input" type="date">',
        '<select class="input"><option>any</option></select>',
    ]
    fields = "".join(f'<div class="field"><label>Name</label>{control}</div>' for control in controls)

    sheets = ("elements", "layout", "text", "form")
    styled(page, f'<div class="pair">{fields}</div>', *(f"components/{name}.css" for name in sheets))

    boxes = [box.bounding_box() for box in page.locator(".input").all()]
    assert [box["y"] for box in boxes[::2]] == [box["y"] for box in boxes[1::2]]
    assert len({box["height"] for box in boxes}) == 1
