"""The world that most tests of retrieval stand in, and a server elsewhere for systems that ask one."""

from urllib.request import urlopen

import pytest
from django.test import override_settings

from apps.common.web.addresses import parse_openings
from apps.retrieval.core.engines import encoder
from apps.retrieval.core.engines.remote.search import Pace
from apps.retrieval.execution import loading
from tests.factories import lead_of
from tests.remote_server import running
from tests.retrieval.factories import make_queries, make_snapshot
from tests.search_cluster import reachable_cluster


@pytest.fixture
def snapshot(project):
    """Four texts, and three queries that ask for them."""
    make_queries(project)
    return make_snapshot(project)


@pytest.fixture
def lead(client, project):
    """A browser that the lead is signed in with."""
    client.force_login(lead_of(project))
    return client


@pytest.fixture(scope="module")
def port():
    with running() as port:
        yield port


@pytest.fixture
def opened(port):
    """The server has forgotten what it was asked, and its address is on the operator's list."""
    urlopen(f"http://127.0.0.1:{port}/forget").read()
    with override_settings(OUTBOUND_ALLOW=parse_openings([f"127.0.0.1:{port}"])):
        yield


@pytest.fixture
def cluster():
    """A search server to load snapshots into."""
    with reachable_cluster() as cluster:
        yield cluster


@pytest.fixture
def quick_loads(monkeypatch):
    """No pauses of seconds, and pieces of two passages."""
    monkeypatch.setattr(loading, "PACE", Pace(at_once=1, tries=3, first_wait=0.01, connect=1, read=1, whole=1))
    monkeypatch.setattr(loading, "MOST_PASSAGES", 2)


@pytest.fixture
def with_packages(monkeypatch):
    """As far as making a system goes; nothing is loaded for that."""
    monkeypatch.setattr(encoder, "PACKAGES", ())


@pytest.fixture
def without_packages(monkeypatch):
    monkeypatch.setattr(encoder, "PACKAGES", ("a_package_that_is_not_there",))
