import pytest

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from tests.factories import lead_of, make_member, make_project
from tests.triples.factories import make_snapshot


@pytest.fixture
def project(db) -> Project:
    """Ann writes; of each triple one of Rob and Rita sits first, the other second; Lena leads without a part."""
    project = make_project()
    make_snapshot(project)
    make_member(project, Role.REVIEWER, name="Rob")
    make_member(project, Role.REVIEWER, name="Rita")
    User.objects.filter(pk=lead_of(project).pk).update(name="Lena")
    make_member(project, Role.ANNOTATOR, name="Bystander")
    return project


@pytest.fixture
def ann(project) -> User:
    return make_member(project, Role.ANNOTATOR, name="Ann")
