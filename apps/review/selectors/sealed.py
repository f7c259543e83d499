"""Payloads of verdicts, messages and resolutions for the hash chain."""

from typing import Any

from apps.audit.selectors.sealed_kinds import sealed_kind
from apps.common.digests import utc_text
from apps.review.models import AnyVerdict, DisputeMessage, Resolution, Verdict


def register() -> None:
    """Register for sealing what is append-only and therefore its own record."""
    sealed_kind("verdict", Verdict, project_path="revision__triple__project", payload=verdict_payload)
    sealed_kind("message", DisputeMessage, project_path="triple__project", payload=message_payload)
    sealed_kind("resolution", Resolution, project_path="triple__project", payload=resolution_payload)


def verdict_payload(verdict: Verdict) -> dict[str, Any]:
    return {
        "revision": verdict.revision_id,
        "seat": verdict.seat_id,
        "reviewer": verdict.reviewer_id,
        "supersedes": verdict.supersedes_id,
        **words_payload(verdict),
    }


def words_payload(verdict: AnyVerdict) -> dict[str, Any]:
    """Its text, its idempotency key, and its time."""
    return {
        "choice": verdict.choice,
        "reasons": verdict.reasons,
        "category": verdict.category,
        "note": verdict.note,
        "key": verdict.idempotency_key,
        "given_at": utc_text(verdict.given_at),
    }


def message_payload(message: DisputeMessage) -> dict[str, Any]:
    return {
        "triple": message.triple_id,
        "round": message.round,
        "author": message.author_id,
        "text": message.text,
        "posted_at": utc_text(message.posted_at),
    }


def resolution_payload(resolution: Resolution) -> dict[str, Any]:
    return {
        "triple": resolution.triple_id,
        "revision": resolution.revision_id,
        "round": resolution.round,
        "kind": resolution.kind,
        "category": resolution.category,
        "decided_by": resolution.decided_by_id,
        "reason": resolution.reason,
        "resolved_at": utc_text(resolution.resolved_at),
    }
