import pytest

from tests.judging.factories import judge_all, make_round, people_of


@pytest.fixture
def round_():
    return make_round(queries=2, blocks=3, overlap=1.0)


@pytest.fixture
def split(round_):
    """Every pair judged twice, all of them apart."""
    for person, grade in zip(people_of(round_), (0, 3), strict=True):
        judge_all(round_, person, lambda seat, g=grade: g)
    return round_
