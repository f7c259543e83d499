"""What several tests of the dashboard begin with."""

import pytest
from django.core.cache import cache


@pytest.fixture(autouse=True)
def _empty_cache():
    cache.clear()


@pytest.fixture
def monitor(settings) -> dict[str, str]:
    """The headers of a monitor that may read everything."""
    settings.HEALTH_TOKEN = "sesame-open-3"
    return {"Authorization": "Bearer sesame-open-3"}
