"""Which records are sealed into the chain, and what of each is digested.

Apps above register their append-only rows from `AppConfig.ready`; the sealer and the verifier walk this
table.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Model

Payload = Callable[[Any], dict]


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

    `payload` returns plain values of what must never change, without anything that redaction may take away.
    """
    _kinds[name] = SealedKind(name, model, project_path, payload)


def kinds() -> list[SealedKind]:
    return [_kinds[name] for name in sorted(_kinds)]


def kind_named(name: str) -> SealedKind | None:
    return _kinds.get(name)
