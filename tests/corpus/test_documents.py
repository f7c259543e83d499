"""A zip of documents on its way to passages: what is read, what stays unread, and what the plan shows."""

from collections.abc import Iterator

import pytest
from django.urls import reverse

from apps.audit.models import Event
from apps.corpus.actions.imports import change_options, confirm_import, discard_import, take_fix
from apps.corpus.core.passage_ids import block_digests
from apps.corpus.enums import ImportState
from apps.corpus.execution.document_reading import reading_path
from apps.corpus.formats.documents import SourceFile
from apps.corpus.formats.documents.registry import KINDS, Kind, read_markdown
from apps.corpus.formats.rows import BlockRow
from apps.corpus.models import Block, Corpus, Document, Import
from tests.corpus.factories import make_document_import, make_snapshot, zipped
from tests.corpus.formats.documents.pdfs import make_pdf
from tests.factories import AT, lead_of
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db

SITE = {
    "docs/index.md": "---\ntitle: The handbook\nowner: Petra\n---\nWelcome to all.\n",
    "docs/deploy/pin.md": (
        "# Deploy from a branch\n\nA site follows its branch.\n\n## Pin a branch {#pin}\n\nPut its name here:\n\n"
        "```yaml\n# not a heading\nsite: shopfront\n```\n\n## Undo\n\n| step | what |\n| --- | --- |\n| 1 | revert |\n"
    ),
    "docs/logo.png": b"\x89PNG\r\n\x1a\n" + b"\0" * 40,
    "docs/empty.md": "",
    "docs/.git/HEAD": "a" * 40 + "\n",
}


def imported(item: Import) -> Import:
    return confirm_import(import_id=item.pk, actor=lead_of(item.project), at=AT)


def texts_by_id() -> dict[str, str]:
    return {block.outside_id: block.current.text for block in Block.objects.select_related("current") if block.current}


def test_a_zip_of_markdown_is_cut_by_its_headings():
    item = make_document_import(zipped(SITE))

    assert item.state == ImportState.READY
    imported(item)

    pinned = Block.objects.select_related("current", "document").get(outside_id="deploy/pin#pin")
    assert set(texts_by_id()) == {"index", "deploy/pin", "deploy/pin#pin", "deploy/pin#undo"}
    assert (pinned.current.title, pinned.current.section_path) == ("Pin a branch", ["Deploy from a branch"])
    assert pinned.current.text == "Put its name here:\n\n```yaml\n# not a heading\nsite: shopfront\n```"
    assert Document.objects.get(outside_id="index").title == "The handbook"
    assert Block.objects.get(outside_id="index").current.metadata == {"owner": "Petra"}
    assert Corpus.objects.get().recipe == "headings"


def test_the_plan_counts_what_was_read_and_lists_what_was_not():
    plan = make_document_import(zipped(SITE)).plan

    assert plan["files"] == [{"kind": "markdown", "title": "Markdown", "files": 2, "passages": 4}]
    assert plan["unread"] == [
        {"reason": "empty file", "files": 1, "paths": ["empty.md"]},
        {"reason": "PNG picture", "files": 1, "paths": ["logo.png"]},
        {"reason": "hidden", "files": 1, "paths": [".git/"]},
    ]
    assert (plan["recipe"], plan["commit"]) == ("headings", "a" * 40)
    assert plan["notes"] == [f"Git commit {'a' * 40}."]
    assert {key: plan["lengths"][key] for key in ("min", "median", "max", "passages")} == {
        "min": 3,
        "median": 5,
        "max": 15,
        "passages": 4,
    }
    assert [sample["id"] for sample in plan["samples"] if sample["has_table"]] == ["deploy/pin#undo"]
    assert [sample["id"] for sample in plan["samples"] if sample["has_code"]] == ["deploy/pin#pin"]


def test_with_the_address_of_the_site_each_passage_links_to_its_page():
    imported(make_document_import(zipped(SITE), base_url="https://docs.example.org/"))

    assert Block.objects.get(outside_id="index").current.metadata["url"] == "https://docs.example.org/"
    assert Block.objects.get(outside_id="deploy/pin#pin").current.metadata == {
        "url": "https://docs.example.org/deploy/pin#pin"
    }


def test_an_upload_without_anything_readable_is_one_mistake_that_says_why():
    item = make_document_import(zipped({"a/logo.png": b"\x89PNG\0\0\0", "a/tool.exe": b"MZ\0\0\0"}))

    assert item.state == ImportState.FAULTY
    assert [error["message"] for error in item.plan["errors"]] == [
        "none of its files can be read (PNG picture: 1 file, Windows program: 1 file)"
    ]


def test_another_recipe_warns_that_ids_change():
    first = imported(make_document_import(zipped(SITE)))

    item = make_document_import(zipped(SITE), project=first.project, corpus="handbook", recipe="whole")

    assert item.plan["notes"][0].startswith("Ids change: until now the corpus was cut by headings")


def test_a_recipe_is_chosen_without_reading_the_files_again(monkeypatch):
    item = make_document_import(zipped(SITE))
    monkeypatch.setitem(KINDS, "markdown", Kind("Markdown", not_again))

    item = cut_by(item, "whole")

    assert (item.state, item.plan["recipe"], item.plan["rows"]) == (ImportState.READY, "whole", 2)
    imported(item)
    assert set(texts_by_id()) == {"index", "deploy/pin"}


def cut_by(item: Import, recipe: str) -> Import:
    options = item.options | {"recipe": recipe}
    return change_options(import_id=item.pk, options=options, actor=lead_of(item.project), at=AT)


def not_again(file: SourceFile) -> Iterator[BlockRow]:
    raise AssertionError(f"{file.path} is read again")
    yield


def test_all_files_can_be_read_as_another_kind():
    item = make_document_import(zipped(SITE))
    options = item.options | {"format": "text"}

    item = change_options(import_id=item.pk, options=options, actor=lead_of(item.project), at=AT)
    imported(item)

    assert [(kind["kind"], kind["files"]) for kind in item.plan["files"]] == [("text", 2)]
    assert {group["reason"] for group in item.plan["unread"]} == {"empty file", "PNG picture", "hidden"}
    assert texts_by_id()["index"].startswith("---\ntitle: The handbook")


def test_unread_files_are_counted_by_their_reason():
    scans = {f"scan-{number}.pdf": make_pdf([[]]) for number in range(3)}

    plan = make_document_import(zipped({"a.md": "Text.", "b.png": b"\x89PNG\0", **scans})).plan

    assert plan["unread"] == [
        {"reason": "scanned PDF without text", "files": 3, "paths": ["scan-0.pdf", "scan-1.pdf", "scan-2.pdf"]},
        {"reason": "PNG picture", "files": 1, "paths": ["b.png"]},
    ]


def test_a_text_file_is_shown_as_it_was_written_before_and_after_its_import(client):
    item = make_document_import(b"Notes\n# not a heading\n  indented\n", "notes.txt")
    project = item.project
    client.force_login(lead_of(project))
    written = '<p class="fixed-lines" dir="auto" data-at="0">Notes\n# not a heading\n  indented</p>'
    assert written in client.get(reverse("corpus:import", args=[project.slug, item.pk])).content.decode()

    imported(item)

    block = Block.objects.select_related("current").get()
    assert block.current.metadata == {"read_as": "text"}
    assert written in client.get(reverse("corpus:block", args=[project.slug, block.pk])).content.decode()


def test_that_a_text_has_no_markup_is_no_part_of_its_digest():
    item = imported(make_document_import(b"Notes", "notes.txt"))
    seen = {"title": "notes", "section_path": [], "page_start": None, "page_end": None, "text": "Notes"}

    version = Block.objects.select_related("current").get(corpus__project=item.project).current

    assert (version.digest, version.text_digest) == (block_digests(**seen).version, block_digests(**seen).text)


SETTINGS = {
    "a.md": "Text.",
    "b.yaml": "# Port\nport: 80\n",
    "c.yml": "{{ broken",
    "d.toml": "port = 80\n",
    "e.bin": b"\0\1",
}


def test_files_of_an_unknown_ending_can_be_read_as_text():
    unread = {group["reason"]: group.get("as_text") for group in make_document_import(zipped(SETTINGS)).plan["unread"]}

    assert unread == {
        "YAML other than OpenControl": {"files": 1, "endings": ["yaml"]},
        "damaged YAML": {"files": 1, "endings": ["yml"]},
        "no reader for .toml files": {"files": 1, "endings": ["toml"]},
        "no reader for .bin files": None,
    }


def test_files_that_a_person_asks_for_are_read_as_text_and_the_corpus_remembers():
    item = make_document_import(zipped(SETTINGS), also_text="toml,yaml,yml")
    imported(item)

    assert texts_by_id()["b.yaml"] == "# Port\nport: 80"
    assert item.options["also_text"] == Corpus.objects.get().also_text == "toml,yaml,yml"
    assert Event.objects.get(action="corpus.imported").after["also_text"] == "toml,yaml,yml"
    assert [group["reason"] for group in item.plan["unread"]] == ["no reader for .bin files"]


def test_an_opencontrol_component_is_still_read_as_one_beside_other_yaml():
    component = "name: AC\nsatisfies:\n- control_key: AC-1\n  narrative: Accounts are reviewed.\n"

    plan = make_document_import(zipped({"ac/component.yaml": component, **SETTINGS}), also_text="yaml").plan

    assert {kind["kind"]: kind["files"] for kind in plan["files"]} == {"markdown": 1, "opencontrol": 1, "text": 1}


def test_the_preview_offers_to_read_unread_files_as_text(client):
    item = make_document_import(zipped(SETTINGS))
    project = item.project
    client.force_login(lead_of(project))
    page = reverse("corpus:import", args=[project.slug, item.pk])
    options = reverse("corpus:import-options", args=[project.slug, item.pk])
    assert 'value="toml"' in client.get(page).content.decode()

    client.post(options, item.options | {"also_text": "", "more_text": "toml"})
    item.refresh_from_db()
    assert item.options["also_text"] == "toml"
    assert "Leave them unread" in client.get(page).content.decode()

    client.post(options, item.options | {"less_text": "toml"})
    item.refresh_from_db()
    assert item.options["also_text"] == ""


def test_an_upload_of_nothing_but_unknown_endings_has_the_cure_at_hand():
    item = make_document_import(zipped({"b.yaml": "port: 80\n", "c.yaml": "port: 81\n"}))
    assert item.state == ImportState.FAULTY

    item = take_fix(import_id=item.pk, name="also_text", actor=lead_of(item.project), at=AT)

    assert item.state == ImportState.READY
    assert item.options["also_text"] == "yaml"


def test_a_reading_that_was_damaged_is_made_again():
    item = make_document_import(zipped(SITE))
    stored = reading_path(item.upload.place)
    stored.write_bytes(stored.read_bytes()[:-3])

    item = cut_by(item, "whole")

    assert item.plan["rows"] == 2


def test_a_large_upload_is_read_by_a_job_also_in_another_way(monkeypatch):
    small = make_document_import(zipped(SITE))
    monkeypatch.setattr("apps.corpus.execution.document_reading.AT_ONCE_FILES", 1)
    large = make_document_import(zipped(SITE))
    options = small.options | {"base_url": "https://example.org"}
    small = change_options(import_id=small.pk, options=options, actor=lead_of(small.project), at=AT)
    assert (small.state, large.state) == (ImportState.READING, ImportState.READING)

    run_jobs()
    small.refresh_from_db(), large.refresh_from_db()

    assert (small.state, large.state, large.plan["rows"]) == (ImportState.READY, ImportState.READY, 4)


def test_a_reader_that_fails_leaves_its_file_unread_and_the_others_whole(monkeypatch):
    def fails(file: SourceFile) -> Iterator[object]:
        yield from read_markdown(file)
        if "index" in file.path:
            raise RuntimeError("a defect")

    monkeypatch.setitem(KINDS, "markdown", Kind("Markdown", fails))

    plan = make_document_import(zipped(SITE)).plan

    assert plan["rows"] == 3
    assert {"reason": "damaged, or not what its name says", "files": 1, "paths": ["index.md"]} in plan["unread"]


def test_two_files_with_one_id_are_read_once():
    plan = make_document_import(zipped({"a.md": "One.", "a.markdown": "Two."})).plan

    assert (plan["rows"], plan["unread"]) == (
        1,
        [{"reason": "same id as another file", "files": 1, "paths": ["a.md"]}],
    )


def test_mistakes_of_a_file_with_its_own_passages_name_that_file():
    content = zipped({"a.md": "One.", "b.jsonl": '{"block_id": "b 1", "document_id": "d", "text": "t"}\n'})

    item = make_document_import(content)

    assert item.state == ImportState.FAULTY
    assert [(error["file"], error["line"], error["field"]) for error in item.plan["errors"]] == [
        ("b.jsonl", 1, "block_id")
    ]


def test_a_snapshot_keeps_the_recipe_it_was_cut_by():
    imported(make_document_import(zipped(SITE)))
    corpus = Corpus.objects.get()
    snapshot = make_snapshot(corpus=corpus)

    imported(make_document_import(zipped(SITE), project=corpus.project, corpus="handbook", recipe="whole"))
    snapshot.refresh_from_db()

    assert (snapshot.recipe, Corpus.objects.get().recipe) == ("headings", "whole")


def test_the_page_of_a_snapshot_says_how_it_was_cut(client):
    imported(make_document_import(zipped(SITE), recipe="paragraphs:200:40"))
    snapshot = make_snapshot(corpus=Corpus.objects.get())
    project = snapshot.corpus.project
    client.force_login(lead_of(project))

    page = client.get(reverse("corpus:snapshot", args=[project.slug, snapshot.pk]))

    assert "<dt>Cut</dt><dd>paragraphs up to 200 words, 40 of them overlapping</dd>" in page.text


def test_what_was_read_is_stored_beside_the_upload_and_goes_with_it(django_capture_on_commit_callbacks):
    item = make_document_import(zipped(SITE))
    stored = reading_path(item.upload.place)
    assert stored.exists()

    with django_capture_on_commit_callbacks(execute=True):
        discard_import(import_id=item.pk, actor=lead_of(item.project), at=AT)

    assert not stored.exists()


def test_the_two_editions_of_cloud_govs_documents(shared_data):
    def edition(date: str) -> bytes:
        folder = shared_data / "cg_compliance" / date
        files = {str(path.relative_to(folder.parent)): path.read_bytes() for path in folder.rglob("*.md")}
        return zipped(files)

    first = imported(make_document_import(edition("2016-04-13")))
    item = make_document_import(edition("2016-11-04"), project=first.project, corpus="handbook")

    assert first.result["counts"]["new"] == 46
    assert item.plan["counts"] == {"new": 18, "changed": 24, "unchanged": 7, "gone": 15}
