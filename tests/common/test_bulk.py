"""Many rows at once: all of them, in few statements, and none when one is refused."""

import pytest
from django.db import DataError, IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from apps.common.database import bulk
from apps.common.database.bulk import insert_rows
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
