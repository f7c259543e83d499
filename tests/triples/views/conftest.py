"""The bench as an author finds it: a team, its texts searchable, the author signed in."""

import pytest

from apps.accounts.enums import Role
from apps.corpus.execution.search_index import index_snapshot
from tests.factories import make_member
from tests.triples.factories import make_team


@pytest.fixture
def project(db):
    project = make_team()
    index_snapshot(project.corpora.get().snapshots.get())
    return project


@pytest.fixture
def author(project, client):
    person = make_member(project, Role.ANNOTATOR, name="Author")
    client.force_login(person)
    return person
