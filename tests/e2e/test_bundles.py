"""Bundles in a browser: they do what the files do that they were joined from."""

import pytest

from apps.common.web.assets import bundle, imported
from tests.conftest import REPO

STATIC = REPO / "static"
SHEETS = sorted((STATIC / "css").glob("*.css"))
SCRIPTS = sorted((STATIC / "js").glob("*.js"))
RULES = """(text) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return [...sheet.cssRules].map((rule) => rule.cssText.replaceAll(/\\s*([{};,])\\s*/g, "$1"));
}"""
IS_SCRIPT = "(text) => { new Function(text); return true; }"
RUN = "(text) => { new Function(text)(); }"
LOG = """
const seen = [];
export const log = (word) => seen.push(word);
export const all = () => seen.join();
"""
FIRST = """
import { log } from "./log.js";

log("first");
export class Named {
  #name = "own";
  get name() {
    return this.#name;
  }
}
"""
LAST = """
import { all, log } from "./log.js";
import { Named } from "./first.js";

log(`last, ${new Named().name}`);
window.told = all();
"""


@pytest.fixture
def page(browser):
    page = browser.new_page()
    yield page
    page.close()


def test_sheets_give_the_rules_of_their_files_and_a_joined_script_does_what_its_modules_do(page, tmp_path):
    """Spaces around signs aside, which a browser keeps in the values of custom properties."""
    for path in SHEETS:
        files = imported(path) or [path]
        rules = page.evaluate(RULES, "\n".join(file.read_text() for file in files))

        assert len(rules) > 0, path.name
        assert page.evaluate(RULES, bundle(path)) == rules, path.name
    assert [path.name for path in SCRIPTS if not page.evaluate(IS_SCRIPT, bundle(path))] == []

    for name, text in (("log", LOG), ("first", FIRST), ("last", LAST)):
        (tmp_path / f"{name}.js").write_text(text)
    page.evaluate(RUN, bundle(tmp_path / "last.js"))
    assert page.evaluate("window.told") == "first,last, own"
