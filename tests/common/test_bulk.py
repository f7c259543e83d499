"""Many rows at once: all of them, in few statements, and none when one is refused."""

import pytest
from django.db import DataError, IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from apps.common.database import bulk
from apps.common.database.bulk import insert_rows, reserve_ids
from apps.corpus.models import Document
from tests.corpus.factories import make_corpus

pytestmark = pytest.mark.django_db
COLUMNS = ["corpus_id", "outside_id", "title"]


@pytest.mark.parametrize("count", [0, 1, 3, 4, 6, 7])
def test_rows_are_stored_in_their_order_whatever_their_number(monkeypatch, count):
    monkeypatch.setattr(bulk, "VALUES_A_STATEMENT", 9)
    corpus = make_corpus(texts={})
    names = [f"d{n}" for n in range(count)]

    insert_rows(Document, COLUMNS, ((corpus.pk, name, "100 % {}?") for name in names))

    assert list(corpus.documents.order_by("pk").values_list("outside_id", "title")) == [(n, "100 % {}?") for n in names]


def test_statements_grow_with_parts_and_not_with_rows():
    corpus = make_corpus(texts={})

    with CaptureQueriesContext(
        connection,
    ) as queries:
        insert_rows(Document, COLUMNS, [(corpus.pk, f"d{n}", "") for n in range(2_000)])

    assert corpus.documents.count() == 2_000
    assert len(queries) <= 2


def test_a_row_that_is_refused_takes_the_others_with_it():
    corpus = make_corpus()
    known = corpus.documents.get().outside_id

    with pytest.raises(IntegrityError), transaction.atomic():
        insert_rows(Document, COLUMNS, [(corpus.pk, "new", ""), (corpus.pk, known, "")])

    assert [document.outside_id for document in corpus.documents.all()] == [known]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite stores a text of any length")
def test_a_value_that_does_not_fit_is_an_error_of_django():
    corpus = make_corpus(texts={})

    with pytest.raises(DataError), transaction.atomic():
        insert_rows(Document, COLUMNS, [(corpus.pk, "d" * 301, "")])


@pytest.mark.parametrize("count", [0, 1, 2_000])
def test_reserved_keys_ascend_and_nobody_gets_them_again(count):
    with transaction.atomic():
        first, second = reserve_ids(Document, count), reserve_ids(Document, count)

    assert len(first) == len(second) == count
    assert [*first] == sorted({*first})
    if count and connection.vendor == "postgresql":  # SQLite counts what was used
        assert first[-1] < second[0]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="on SQLite one transaction at a time reserves keys")
def test_keys_that_others_have_taken_meanwhile_are_left_out():
    with connection.cursor() as cursor:
        # What others take leaves gaps.
        cursor.execute("SELECT pg_get_serial_sequence('corpus_document', 'id')")
        cursor.execute(f"ALTER SEQUENCE {cursor.fetchone()[0]} INCREMENT BY 3")

    keys = reserve_ids(Document, 4)

    assert [key - keys[0] for key in keys] == [0, 3, 6, 9]
