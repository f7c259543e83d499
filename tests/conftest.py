"""What every test shares: guards around flushes, and real data when it is there."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from tests.jobs.workers import Workers

REPO = Path(__file__).resolve().parent.parent
SHARED_DATA = Path(os.environ.get("KARAT_SHARED_DATA") or REPO.parent / "shared" / "data")


# A busy machine makes examples slow, not wrong. Under CI Hypothesis brings such a profile of its own.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
if not os.environ.get("CI"):
    settings.load_profile("patient")


def pytest_configure(config: pytest.Config) -> None:
    from django.test import TransactionTestCase, override_settings

    from tests.flushing import without_guards

    hashers = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    fast = override_settings(PASSWORD_HASHERS=hashers)
    fast.enable()

    plain_teardown = TransactionTestCase._fixture_teardown

    def teardown_without_guards(self) -> None:
        """The flush between transactional tests deletes rows that the product never deletes."""
        from django.db import connection

        with without_guards(connection):
            plain_teardown(self)

    TransactionTestCase._fixture_teardown = teardown_without_guards


NEEDS_DATABASE = {"db", "transactional_db", "live_server", "django_db_setup"}
RUNS_KARAT = {"config", "jobs"}
"""Folders whose tests start processes of Karat, which open a database of their own."""


def asks_no_database(item: pytest.Item) -> bool:
    """Whether the test cannot meet a database: without mark or fixture pytest-django keeps it from every query."""
    if item.get_closest_marker("django_db") or NEEDS_DATABASE & set(getattr(item, "fixturenames", ())):
        return False
    return not RUNS_KARAT & set(item.path.parts)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    from django.db import connection

    for item in items:
        if asks_no_database(item):
            item.add_marker(pytest.mark.once)

    skip = pytest.mark.skip(reason="needs PostgreSQL: set DATABASE_URL=postgres://…")
    if connection.vendor != "postgresql":
        for item in items:
            if item.get_closest_marker("postgres"):
                item.add_marker(skip)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with real data that the project does not ship."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"no real data at {SHARED_DATA}; set KARAT_SHARED_DATA to its folder")
    return SHARED_DATA


@pytest.fixture
def workers(tmp_path: Path) -> Iterator["Workers"]:
    """Real workers on the test's database, nudged through folders beside SQLite and through Redis beside PostgreSQL."""
    import redis
    from django.db import connection

    from tests.jobs.workers import REDIS, Workers

    broker = "filesystem://"
    if connection.vendor == "postgresql":
        broker = REDIS
        try:
            redis.Redis.from_url(REDIS).flushdb()
        except redis.ConnectionError:
            pytest.skip(f"no Redis at {REDIS}")
    crew = Workers(tmp_path, broker)
    yield crew
    crew.stop()
