"""Worlds that stories share: built once by the real actions, and laid back for each story as they were."""

from collections.abc import Callable
from typing import Any

import pytest

from tests import database


def shared(build: Callable[[], Any]):
    """A fixture that gives what `build` makes. It lays the whole database back, so nothing may be written before it."""

    @pytest.fixture
    def world(transactional_db) -> Any:
        return database.lay(f"{build.__module__}.{build.__qualname__}", build)

    return world
