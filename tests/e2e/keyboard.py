"""Somebody at a keyboard: no pointer at all, and every page they stop at is looked over in light and dark."""

from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.e2e import looking

MOST_TABS = 150
POINTER_WITNESS = """
addEventListener("pointerdown", (event) => event.isTrusted && window.karatPointer(location.pathname), true);
"""


class Keyboard:
    """Drives one browser by keys. `pointers` fills when anything was pressed with a mouse or a finger."""

    def __init__(self, context: BrowserContext, live_server_url: str) -> None:
        self.context, self.base = context, live_server_url
        self.pointers: list[str] = []
        context.expose_binding("karatPointer", lambda source, where: self.pointers.append(where))
        context.add_init_script(POINTER_WITNESS)
        self.page: Page = context.new_page()
        self.witness = looking.Witness(self.page)

    def sit_down(self, person, path: str) -> None:
        """Another person signs in and types an address."""
        self.context.clear_cookies()
        looking.sign_in(self.context, self.base, person)
        self.page.goto(path)
        self.page.wait_for_load_state("load")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, words: str) -> None:
        self.page.keyboard.type(words)

    def tab_to(self, target: Locator) -> None:
        """Walk there with Tab, as one without a mouse must be able to."""
        for _ in range(MOST_TABS):
            if target.evaluate("(element) => element === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab never reached {target}")

    def write_into(self, target: Locator, words: str) -> None:
        """Replace what stands in a field."""
        self.tab_to(target)
        self.press("Control+a")
        self.type(words)

    def reads(self, words: str, where: str = "h1") -> None:
        """The next page has come, with its scripts, and says `words`."""
        expect(self.page.locator(where).first).to_contain_text(words)
        self.page.wait_for_load_state("load")

    def look_over(self) -> None:
        """Axe in both themes, and nothing the browser complains about."""
        looking.clean_in_both_themes(self.page)
        assert self.witness.drain() == [], self.page.url
