"""A version of which everything may go out, made once for all tests of a module."""

from copy import deepcopy

import pytest

from apps.goldsets.models import Version
from tests.goldsets.factories import Bench, make_bench
from tests.goldsets.public.factories import make_publishable


@pytest.fixture(scope="module")
def _publishable(module_rows) -> tuple[Bench, Version]:
    bench = make_bench()
    return bench, make_publishable(bench)


@pytest.fixture
def publishable(db, _publishable) -> tuple[Bench, Version]:
    return deepcopy(_publishable)


@pytest.fixture
def bench(publishable) -> Bench:
    """What the version was cut from."""
    return publishable[0]


@pytest.fixture
def version(publishable) -> Version:
    return publishable[1]
