"""The story of the numbers: two runs compared, what fell explained, a gate green, the report opened and printed."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e import looking
from tests.e2e.waiting import go, settled, turned, worked
from tests.evaluation.factories import BAD, GOOD, make_scene, qrels_of, score

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
MEASURES = "nDCG@10 AP RR"
READABLE = 4.5

# The lowest contrast of any word in a chart with the ground that it stands on, and how many words there are.
CONTRAST = """() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const linear = (c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = numbers(colour).map((c) => linear(c / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (numbers(colour)[3] !== 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const words = [...document.querySelectorAll("svg.chart text")];
  const ratios = words.map((word) => {
    const [one, other] = [light(getComputedStyle(word).fill), light(ground(word.closest("svg").parentElement))];
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  });
  return [Math.min(...ratios), words.length];
}"""
# Charts without a name, marks without words, and tables of figures that nothing shows.
UNTOLD = """() => [
  ...[...document.querySelectorAll("svg.chart")].filter((chart) => chart.getAttribute("role") !== "img"
      || !chart.getAttribute("aria-label") || !chart.querySelector("title")).map(() => "a chart without a name"),
  ...[...document.querySelectorAll("svg.chart :is(.up, .down)")].filter((bar) => !bar.querySelector("title"))
      .map(() => "a bar without words"),
]"""
HIDDEN_FIGURES = """() => [...document.querySelectorAll("details table")].filter(
    (table) => !table.checkVisibility({contentVisibilityAuto: true}) || !table.getBoundingClientRect().height).length"""


@pytest.fixture
def scene(transactional_db):
    """Twenty queries; the new run is better on all but two."""
    qrels = qrels_of(20)
    fallen = {"Q03", "Q07"}
    base = {query: GOOD if query in fallen else BAD for query in qrels}
    new = {query: BAD if query in fallen else GOOD for query in qrels}
    made = make_scene(qrels=qrels, runs={"bm25-1": base, "rrf-2": new}, test_share=0.0)
    for tag, name in (("bm25-1", "BM25"), ("rrf-2", "Hybrid")):
        made.runs[tag].system.name = name
        made.runs[tag].system.save()
        score(made, tag, split="dev", measures=MEASURES)
    return made


def readable(page: Page) -> None:
    """Words of charts stand out in light, dark and print; charts and marks say in words what they show."""
    for scheme in ("light", "dark"):
        for media in ("screen", "print"):
            page.emulate_media(color_scheme=scheme, media=media, reduced_motion="reduce")
            lowest, count = page.evaluate(CONTRAST)
            assert count > 0
            assert lowest >= READABLE, f"{page.url} {scheme} {media}: {lowest:.2f}"
    assert page.evaluate(HIDDEN_FIGURES) == 0, "figures that print leaves out"
    page.emulate_media(color_scheme="light", media="screen", reduced_motion="reduce")
    assert page.evaluate(UNTOLD) == []


def compared(page: Page, scene) -> str:
    """From the leaderboard to the comparison of both runs; its verdict."""
    go(page, f"/p/{scene.project.slug}/evaluation/")
    page.get_by_label("Compare baseline").select_option(label="bm25-1")
    page.get_by_label("with candidate").select_option(label="rrf-2")
    with turned(page):
        page.get_by_role("button", name="Compare").click()
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_contain_text("Hybrid is better than BM25 by")
    expect(page.locator("#verdict")).to_contain_text("; 2 drops, none explained.")
    looking.clean(page)
    readable(page)
    return heading.inner_text()


def explained(page: Page) -> None:
    """Both drops accepted, each with its words; then the comparison is closed."""
    for query, why in (("Q03", "The old page was merged."), ("Q07", "A rare word.")):
        page.get_by_label(f"What happened to {query}").fill(why)
        page.get_by_role("form", name=f"Decision on {query}").get_by_role("button", name="Accept").click()
        settled(page)
        expect(page.get_by_label(f"What happened to {query}")).to_have_value(why)
    expect(page.locator("#verdict")).to_contain_text("2 drops, all explained.")
    page.get_by_role("button", name="Close comparison").click()
    with turned(page):
        page.get_by_role("dialog").get_by_role("button", name="Close it").click()
    expect(page.get_by_text("Closed by nDCG@10. The verdict is saved.")).to_be_visible()


def report_opened(page: Page, folder) -> None:
    """The report taken away and opened from the disk, without any server."""
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Report", exact=True).click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    page.goto(path.as_uri())
    expect(page.get_by_role("heading", level=1)).to_contain_text("2 drops, all explained.")
    expect(page.get_by_role("cell", name="Accept: A rare word.").first).to_be_visible()
    readable(page)
    looking.looks_well(page, "report-comparison", widths=())
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF-")


def gate_made(page: Page, scene) -> None:
    """A gate on the new system, green at once since it was scored before."""
    go(page, f"/p/{scene.project.slug}/evaluation/gates/new/{scene.version.gold_set.slug}/")
    page.get_by_label("Name").fill("Good enough")
    page.get_by_label("System").select_option(label="Hybrid")
    page.get_by_label("Measure").fill("nDCG@10")
    page.get_by_label("Must be").select_option(label="at least the threshold")
    page.get_by_role("spinbutton", name="Threshold").fill("0.6")
    page.get_by_label("Split", exact=True).select_option(label="dev split")
    with turned(page):
        page.get_by_role("button", name="Create gate").click()
    expect(page.get_by_role("heading", name="Good enough")).to_be_visible()
    worked(page)
    go(page, f"/p/{scene.project.slug}/evaluation/gates/")
    expect(page.get_by_role("row", name="Good enough")).to_contain_text("passed")
    looking.clean(page)


def test_two_runs_are_compared_explained_gated_and_reported(page, signed_in, witness, scene, tmp_path):
    signed_in(scene.lead)

    compared(page, scene)
    explained(page)
    comparison = page.url
    gate_made(page, scene)
    go(page, comparison)
    report_opened(page, tmp_path)

    assert witness.drain() == []
