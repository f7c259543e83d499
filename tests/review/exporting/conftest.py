import pytest

from tests.triples.factories import make_team


@pytest.fixture
def team():
    return make_team()
