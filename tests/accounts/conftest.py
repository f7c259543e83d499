from collections.abc import Iterator

import pytest

from apps.common.web.addresses import parse_openings
from tests.accounts.provider import FakeProvider, running
from tests.accounts.sso import Browser, configuration


@pytest.fixture(scope="session")
def running_provider() -> Iterator[FakeProvider]:
    with running() as provider:
        yield provider


@pytest.fixture
def provider(running_provider, settings) -> FakeProvider:
    """An honest provider, which the settings name, and of which nothing is remembered."""
    from apps.accounts.edges import single_sign_on

    running_provider.be_honest()
    single_sign_on._provider_of.cache_clear()
    settings.SINGLE_SIGN_ON = configuration(running_provider.issuer)
    settings.OUTBOUND_ALLOW = parse_openings([f"127.0.0.1:{running_provider.server_port}"])
    return running_provider


@pytest.fixture
def browser(provider) -> Browser:
    return Browser(provider)
