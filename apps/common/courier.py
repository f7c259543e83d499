"""The hook through which messages to workers go out.

The Celery app is in `config`, above all who send. `config` says here how it is loaded, and a process loads it, with
Celery, when it sends its first message: most commands send none.
"""

from collections.abc import Callable
from typing import Any

_load: Callable[[], Any] | None = None


def set_courier(load: Callable[[], Any]) -> None:
    global _load
    _load = load


def load_courier() -> None:
    """Make the Celery app the one that tasks are sent by. Raises RuntimeError when none is registered."""
    if _load is None:
        raise RuntimeError("The Celery app is not registered; is apps.config installed?")
    _load()
