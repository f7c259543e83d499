"""Reports are of scores, so their tests begin with the same scene."""

from tests.evaluation.conftest import _scene, scene

__all__ = ["_scene", "scene"]
