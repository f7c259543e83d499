"""Rows that are made once for all tests of a module."""

from collections.abc import Callable
from copy import deepcopy
from inspect import Parameter, Signature
from typing import Any

import pytest


def rows_of_module(make: Callable[[], Any]) -> Any:
    """A fixture that is made once for the module: each test has a copy, and what it changes is taken back after it."""
    kept = f"_{make.__name__}"

    def made_once(module_rows: None) -> Any:
        return make()

    def copied(**fixtures: Any) -> Any:
        return deepcopy(fixtures[kept])

    parameters = [Parameter(name, Parameter.KEYWORD_ONLY) for name in ("db", kept)]
    copied.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    make.__globals__[kept] = pytest.fixture(scope="module", name=kept)(made_once)  # pytest finds it in the module
    return pytest.fixture(name=make.__name__)(copied)
