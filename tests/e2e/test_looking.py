"""What looks at pages finds what is wrong with them: in both themes, and where colours were met before."""

import pytest

from tests.e2e import looking

PAGE = """<!doctype html><html lang="en"><head><title>Page</title><style>
  :root { color-scheme: light dark; background: light-dark(#fff, #111); color: light-dark(#111, #eee); }
  .dim { color: light-dark(#111, #333); }
  .pale { color: light-dark(#ddd, #eee); }
</style></head><body><main><h1>Words</h1>%s</main></body></html>"""


@pytest.fixture
def page(browser):
    page = browser.new_page()
    yield page
    page.close()


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ("<p>Clean</p>" * 3, []),
        ('<p>Clean</p><p class="dim">Lost in the dark</p>', ["in the dark: color-contrast: .dim"]),
        ('<p>Clean</p><p class="pale">Lost in the light</p>', ["color-contrast: .pale"]),
        ('<p style="opacity: 0.2">Faint</p>', ["in the dark: color-contrast: p", "color-contrast: p"]),
        ('<img src="data:,">', ["image-alt: img"]),
    ],
)
def test_faults_are_detected_in_the_theme_that_has_them(page, body, faults):
    page.set_content(PAGE % body)

    found = looking.faults_in_both_themes(page)

    assert [fault.split(": Element")[0] for fault in found] == faults


NAMED = 'class="scroll" tabindex="0" role="region" aria-label="Figures" style="overflow: auto; box-shadow: 0 0 1px"'


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<div style="width: 300px">Fits</div>', ""),
        ('<div style="width: 500px">Wide</div>', "scrolls sideways at 390 px"),
        ('<p style="display: inline-block; width: max-content; font: 16px monospace">%s</p>' % ("x" * 38), "wide font"),
        (f'<div {NAMED}><div style="width: 900px">Wide inside</div></div>', ""),
        ('<div class="scroll" style="overflow: auto"><div style="width: 900px">Wide</div></div>', "at 390 px: mute"),
    ],
)
def test_a_narrow_window_finds_what_is_too_wide_and_what_scrolls_without_a_name(page, body, fault):
    page.set_content(PAGE % body)

    found = looking.faults_at_width(page, 390)

    assert len(found) == bool(fault)
    assert fault in "".join(found)
