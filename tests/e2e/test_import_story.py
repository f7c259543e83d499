"""A lead brings documents as they are: a zip, a folder, a file of another kind than was chosen."""

import io
import json
import re
import zipfile

import pytest
from playwright.sync_api import expect

from apps.corpus.models import Block, Corpus, Import
from apps.judging.models import Round
from apps.queries.actions.queries import lock_queries
from apps.queries.models import Query
from apps.triples.enums import State
from apps.triples.models import Triple
from tests.e2e import looking
from tests.e2e.looking import NARROW, WIDE
from tests.e2e.waiting import go, press, settled, turned
from tests.factories import AT, lead_of, make_project
from tests.queries.factories import make_query
from tests.triples.factories import make_team

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

RULES = """# Access rules

Who may enter, and with which key.

## Key rotation

Keys are rotated every 90 days. A key that was lost is replaced within one hour.

```
site: shopfront
keep: 5        # older builds are removed
```

## Visitors

| Plan | Largest group | Escort |
| --- | --- | --- |
| Shared | 20 | none |
| Guarded | 200 | two people |

Visitors sign in at the front desk.
"""
BACKUPS = "# Backups\n\n" + "\n\n".join(
    f"## Part {number}\n\n" + "Backups are kept for one year and tested every month. " * number
    for number in range(1, 12)
)

QUESTION = {
    "question": "How long may a session last?",
    "expected_block": {"block_id": "access", "evidence": "A session lasts at most eight hours."},
    "expected_answer": "At most eight hours.",
}

DROP = """(place) => {
  const dataTransfer = new DataTransfer();
  for (const name of ["a.md", "b.md"]) dataTransfer.items.add(new File(["# One"], name));
  place.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
}"""


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as package:
        package.writestr("docs/access.md", RULES)
        package.writestr("docs/backups.md", BACKUPS)
        package.writestr("docs/plan.png", b"\x89PNG\r\n\x1a\n" + bytes(40))
        package.writestr("docs/empty.md", b"")
    return out.getvalue()


def begun(page, signed_in, project, kind="corpus") -> None:
    """Their lead is about to import something."""
    signed_in(lead_of(project))
    go(page, f"/p/{project.slug}/corpus/imports/new/{kind}/")


def blocks_of(project) -> int:
    return Block.objects.filter(corpus__project=project, current__isnull=False).count()


def test_a_zip_is_cut_in_another_way_and_a_folder_or_several_files_become_one_zip(page, signed_in, witness, tmp_path):
    begun(page, signed_in, make_project())
    a_zip_of_markdown_is_previewed_cut_in_another_way_and_imported(page)
    begun(page, signed_in, project := make_project())
    a_folder_or_several_files_become_one_zip_and_hidden_files_are_counted_apart(page, project, tmp_path)
    assert witness.drain() == []


def a_zip_of_markdown_is_previewed_cut_in_another_way_and_imported(page):
    looking.looks_well(page, "import-upload", widths=())
    page.locator("[name=file]").set_input_files(
        {"name": "site docs.zip", "mimeType": "application/zip", "buffer": zipped()}
    )
    expect(page.locator("[data-drop-words]")).to_contain_text("site docs.zip")
    with turned(page):
        page.get_by_role("button", name="Preview").click()

    expect(page.get_by_role("heading", name="2 files are read")).to_be_visible()
    expect(page.get_by_role("heading", name="2 stay unread")).to_be_visible()
    expect(page.get_by_role("button", name="Import 14 passages")).to_be_visible()
    page.get_by_text("1 PNG picture").click()
    expect(page.get_by_text("plan.png")).to_be_visible()
    expect(page.locator(".sample pre")).to_contain_text("keep: 5")
    expect(page.locator(".sample table")).to_contain_text("Escort")
    looking.looks_well(page, "import-documents", full=False)
    page.set_viewport_size(NARROW)
    page.set_viewport_size(WIDE)

    press(page, "w")
    expect(page.get_by_role("button", name="Import 2 passages")).to_be_visible()
    press(page, "p")
    expect(page.get_by_label("Words", exact=True)).to_be_visible()
    page.get_by_label("Words", exact=True).fill("10")
    page.get_by_label("Words", exact=True).blur()
    expect(page.get_by_role("alert")).to_contain_text("A passage has from 20 to 5,000 words, not 10.")
    settled(page)
    looking.looks_well(page, widths=())
    press(page, "h")
    expect(page.get_by_role("button", name="Import 14 passages")).to_be_visible()
    press(page, "j", "j")
    expect(page.locator(".sample").nth(1)).to_be_focused()
    settled(page)
    with turned(page):
        page.keyboard.press("Control+Enter")

    expect(page.get_by_text("Applied")).to_be_visible()
    looking.looks_well(page, "import-applied", widths=())
    assert (Block.objects.count(), Corpus.objects.get().name) == (14, "Site docs")
    with turned(page):
        page.get_by_role("button", name="Undo this import").click()
    expect(page.get_by_text("Everything is as it was before. The corpus Site docs")).to_be_visible()
    assert Block.objects.filter(current__isnull=False).count() == 0


def a_folder_or_several_files_become_one_zip_and_hidden_files_are_counted_apart(page, project, tmp_path):
    folder = tmp_path / "handbook"
    (folder / "deep").mkdir(parents=True)
    (folder / ".git" / "objects").mkdir(parents=True)
    (folder / "access.md").write_text(RULES)
    (folder / "deep" / "backups.md").write_text(BACKUPS)
    (folder / ".git" / "HEAD").write_text("0123456789" * 4)
    (folder / ".git" / "objects" / "pack").write_text("never sent")
    (folder / ".hidden.md").write_text("# Hidden")
    page.locator("[data-drop]").evaluate(DROP)
    expect(page.locator("[data-drop-words]")).to_have_text(re.compile(r"^2 files, \d"))
    settled(page)
    page.locator("[data-drop-folder]").set_input_files(folder)
    expect(page.locator("[data-drop-words]")).to_have_text(
        re.compile(r"^handbook\.zip, 2 files, \d+\.\d KB; 3 hidden files are not read$")
    )
    settled(page)
    with turned(page):
        page.get_by_role("button", name="Preview").click()

    expect(page.get_by_role("heading", name="2 files are read")).to_be_visible()
    expect(page.get_by_text("Git commit 0123456789")).to_be_visible()
    expect(page.get_by_role("heading", name="3 stay unread")).to_be_visible()
    page.locator(".unread-files summary").click()
    expect(page.locator(".unread-files .id")).to_have_text([".git/: 2 files", ".hidden.md"])
    expect(page.locator(".sample .id").filter(has_text="deep/backups")).not_to_have_count(0)

    go(page, f"/p/{project.slug}/corpus/imports/new/corpus/")
    loose = [
        {"name": name, "mimeType": "text/markdown", "buffer": b"# One\n\nText."}
        for name in ("a.md", "b.md", ".DS_Store")
    ]

    page.locator("[name=file]").set_input_files(loose)
    expect(page.locator("[data-drop-words]")).to_have_text("2 files, 0.0 KB; 1 hidden file is not read")
    with turned(page):
        page.get_by_role("button", name="Preview").click()

    assert Import.objects.latest("pk").upload.filename == "2 files.zip"
    expect(page.get_by_role("heading", name="2 files are read")).to_be_visible()
    expect(page.get_by_role("heading", name="1 stays unread")).to_be_visible()


def test_what_is_no_part_of_the_corpus_no_heading_or_no_jsonl_is_asked_about_before_it_is_imported(
    page, signed_in, witness
):
    for part in (
        a_folder_of_something_else_becomes_a_corpus_of_its_own,
        pasted_cells_keep_their_first_row_until_it_is_said_to_be_headings,
        a_table_whose_first_row_is_in_doubt_is_read_as_its_owner_says,
        a_markdown_file_given_as_jsonl_is_one_message_and_a_button,
    ):
        begun(page, signed_in, project := make_project())
        part(page, project)
    assert witness.drain() == []


def a_folder_of_something_else_becomes_a_corpus_of_its_own(page, project):
    for name, text in (("rules.md", RULES), ("menu.md", "# Menu\n\nSoup of the day.")):
        go(page, f"/p/{project.slug}/corpus/imports/new/corpus/")
        file = {"name": name, "mimeType": "text/markdown", "buffer": text.encode()}
        page.locator("[name=file]").set_input_files(file)
        with turned(page):
            page.get_by_role("button", name="Preview").click()
        if name == "rules.md":
            with turned(page):
                page.get_by_role("button", name="Import 3 passages").click()
    expect(page.get_by_role("heading", name="1 question before it is imported")).to_be_visible()
    expect(page.get_by_text("all its 3 passages would be removed")).to_be_visible()
    looking.looks_well(page, "import-question")

    with turned(page):
        page.get_by_role("button", name="Make a new corpus").click()
    with turned(page):
        page.get_by_role("button", name="Import 1 passage").click()

    assert sorted(project.corpora.values_list("name", flat=True)) == ["Menu", "Rules"]
    assert blocks_of(project) == 4


def pasted_cells_keep_their_first_row_until_it_is_said_to_be_headings(page, project):
    page.get_by_text("Paste a text instead").click()
    page.locator("[name=pasted]").fill(
        "Titel\tInhalt\nKey rotation\tKeys are rotated every ninety days.\nVisitors\tVisitors sign in at the desk."
    )
    with turned(page):
        page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("button", name="Import 3 passages")).to_be_visible()
    expect(page.get_by_text("1 file read with the first row as a row like the others.")).to_be_visible()
    looking.looks_well(page, "import-first-row", full=False)
    page.set_viewport_size(NARROW)
    page.set_viewport_size(WIDE)

    page.get_by_label("The first row of a table").select_option("Has the headings")
    expect(page.get_by_role("button", name="Import 2 passages")).to_be_visible()
    expect(page.get_by_label("The first row of a table")).to_have_value("headings")
    with turned(page):
        page.get_by_role("button", name="Import 2 passages").click()

    assert blocks_of(project) == 2


def a_table_whose_first_row_is_in_doubt_is_read_as_its_owner_says(page, project):
    go(page, f"/p/{project.slug}/corpus/imports/new/queries/")
    rows = b"7;question\n8;do otters eat fish\n9;why do wombats glow at night\n"
    page.locator("[name=file]").set_input_files({"name": "topics.csv", "mimeType": "text/csv", "buffer": rows})
    with turned(page):
        page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="How should this file be read?")).to_be_visible()
    looking.looks_well(page, "which-reading")

    with turned(page):
        press(page, "2")
    expect(page.get_by_role("heading", name="What is in each column?")).to_be_visible()
    with turned(page):
        page.get_by_role("button", name="Import 3 queries").click()

    assert sorted(project.queries.values_list("outside_id", flat=True)) == ["7", "8", "9"]


def a_markdown_file_given_as_jsonl_is_one_message_and_a_button(page, project):
    page.get_by_text("More options").click()
    page.get_by_label("File format").select_option("jsonl")
    page.locator("[name=file]").set_input_files(
        {"name": "access.md", "mimeType": "text/markdown", "buffer": RULES.encode()}
    )
    with turned(page):
        page.get_by_role("button", name="Preview").click()

    expect(page.get_by_text("This is not JSON")).to_have_count(1)
    looking.looks_well(page, "import-mistakes", widths=())
    with turned(page):
        page.get_by_role("button", name="Import as Markdown").click()
    with turned(page):
        page.get_by_role("button", name=re.compile("Import 3 passages")).click()

    assert blocks_of(project) == 3
    assert Import.objects.latest("pk").upload.filename == "access.md"


def test_an_import_is_taken_away_again_until_something_of_it_is_used(page, signed_in, witness):
    begun(page, signed_in, make_project(), "queries")
    pasted_queries_are_taken_away_again_until_one_is_used(page)
    grades_and_questions_of_the_wrong_sheet_are_taken_away(page, signed_in)
    assert witness.drain() == []


def pasted_queries_are_taken_away_again_until_one_is_used(page):
    page.locator("[name=pasted]").fill("wrong list, first search\nwrong list, second search\n")
    with turned(page):
        page.get_by_role("button", name="Preview").click()
    with turned(page):
        page.get_by_role("button", name="Import 2 queries").click()
    looking.looks_well(page, widths=())

    with turned(page):
        page.get_by_role("button", name="Undo this import").click()

    expect(page.get_by_text("The queries that it added are removed.")).to_be_visible()
    assert not Query.objects.exists()
    with turned(page):
        page.get_by_role("link", name="Upload another").click()
    page.locator("[name=pasted]").fill("how are keys rotated\n")
    with turned(page):
        page.get_by_role("button", name="Preview").click()
    with turned(page):
        page.get_by_role("button", name="Import 1 query").click()
    lock_queries([Query.objects.get().pk], at=AT)
    with turned(page):
        page.reload()
    expect(page.get_by_role("button", name="Undo this import")).to_be_disabled()
    expect(page.get_by_text("Used in a run or a pool since: 1 query.")).to_be_visible()
    assert looking.faults_at_width(page, 390) == []


def grades_and_questions_of_the_wrong_sheet_are_taken_away(page, signed_in):
    project = make_team()
    query = make_query(project, outside_id="Q1")
    sheets = {
        "judgements": ("grades.csv", f"query_id,block_id,grade\n{query.outside_id},access,2\n"),
        "triples": ("questions.jsonl", json.dumps(QUESTION)),
    }
    for kind, (name, text) in sheets.items():
        begun(page, signed_in, project, kind)
        page.locator("[name=file]").set_input_files({"name": name, "mimeType": "text/csv", "buffer": text.encode()})
        with turned(page):
            page.get_by_role("button", name="Preview").click()
        with turned(page):
            page.get_by_role("button", name="Import 1").click()
        expect(page.get_by_role("heading", name="Undo")).to_be_visible()
        looking.looks_well(page)
        with turned(page):
            page.get_by_role("button", name="Undo this import").click()
        expect(page.get_by_text("Undone")).to_be_visible()

    assert [round_.withdrawn_at is None for round_ in Round.objects.all()] == [False]
    assert [triple.state for triple in Triple.objects.all()] == [State.WITHDRAWN]
    go(page, f"/p/{project.slug}/judging/")
    with turned(page):
        page.get_by_role("link", name="grades, by").click()
    expect(page.get_by_text("They stay on record and count nowhere.")).to_be_visible()
    looking.looks_well(page, widths=())
