"""Somebody at a keyboard: no pointer at all, and every page they stop at is looked over in light and dark."""

from urllib.parse import urlsplit

from django.urls import resolve
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.e2e import looking
from tests.e2e.waiting import go, press, ready, turned

MOST_TABS = 150
POINTER_WITNESS = """
addEventListener("pointerdown", (event) => event.isTrusted && window.karatPointer(location.pathname), true);
"""


# How many stops lie between the focus and an element further down, counted low: of radio buttons none is counted.
SURELY_BEFORE = """(element) => {
  const stops = [...document.querySelectorAll("a[href], button, input:not([type=radio]), select, textarea, summary")]
    .filter((stop) => stop.tabIndex >= 0 && !stop.disabled && stop.checkVisibility({ visibilityProperty: true }));
  const isAfter = (stop, other) => other.compareDocumentPosition(stop) & Node.DOCUMENT_POSITION_FOLLOWING;
  const between = stops.filter((stop) => isAfter(stop, document.activeElement) && isAfter(element, stop));
  return Math.max(0, between.length - 2);
}"""
_looked_over: set[str] = set()


class Keyboard:
    """Drives one browser by keys. `pointers` fills when anything was pressed with a mouse or a finger.

    `strokes` counts the keys, those that write words apart: `written`.
    """

    def __init__(self, context: BrowserContext, live_server_url: str) -> None:
        self.context, self.base = context, live_server_url
        self.pointers: list[str] = []
        self.strokes = self.written = 0
        context.expose_binding("karatPointer", lambda source, where: self.pointers.append(where))
        context.add_init_script(POINTER_WITNESS)
        self.page: Page = context.new_page()
        self.witness = looking.Witness(self.page)

    def sit_down(self, person, path: str) -> None:
        """Another person signs in and types an address."""
        self.context.clear_cookies()
        looking.sign_in(self.context, self.base, person)
        go(self.page, path)

    def press(self, *keys: str) -> None:
        press(self.page, *keys)
        self.strokes += len(keys)

    def turn(self, *keys: str) -> None:
        """The last of these keys leads to another page."""
        self.press(*keys[:-1])
        with turned(self.page):
            self.press(keys[-1])

    def type(self, words: str) -> None:
        self.page.keyboard.type(words)
        self.written += len(words)

    def tab_to(self, target: Locator) -> None:
        """Walk there with Tab, as one without a mouse must be able to."""
        goal = target.element_handle()
        for _ in range(goal.evaluate(SURELY_BEFORE)):
            self._tab()
        for _ in range(MOST_TABS):
            if goal.evaluate("(element) => element === document.activeElement"):
                return
            self._tab()
        raise AssertionError(f"Tab never reached {target}")

    def _tab(self) -> None:
        self.page.keyboard.press("Tab")
        self.strokes += 1

    def write_into(self, target: Locator, words: str) -> None:
        """Replace what stands in a field."""
        self.tab_to(target)
        self.press("Control+a")
        self.type(words)

    def reads(self, words: str, where: str = "h1") -> None:
        """The page says `words` there, and hears keys."""
        expect(self.page.locator(where).first).to_contain_text(words)
        ready(self.page)

    def look_over(self) -> None:
        """Nothing the browser complains about; and axe in both themes, once for each kind of page."""
        kind = resolve(urlsplit(self.page.url).path).view_name
        if kind not in _looked_over:
            looking.looks_well(self.page, widths=())
            _looked_over.add(kind)
        assert self.witness.drain() == [], self.page.url
