from collections.abc import Iterator
from dataclasses import replace

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


@pytest.fixture
def allow(settings, provider):
    """Change the settings of single sign-on."""

    def change(**options) -> None:
        settings.SINGLE_SIGN_ON = replace(settings.SINGLE_SIGN_ON, **options)

    return change
