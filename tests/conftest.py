"""What every test shares: a database of its own, and real data when it is there."""

import gc
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from django.test import Client

    from apps.accounts.models import Project
    from tests.jobs.workers import Workers
    from tests.s3 import There
    from tests.world import World

REPO = Path(__file__).resolve().parent.parent
SHARED_DATA = Path(os.environ.get("KARAT_SHARED_DATA") or REPO.parent / "shared" / "data")


# A busy machine makes examples slow, not wrong.
settings.register_profile(
    "all", deadline=None, derandomize=bool(os.environ.get("CI")), suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("few", parent=settings.get_profile("all"), max_examples=25)


gc.disable()  # up to the end of the collection, most of whose objects stay


def pytest_configure(config: pytest.Config) -> None:
    from django.test import override_settings

    from tests import strict_templates

    settings.load_profile("all" if config.option.all else "few")
    strict_templates.enforce()
    # Otherwise each new client reads the names of all files in `static/` first, which takes 25 ms.
    override_settings(WHITENOISE_AUTOREFRESH=True).enable()
    override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]).enable()


@pytest.fixture(autouse=True)
def _no_fault_of_a_proxy_is_remembered() -> None:
    """A process remembers what its proxy did not send, and the page of the server tells it."""
    from apps.common.web import requests

    requests.seen.clear()


@pytest.fixture(scope="session", autouse=True)
def _nobody_is_noted() -> None:
    """The first request of a session in some minutes notes that it is used, which no test of another thing counts.

    Those of it put the real one back: `monkeypatch.setattr(visits, "uses", visits.Uses())`.
    """
    from apps.accounts.access import sessions

    class Noted(sessions.Uses):
        def are_due(self, session_key: str, at: datetime) -> bool:
            return False

    sessions.uses = Noted()


@pytest.fixture(scope="session")
def database_cache(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the migrated template is kept from one run to the next; for this run alone with `-p no:cacheprovider`."""
    cache: pytest.Cache | None = getattr(pytestconfig, "cache", None)
    return cache.mkdir("database") if cache else tmp_path_factory.mktemp("database")


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment, django_db_blocker, database_cache: Path, pytestconfig: pytest.Config
) -> Iterator[None]:
    """A database of this process. What a test commits is taken away by our own means, which keep the guards."""
    from django.test import TransactionTestCase

    from tests import database

    with django_db_blocker.unblock():
        database.create(database_cache)
    TransactionTestCase._fixture_teardown = lambda self: database.empty(database_cache)
    yield
    with django_db_blocker.unblock():
        database.destroy()
        if not hasattr(pytestconfig, "workerinput"):
            database.destroy_template()


@pytest.fixture(scope="module")
def module_rows(django_db_setup, django_db_blocker) -> Iterator[None]:
    """What fixtures of a module make on top of this is there for each of its tests, and gone after the last.

    A test's own changes are taken back as always. Give each test a deep copy of the objects, since those are not.
    """
    from django.db import transaction

    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture
def project(db) -> "Project":
    """A project with one lead."""
    from tests.factories import make_project

    return make_project()


@pytest.fixture
def lead_signed_in(project: "Project", client: "Client") -> None:
    """The lead of the project is signed in."""
    from tests.factories import lead_of

    client.force_login(lead_of(project))


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker, database_cache: Path) -> Iterator["World"]:
    """Two demo projects, and somebody of every standing who asks. Built once in a run; each module has a copy."""
    from tests import database
    from tests.world import build_world, sign_in

    with django_db_blocker.unblock(), database.world("two-demos", build_world, database_cache) as world:
        sign_in(world)
        yield world


def pytest_sessionfinish(session: pytest.Session) -> None:
    """The process that started the others takes away what they copied from."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash.get(LEFT_OUT, 0)
    if session.config.getoption("numprocesses", None) and not hasattr(session.config, "workerinput"):
        from pytest_django.plugin import blocking_manager_key

        from tests import database

        with session.config.stash[blocking_manager_key].unblock():
            database.destroy_template()


COMMITS = {"transactional_db", "live_server", "workers"}
BOTH = {"actions", "concurrency", "execution", "freezing", "guards", "heads", "importing", "integrity", "judgements"}
BOTH |= {"locks", "migrations", "queues", "races", "search", "sealing", "seats", "selectors", "submitting", "verdicts"}
BOTH |= {"worlds", "workflow", "jobs", "blindness", "exporting", "statements", "oidc"}
"""What is tested on both: what they refuse and lock, jobs, what is written and read, two promises, and who gets in."""
FILLED = {"jobs", "restoring"}
"""Of those whose database is filled for all tests of a module, which are tested on both."""
VIEWS = {"pages", "page", "views", "api", "openapi"}
"""Pages and the API stand on what is tested on both databases by itself."""


def words_of(item: pytest.Item) -> set[str]:
    """What its file and folders are called."""
    return {*item.path.parent.parts[-2:], *item.path.stem.split("_")}


def is_of_a_view(item: pytest.Item) -> bool:
    """Whether it looks at the pages or the API of one app. The matrix asks every endpoint, as everybody."""
    return item.path.parent.name != "tests" and bool(words_of(item) & VIEWS)


def depends_on_database(item: pytest.Item) -> bool:
    """Whether the test could turn out differently on the other database: its subject does, or it commits."""
    words = words_of(item)
    if item.get_closest_marker("postgres"):
        return True
    if words & VIEWS:
        return False
    mark = item.get_closest_marker("django_db")
    fixtures = set(getattr(item, "fixturenames", ()))
    if not mark and not fixtures & {*COMMITS, "db"}:
        return bool(words & FILLED)
    return bool(words & BOTH or fixtures & COMMITS or (mark and mark.kwargs.get("transaction")))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="the slow tests too: kills, long walks, crawls of every page")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    from django.db import connection

    for item in items:
        if not depends_on_database(item):
            item.add_marker(pytest.mark.once)
        if is_of_a_view(item):
            item.add_marker(pytest.mark.slow)

    skip = pytest.mark.skip(reason="needs PostgreSQL: set DATABASE_URL=postgres://…")
    if connection.vendor != "postgresql":
        for item in items:
            if item.get_closest_marker("postgres"):
                item.add_marker(skip)

    if leaves_slow_ones_out(config):
        left = [item for item in items if item.get_closest_marker("slow")]
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=left)
        config.stash[LEFT_OUT] = len(left)
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


LEFT_OUT = pytest.StashKey[int]()


def leaves_slow_ones_out(config: pytest.Config) -> bool:
    """Whoever names a file, a test or a mark gets what they name."""
    return not (config.option.all or config.option.markexpr or any(".py" in argument for argument in config.args))


def pytest_collection_finish(session: pytest.Session) -> None:
    """What is there when the tests begin stays to the end: the collector need not look at it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node) -> None:
    node.config.stash[LEFT_OUT] = node.workeroutput.get("left_out", 0) if hasattr(node, "workeroutput") else 0


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    if left := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(f"{left} slow tests were left out. All of them: python3 manage.py test --all")


@pytest.fixture
def two_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gates are decided on two queries, not six, for a small world in a test of what follows a decision."""
    monkeypatch.setattr("apps.gates.core.decisions.FEWEST_FOR_A_VERDICT", 2)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with real data that the project does not ship."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"no real data at {SHARED_DATA}; set KARAT_SHARED_DATA to its folder")
    return SHARED_DATA


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    """The address of a server that speaks S3."""
    from tests.s3 import running

    with running() as address:
        yield address


@pytest.fixture
def bucket(s3: str, monkeypatch: pytest.MonkeyPatch) -> "There":
    """An empty bucket, and the variables that lead to it."""
    from tests.s3 import new_bucket, variables

    for name, value in variables(s3).items():
        monkeypatch.setenv(name, value)
    return new_bucket(s3)


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
