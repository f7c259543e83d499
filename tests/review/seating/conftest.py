import pytest

from tests.review.seating.moving import set_policy
from tests.triples.factories import make_team


@pytest.fixture
def project(db):
    return make_team(reviewers=3)


@pytest.fixture
def pulled(project):
    set_policy(project, review_assignment="pull")
    return project
