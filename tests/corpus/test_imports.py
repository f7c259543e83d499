"""An import that is read again with other options."""

import json
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.audit.models import Event
from apps.common.files.linefiles import Extent
from apps.corpus.actions import imports
from apps.corpus.enums import ImportState
from apps.corpus.execution import document_reading, import_reading
from apps.corpus.execution.import_reading import ImportRefused, preview
from apps.corpus.models import Corpus, FormerVersion, Import
from apps.corpus.selectors.corpora import corpora_in
from tests.corpus.factories import TEXTS, make_corpus, make_document_import, make_snapshot, zipped
from tests.factories import AT, lead_of, make_project
from tests.races import overlapping

pytestmark = pytest.mark.django_db

ROW = json.dumps({"block_id": "b1", "document_id": "d1", "text": "Keys are rotated."}).encode()


def make_import(content: bytes = ROW, **options) -> Import:
    project = make_project()
    given = {"format": "jsonl", "ids": "file", "corpus": "+", "name": "Handbook", "mode": "replace"} | options
    return imports.start_import(
        project=project,
        kind="corpus",
        file=SimpleUploadedFile("blocks.jsonl", content),
        options=given,
        actor=lead_of(project),
        at=AT,
    )


def blocks(count: int) -> bytes:
    rows = ({"block_id": f"b{n}", "document_id": f"d{n // 10}", "text": "Keys are rotated."} for n in range(count))
    return "\n".join(map(json.dumps, rows)).encode() + b"\n"


def test_statements_grow_with_parts_of_the_file_and_not_with_passages():
    def statements(count: int) -> int:
        item = make_import(blocks(count))
        with CaptureQueriesContext(connection) as queries:
            imports.confirm_import(import_id=item.pk, actor=lead_of(item.project), at=AT)
        return len(queries)

    statements(10)
    assert statements(600) - statements(100) < 30  # on SQLite a hundred rows are a statement


def test_a_block_that_is_in_the_file_twice_is_named_with_both_lines():
    item = make_import(blocks(3) + blocks(2))

    errors = [(error["line"], error["field"], error["value"], error["message"]) for error in item.plan["errors"]]
    assert errors == [
        (4, "block_id", "b0", "the block is in the file twice, first in line 1"),
        (5, "block_id", "b1", "the block is in the file twice, first in line 2"),
    ]


def change(item: Import, **options) -> Import:
    return imports.change_options(import_id=item.pk, options=item.options | options, actor=lead_of(item.project), at=AT)


@pytest.mark.parametrize(("name", "at_once"), [("guide.rst", False), ("guide.md", True)])
def test_restructured_text_is_read_in_a_job_sooner_since_its_parser_is_slow(tmp_path, name, at_once):
    file = tmp_path / name
    file.write_text("Words of a guide.\n\n" * 10_000)

    assert document_reading.is_read_at_once(file, name, document_reading.Choices()) is at_once


def test_what_is_over_is_not_read_again():
    item = make_import()
    imports.confirm_import(import_id=item.pk, actor=lead_of(item.project), at=AT)

    with pytest.raises(ImportRefused, match=r"This import is applied; its file is not read again\."):
        change(item, format="csv")


def test_a_plan_of_options_that_were_changed_meanwhile_is_not_stored(monkeypatch):
    item = make_import()
    old = item.options
    monkeypatch.setattr("apps.corpus.selectors.import_kinds.READ_AT_ONCE", Extent(10, 10))
    item = change(item, format="csv")

    item = import_reading.keep_plan(import_id=item.pk, plan=preview(item), options=old)

    assert item.state == ImportState.READING


def texts_now(corpus: Corpus) -> dict[str, str]:
    blocks = corpus.blocks.filter(current__isnull=False)
    return dict(blocks.values_list("outside_id", "current__text"))


def applied(corpus: Corpus, texts: dict[str, str], title: str = "", at=AT) -> Import:
    """An import into a corpus, confirmed."""
    lead = lead_of(corpus.project)
    rows = [
        {"block_id": key, "document_id": "d1", "text": text} | ({"document_title": title} if title else {})
        for key, text in texts.items()
    ]
    item = imports.start_import(
        project=corpus.project,
        kind="corpus",
        file=SimpleUploadedFile("blocks.jsonl", "\n".join(map(json.dumps, rows)).encode()),
        options={"format": "jsonl", "ids": "file", "corpus": corpus.slug, "name": "", "mode": "replace"},
        actor=lead,
        at=at,
    )
    return imports.confirm_import(import_id=item.pk, actor=lead, at=at)


def undo(item: Import) -> Import:
    return imports.undo_import(import_id=item.pk, actor=lead_of(item.project), at=AT)


def test_undoing_puts_back_texts_titles_and_what_was_removed():
    corpus = make_corpus(texts={})
    applied(corpus, {"b1": "one", "b2": "two", "b3": "three"}, title="Rules")
    item = applied(corpus, {"b1": "one", "b2": "changed", "b4": "new"}, title="New rules")
    assert {row.block.outside_id for row in item.former_versions.all()} == {"b2", "b3"}
    assert texts_now(corpus) == {"b1": "one", "b2": "changed", "b4": "new"}

    undo(item)

    assert texts_now(corpus) == {"b1": "one", "b2": "two", "b3": "three"}
    assert corpus.documents.get().title == "Rules"
    item.refresh_from_db()
    assert (item.state, item.outcome) == (ImportState.APPLIED, "undone")
    assert Event.objects.filter(action="import.undone").count() == 1


@pytest.mark.parametrize("later", [{"b1": "two"}, {"b2": "other"}])
def test_an_added_passage_that_another_import_changed_or_removed_keeps_the_import(later):
    corpus = make_corpus(texts={})
    item = applied(corpus, {"b1": "one"})
    other = applied(corpus, later)

    with pytest.raises(ImportRefused, match="Another import has changed the same passages since"):
        undo(item)
    undo(other)

    assert texts_now(undo(item).project.corpora.get()) == {}


def test_an_import_of_before_added_passages_were_a_range_is_undone_by_its_rows():
    corpus = make_corpus(texts={})
    item = applied(corpus, {"b1": "one"})
    block = corpus.blocks.get()
    FormerVersion.objects.create(imported=item, block=block, former=None, current=block.current)
    item.result = {name: value for name, value in item.result.items() if name != "blocks_added"}
    item.save(update_fields=["result"])

    undo(item)

    assert texts_now(corpus) == {}


def test_a_corpus_that_an_undone_import_leaves_empty_is_no_longer_listed():
    corpus = make_corpus(texts={})
    undo(applied(corpus, {"b1": "one"}))

    assert texts_now(corpus) == {}
    assert not corpora_in(corpus.project).exists()

    applied(corpus, {"b1": "one"})

    assert texts_now(corpus) == {"b1": "one"}
    assert list(corpora_in(corpus.project)) == [corpus]


def test_a_corpus_with_passages_of_another_import_or_a_snapshot_stays_listed():
    corpus = make_corpus()
    undo(applied(corpus, {"b1": "one"}))

    assert list(corpora_in(corpus.project)) == [corpus]


def test_the_page_of_an_undone_first_import_says_what_became_of_its_corpus_and_the_name_is_free(client):
    item = make_document_import(zipped({"a.md": "# A\n\nOne.\n"}))
    lead = lead_of(item.project)
    item = imports.confirm_import(import_id=item.pk, actor=lead, at=AT)
    client.force_login(lead)
    url = reverse("corpus:import", args=[item.project.slug, item.pk])

    client.post(reverse("corpus:import-undo", args=[item.project.slug, item.pk]))

    page = client.get(url).content.decode()
    assert "which it made, is no longer listed; an import under this name fills it again." in page
    again = make_document_import(zipped({"a.md": "# A\n\nTwo.\n"}), project=item.project)
    imports.confirm_import(import_id=again.pk, actor=lead, at=AT)
    assert [corpus.pk for corpus in corpora_in(item.project)] == [item.project.corpora.get().pk]
    assert "is no longer listed" not in client.get(url).content.decode()


@pytest.mark.parametrize("seconds", [0, 5])
def test_what_a_snapshot_holds_is_not_undone_also_when_the_freeze_had_waited_for_the_import(seconds):
    corpus = make_corpus(texts={})
    item = applied(corpus, {"b1": "one"}, at=AT + timedelta(seconds=seconds))
    make_snapshot(corpus=corpus)

    with pytest.raises(ImportRefused, match="was frozen after it"):
        undo(item)


def test_a_snapshot_of_before_an_import_does_not_keep_it_though_its_time_is_later():
    corpus = make_corpus()
    make_snapshot(corpus=corpus)
    item = applied(corpus, {"b1": "one"}, at=AT - timedelta(seconds=5))

    undo(item)

    assert texts_now(corpus) == TEXTS


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_undoing_an_import_never_takes_away_one_that_was_being_applied():
    corpus = make_corpus(texts={})
    first = applied(corpus, {"b1": "one"})

    second, undone = overlapping(lambda: applied(corpus, {"b1": "two"}), lambda: undo(first))

    assert "Another import has changed the same passages since" in undone.sentence
    assert second.state == ImportState.APPLIED
    assert texts_now(corpus) == {"b1": "two"}


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_undoing_an_import_that_is_being_frozen_is_refused():
    corpus = make_corpus(texts={})
    item = applied(corpus, {"b1": "one"})

    snapshot, undone = overlapping(lambda: make_snapshot(corpus=corpus), lambda: undo(item))

    assert f"{snapshot.name} was frozen after it" in undone.sentence
    assert texts_now(corpus) == {"b1": "one"}


def test_an_import_is_undone_once_and_only_when_it_changed_something():
    corpus = make_corpus(texts={})
    item = applied(corpus, {"b1": "one"})
    same = applied(corpus, {"b1": "one"})

    with pytest.raises(ImportRefused, match="changed nothing"):
        undo(same)
    undo(item)
    with pytest.raises(ImportRefused, match="has been undone"):
        undo(item)
    with pytest.raises(ImportRefused, match="is not applied"):
        undo(make_import())


def test_another_way_to_read_files_is_undone_with_its_passages():
    zip_ = zipped({"a.md": "# A\n\n## One\n\nText.\n\n## Two\n\nMore.\n"})
    first = confirmed(make_document_import(zip_))
    corpus = Corpus.objects.get()
    by_heading = texts_now(corpus)
    changed = {"recipe": "whole", "also_text": "yaml", "base_url": "https://docs.example.org", "first_row": "data"}
    changed["columns"] = "Inhalt=text"
    again = confirmed(make_document_import(zip_, project=first.project, corpus=corpus.slug, **changed))
    corpus.refresh_from_db()
    assert corpus.reading == changed

    undo(again)

    corpus.refresh_from_db()
    assert corpus.reading == {"recipe": "headings", "also_text": "", "base_url": "", "first_row": "", "columns": ""}
    assert texts_now(corpus) == by_heading


def test_the_page_offers_undoing_or_says_why_not(client):
    corpus = make_corpus(texts={})
    item = applied(corpus, {"b1": "one"})
    client.force_login(lead_of(corpus.project))
    page = reverse("corpus:import", args=[corpus.project.slug, item.pk])
    offered = client.get(page).text
    make_snapshot(corpus=corpus)

    refused = client.get(page).text

    assert "Possible until a snapshot is frozen." in offered
    assert "was frozen after it, and a snapshot never changes." in refused
    assert client.post(f"{page}undo/").status_code == 409


def confirmed(item: Import) -> Import:
    return imports.confirm_import(import_id=item.pk, actor=lead_of(item.project), at=AT)


@pytest.mark.slow
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(contents=st.lists(st.dictionaries(st.sampled_from("abcd"), st.sampled_from("xyz"), min_size=1), min_size=1))
def test_undoing_every_import_backwards_walks_through_the_same_states(contents):
    corpus = make_corpus(texts={})
    done = []
    for texts in contents[:5]:
        before = texts_now(corpus)
        done.append((before, applied(corpus, texts)))

    for before, item in reversed(done):
        if not item.result["changes_nothing"]:
            undo(item)
        assert texts_now(corpus) == before
