"""Writes that are prepared before their transaction are those that would have been made in it."""

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from apps.common.database.prepared import PreparedWrites, Writes, prepared_writes
from apps.corpus.models import Document
from tests.corpus.factories import make_corpus

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has no lock to keep short"),
]
COLUMNS = ["id", "corpus_id", "outside_id", "title"]


def write(corpus, writes: Writes, names: list[str]) -> None:
    for name in names:
        [key] = writes.reserve(Document, 1)
        writes.insert(Document, COLUMNS, [(key, corpus.pk, name, "")])
        writes.update("UPDATE corpus_document SET title = %s WHERE id = %s", [(f"Document {name}", key)])


def documents(corpus) -> list[tuple[str, str]]:
    return list(corpus.documents.order_by("pk").values_list("outside_id", "title"))


def temporary_tables() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM temp.sqlite_master")
        return cursor.fetchone()[0]


def test_nothing_is_written_before_they_are_made():
    corpus, direct = make_corpus(texts={}), make_corpus(texts={})
    names = [f"d{number}" for number in range(300)]

    with prepared_writes() as writes:
        write(corpus, writes, names)
        assert documents(corpus) == []
        assert writes.is_valid()
        writes.make()
    write(direct, Writes(), names)

    assert documents(corpus) == documents(direct) == [(name, f"Document {name}") for name in names]


def test_making_them_is_one_statement_for_each_table():
    corpus = make_corpus(texts={})
    with prepared_writes() as writes:
        rows = [(key, corpus.pk, f"d{key}", "") for key in writes.reserve(Document, 2_000)]
        writes.insert(Document, COLUMNS, rows)

        with CaptureQueriesContext(connection) as queries:
            writes.make()

    assert len(queries) == 1
    assert corpus.documents.count() == 2_000


def test_keys_that_somebody_else_has_taken_make_them_invalid():
    corpus = make_corpus(texts={})
    with prepared_writes() as writes:
        write(corpus, writes, ["d1"])
        make_corpus()

        assert not writes.is_valid()


def test_nothing_is_left_of_them_also_after_an_error():
    corpus, before = make_corpus(texts={}), temporary_tables()

    with prepared_writes() as writes:
        write(corpus, writes, ["d1", "d1"])
        with pytest.raises(IntegrityError), transaction.atomic():
            writes.make()

    assert (temporary_tables(), documents(corpus)) == (before, [])


def test_writes_that_came_to_nothing_write_nothing():
    writes = PreparedWrites()
    writes.insert(Document, COLUMNS, [])
    writes.update("UPDATE corpus_document SET title = %s WHERE id = %s", [])
    writes.make()
    writes.close()

    assert not Document.objects.exists()
