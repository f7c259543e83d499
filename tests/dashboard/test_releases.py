"""The latest gold version in a few lines."""

import pytest

from apps.dashboard.pages import quality
from apps.goldsets.enums import VersionState
from tests.goldsets.factories import make_bench, make_version

pytestmark = pytest.mark.django_db


def test_one_query_is_written_in_the_singular():
    version = make_version(VersionState.RELEASED, make_bench(queries=1))

    facts = dict(quality.latest(version.gold_set.project, with_draft=False).facts)

    assert facts["Contains"].startswith("1 query, ")
