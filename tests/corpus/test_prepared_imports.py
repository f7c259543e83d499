"""Large files are compared with their corpus before the transaction that imports them: the outcome is the same."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection

from apps.audit.models import Event
from apps.common.errors import InputErrors
from apps.corpus.actions import imports
from apps.corpus.enums import ImportState
from apps.corpus.execution import import_reading, ingest
from apps.corpus.execution.import_reading import prepared
from apps.corpus.models import BlockVersion, Document, FormerTitle, FormerVersion, Import
from tests.corpus.factories import TEXTS, make_corpus, zipped
from tests.corpus.test_imports import texts_now
from tests.factories import AT, lead_of, make_project
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db
ONLY_SQLITE = pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has no lock to keep short")

FILES = [
    [("b1", "d1", "one", "First"), ("b2", "d1", "two", ""), ("b3", "d2", "three", ""), ("b4", "d3", "four", "Third")],
    # A title that changes from one part of the file to the next, and back; a passage that is gone.
    [("b1", "d1", "one", ""), ("b2", "d1", "zwei", "Erstes"), ("b5", "d1", "five", "First")],
    [
        ("b1", "d1", "one", "Erstes"),
        ("b2", "d1", "zwei", "First"),
        ("b4", "d3", "four", ""),
        ("b5", "d1", "y", "First"),
    ],
    [("b1", "d1", "one", "Anew"), ("b4", "d3", "four", ""), ("b2", "d1", "two", "Anew"), ("b3", "d2", "three", "")],
    [],
    [("b1", "d1", "one", ""), ("b2", "d1", "two", ""), ("b3", "d2", "three", ""), ("b3", "d2", "three", "")],
]


@pytest.fixture(autouse=True)
def _parts_of_two(monkeypatch):
    monkeypatch.setattr(ingest, "CHUNK", 2)


def rows(blocks) -> bytes:
    names = ("block_id", "document_id", "text", "document_title")
    return "".join(json.dumps(dict(zip(names, block, strict=True))) + "\n" for block in blocks).encode() or b"\n"


def start(project, content: bytes, *, corpus: str = "handbook", mode: str = "replace", **options) -> Import:
    given = {"format": "jsonl", "ids": "file", "corpus": corpus, "name": "Handbook", "mode": mode} | options
    file = SimpleUploadedFile("blocks.jsonl", content)
    return imports.start_import(project=project, kind="corpus", file=file, options=given, actor=lead_of(project), at=AT)


def confirm(item: Import) -> Import:
    if item.state == ImportState.READY:
        imports.confirm_import(import_id=item.pk, actor=lead_of(item.project), at=AT)
        run_jobs()
        item.refresh_from_db()
    return item


def outcome(item: Import) -> dict:
    """All that an import has done, by the names of a file instead of keys."""
    project = item.project
    versions = BlockVersion.objects.filter(block__corpus__project=project).order_by("pk")
    documents = Document.objects.filter(corpus__project=project).order_by("pk")
    title = documents.values_list("outside_id", "title")
    former = FormerVersion.objects.filter(imported=item).order_by("block")
    titles = FormerTitle.objects.filter(imported=item).order_by("document")
    result = {name: value for name, value in item.result.items() if name != "blocks_added"}
    events = Event.objects.filter(project=project, action="corpus.imported").order_by("pk")
    return {
        "versions": list(versions.values_list("block__outside_id", "text", "digest", "block__current__digest")),
        "documents": list(title),
        "former": list(former.values_list("block__outside_id", "former__digest", "current__digest")),
        "titles": list(titles.values_list("document__outside_id", "former", "current")),
        "import": (item.state, item.plan, result),
        "events": list(events.values_list("after", flat=True)),
    }


@pytest.mark.parametrize("mode", ["replace", "merge"])
def test_one_import_after_the_other_leaves_the_same_as_at_once(monkeypatch, mode):
    at_once, in_jobs = make_project(), make_project()

    for number, blocks in enumerate(FILES):
        outcomes = []
        for project, rows_at_once in ((at_once, 1_000), (in_jobs, -1)):
            monkeypatch.setattr(imports, "APPLY_AT_ONCE_ROWS", rows_at_once)
            corpus = "handbook" if number else "+"
            outcomes.append(outcome(confirm(start(project, rows(blocks), corpus=corpus, mode=mode))))
        assert outcomes[0] == outcomes[1]
        assert outcomes[0]["import"][0] == (ImportState.APPLIED if number < 5 else ImportState.FAULTY)


@pytest.mark.parametrize("files", [{"a.md": "# A\n\nOne.\n", "b.md": "# B\n\nTwo.\n"}, {"a.bin": b"\0\1"}])
def test_documents_are_told_of_as_at_once(monkeypatch, files):
    outcomes = []
    for rows_at_once in (1_000, -1):
        monkeypatch.setattr(imports, "APPLY_AT_ONCE_ROWS", rows_at_once)
        project = make_project()
        outcomes.append(outcome(confirm(start(project, zipped(files), corpus="+", format="auto"))))

    assert outcomes[0] == outcomes[1]


def meanwhile(item: Import, change) -> Import:
    """Prepare an import, let something happen, and apply it."""
    actor = lead_of(item.project)
    with prepared(item, actor=actor, at=AT) as made:
        assert (made is not None) == (connection.vendor == "sqlite")
        change()
        return import_reading.apply_import(import_id=item.pk, actor=actor, at=AT, prepared=made)


def test_what_another_import_changed_meanwhile_is_seen():
    corpus = make_corpus(texts=TEXTS)
    first = start(corpus.project, rows([("b1", "d1", "one", "")]), corpus=corpus.slug, mode="merge")
    other = start(corpus.project, rows([("b1", "d1", "uno", ""), ("b9", "d1", "neun", "")]), corpus=corpus.slug)

    item = meanwhile(first, lambda: confirm(other))

    assert item.result["counts"] == {"new": 0, "changed": 1, "unchanged": 0, "gone": 0}
    assert texts_now(corpus) == {"b1": "one", "b9": "neun"}


def test_the_corpus_that_somebody_made_meanwhile_is_filled(project):
    first, other = (start(project, rows([(name, "d", name, "")]), corpus="+", mode="merge") for name in ("b1", "b2"))

    meanwhile(first, lambda: confirm(other))

    corpus = project.corpora.get()
    assert texts_now(corpus) == {"b1": "b1", "b2": "b2"}


def test_passages_of_another_project_take_keys_meanwhile(project):
    item = start(project, rows([("b1", "d", "one", "")]), corpus="+")

    meanwhile(item, make_corpus)

    assert texts_now(project.corpora.get()) == {"b1": "one"}


def test_mistakes_that_came_meanwhile_are_found():
    corpus = make_corpus(texts={})
    first, other = (start(corpus.project, rows([("b1", name, "one", "")]), corpus=corpus.slug) for name in ("d1", "d2"))

    with pytest.raises(InputErrors, match="the block belongs to document d2 for good"):
        meanwhile(first, lambda: confirm(other))

    assert texts_now(corpus) == {"b1": "one"}


@ONLY_SQLITE
def test_what_has_not_changed_is_not_read_again(monkeypatch):
    corpus = make_corpus(texts=TEXTS)
    item = start(corpus.project, rows([("b1", "d1", "one", "")]), corpus=corpus.slug)

    def refuse_reading() -> None:
        monkeypatch.setattr("apps.corpus.imports.documents.read_blocks", None)

    meanwhile(item, refuse_reading)

    assert texts_now(corpus) == {"b1": "one"}
