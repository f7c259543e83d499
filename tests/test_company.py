"""A company's year with 2,000 Q&As, through the API alone: no step goes one by one where a set is meant."""

import pytest

from tests.company import FULL, SMALL, Company
from tests.company_year import STEPS, Year

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("size", [SMALL, pytest.param(FULL, marks=pytest.mark.slow)], ids=["small", "full"])
def test_a_year_goes_by_over_the_api(size):
    year = Year(Company(size))
    for step in STEPS:
        step(year)
