"""What most tests of gold sets begin with."""

from copy import deepcopy

import pytest

from apps.goldsets.enums import VersionState
from apps.goldsets.models import Version
from tests.goldsets.factories import Bench, make_bench, make_version


@pytest.fixture(scope="module")
def _bench(module_rows) -> Bench:
    """Built once for the tests of a module; those that need another one build it under this name."""
    return make_bench()


@pytest.fixture
def bench(db, _bench) -> Bench:
    """A project with judged pairs and an accepted triple. What a test changes of it is undone."""
    return deepcopy(_bench)


@pytest.fixture(scope="module")
def _version(module_rows) -> Version:
    return make_version(VersionState.RELEASED, make_bench(queries=6, triples=2), test_share=0.0)


@pytest.fixture
def version(db, _version) -> Version:
    """A released version of six graded queries and two Q&As with questions of their own, all dev."""
    return deepcopy(_version)
