"""How many random walks the state machines take, how long they are, and how often races are run.

The suite takes few, the same ones each time. `KARAT_TEST_LENGTH=4` takes four times as many, each four times as long,
and others each time: for a change of a workflow, and before a release.
"""

import os
from typing import Any

from hypothesis import HealthCheck, settings

LENGTH = max(1, int(os.environ.get("KARAT_TEST_LENGTH", "1")))


def often(usually: int, with_all: int) -> int:
    """How often: `usually`, and with --all."""
    return with_all if settings.get_current_profile_name() == "all" else usually


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
