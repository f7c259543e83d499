"""A server elsewhere, for tests of systems that ask one."""

from urllib.request import urlopen

import pytest
from django.test import override_settings

from apps.common.addresses import parse_openings
from tests.elsewhere import running


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
