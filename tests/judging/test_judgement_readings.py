"""What was read of a large file of judgements for its preview is what the import takes, while that is the same."""

import pytest

from apps.corpus.execution.document_reading import reading_path
from apps.judging.execution import judgement_readings
from apps.judging.imports import judgements as imports
from apps.queries.models import Query
from tests.factories import make_project
from tests.judging.factories import make_pool
from tests.judging.test_prepared_imports import QRELS, RATINGS, confirm, outcome, start

pytestmark = pytest.mark.django_db


@pytest.fixture
def pool():
    return make_pool(make_project(), queries=2, blocks=3)


@pytest.fixture(autouse=True)
def _all_are_large(monkeypatch):
    monkeypatch.setattr(judgement_readings, "WORTH_STORING_ROWS", 1)


@pytest.fixture
def read(monkeypatch) -> list:
    """The files that are read from here on."""
    files = []
    plain = imports.read_draft

    def read_draft(source, **more):
        files.append(source.name)
        return plain(source, **more)

    monkeypatch.setattr(imports, "read_draft", read_draft)
    return files


@pytest.mark.parametrize("text", [QRELS, RATINGS])
def test_a_file_is_read_once_and_imported_as_if_it_were_read_twice(monkeypatch, pool, read, text):
    item = confirm(start(pool, text))
    assert (item.state, len(read)) == ("applied", 1)

    monkeypatch.setattr(judgement_readings, "WORTH_STORING_ROWS", 1_000)
    other = make_pool(make_project(), queries=2, blocks=3)
    assert outcome(confirm(start(other, text))) == outcome(item)
    assert len(read) == 3


def test_it_is_read_again_when_a_query_has_changed(pool, read):
    item = start(pool)
    Query.objects.filter(project=pool.project).update(text="other words")

    assert confirm(item).state == "applied"
    assert len(read) == 2


@pytest.mark.parametrize(
    "damaged", [lambda stored: stored[:-1] + b"x", lambda stored: b"x" + stored, lambda stored: b""]
)
def test_it_is_read_again_when_its_reading_is_damaged(pool, read, damaged):
    item = start(pool)
    path = reading_path(item.upload.place)
    path.write_bytes(damaged(path.read_bytes()))

    assert confirm(item).state == "applied"
    assert len(read) == 2


def test_a_file_with_mistakes_has_none(pool):
    item = start(pool, "{one} 0 b00000 3\nunknown 0 b00001 1\n")

    assert item.state == "faulty"
    assert not reading_path(item.upload.place).exists()
