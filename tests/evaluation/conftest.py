"""The scene that most tests of scores and of reports begin with, and the version of those of hits."""

from copy import deepcopy

import pytest

from apps.goldsets.enums import VersionState
from apps.goldsets.models import Version
from tests.evaluation.factories import Scene, make_scene
from tests.goldsets.factories import make_bench, make_version
from tests.module_rows import rows_of_module


@pytest.fixture(scope="module")
def _scene(module_rows, request) -> Scene:
    """As `make_scene` makes it, with the options that the module names in SCENE."""
    return make_scene(**getattr(request.module, "SCENE", {}))


@pytest.fixture
def scene(db, _scene) -> Scene:
    return deepcopy(_scene)


@rows_of_module
def version() -> Version:
    """Released, of three Q&As, all of them on dev."""
    return make_version(VersionState.RELEASED, make_bench(triples=3), test_share=0.0)
