"""A world that a test is given is as it was built: rows, files, and the numbers to come."""

from pathlib import Path

import pytest
from django.conf import settings
from django.db import DatabaseError, connection, transaction

from apps.accounts.models import Project
from apps.audit.models import Event
from tests import database
from tests.factories import make_project

FILE = "a-file-of-a-world"


def build() -> int:
    """A project with an audit event and a file; returns the key that the next project gets."""
    (Path(settings.MEDIA_ROOT) / FILE).parent.mkdir(exist_ok=True)
    (Path(settings.MEDIA_ROOT) / FILE).write_text("Built.")
    return make_project("Built").pk + 1


@pytest.mark.django_db(transaction=True)
def test_a_world_is_built_once_and_laid_in_the_place_of_everything(database_cache):
    builds = []

    def counted() -> int:
        builds.append(1)
        return build()

    database.lay("for-the-test-of-worlds", counted)
    database.empty(database_cache)
    (Path(settings.MEDIA_ROOT) / FILE).unlink()
    make_project("Something else")
    make_project("And more")

    next_key = database.lay("for-the-test-of-worlds", counted)

    assert len(builds) == 1
    assert [project.name for project in Project.objects.all()] == ["Built"]
    assert (Path(settings.MEDIA_ROOT) / FILE).read_text() == "Built."
    assert make_project("The next").pk == next_key
    if event := Event.objects.first():
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("DELETE FROM audit_event WHERE id = %s", [event.pk])
    (Path(settings.MEDIA_ROOT) / FILE).unlink()
