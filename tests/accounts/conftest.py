from collections.abc import Iterator

import pytest

from tests.accounts.provider import FakeProvider, running
from tests.accounts.sso import Browser, name_in_settings


@pytest.fixture(scope="session")
def running_provider() -> Iterator[FakeProvider]:
    with running() as provider:
        yield provider


@pytest.fixture
def provider(running_provider, settings) -> FakeProvider:
    """An honest provider, which the settings name, and of which nothing is remembered."""
    running_provider.be_honest()
    name_in_settings(running_provider, settings)
    return running_provider


@pytest.fixture
def browser(provider) -> Browser:
    return Browser(provider)
