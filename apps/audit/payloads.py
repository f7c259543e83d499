"""What of an event is digested."""

from typing import Any

from apps.common.digests import utc_text


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
        "at": utc_text(event.at),
        "request_id": event.request_id,
    }
