"""What most tests of gold sets begin with."""

from copy import deepcopy

import pytest

from tests.goldsets.factories import Bench, make_bench


@pytest.fixture(scope="module")
def _bench(module_rows) -> Bench:
    """Built once for the tests of a module; those that need another one build it under this name."""
    return make_bench()


@pytest.fixture
def bench(db, _bench) -> Bench:
    """A project with judged pairs and an accepted triple. What a test changes of it is undone."""
    return deepcopy(_bench)
