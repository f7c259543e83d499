"""The hook through which apps below the audit write to it.

`audit` is above `accounts`, so `accounts` cannot import it: it calls `record` here, and `audit` registers its own
function when Django starts.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

Recorder = Callable[..., Any]
_recorder: Recorder | None = None


def set_recorder(recorder: Recorder) -> None:
    global _recorder
    _recorder = recorder


def record(
    *,
    project: Any,
    actor: Any,
    action: str,
    obj: Any,
    at: datetime,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    """Write one audit event in the running transaction. Raises RuntimeError when the audit is not installed."""
    if _recorder is None:
        raise RuntimeError("The audit has not registered its recorder; is apps.audit installed?")
    _recorder(project=project, actor=actor, action=action, obj=obj, before=before, after=after, at=at)
