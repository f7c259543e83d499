"""What of an event is digested."""

from datetime import UTC
from typing import Any


def event_payload(event: Any) -> dict:
    return {
        "project": event.project_id,
        "actor": event.actor_id,
        "action": event.action,
        "object_type": event.object_type,
        "object_id": event.object_id,
        "object_label": event.object_label,
        "before": event.before,
        "after": event.after,
        "at": event.at.astimezone(UTC).isoformat(timespec="microseconds"),
        "request_id": event.request_id,
    }
