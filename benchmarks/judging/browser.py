"""A reader in Chromium: from the key's time stamp to the frame after the one that shows the next pair."""

import shutil
from typing import NamedTuple

from benchmarks.judging.world import World

ARGUMENTS = ["--disable-dev-shm-usage", "--disable-background-networking", "--disable-gpu", "--no-sandbox"]

# A press is over when another pair's seat is in the form and its text in the page, and two frames have begun since:
# the second begins after the first was painted.
WATCH = """
(() => {
  const times = (window.karatTimes = []);
  let pressed = null;
  const seat = () => document.querySelector("#grading")?.elements.seat.value;
  addEventListener("keydown", (event) => {
    if (/^[0-3]$/.test(event.key)) pressed = { at: event.timeStamp, seat: seat() };
  }, true);
  addEventListener("DOMContentLoaded", () => {
    new MutationObserver(() => {
      if (!pressed || seat() === pressed.seat || document.querySelector("[data-read] .waiting")) return;
      const { at } = pressed;
      pressed = null;
      requestAnimationFrame(() => requestAnimationFrame(() => times.push(performance.now() - at)));
    }).observe(document.body, { childList: true, subtree: true });
  });
})();
"""


TAKES_GRADES = "() => !document.querySelector('#grading').ariaBusy"  # a pair does, once somebody can have seen it
SHOWN = "(n) => window.karatTimes.length > n"
SENT = "() => document.querySelector('[data-unsent].all-sent')"


class Shown(NamedTuple):
    """What the browser saw: presses in milliseconds, and the bytes of each answer of the first page with its head."""

    presses: list[float]
    weights: dict[str, int]
    complaints: list[str]


def press(port: int, world: World, *, times: int, rhythm: float) -> Shown:
    """Open the judging page once with an empty cache, then grade `times` pairs, one each `rhythm` milliseconds."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if path is None:
        raise SystemExit("no Chromium: apt-get install chromium-headless-shell")
    address = f"http://127.0.0.1:{port}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        context = browser.new_context(base_url=address, viewport={"width": 1440, "height": 900})
        context.add_cookies([{"name": "karat-session", "value": world.reader, "url": address}])
        context.add_init_script(WATCH)
        page = context.new_page()
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        asked: dict[str, str] = {}
        sizes: dict[str, int] = {}
        network = context.new_cdp_session(page)
        network.send("Network.enable")
        network.on(
            "Network.requestWillBeSent", lambda event: asked.update({event["requestId"]: event["request"]["url"]})
        )
        network.on(
            "Network.loadingFinished", lambda event: sizes.update({event["requestId"]: int(event["encodedDataLength"])})
        )
        with page.expect_event("requestfinished", lambda request: "/pairs/" in request.url):
            page.goto(f"/p/{world.slug}/judging/rounds/{world.round_id}/judge/", wait_until="networkidle")
        weights = {asked[number].removeprefix(address): size for number, size in sizes.items()}
        for number in range(times):
            page.wait_for_function(TAKES_GRADES, polling=5)
            page.keyboard.press(str(number % 4))
            page.wait_for_function(SHOWN, arg=number, polling=5)
            page.wait_for_timeout(rhythm)
        page.wait_for_function(SENT)
        presses = page.evaluate("window.karatTimes")
        browser.close()
    return Shown(presses, weights, complaints)
