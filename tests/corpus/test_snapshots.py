import json

import pytest

from apps.corpus.selectors.snapshots import difference
from tests.corpus.factories import import_text, make_corpus, make_snapshot

pytestmark = pytest.mark.django_db


def lines(*rows: tuple[str, str, int]) -> str:
    return "\n".join(
        json.dumps({"block_id": block, "document_id": "d", "text": text, "page_start": page})
        for block, text, page in rows
    )


def test_a_difference_distinguishes_added_gone_changed_and_moved():
    corpus = make_corpus(texts={})
    import_text(corpus, lines(("same", "x", 1), ("gone", "x", 1), ("changed", "x", 1), ("moved", "x", 1)))
    old = make_snapshot(corpus=corpus)
    import_text(corpus, lines(("same", "x", 1), ("added", "x", 1), ("changed", "y", 1), ("moved", "x", 2)))
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
