"""How many random walks the state machines take, and how long they are.

The suite takes few, the same ones each time. `KARAT_TEST_LENGTH=4` takes four times as many, each four times as long,
and others each time: for a change of a workflow, and before a release.
"""

import os
from typing import Any

from hypothesis import HealthCheck, settings

LENGTH = max(1, int(os.environ.get("KARAT_TEST_LENGTH", "1")))


def walks(examples: int, *, steps: int | None = None, **options: Any) -> settings:
    """Hypothesis' settings of so many walks; `steps` are those of a state machine, at most, in each."""
    if steps:
        options["stateful_step_count"] = steps * LENGTH
    return settings(
        max_examples=examples * LENGTH,
        deadline=None,
        derandomize=LENGTH == 1,
        suppress_health_check=list(HealthCheck),
        **options,
    )
