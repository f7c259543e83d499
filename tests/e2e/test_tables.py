"""A spreadsheet of searches becomes queries and grades in the browser, without a column being renamed."""

import json

import pytest
from playwright.sync_api import expect

from apps.judging.models import Judgement
from apps.queries.models import Query
from tests.common.workbooks import workbook
from tests.corpus.factories import import_text, make_corpus, make_snapshot
from tests.e2e import looking
from tests.e2e.looking import WIDE
from tests.e2e.waiting import go, press, settled, turned
from tests.e2e.worlds import shared
from tests.factories import lead_of, make_project

pytestmark = pytest.mark.django_db(transaction=True)

SITE = "https://osterby.example"
PAGES = ["guides/moving-a-site", "guides/roles", "storage/volumes", "billing/plans", "security/keys"]
ROWS = [
    ("What people typed", "Page", "Pos", "Stars", "Remarks", "Checked"),
    ("move a site to another region", "/guides/moving-a-site", 1, 5, "exactly this", "3 Nov"),
    ("move a site to another region", "/Storage/Volumes/", 2, 2, "only mentions regions", "3 Nov"),
    ("how big can a volume get", "/storage/volumes", 1, 5, None, "3 Nov"),
    ("how big can a volume get", "/billing/plans", 4, 3, "has the plan, not the size", "4 Nov"),
    *((f"search number {number}", f"/{PAGES[number % 5]}", 1, number % 5 + 1, None, "5 Nov") for number in range(28)),
]


def make_room():
    project = make_project("Osterby docs")
    corpus = make_corpus(project, {})
    blocks = [
        {
            "block_id": f"p{n}",
            "document_id": f"{path}.md",
            "text": f"About {path}.",
            "metadata": {"url": f"{SITE}/{path}"},
        }
        for n, path in enumerate(PAGES)
    ]
    import_text(corpus, "\n".join(map(json.dumps, blocks)))
    make_snapshot(corpus=corpus)
    return project


project = shared(make_room)


@pytest.fixture
def lead(signed_in, project):
    signed_in(lead_of(project))


@pytest.fixture
def spreadsheet(tmp_path):
    path = tmp_path / "searches-checked.xlsx"
    path.write_bytes(workbook({"Cover": [["Searches checked in November"]], "Ratings": ROWS}))
    return path


def upload(page, project, path) -> None:
    go(page, f"/p/{project.slug}/corpus/imports/new/judgements/")
    page.get_by_label("File", exact=True).set_input_files(path)
    with turned(page):
        page.get_by_role("button", name="Preview").click()


def test_queries_are_pasted_and_a_spreadsheet_with_its_own_headings_is_mapped_imported_and_remembered(
    page, project, lead, witness, spreadsheet
):
    queries_are_pasted_in_the_browser(page, project)
    upload(page, project, spreadsheet)
    expect(page.get_by_role("heading", name="What is in each column?")).to_be_visible()
    expect(page.get_by_label("Sheet")).to_have_value("Ratings")
    expect(page.get_by_label("What people typed")).to_have_value("query")
    expect(page.get_by_label("Stars")).to_have_value("grade")
    expect(page.get_by_label("Checked")).to_have_value("")
    for height in (785, 700, 500):
        page.set_viewport_size({"width": 1280, "height": height})
        for name in ("Import", "Discard"):  # in the bar below, whatever is above it
            box = page.get_by_role("button", name=name).first.bounding_box()
            assert box["y"] + box["height"] <= height
    page.set_viewport_size(WIDE)
    looking.looks_well(page, "map-columns")

    with turned(page):
        page.get_by_role("button", name="Match it").click()
    expect(page.get_by_text("1 address matched.")).to_be_visible()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    page.get_by_label("Who gave the grades").fill("Ana")
    page.get_by_label("Who gave the grades").blur()
    settled(page)
    with turned(page):
        page.keyboard.press("Control+Enter")
    expect(page.get_by_text("What it changed")).to_be_visible()
    assert (Query.objects.count(), Judgement.objects.count()) == (32, 32)
    assert {each.annotator.name for each in Judgement.objects.select_related("annotator")} == {"Ana"}

    upload(page, project, spreadsheet)
    expect(page.get_by_text("the columns are those of an earlier table")).to_be_visible()
    expect(page.get_by_label("Who gave the grades")).to_have_value("Ana")

    page.get_by_label("Remarks").select_option("Leave out")
    expect(page.get_by_role("columnheader", name="Remarks").get_by_text("not imported")).to_be_visible()
    page.get_by_label("Stars").select_option("Leave out")
    expect(page.get_by_text("Choose the column of the grades.")).to_be_visible()
    expect(page.get_by_role("button", name="Import")).to_have_attribute("aria-disabled", "true")
    settled(page)
    assert witness.drain() == []


def queries_are_pasted_in_the_browser(page, project):
    go(page, f"/p/{project.slug}/corpus/imports/new/queries/")
    looking.looks_well(page)
    page.get_by_label("Or paste here").fill("key rotation\nwho opens the archive")
    with turned(page):
        page.get_by_label("Or paste here").press("Control+Enter")
    expect(page.get_by_role("button", name="Import 2 queries")).to_be_visible()
    with turned(page):
        press(page, "Control+Enter")
    assert list(Query.objects.order_by("pk").values_list("outside_id", flat=True)) == ["Q001", "Q002"]
