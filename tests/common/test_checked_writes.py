"""Foreign keys of what was written are checked when asked for, and not only at the commit."""

import pytest
from django.db import IntegrityError, connection

from apps.common.database.prepared import Writes
from apps.corpus.models import Block
from tests.corpus.factories import make_corpus

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite checks them at the commit"),
]
COLUMNS = ["id", "corpus_id", "document_id", "outside_id", "current_id"]


def test_a_key_that_leads_nowhere_is_noticed_at_the_check():
    corpus, writes = make_corpus(), Writes()
    [key] = writes.reserve(Block, 1)
    writes.insert(Block, COLUMNS, [(key, corpus.pk, corpus.documents.get().pk, "new", key + 1_000_000)])

    with pytest.raises(IntegrityError):
        writes.check()
    connection.needs_rollback = True


def test_what_is_written_after_a_check_may_wait_for_the_next_one():
    corpus, writes = make_corpus(), Writes()
    document, version = corpus.documents.get(), corpus.blocks.first().current_id
    writes.check()

    [key] = writes.reserve(Block, 1)
    writes.insert(Block, COLUMNS, [(key, corpus.pk, document.pk, "new", version + 1_000_000)])
    writes.update("UPDATE corpus_block SET current_id = %s WHERE id = %s", [(version, key)])

    writes.check()
