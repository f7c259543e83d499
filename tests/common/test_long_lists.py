"""However many values a query names, its statement does not grow beyond what the database takes."""

from datetime import timedelta

import pytest
from django.apps import apps
from django.core.exceptions import EmptyResultSet
from django.db import connection, models
from django.db.models import Prefetch
from django.test.utils import CaptureQueriesContext

from apps.audit.models import Event
from apps.corpus.models import Block, Document
from apps.queries.models import Query
from apps.triples.enums import State
from apps.triples.selectors.draft_checks import questions_like
from tests.corpus.factories import make_corpus
from tests.factories import AT, lead_of, make_project
from tests.review.factories import make_triple
from tests.triples.factories import make_team

MANY = 40_000
"""More parameters than SQLite takes as it is usually built, and far deeper than its expressions may be."""


def make_queries(numbers: range) -> list[Query]:
    project = make_project()
    lead = lead_of(project)
    rows = (
        Query(project=project, outside_id=f"Q{n}", text=f'“{n}” \\ %s "', created_by=lead, created_at=AT + n * DAY)
        for n in numbers
    )
    return Query.objects.bulk_create(rows)


DAY = timedelta(days=1)


@pytest.mark.django_db
@pytest.mark.parametrize("column", ["pk", "outside_id", "text", "created_at", "project", "created_by"])
@pytest.mark.parametrize("count", [2, 300])
def test_a_list_finds_what_is_in_it_and_excludes_it_whatever_its_length_and_type(column, count):
    queries = make_queries(range(count))
    (other,) = make_queries(range(count, count + 1))
    values = [getattr(query, column) for query in queries]

    assert set(Query.objects.filter(**{f"{column}__in": [*values, None]})) == set(queries)
    assert Query.objects.exclude(**{f"{column}__in": values}).get() == other
    assert not Query.objects.filter(**{f"{column}__in": []}).exists()


@pytest.mark.django_db
def test_many_values_of_every_kind_of_column_are_one_parameter_on_sqlite(project):
    numbers, texts = range(1, MANY), [f"Q{n}" for n in range(MANY)]
    lists = [
        Query.objects.filter(pk__in=numbers),
        Query.objects.exclude(pk__in=numbers),
        Query.objects.filter(outside_id__in=texts),
        Query.objects.filter(project__in=numbers),
        Query.objects.filter(project__slug__in=texts),
        Query.objects.filter(project=project).filter(models.Q(pk__in=numbers) | models.Q(outside_id__in=texts)),
    ]

    for rows in lists:
        assert list(rows) == []
        if connection.vendor == "sqlite":
            assert len(rows.query.sql_with_params()[1]) <= 3


@pytest.mark.django_db
def test_a_prefetch_goes_along_and_against_a_foreign_key_in_one_statement_for_any_number_of_rows():
    """Django's own statement for SQLite names each row in an `OR`, of which SQLite takes 1,000."""
    corpus = make_corpus(texts={})
    documents = Document.objects.bulk_create(
        Document(corpus=corpus, outside_id=f"d{n}", title=f"D {n}") for n in range(2_000)
    )
    blocks = Block.objects.bulk_create(
        Block(corpus=corpus, document=document, outside_id=f"b{document.pk}") for document in documents
    )

    with CaptureQueriesContext(connection) as statements:
        along = list(Block.objects.filter(corpus=corpus).prefetch_related("document").order_by("pk"))
        against = list(Document.objects.prefetch_related(Prefetch("blocks")).order_by("pk"))

    assert [block.document for block in along] == documents
    assert [list(document.blocks.all()) for document in against] == [[block] for block in blocks]
    assert len(statements) == 4


@pytest.mark.django_db
def test_a_list_of_nothing_but_none_is_empty():
    with pytest.raises(EmptyResultSet):
        Event.objects.filter(pk__in=[None]).query.sql_with_params()


def test_no_relation_of_karat_has_two_columns():
    """A prefetch along one would be an `OR` of every row again."""
    relations = [field for model in apps.get_models() for field in model._meta.get_fields() if field.is_relation]
    wide = [field for field in relations if len(getattr(field, "foreign_related_fields", ())) > 1]

    assert wide == []
    assert [model for model in apps.get_models() if len(model._meta.pk_fields) > 1] == []


@pytest.mark.django_db
def test_questions_like_a_very_long_one_are_found():
    """Each of its words is looked for, and counted."""
    project = make_team()
    triple = make_triple(project, State.ACCEPTED)
    words = [f"{a}{b}{c}" for a in "bcdfghjklm" for b in "aeiou" for c in "npqrstvwxz"]
    question = f"{triple.current.question} {' '.join(words)}"[:2_000]

    found = questions_like(project, lead_of(project), question, 0.5, apart_from=None)

    assert [other.question for other in found] == [triple.current.question]
