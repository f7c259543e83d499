"""Editions of documents, imported one after the other."""

from collections.abc import Sequence
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.corpus.actions.imports import confirm_import
from apps.corpus.core.passage_ids import SnapshotEntry, block_digests, metadata_digest, snapshot_digest
from apps.corpus.enums import ImportState
from apps.corpus.execution.freezing import FreezeRefused
from apps.corpus.models import Corpus, Import, Snapshot
from apps.corpus.selectors.corpora import entries_of
from tests.corpus.factories import make_document_import, make_snapshot, zipped
from tests.factories import AT, lead_of, make_project

pytestmark = pytest.mark.django_db
TEXTS = ["Keys are rotated.", "Backups stay.\n\n```\nkey: 1\n```", "| a |\n| --- |\n| 1 |", "word " * 40]
sections = st.lists(st.tuples(st.sampled_from(["Keys", "Backups", "Undo"]), st.sampled_from(TEXTS)), max_size=4)
editions = st.dictionaries(st.sampled_from(["a.md", "b/c.md", "d.txt"]), sections, min_size=1).map(
    lambda files: {
        path: "# Title\n\nHello.\n\n" + "".join(f"## {heading}\n\n{text}\n\n" for heading, text in parts)
        for path, parts in files.items()
    }
)
steps = st.lists(
    st.tuples(editions, st.sampled_from(["headings", "paragraphs:20", "whole"]), st.sampled_from(["replace", "merge"])),
    min_size=2,
    max_size=4,
)


def imported(item: Import) -> Import:
    return confirm_import(import_id=item.pk, actor=lead_of(item.project), at=AT)


def content_of(snapshot: Snapshot) -> list[tuple]:
    """Everything that a snapshot says of its passages, and its digest computed from that."""
    titles = dict(snapshot.titles.values_list("document__outside_id", "title"))
    rows, entries = [], []
    for entry in entries_of(snapshot):
        text, name = entry.version, entry.block.document.outside_id
        fields = {
            "title": text.title,
            "section_path": text.section_path,
            "page_start": text.page_start,
            "page_end": text.page_end,
            "text": text.text,
        }
        digest = block_digests(**fields).version
        rows.append((entry.block.outside_id, name, titles.get(name, ""), text.metadata, fields))
        entries.append(
            SnapshotEntry(entry.block.outside_id, name, digest, metadata_digest(text.metadata), titles.get(name, ""))
        )
    return [*rows, (snapshot.recipe, snapshot_digest(entries) == snapshot.digest)]


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(steps)
def test_any_sequence_of_imports_leaves_older_snapshots_as_they_were(taken: Sequence[tuple]):
    project = make_project()
    frozen: list[tuple[Snapshot, list[tuple]]] = []
    for files, recipe, mode in taken:
        into = {"corpus": "handbook", "empties": "handbook"} if frozen else {}
        item = imported(make_document_import(zipped(files), project=project, recipe=recipe, mode=mode, **into))
        assert item.state == ImportState.APPLIED
        with suppress(FreezeRefused):  # nothing has changed, or it is as it was once
            snapshot = make_snapshot(corpus=Corpus.objects.get(project=project))
            frozen.append((snapshot, content_of(snapshot)))

    for snapshot, content in frozen:
        snapshot.refresh_from_db()
        assert content_of(snapshot) == content
        assert content[-1][1]


@settings(max_examples=4, deadline=None)
@given(editions, st.sampled_from(["headings", "paragraphs:20:5", "whole"]))
def test_the_same_files_make_the_same_snapshot_everywhere(files, recipe):
    digests = set()
    for order in (list(files), list(reversed(files))):
        project = make_project()
        content = zipped({f"docs/{path}": files[path] for path in order})
        imported(make_document_import(content, project=project, recipe=recipe))
        digests.add(make_snapshot(corpus=Corpus.objects.get(project=project)).digest)

    assert len(digests) == 1
