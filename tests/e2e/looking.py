"""Looking at pages: sign-in by cookie, axe, and screenshots to be hard on."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from playwright.sync_api import BrowserContext, Page

from apps.accounts.models import User

RESULTS = Path(__file__).resolve().parent.parent.parent / "test-results"
# Axe reads the same few colours anew for every node and each of its ancestors: a third of its time.
REMEMBER_COLOURS = """;(() => {
  const colour = axe.commons.color.Color.prototype, parse = colour.parseString, known = new Map();
  colour.parseString = function (words) {
    if (!known.has(words)) {
      parse.call(this, words);
      known.set(words, [this.r, this.g, this.b, this.alpha]);
    }
    [this.r, this.g, this.b, this.alpha] = known.get(words);
    return this;
  };
})();"""
AXE = Axe().axe_script + REMEMBER_COLOURS
RUN_AXE = "(options) => axe.run(document, options).then((found) => found.violations)"
# No rule of ours reads the style sheets themselves, so they are not fetched for each look.
OPTIONS = {"resultTypes": ["violations"], "preload": False}
WCAG = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
"""The rules of WCAG that look at colours, the one thing in which the themes differ."""
PATIENCE = 60_000  # milliseconds: a page that another process keeps waiting is late, not wrong
NARROW = {"width": 390, "height": 844}
WIDE = {"width": 1440, "height": 900}
WATCH = """
window.karatViolations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.karatViolations.push(`${event.effectiveDirective}: ${event.blockedURI} ${event.sample}`);
});
"""

# How wide the page is in a window of this width, in its own font and in one whose letters are a tenth wider than those
# of this machine; and what is wider than its box, cannot be reached by keyboard or told by name, or does not show that
# more lies beyond. Asked for at once: there are some six hundred windows to look through.
MEASURED = """async ([width, patience]) => {
  const late = performance.now() + patience;
  while (innerWidth !== width) {
    if (performance.now() > late) throw new Error(`asked for ${width} px, the window has ${innerWidth}`);
    await new Promise(requestAnimationFrame);
  }
  const page = document.documentElement;
  const own = page.scrollWidth;
  const scrolling = [...document.querySelectorAll(".scroll, .plot")]
    .filter((box) => box.checkVisibility() && box.scrollWidth > box.clientWidth + 1);
  if (scrolling.length) for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);  // shadows
  const mute = scrolling
    .filter((box) => box.tabIndex !== 0 || !["region", "group"].includes(box.getAttribute("role"))
      || !(box.getAttribute("aria-label") || box.getAttribute("aria-labelledby"))
      || getComputedStyle(box).boxShadow === "none" && getComputedStyle(box).backgroundImage === "none")
    .map((box) => box.outerHTML.slice(0, 90));
  const font = new CSSStyleSheet();
  font.replaceSync("* { letter-spacing: 0.055em !important; }");
  document.adoptedStyleSheets = [font];
  const wide = page.scrollWidth;
  document.adoptedStyleSheets = [];
  return { own, wide, mute };
}"""


def sign_in(context: BrowserContext, live_server_url: str, user: User) -> None:
    """A session cookie for `user`, as the login page would set it."""
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    cookie = {"name": settings.SESSION_COOKIE_NAME, "value": session.session_key, "url": live_server_url}
    context.add_cookies([cookie])


def axe_faults(page: Page, rules: dict = WCAG) -> list[str]:
    """What axe finds against WCAG 2.2 A and AA, one line a node; empty when the page is clean."""
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(AXE)
    return [
        f"{rule['id']}: {' '.join(map(str, node['target']))}: {node['failureSummary'].splitlines()[-1].strip()}"
        for rule in page.evaluate(RUN_AXE, OPTIONS | {"runOnly": rules})
        for node in rule["nodes"]
    ]


def faults_in_both_themes(page: Page) -> list[str]:
    """What axe finds in the dark and in light; in the dark it looks at colours alone. Leaves the page in light."""
    theme(page, "dark")
    faults = [f"in the dark: {fault}" for fault in axe_faults(page, COLOURS)]
    theme(page, "light")
    return faults + axe_faults(page)


def clean(page: Page, name: str = "", *, full: bool = True) -> None:
    """Axe finds nothing in light. With KARAT_LOOK=1 a named page leaves screenshots."""
    if name:
        look_at(page, name, full=full)
    assert axe_faults(page) == [], page.url


def looks_well(page: Page, name: str = "", *, widths: Sequence[int] = (390,), full: bool = True) -> None:
    """Axe finds nothing in either theme, and in no window of these widths the page scrolls sideways."""
    if name:
        look_at(page, name, full=full)
    before = page.viewport_size
    assert faults_in_both_themes(page) == [], page.url
    assert [fault for width in widths for fault in faults_at_width(page, width)] == [], page.url
    page.set_viewport_size(before or WIDE)


def theme(page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")


def faults_at_width(page: Page, width: int) -> list[str]:
    """What a window so many CSS pixels wide does to the page, which bears any font: the next machine has others."""
    page.set_viewport_size({"width": width, "height": 844})
    found = page.evaluate(MEASURED, [width, PATIENCE])
    faults = [f"at {width} px: mute {box}" for box in found["mute"]]
    if found["own"] > width:
        faults.append(f"scrolls sideways at {width} px: {found['own']} px")
    elif found["wide"] > width:
        faults.append(f"scrolls sideways at {width} px in a wide font: {found['wide']} px")
    return faults


def try_now(page: Page) -> None:
    """Presses "Try now", seen or not: the page also tries by itself every few seconds, and may have been quicker."""
    page.get_by_role("button", name="Try now", include_hidden=True).dispatch_event("click")


def look_at(page: Page, name: str, *, full: bool = True) -> None:
    """With KARAT_LOOK=1, screenshots light, dark and 390 px wide, as test-results/NAME-light.png and so on."""
    if not os.environ.get("KARAT_LOOK"):
        return
    RESULTS.mkdir(exist_ok=True)
    safe = re.sub(r"[^a-z0-9-]+", "-", name.lower())
    before = page.viewport_size
    for size, suffix in ((WIDE, ""), (NARROW, "-narrow")):
        page.set_viewport_size(size)
        for scheme in ("light", "dark"):
            theme(page, scheme)
            page.screenshot(path=RESULTS / f"{safe}{suffix}-{scheme}.png", full_page=full)
    theme(page, "light")
    page.set_viewport_size(before or WIDE)


BROKEN_OFF = ("htmx:afterRequest", "htmx:sendAbort")
"""What htmx says of a request that a newer one, or the page's own next load, broke off. Failures it also names."""


class Witness:
    """Everything a page complains about: console errors, uncaught errors, dialogs, policy violations, failed loads.

    Also addresses with a form's token in them: addresses end up in logs, and a token must not.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(f"uncaught: {error}"))
        page.on("request", self._requested)
        page.on("requestfailed", self._failed)
        page.on("response", self._response)
        page.on("dialog", self._dialog)

    def _console(self, message) -> None:
        if message.type == "error" and not message.text.startswith(BROKEN_OFF):
            self.complaints.append(f"console: {message.text} {message.location.get('url', '')}".rstrip())

    def _requested(self, request) -> None:
        if "csrfmiddlewaretoken" in request.url:
            self.complaints.append(f"token in an address: {request.url}")

    def _failed(self, request) -> None:
        if "ERR_ABORTED" not in (request.failure or ""):
            self.complaints.append(f"failed: {request.url} {request.failure}")

    def _response(self, response) -> None:
        if response.status >= 500:
            self.complaints.append(f"{response.status}: {response.url}")

    def _dialog(self, dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def drain(self) -> list[str]:
        """The complaints since the last call, policy violations of the page that is open included."""
        violations = self.page.evaluate("window.karatViolations ?? []")
        complaints, self.complaints = self.complaints, []
        return complaints + [f"policy: {violation}" for violation in violations]
