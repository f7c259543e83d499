"""A real folder in a browser, chosen and dropped; a name changed twice in a moment; an import gone meanwhile."""

import re

import pytest
from playwright.sync_api import expect

from apps.corpus.actions import imports
from apps.corpus.execution import document_reading
from apps.corpus.models import Corpus, Import
from tests.corpus.factories import zipped
from tests.corpus.test_any_folder import FILES, READ, UNREAD, counted, hidden_in
from tests.e2e.waiting import go, settled, turned
from tests.factories import AT, lead_of, make_project

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

HIDDEN = [
    ".DS_Store",
    ".git/HEAD",
    ".git/objects/ab/cd",
    "1/Thumbs.db",
    "1/.DS_Store",
    "1/node_modules/.b/x",
    "1/~$a",
]
BY_WHAT_HIDES = {".DS_Store: 2 files", ".git/: 2 files", "Thumbs.db", "node_modules/", "~$a"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(document_reading, "AT_ONCE_SLOW", 1_000)
    place = tmp_path / "handbook"
    for number, (name, content) in enumerate(FILES.items()):
        file = place / str(number) / name
        file.parent.mkdir(parents=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    for name in HIDDEN:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("left by a system")
    return place


@pytest.fixture
def project(page, signed_in):
    project = make_project()
    signed_in(lead_of(project))
    go(page, f"/p/{project.slug}/corpus/imports/new/corpus/")
    return project


def previewed(page) -> Import:
    expect(page.locator("[data-drop-words]")).to_contain_text(f"handbook.zip, {len(FILES)} files")
    settled(page)
    with turned(page):
        page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name=f"{len(READ)} files are read")).to_be_visible()
    expect(page.get_by_role("heading", name=f"{len(UNREAD) + len(HIDDEN)} stay unread")).to_be_visible()
    return Import.objects.latest("pk")


def choose(page, folder) -> None:
    page.locator("[data-drop-folder]").set_input_files(folder)


def drop(page, folder) -> None:
    box = page.locator("[data-drop]").bounding_box()
    assert box is not None
    devtools = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(folder)], "dragOperationsMask": 1}
    for event in ("dragEnter", "dragOver", "drop"):
        devtools.send("Input.dispatchDragEvent", {"type": event, "x": box["x"] + 20, "y": box["y"] + 20, "data": data})


def what_is_said_of_the_files_stays_in_its_column(page) -> None:
    checkout = {".git/HEAD": f"{'8b' * 20}\n", "a.md": "# A\n\nThe key hangs by the door.\n"}
    file = {"name": "handbook.zip", "mimeType": "application/zip", "buffer": zipped(checkout)}
    page.locator("[data-drop-field]").set_input_files([file])
    with turned(page):
        page.get_by_role("button", name="Preview").click()
    note = page.get_by_text("Git commit 8b8b")
    assert note.evaluate("words => words.scrollWidth - words.clientWidth") == 0


def a_name_that_is_changed_in_a_hurry_leaves_the_preview_whole(page, item: Import) -> None:
    name = page.get_by_label("Name of the new corpus")
    given_up = []
    page.on("requestfailed", lambda request: given_up.append(request.url))
    for word in ("First", "Second", "Third"):
        name.fill(word)
        name.dispatch_event("change")
    settled(page)
    expect(page.locator("#samples article").first).to_be_visible()
    expect(name).to_have_value("Third")
    item.refresh_from_db()
    assert item.options["name"] == "Third"
    assert given_up == []  # the server would go on with it, and could store it last


def it_becomes_a_corpus_of_that_name(page) -> None:
    page.get_by_label("Name of the new corpus").fill("Site rules")
    with turned(page):
        page.get_by_role("button", name=re.compile(r"Import \d+ passages")).click()
    expect(page.get_by_text("Applied")).to_be_visible()
    assert Corpus.objects.get().name == "Site rules"


def a_preview_whose_import_is_gone_says_so_and_stays(page, item: Import) -> None:
    imports.discard_import(import_id=item.pk, actor=lead_of(item.project), at=AT)
    page.get_by_label("Name of the new corpus").fill("Too late")
    page.get_by_label("Name of the new corpus").blur()
    expect(page.get_by_role("alert").filter(has_text="This import")).to_contain_text("its file is not read again")
    expect(page.locator("#samples article").first).to_be_visible()


def test_a_folder_that_is_chosen_or_dropped_is_read_file_by_file_and_named_in_a_hurry(page, project, folder, witness):
    what_is_said_of_the_files_stays_in_its_column(page)
    for bring in (choose, drop):
        go(page, f"/p/{project.slug}/corpus/imports/new/corpus/")
        bring(page, folder)
        item = previewed(page)
        read, unread = counted(item.plan)
        assert (read, {path.partition("/")[2] for path in unread}) == (len(READ), set(UNREAD))
        assert hidden_in(item.plan) == (len(HIDDEN), BY_WHAT_HIDES)
        if bring is choose:
            assert witness.drain() == []
            a_preview_whose_import_is_gone_says_so_and_stays(page, item)
            witness.drain()  # the browser notes the refusal
    a_name_that_is_changed_in_a_hurry_leaves_the_preview_whole(page, item)
    it_becomes_a_corpus_of_that_name(page)
    assert witness.drain() == []
