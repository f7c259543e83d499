"""A report that is opened from a disk runs nothing, even if a mistake of ours had let a script into it."""

import pytest
from playwright.sync_api import expect

from apps.reports.formats.html import POLICY, as_html
from tests.reports.test_writers import NASTY, make_document

HOSTILE = """
<script>document.title = "ran"</script>
<script src="data:text/javascript,document.title='ran'"></script>
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" onload="document.title='ran'" onerror="document.title='ran'">
<svg onload="document.title='ran'"></svg>
<iframe srcdoc="<script>parent.document.title='ran'</script>"></iframe>
<a id="link" href="javascript:document.title='ran'">here</a>
<form id="form" action="https://elsewhere.example/" method="get"><input name="q" value="1"><button>Send</button></form>
<base href="https://elsewhere.example/">
"""


@pytest.fixture
def page(browser):
    context = browser.new_context()
    yield context.new_page()
    context.close()


def opened(page, tmp_path, text: str) -> list[str]:
    """Open the report as a file; the requests that it makes are collected."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    file = tmp_path / "report.html"
    file.write_text(text, encoding="utf-8")
    page.goto(file.as_uri())
    asked.clear()
    return asked


def it_is_shown_as_it_is_meant_and_asks_nobody_for_anything(page, tmp_path):
    asked = opened(page, tmp_path, as_html(make_document(NASTY)))

    expect(page.get_by_role("heading", level=1)).to_have_text(NASTY)
    assert page.locator("script, img, iframe, link").count() == 0
    assert asked == []


def without_the_policy_it_would_have_run(page, tmp_path):
    text = as_html(make_document()).replace(POLICY, "")

    opened(page, tmp_path, text.replace("<main>", f"<main>{HOSTILE}"))

    assert page.title() == "ran"


def test_no_script_in_it_would_run_and_no_form_would_leave(page, tmp_path):
    it_is_shown_as_it_is_meant_and_asks_nobody_for_anything(page, tmp_path)
    without_the_policy_it_would_have_run(page, tmp_path)
    text = as_html(make_document())
    asked = opened(page, tmp_path, text.replace("<main>", f"<main>{HOSTILE}"))
    where = page.url

    page.locator("#link").click()

    assert page.title() == "plain"
    assert page.evaluate("document.baseURI") == page.url == where
    with page.expect_console_message(lambda message: "Sending form data" in message.text) as refused:
        page.evaluate("document.querySelector('#form').requestSubmit()")
    assert "form-action 'none'" in refused.value.text
    assert [url for url in asked if not url.startswith(("data:", "about:"))] == []
