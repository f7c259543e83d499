"""The world that most tests of retrieval stand in, and a server elsewhere for systems that ask one."""

from urllib.request import urlopen

import pytest
from django.test import override_settings

from apps.common.web.addresses import parse_openings
from tests.elsewhere import running
from tests.factories import lead_of, make_project
from tests.retrieval.factories import make_queries, make_snapshot


@pytest.fixture
def project(db):
    return make_project()


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
