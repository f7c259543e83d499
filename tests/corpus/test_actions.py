import io
import json
from datetime import timedelta

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from apps.audit.models import Event
from apps.common.errors import InputErrors
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.corpus.actions import corpora
from apps.corpus.core.import_plans import ImportPlan
from apps.corpus.enums import ImportMode
from apps.corpus.execution.ingest import plan_blocks
from apps.corpus.formats import read_blocks
from apps.corpus.models import Block, BlockVersion, Document, Snapshot, SnapshotDocument
from apps.corpus.selectors.snapshots import difference
from tests.corpus.factories import TEXTS, import_text, import_texts, make_corpus, make_snapshot
from tests.factories import AT, lead_of

pytestmark = pytest.mark.django_db


def line(block_id: str, **fields) -> str:
    return json.dumps({"block_id": block_id, "document_id": "d1", "text": "words"} | fields)


def texts_of(corpus) -> dict[str, str]:
    current = Block.objects.filter(corpus=corpus, current__isnull=False)
    return dict(current.values_list("outside_id", "current__text"))


def test_create_corpus_takes_its_slug_from_the_name_once(project):
    corpus = corpora.create_corpus(project=project, name="Staff handbook", actor=lead_of(project), at=AT)

    assert (corpus.slug, corpus.name) == ("staff-handbook", "Staff handbook")
    assert Event.objects.filter(action="corpus.created", object_id=str(corpus.pk)).count() == 1
    with pytest.raises(corpora.CorpusRefused):
        corpora.create_corpus(project=project, name="Staff handbook", actor=lead_of(project), at=AT)


def test_import_keeps_every_field():
    corpus = make_corpus(texts={})

    import_text(
        corpus,
        line(
            "b1",
            title="T",
            section=["A", "Ä"],
            page_start=2,
            page_end=3,
            metadata={"x": [1, None]},
            document_title="Doc",
        ),
    )

    version = Block.objects.get(corpus=corpus).current
    assert (version.title, version.text, version.section_path) == ("T", "words", ["A", "Ä"])
    assert (version.page_start, version.page_end, version.metadata) == (2, 3, {"x": [1, None]})
    assert version.created_at == AT
    assert version.block.document.title == "Doc"


def test_import_counts_new_changed_unchanged_and_gone():
    corpus = make_corpus(texts={"b1": "one", "b2": "two", "b3": "three"})

    plan = import_texts(corpus, {"b1": "one", "b2": "TWO", "b4": "four"})

    assert plan.counts == {"new": 1, "changed": 1, "unchanged": 1, "gone": 1}
    assert texts_of(corpus) == {"b1": "one", "b2": "TWO", "b4": "four"}


def test_merge_does_not_change_what_the_file_does_not_name():
    corpus = make_corpus(texts={"b1": "one", "b2": "two"})

    plan = import_texts(corpus, {"b2": "TWO"}, mode=ImportMode.MERGE)

    assert plan.counts == {"new": 0, "changed": 1, "unchanged": 0, "gone": 0}
    assert texts_of(corpus) == {"b1": "one", "b2": "TWO"}


def test_the_same_file_twice_changes_nothing_and_says_so():
    corpus = make_corpus()
    rows_before = (BlockVersion.objects.count(), Document.objects.count(), Event.objects.count())

    plan = import_texts(corpus, TEXTS)

    assert plan.changes_nothing
    assert plan.sentence("block", "blocks") == "3 blocks: nothing changed."
    assert (BlockVersion.objects.count(), Document.objects.count(), Event.objects.count()) == rows_before


def test_one_of_a_kind_is_named_in_the_singular():
    plan = ImportPlan(["new drafts", "new queries", "gone"])
    plan.add("new drafts", "t1", "", "")
    plan.counts |= {"new queries": 1}

    assert plan.sentence("triple", "triples") == "1 triple: 1 new draft, 1 new query, 0 gone."


def test_a_text_that_comes_back_is_its_earlier_version():
    corpus = make_corpus(texts={"b1": "one", "b2": "two"})
    first = Block.objects.get(corpus=corpus, outside_id="b1").current_id
    import_texts(corpus, {"b1": "ONE", "b2": "two"})
    import_texts(corpus, {"b2": "two"})

    plan = import_texts(corpus, {"b1": "one", "b2": "two"})

    assert plan.counts["new"] == 1
    assert Block.objects.get(corpus=corpus, outside_id="b1").current_id == first


def test_more_blocks_than_one_chunk():
    texts = {f"b{number:04}": f"text {number}" for number in range(2_203)}
    corpus = make_corpus(texts=texts)

    plan = import_texts(corpus, texts | {"b0001": "other"})

    assert texts_of(corpus) == texts | {"b0001": "other"}
    assert plan.counts == {"new": 0, "changed": 1, "unchanged": 2_202, "gone": 0}


@pytest.mark.parametrize(
    ("bad", "field", "said"),
    [
        (line("b1"), "block_id", "is in the file twice, first in line 1"),
        (line("b9", document_id="a b"), "document_id", "must not contain blanks"),
    ],
)
def test_one_mistake_stops_the_whole_file(bad, field, said):
    corpus = make_corpus(texts={"b0": "kept"})

    with pytest.raises(InputErrors) as caught:
        import_text(corpus, "\n".join([line("b1"), line("b2"), bad, line("b3")]))

    error = caught.value.errors[0]
    assert (error.file, error.line, error.field) == ("blocks.jsonl", 3, field)
    assert said in error.message
    assert texts_of(corpus) == {"b0": "kept"}
    assert Block.objects.filter(corpus=corpus).count() == 1


def test_a_block_stays_with_its_document():
    corpus = make_corpus(texts={"b1": "one"})

    with pytest.raises(InputErrors, match="belongs to document d1 for good"):
        import_text(corpus, line("b1", document_id="d2"))


def test_import_is_recorded_with_its_figures():
    corpus = make_corpus(texts={})

    import_texts(corpus, TEXTS)

    event = Event.objects.get(action="corpus.imported", object_id=str(corpus.pk))
    assert event.after == {
        "file": "blocks.jsonl",
        "mode": "replace",
        "new": 3,
        "changed": 0,
        "unchanged": 0,
        "gone": 0,
    }


def test_freeze_lists_versions_in_bytewise_order_without_gaps():
    corpus = make_corpus(texts={"b10": "x", "b9": "y", "B1": "z", "ä": "w", "a_": "v", "a1": "u"})

    snapshot = make_snapshot(corpus=corpus)

    entries = list(snapshot.entries.order_by("position").values_list("position", "block__outside_id"))
    assert entries == list(enumerate(["B1", "a1", "a_", "b10", "b9", "ä"]))
    assert (snapshot.block_count, snapshot.document_count, snapshot.number) == (6, 1, 1)


def test_the_digest_depends_on_texts_alone():
    first, second = make_snapshot(), make_snapshot()
    other = make_snapshot(texts=TEXTS | {"b1": "different"})

    assert first.digest == second.digest
    assert first.digest != other.digest


def test_freeze_refuses_an_empty_corpus():
    with pytest.raises(corpora.FreezeRefused, match="has no passages"):
        make_snapshot(texts={})


def test_freeze_refuses_what_is_frozen_already():
    corpus = make_corpus(texts={"b1": "one"})
    make_snapshot(corpus=corpus)
    import_texts(corpus, {"b1": "two"})
    make_snapshot(corpus=corpus)
    import_texts(corpus, {"b1": "one"})

    with pytest.raises(corpora.FreezeRefused, match="is unchanged since snapshot 1"):
        make_snapshot(corpus=corpus)


def test_a_snapshot_keeps_its_texts_when_the_corpus_changes():
    snapshot = make_snapshot(texts={"b1": "one", "b2": "two"})

    import_texts(snapshot.corpus, {"b2": "TWO"}, at=AT + timedelta(days=1))

    assert list(snapshot.entries.order_by("position").values_list("version__text", flat=True)) == ["one", "two"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE corpus_snapshotblock SET version_id = version_id WHERE snapshot_id = {0}",
        "DELETE FROM corpus_snapshotblock WHERE snapshot_id = {0}",
        "UPDATE corpus_snapshot SET name = 'other' WHERE id = {0}",
        "DELETE FROM corpus_snapshot WHERE id = {0}",
        "UPDATE corpus_blockversion SET text = 'other'",
        "DELETE FROM corpus_blockversion",
        "INSERT INTO corpus_snapshotblock (snapshot_id, position, block_id, version_id)"
        " SELECT snapshot_id, position + 100, block_id, version_id FROM corpus_snapshotblock",
    ],
)
def test_the_database_itself_refuses_to_change_what_is_frozen(statement):
    snapshot = make_snapshot()

    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement.format(snapshot.pk))


def test_redaction_leaves_a_tombstone_and_the_digest():
    snapshot = make_snapshot(texts={"b1": "secret"})
    before = snapshot.entries.get().version

    corpora.redact_version(version_id=before.pk, reason="asked for", actor=lead_of(snapshot.corpus.project), at=AT)

    after = BlockVersion.objects.get(pk=before.pk)
    assert (after.text, after.title, after.redaction_reason) == ("", "", "asked for")
    assert after.digest == before.digest
    assert Snapshot.objects.get(pk=snapshot.pk).digest == snapshot.digest
    assert Event.objects.filter(action="block_version.redacted").count() == 1


def test_redaction_refuses_without_a_reason_and_a_second_time():
    snapshot = make_snapshot(texts={"b1": "secret"})
    version, lead = snapshot.entries.get().version, lead_of(snapshot.corpus.project)

    with pytest.raises(corpora.RedactionRefused, match="needs a reason"):
        corpora.redact_version(version_id=version.pk, reason=" ", actor=lead, at=AT)
    corpora.redact_version(version_id=version.pk, reason="asked for", actor=lead, at=AT)
    with pytest.raises(corpora.RedactionRefused, match="already"):
        corpora.redact_version(version_id=version.pk, reason="again", actor=lead, at=AT)


FULL = {
    "block_id": "b1",
    "document_id": "d1",
    "document_title": "Handbook",
    "title": "Keys",
    "text": "Rotated.",
    "metadata": {"url": "https://example.org/1"},
}


@pytest.mark.parametrize(
    "change", [{"metadata": {"url": "https://example.org/2"}}, {"metadata": {}}, {"document_title": "Rules"}]
)
def test_a_change_of_metadata_or_title_alone_is_a_change(change):
    corpus = make_corpus(texts={})
    import_text(corpus, json.dumps(FULL))
    first = make_snapshot(corpus=corpus)

    plan = import_text(corpus, json.dumps(FULL | change))

    assert plan.counts == {"new": 0, "changed": 1, "unchanged": 0, "gone": 0}
    assert plan.notes == [
        "1 changed passage has the same words and place as before: only metadata or a document's title differs."
    ]
    second = make_snapshot(corpus=corpus)
    assert second.digest != first.digest
    old, new = first.entries.get().version, second.entries.get().version
    assert (old.digest, old.text_digest) == (new.digest, new.text_digest)
    assert old.metadata == FULL["metadata"]
    assert new.metadata == (FULL | change)["metadata"]
    assert [*first.titles.values_list("title", flat=True)] == ["Handbook"]
    assert [*second.titles.values_list("title", flat=True)] == [(FULL | change)["document_title"]]


def test_metadata_that_comes_back_is_the_text_it_was():
    corpus = make_corpus(texts={})
    for metadata in ({"n": 1}, {"n": 2}, {"n": 1}):
        import_text(corpus, json.dumps(FULL | {"metadata": metadata}))

    assert BlockVersion.objects.filter(block__corpus=corpus).count() == 2
    assert Block.objects.get(corpus=corpus).current.metadata == {"n": 1}


def test_an_omitted_title_stays_and_is_not_a_change():
    corpus = make_corpus(texts={})
    import_text(corpus, json.dumps(FULL))

    plan = import_text(corpus, json.dumps({name: value for name, value in FULL.items() if name != "document_title"}))

    assert plan.changes_nothing
    assert Document.objects.get(corpus=corpus).title == "Handbook"


def test_a_preview_says_what_an_import_does_of_metadata():
    corpus = make_corpus(texts={})
    import_text(corpus, json.dumps(FULL))
    errors, text = ErrorList(), json.dumps(FULL | {"metadata": {}}).encode()
    source = TableFile("b.jsonl", io.BytesIO(text))

    plan = plan_blocks(
        corpus=corpus, rows=read_blocks(source, errors, format="jsonl"), source=source, errors=errors, mode="merge"
    )

    assert plan.counts["changed"] == 1
    assert len(plan.notes) == 1


def test_a_frozen_snapshot_takes_no_further_titles():
    snapshot = make_snapshot()
    document = Document.objects.get(corpus=snapshot.corpus)

    with pytest.raises(IntegrityError, match="no further titles"), transaction.atomic():
        SnapshotDocument.objects.create(snapshot=snapshot, document=document, title="Other")


def on_pages(*rows: tuple[str, str, int]) -> str:
    return "\n".join(
        json.dumps({"block_id": block, "document_id": "d", "text": text, "page_start": page})
        for block, text, page in rows
    )


def test_a_difference_distinguishes_added_gone_changed_and_moved():
    corpus = make_corpus(texts={})
    import_text(corpus, on_pages(("same", "x", 1), ("gone", "x", 1), ("changed", "x", 1), ("moved", "x", 1)))
    old = make_snapshot(corpus=corpus)
    import_text(corpus, on_pages(("same", "x", 1), ("added", "x", 1), ("changed", "y", 1), ("moved", "x", 2)))
    new = make_snapshot(corpus=corpus)

    found = difference(old, new)

    names = {word: [entry.block.outside_id for entry in entries] for word, entries in found._asdict().items()}
    assert names == {"added": ["added"], "gone": ["gone"], "changed": ["changed"], "moved": ["moved"], "described": []}
    assert found.counts() == {"added": 1, "gone": 1, "changed": 1, "moved": 1, "described": 0}
    assert found.gone[0].snapshot_id == old.pk
    assert found.changed[0].old_version_id == old.entries.get(block__outside_id="changed").version_id


def test_a_snapshot_does_not_differ_from_itself():
    snapshot = make_snapshot()

    assert set(difference(snapshot, snapshot).counts().values()) == {0}
