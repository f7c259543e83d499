"""The scene that most tests of scores and of reports begin with."""

from copy import deepcopy

import pytest

from tests.evaluation.factories import Scene, make_scene


@pytest.fixture(scope="module")
def _scene(module_rows, request) -> Scene:
    """As `make_scene` makes it, with the options that the module names in SCENE."""
    return make_scene(**getattr(request.module, "SCENE", {}))


@pytest.fixture
def scene(db, _scene) -> Scene:
    return deepcopy(_scene)
