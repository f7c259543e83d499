"""Payloads of a calibration for the hash chain."""

from typing import Any

from apps.audit.selectors.events import sealed_kind
from apps.calibration.models import CalibrationMessage, CalibrationVerdict
from apps.common.digests import utc_text
from apps.review.selectors.reviews import words_payload


def register() -> None:
    """Register for sealing what is append-only and therefore its own record."""
    sealed_kind(
        "calibration verdict", CalibrationVerdict, project_path="item__calibration__project", payload=verdict_payload
    )
    sealed_kind("calibration message", CalibrationMessage, project_path="calibration__project", payload=message_payload)


def verdict_payload(verdict: CalibrationVerdict) -> dict[str, Any]:
    return {
        "item": verdict.item_id,
        "person": verdict.person_id,
        "supersedes": verdict.supersedes_id,
        **words_payload(verdict),
    }


def message_payload(message: CalibrationMessage) -> dict[str, Any]:
    return {
        "calibration": message.calibration_id,
        "author": message.author_id,
        "text": message.text,
        "posted_at": utc_text(message.posted_at),
    }
