"""The description of the API: made without a warning, every name in it once."""

from collections import Counter

import pytest
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def description() -> dict:
    GENERATOR_STATS.reset()
    with GENERATOR_STATS.silence():
        return SchemaGenerator().get_schema(request=None, public=True)


def test_it_is_made_without_a_warning(description):
    assert [*GENERATOR_STATS._warn_cache, *GENERATOR_STATS._error_cache] == []


def test_every_operation_has_a_name_of_its_own(description):
    names = Counter(operation["operationId"] for path in description["paths"].values() for operation in path.values())

    assert [name for name, times in names.items() if times > 1] == []


def test_a_system_elsewhere_is_described_by_its_kind(description):
    parts = description["components"]["schemas"]

    assert parts["RemoteParameters"]["oneOf"] == [
        {"$ref": "#/components/schemas/HttpParameters"},
        {"$ref": "#/components/schemas/OpenSearchParameters"},
    ]
    assert set(parts["RemoteAuth"]["properties"]) == {"kind", "secret", "user", "header"}
