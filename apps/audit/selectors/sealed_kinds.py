"""The registry of the kinds of records that are sealed, and of the values that are digested.

Apps above register their append-only rows from `AppConfig.ready`; the sealer and the verifier read this registry.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Model

from apps.common.digests import utc_text

Payload = Callable[[Any], dict]
Check = Callable[[Any], Iterable[str]]


@dataclass(frozen=True)
class SealedKind:
    """`project_path` is the lookup from the record to its project's key, such as "round__project"."""

    name: str
    model: type[Model]
    project_path: str
    payload: Payload


_kinds: dict[str, SealedKind] = {}


def sealed_kind(name: str, model: type[Model], *, project_path: str, payload: Payload) -> None:
    """Seal the rows of `model` as `name`.

    `payload` returns the plain values that must never change, without anything that redaction may remove. It is given a
    record or the record's own columns by name, so it reads nothing of another table.
    """
    _kinds[name] = SealedKind(name, model, project_path, payload)


_checks: dict[str, Check] = {}


def digest_check(name: str, check: Check) -> None:
    """Register a check for `verify-audit`, which recomputes the digests of a project's frozen objects.

    It yields a sentence for each object that differs from what the sealed events recorded.
    """
    _checks[name] = check


def digest_checks() -> list[Check]:
    return [_checks[name] for name in sorted(_checks)]


def kinds() -> list[SealedKind]:
    return [_kinds[name] for name in sorted(_kinds)]


def kind_named(name: str) -> SealedKind | None:
    return _kinds.get(name)


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
