"""Where the published agreement examples are kept, and how they are read."""

import json
from typing import Any

import pytest

from tests.conftest import SHARED_DATA


def published_cases(offered: frozenset[str]) -> list[Any]:
    """One parameter for each published result of the kinds offered; a single skipped one without the file."""
    path = SHARED_DATA / "agreement_reference.json"
    if not path.exists():
        return [pytest.param({}, {}, marks=pytest.mark.skip(reason=f"{path} is not there"))]
    cases = json.loads(path.read_text())["cases"]
    return [
        pytest.param(case, result, id=f"{case['id']}-{result['stat']}")
        for case in cases
        for result in case["results"]
        if result["stat"] in offered
    ]
