import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.common.files.linefiles import Extent
from apps.corpus.actions.imports import confirm_import
from apps.corpus.enums import ImportState
from apps.corpus.models import Block, Corpus, Import, Snapshot
from tests.corpus.factories import (
    TEXTS,
    import_text,
    import_texts,
    make_corpus,
    make_snapshot,
    zipped,
)
from tests.factories import AT, lead_of, make_member, make_project
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db


def signed_in(client, project, *roles):
    client.force_login(make_member(project, *roles) if roles else lead_of(project))
    return client


def lines(texts: dict[str, str]) -> bytes:
    rows = [{"block_id": key, "document_id": "d1", "text": text} for key, text in texts.items()]
    return "\n".join(json.dumps(row) for row in rows).encode()


def upload_file(client, project, content: bytes, filename: str = "blocks.jsonl", **options):
    form = {"format": "jsonl", "ids": "file", "corpus": "+", "name": "Handbook", "mode": "replace"} | options
    form["file"] = SimpleUploadedFile(filename, content)
    return client.post(reverse("corpus:import-new", args=[project.slug, "corpus"]), form)


@pytest.mark.parametrize(("role", "is_offered"), [(Role.LEAD, True), (Role.ANNOTATOR, False)])
def test_an_empty_project_says_what_to_do_and_offers_a_lead_the_import(client, role, is_offered, project):
    answer = signed_in(client, project, role).get(reverse("corpus:list", args=[project.slug]))

    assert "No corpus yet" in answer.text
    assert (reverse("corpus:import-new", args=[project.slug, "corpus"]) in answer.text) is is_offered


def test_a_corpus_without_a_snapshot_leads_to_its_first_one(client):
    corpus = make_corpus(texts={"b1": "x"})
    address = reverse("corpus:corpus", args=[corpus.project.slug, corpus.slug]) + "#freeze"
    listed = reverse("corpus:list", args=[corpus.project.slug])

    before = signed_in(client, corpus.project).get(listed).text
    make_snapshot(corpus=corpus)

    assert address in before
    assert address not in client.get(listed).text


@pytest.mark.parametrize(
    ("filename", "form", "said"),
    [
        ("blocks.csv", "jsonl", "blocks.csv has a file name that says CSV. Choose CSV"),
        ("blocks.csv.gz", "beir", "Choose CSV"),
        ("blocks.jsonl", "csv", "Choose JSONL"),
        ("blocks.txt", "jsonl", ""),
        ("corpus.jsonl", "beir", ""),
    ],
)
def test_a_file_named_as_another_form_is_not_read_line_by_line(client, filename, form, said, project, lead_signed_in):
    answer = upload_file(client, project, b'{"block_id": "a", "document_id": "d", "text": "x"}', filename, format=form)

    assert answer.status_code == (400 if said else 302)
    assert said in answer.text


@pytest.mark.parametrize("count", [1, 3])
def test_the_list_takes_the_same_queries_for_one_and_three(client, django_assert_num_queries, count, project):
    for _ in range(count):
        make_snapshot(project)
    signed_in(client, project)

    with django_assert_num_queries(6):
        client.get(reverse("corpus:list", args=[project.slug]))


@pytest.mark.parametrize("count", [1, 3])
def test_a_corpus_takes_the_same_queries_for_one_and_three_blocks(client, django_assert_num_queries, count):
    snapshot = make_snapshot(texts={f"b{n}": "x" for n in range(count)})
    project = snapshot.corpus.project
    signed_in(client, project)

    with django_assert_num_queries(10):
        client.get(reverse("corpus:corpus", args=[project.slug, snapshot.corpus.slug]))


@pytest.mark.parametrize("count", [1, 3])
def test_changes_take_the_same_queries_for_one_and_three(client, django_assert_num_queries, count):
    corpus = make_corpus(texts={f"b{n}": "old" for n in range(count)})
    make_snapshot(corpus=corpus)
    import_texts(corpus, {f"b{n}": "new" for n in range(count)})
    snapshot = make_snapshot(corpus=corpus)
    signed_in(client, corpus.project)

    with django_assert_num_queries(14):
        client.get(reverse("corpus:changes", args=[corpus.project.slug, snapshot.pk]))


def test_freeze_leads_to_the_snapshot_whose_name_is_text(client):
    corpus = make_corpus()
    signed_in(client, corpus.project)

    answer = client.post(
        reverse("corpus:freeze", args=[corpus.project.slug, corpus.slug]), {"name": "<b>Spring"}, follow=True
    )

    assert Snapshot.objects.get().name == "<b>Spring"
    assert "&lt;b&gt;Spring is frozen: 3 passages. Next: <a href=" in answer.text
    assert "<b>Spring" not in answer.text
    for name, words in (("queries:list", "add queries"), ("retrieval:overview", "run a system")):
        assert f'<a href="{reverse(name, args=[corpus.project.slug])}">{words}</a>' in answer.text


def test_a_second_freeze_leads_to_what_the_edition_touches(client):
    corpus = make_corpus()
    make_snapshot(corpus=corpus)
    import_texts(corpus, TEXTS | {"b4": "More."})

    url = reverse("corpus:freeze", args=[corpus.project.slug, corpus.slug])
    answer = signed_in(client, corpus.project).post(url, follow=True)

    edition = reverse("editions:snapshot", args=[corpus.project.slug, corpus.snapshots.get(number=2).pk])
    assert f'Next: <a href="{edition}">see what it touches</a>' in answer.text


def test_a_freeze_that_is_refused_says_why_before_and_after_the_click(client):
    snapshot = make_snapshot()
    slug, corpus = snapshot.corpus.project.slug, snapshot.corpus.slug
    signed_in(client, snapshot.corpus.project)

    page = client.get(reverse("corpus:corpus", args=[slug, corpus]))
    answer = client.post(reverse("corpus:freeze", args=[slug, corpus]))

    assert 'aria-disabled="true"' in page.text
    assert f"the corpus is unchanged since snapshot 1, {snapshot.name}" in page.text
    assert answer.status_code == 409
    assert "the corpus is unchanged since snapshot 1" in answer.text


def test_the_snapshot_page_finds_blocks_by_words(client):
    snapshot = make_snapshot()
    page = reverse("corpus:snapshot", args=[snapshot.corpus.project.slug, snapshot.pk])
    signed_in(client, snapshot.corpus.project)

    found = client.get(page, {"find": "rotate"})
    nothing = client.get(page, {"find": "zebra"})

    assert "Keys are rotated" in found.text
    assert "Backups" not in found.text
    assert "No passage in this snapshot contains any of these words." in nothing.text


def test_changes_mark_the_words(client):
    corpus = make_corpus(texts={"b1": "Keys last 90 days."})
    make_snapshot(corpus=corpus)
    import_texts(corpus, {"b1": "Keys last 60 days."})
    snapshot = make_snapshot(corpus=corpus)

    answer = signed_in(client, corpus.project).get(reverse("corpus:changes", args=[corpus.project.slug, snapshot.pk]))

    assert "<del>90</del><ins>60</ins>" in answer.text


def test_changes_show_metadata_and_renamed_documents(client):
    corpus = make_corpus(texts={})
    first = {"block_id": "b1", "document_id": "d1", "document_title": "Handbook", "title": "Keys", "text": "Rotated."}
    import_text(corpus, json.dumps(first | {"metadata": {"owner": "IT"}}))
    make_snapshot(corpus=corpus)
    import_text(corpus, json.dumps(first | {"metadata": {"owner": "Ops"}, "document_title": "Rules"}))
    snapshot = make_snapshot(corpus=corpus)
    client.force_login(lead_of(corpus.project))

    page = client.get(reverse("corpus:changes", args=[corpus.project.slug, snapshot.pk]), {"show": "described"})

    text = page.content.decode()
    assert '<b>owner</b> <del dir="auto">IT</del> <ins dir="auto">Ops</ins>' in text
    assert '<del dir="auto">Handbook</del> <ins dir="auto">Rules</ins>' in text


def test_a_block_shows_its_history_and_its_snapshots(client):
    snapshot = make_snapshot(texts={"b1": "one"})
    import_texts(snapshot.corpus, {"b1": "two"})
    block = Block.objects.get()

    answer = signed_in(client, snapshot.corpus.project, Role.VIEWER).get(
        reverse("corpus:block", args=[snapshot.corpus.project.slug, block.pk])
    )

    assert "<del>one</del><ins>two</ins>" in answer.text
    assert snapshot.name in answer.text
    assert "Redact" not in answer.text


def test_a_block_is_headed_by_its_title_else_by_its_section_and_keeps_its_id_beside_it(client):
    corpus = make_corpus({})
    rows = [
        {"block_id": "p1", "document_id": "pages", "title": "Opening hours", "text": "Nine to five."},
        {"block_id": "p2", "document_id": "pages", "title": "", "section": ["Doors", "Locks"], "text": "Turn left."},
        {"block_id": "p3", "document_id": "pages", "title": "", "text": "No title."},
    ]
    import_text(corpus, "\n".join(map(json.dumps, rows)))
    signed_in(client, corpus.project)

    headings = []
    for block in Block.objects.filter(outside_id__startswith="p").order_by("outside_id"):
        page = client.get(reverse("corpus:block", args=[corpus.project.slug, block.pk])).text
        headings.append(re.search("<h1>(.*?)</h1>", page)[1])
        assert f'<span class="id">{block.outside_id}</span>' in page

    assert headings == ["Opening hours", "Locks", "p3"]


def test_a_block_is_laid_out_and_shown_as_it_was_imported(client):
    corpus = make_corpus(texts={"b1": "Call `send()`, see [more](https://a.b/c):\n\n```\nsend(1)\n```"})
    client.force_login(lead_of(corpus.project))
    block = Block.objects.get(corpus=corpus)

    page = client.get(reverse("corpus:block", args=[corpus.project.slug, block.pk])).content.decode()
    listed = client.get(reverse("corpus:corpus", args=[corpus.project.slug, corpus.slug])).content.decode()

    assert "<code>send()</code>" in page
    assert (
        '<pre class="source-text" dir="auto">Call `send()`, see [more](https://a.b/c):\n\n```\nsend(1)\n```</pre>'
        in page
    )
    assert '<p class="quote excerpt" dir="auto">Call send(), see more: send(1)</p>' in listed


def test_a_passage_links_to_its_page_and_shows_its_metadata_whatever_its_names(client):
    metadata = {"url": "https://docs.example.org/a?b=1&c#d", "items": "three", "note": "javascript:alert(1)"}
    corpus = make_corpus(texts={})
    import_text(corpus, json.dumps({"block_id": "p", "document_id": "d", "text": "Text.", "metadata": metadata}))
    signed_in(client, corpus.project)

    page = client.get(reverse("corpus:block", args=[corpus.project.slug, Block.objects.get().pk])).text

    address = "https://docs.example.org/a?b=1&amp;c#d"
    assert f'<dt>url</dt><dd><a href="{address}" rel="noopener noreferrer">{address}</a></dd>' in page
    assert "<dt>items</dt><dd>three</dd>" in page
    assert "<dt>note</dt><dd>javascript:alert(1)</dd>" in page


def test_a_redacted_text_shows_the_reason_and_no_text(client):
    snapshot = make_snapshot(texts={"b1": "secret words"})
    project, block = snapshot.corpus.project, Block.objects.get()
    signed_in(client, project)

    client.post(reverse("corpus:redact", args=[project.slug, block.current_id]), {"reason": "Asked for by X."})
    answer = client.get(reverse("corpus:block", args=[project.slug, block.pk]))

    assert "Asked for by X." in answer.text
    assert "secret words" not in answer.text


def test_an_import_is_shown_before_it_is_applied(client, project, lead_signed_in):
    answer = upload_file(client, project, lines(TEXTS))
    page = client.get(answer.url)

    assert Corpus.objects.count() == 0
    assert "Preview of the changes" in page.text
    assert "Keys are rotated every 90 days." in page.text
    item = Import.objects.get()
    assert item.plan["counts"] == {"new": 3, "changed": 0, "unchanged": 0, "gone": 0}

    client.post(reverse("corpus:import-confirm", args=[project.slug, item.pk]))

    assert Block.objects.filter(corpus__slug="handbook").count() == 3
    item.refresh_from_db()
    assert (item.state, item.result["counts"]["new"]) == (ImportState.APPLIED, 3)


def test_the_same_file_again_says_that_it_changes_nothing(client, project, lead_signed_in):
    upload_file(client, project, lines(TEXTS))
    client.post(reverse("corpus:import-confirm", args=[project.slug, Import.objects.get().pk]))

    answer = upload_file(client, project, lines(TEXTS), corpus="handbook", name="")

    assert "This file changes nothing: all 3 passages in it are here already." in client.get(answer.url).text


def test_a_file_with_mistakes_cannot_be_applied_and_lists_them(client, project, lead_signed_in):
    answer = upload_file(client, project, b'{"block_id": "b1", "document_id": "d1"}\nnot json\n', filename="=x.jsonl")

    page = client.get(answer.url)
    item = Import.objects.get()
    refused = client.post(reverse("corpus:import-confirm", args=[project.slug, item.pk]))
    mistakes = client.get(reverse("corpus:import-errors", args=[project.slug, item.pk]))

    assert "2 mistakes. Nothing was changed." in page.text
    assert "of 2 kinds" in page.text
    assert refused.status_code == 409
    assert mistakes["Content-Disposition"].startswith("attachment")
    assert mistakes.text.splitlines()[1] == "'=x.jsonl,1,text,,is missing"
    assert mistakes.text.splitlines()[2].startswith("'=x.jsonl,2,,not json,this is not JSON")


def test_one_mistake_in_many_lines_is_one_message(client, project, lead_signed_in):
    answer = upload_file(client, project, b"# Access\n\nKeys are rotated.\n" * 40)

    page = client.get(answer.url)

    assert page.text.count("This is not JSON") == 1
    assert "80 mistakes. Nothing was changed." in page.text
    assert "all of one kind" in page.text
    assert "lines 1, 3, 4, 6, 7 and more" in page.text


def test_the_stored_file_is_read_again_with_other_options(client, project, lead_signed_in):
    answer = upload_file(client, project, b".I 1\n.W\nKeys are rotated.\n", filename="texts.jsonl")
    item = Import.objects.get()
    url = reverse("corpus:import-options", args=[project.slug, item.pk])
    assert url in client.get(answer.url).text
    assert 'type="file"' not in client.get(url).text

    refused = client.post(url, item.options | {"ids": "position"})
    contradicted = client.post(url, item.options | {"format": "csv"})
    answer = client.post(url, item.options | {"format": "smart"}, follow=True)

    assert "Ids by position are for SMART files only." in refused.text
    assert "texts.jsonl has a file name that says JSONL." in contradicted.text
    assert "Preview of the changes" in answer.text
    item.refresh_from_db()
    assert (item.state, item.options["format"], item.plan["rows"]) == (ImportState.READY, "smart", 1)
    event = Event.objects.get(action="import.options_changed")
    assert (event.before["format"], event.after["format"]) == ("jsonl", "smart")


def test_uploading_another_file_starts_with_the_options_of_the_discarded_one(client, project, lead_signed_in):
    upload_file(client, project, b"not json", name="Staff handbook", mode="merge")
    item = Import.objects.get()

    page = client.post(reverse("corpus:import-discard", args=[project.slug, item.pk]), follow=True)

    form = page.context["form"]
    said = {name: form[name].value() for name in form.fields if name not in {"file", "pasted"}}
    assert said == {name: item.options[name] for name in said}
    assert 'value="Staff handbook"' in page.text
    discarded = client.get(reverse("corpus:import", args=[project.slug, item.pk]))
    assert f"?again={item.pk}" in discarded.text


@pytest.mark.parametrize(("kind", "again", "status"), [("queries", "own", 200), ("corpus", "999999", 404)])
def test_a_form_begins_with_nothing_of_another_kind_or_project(client, kind, again, status, project, lead_signed_in):
    upload_file(client, project, lines(TEXTS), name="Staff handbook")
    again = Import.objects.get().pk if again == "own" else again

    page = client.get(reverse("corpus:import-new", args=[project.slug, kind]), {"again": again})

    assert page.status_code == status
    assert "Staff handbook" not in page.text


def test_a_large_file_is_read_and_applied_by_jobs(client, monkeypatch):
    monkeypatch.setattr("apps.corpus.selectors.import_kinds.READ_AT_ONCE", Extent(10, 10))
    monkeypatch.setattr("apps.corpus.actions.imports.APPLY_AT_ONCE_ROWS", 1)
    project = make_project()
    signed_in(client, project)

    upload_file(client, project, lines(TEXTS))
    item = Import.objects.get()
    assert item.state == ImportState.READING
    assert "Reading the file" in client.get(reverse("corpus:import", args=[project.slug, item.pk])).text
    run_jobs()
    item.refresh_from_db()
    assert item.state == ImportState.READY
    client.post(reverse("corpus:import-confirm", args=[project.slug, item.pk]))
    item.refresh_from_db()
    assert item.state == ImportState.APPLYING
    run_jobs()

    item.refresh_from_db()
    assert item.state == ImportState.APPLIED
    assert Block.objects.count() == 3


def test_a_file_that_went_wrong_meanwhile_becomes_faulty(client, monkeypatch):
    monkeypatch.setattr("apps.corpus.actions.imports.APPLY_AT_ONCE_ROWS", 1)
    corpus = make_corpus(texts={"b9": "x"})
    project = corpus.project
    signed_in(client, project)
    content = b"\n".join(
        json.dumps({"block_id": f"b{n}", "document_id": "other", "text": "t"}).encode() for n in (1, 2)
    )
    upload_file(client, project, content, corpus=corpus.slug, name="", mode="merge")
    import_texts(corpus, {"b1": "now of document d1"})

    client.post(reverse("corpus:import-confirm", args=[project.slug, Import.objects.get().pk]))
    run_jobs()

    item = Import.objects.get()
    assert item.state == ImportState.FAULTY
    assert "belongs to document d1 for good" in item.plan["errors"][0]["message"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"ids": "position"}, "Ids by position are for SMART files only."),
        ({"name": "!!!"}, "A new corpus needs a name"),
        ({"format": "xls"}, "Select a valid choice"),
        ({"format": "auto", "recipe": "chapters"}, "chapters is not a recipe"),
    ],
)
def test_options_that_do_not_fit_are_refused(client, options, said, project, lead_signed_in):
    answer = upload_file(client, project, lines(TEXTS), **options)

    assert answer.status_code == 400
    assert said in answer.text
    assert Import.objects.count() == 0


def test_an_unknown_kind_of_import_is_not_found(client, project):
    answer = signed_in(client, project).get(reverse("corpus:import-new", args=[project.slug, "nonsense"]))

    assert answer.status_code == 404


MARKDOWN = b"# Access\n\n## Keys\n\nKeys are rotated.\n\n## Visitors\n\nVisitors sign in.\n"


def upload_documents(client, project, *files: SimpleUploadedFile, **options):
    form = {"format": "auto", "ids": "file", "corpus": "+", "mode": "replace", "file": list(files)} | options
    return client.post(reverse("corpus:import-new", args=[project.slug, "corpus"]), form)


def test_several_files_become_one_zip_named_by_their_number_and_a_corpus_named_documents(
    client, project, lead_signed_in
):
    answer = upload_documents(
        client, project, SimpleUploadedFile("a.md", MARKDOWN), SimpleUploadedFile("b.md", b"# B\n\nMore.\n")
    )

    item = Import.objects.get()
    assert (item.upload.filename, item.plan["files_read"]) == ("2 files.zip", 2)
    assert item.options["name"] == "Documents"
    page = client.get(answer.url).text
    assert "<title>2 files " in page
    assert "2 files.zip" not in page
    assert "2 files are read" in page
    assert "Import 3 passages" in page


def test_two_files_of_one_name_are_refused(client, project, lead_signed_in):
    twice = [SimpleUploadedFile("a.md", MARKDOWN), SimpleUploadedFile("a.md", MARKDOWN)]

    answer = upload_documents(client, project, *twice)

    assert "Two files are called a.md." in answer.text


@pytest.mark.parametrize(("pasted", "said"), [("# Keys\n\nRotated.", ""), (" ", "Choose a file, or paste text below.")])
def test_a_pasted_text_is_a_document(client, pasted, said, project, lead_signed_in):
    answer = upload_documents(client, project, pasted=pasted)

    if said:
        assert said in answer.text
    else:
        item = Import.objects.get()
        assert (item.upload.filename, item.plan["rows"], item.options["name"]) == ("pasted.md", 1, "Pasted")


def test_a_new_corpus_is_called_after_its_file_and_gets_a_number_when_that_is_taken(client, project, lead_signed_in):
    for _ in range(2):
        upload_documents(client, project, SimpleUploadedFile("site-docs.md", MARKDOWN))
        item = Import.objects.order_by("pk").last()
        client.post(reverse("corpus:import-confirm", args=[project.slug, item.pk]))

    assert [corpus.name for corpus in Corpus.objects.order_by("pk")] == ["Site docs", "Site docs 2"]


def test_the_preview_of_documents_counts_the_passages_of_each_recipe(client, project, lead_signed_in):
    answer = upload_documents(client, project, SimpleUploadedFile("a.md", MARKDOWN))
    item = Import.objects.get()
    options = reverse("corpus:import-options", args=[project.slug, item.pk])

    assert item.plan["recipe_counts"] == {"headings": 2, "paragraphs:200:30": 2, "pages": 2, "whole": 1}
    assert "half have at most" in client.get(answer.url).text
    changed = client.post(options, item.options | {"recipe": "whole"}, headers={"HX-Request": "true"}, follow=True)
    assert "Import 1 passage<" in changed.text
    changed = client.post(options, item.options | {"recipe": "paragraphs", "words": "50", "overlap": "5"}, follow=True)
    assert "Paragraphs up to 50 words, 5 of them overlapping" in changed.text
    refused = client.post(
        options, item.options | {"recipe": "paragraphs", "words": "5"}, headers={"HX-Request": "true"}
    )
    assert "A passage has from 20 to 5,000 words, not 5." in refused.text


COMPONENT = b"""name: Backups
satisfies:
- control_key: CP-9
  narrative:
  - key: a
    text: Backups run each night.
"""


def test_files_with_passages_of_their_own_are_named_beside_the_choices(client, project, lead_signed_in):
    files = [
        SimpleUploadedFile("backups/component.yaml", COMPONENT),
        SimpleUploadedFile("a.md", MARKDOWN),
    ]

    page = client.get(upload_documents(client, project, *files).url).text

    assert "OpenControl component bring their own 1 passage, the same with each choice." in page
    assert "PDF by page" not in page
    assert '<li dir="auto">component</li>' in page


def test_the_button_counts_what_is_new_and_leaves_out_what_is_here(client, project, lead_signed_in):
    upload_documents(client, project, SimpleUploadedFile("a.md", MARKDOWN))
    confirm_import(import_id=Import.objects.get().pk, actor=lead_of(project), at=AT)
    corpus = Corpus.objects.get()

    again = upload_documents(
        client,
        project,
        SimpleUploadedFile("a.md", MARKDOWN + b"\n## Doors\n\nDoors close at ten.\n"),
        corpus=corpus.slug,
    )

    assert "Import 1 passage<" in client.get(again.url).text


def test_a_choice_that_leads_away_from_the_preview_opens_the_whole_page(client, project, lead_signed_in):
    answer = upload_documents(client, project, SimpleUploadedFile("a.md", MARKDOWN))
    item = Import.objects.get()
    options = reverse("corpus:import-options", args=[project.slug, item.pk])

    changed = client.post(options, item.options | {"format": "jsonl"}, headers={"HX-Request": "true"})

    assert changed["HX-Redirect"] == answer.url
    assert "This is Markdown." in client.get(answer.url).text
    fix = reverse("corpus:import-fix", args=[project.slug, item.pk])
    assert "2 passages" in client.post(fix, {"fix": "format:markdown"}, follow=True).text


def test_a_zip_given_as_jsonl_is_one_button_away(client, project, lead_signed_in):
    answer = upload_documents(client, project, SimpleUploadedFile("a.zip", zipped({"a.md": MARKDOWN})), format="jsonl")

    assert "Read each as what it is" in client.get(answer.url).text
