"""Actions that write events and sign chain heads. No action changes an event."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models, transaction

from apps.accounts.models import Project, User
from apps.audit.execution import signed_checkpoints
from apps.audit.execution.notify_sealer import seal_soon
from apps.audit.execution.signed_checkpoints import ChainHead
from apps.audit.execution.verification import first_break
from apps.audit.models import Chain, Event
from apps.common.errors import IllegalStep
from apps.common.web.logs import current_request_id

LABEL_LENGTH = 200


def record(
    *,
    project: Project | None,
    actor: User | None,
    action: str,
    obj: models.Model | None = None,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
    at: datetime,
) -> Event:
    """Write one event in the transaction of the change. `actor` is None when Karat itself acts.

    `before` and `after` are the values that changed; times, ids and decimals in them are stored as text.
    """
    event = _event(project, actor, action, obj, before, after, at)
    event.save(force_insert=True)
    transaction.on_commit(seal_soon, robust=True)
    return event


def save_step(
    row: Any,
    step: str,
    target: str | None,
    *,
    project: Project,
    actor: User | None,
    action: str,
    after: Mapping[str, Any] = MappingProxyType({}),
    at: datetime,
    **changes: Any,
) -> None:
    """Store the state that a step leads to, with `changes` to other fields of the locked row, and write the event.

    Raises IllegalStep for no target: the table of states does not list the step.
    """
    if target is None:
        raise IllegalStep(f"{row} is {row.get_state_display()}: “{step}” is no step from there.")
    before = row.state
    for name, value in {"state": target, **changes}.items():
        setattr(row, name, value)
    row.save(update_fields=["state", *changes])
    states = {"before": {"state": before}, "after": {"state": target, **after}}
    record(project=project, actor=actor, action=action, obj=row, at=at, **states)


def record_all(
    *,
    project: Project | None,
    actor: User | None,
    action: str,
    changes: Sequence[tuple[models.Model, dict[str, Any], dict[str, Any]]],
    at: datetime,
) -> None:
    """Write one event for each object of the same change, as (object, before, after), in one statement."""
    Event.objects.bulk_create(_event(project, actor, action, *change, at) for change in changes)
    transaction.on_commit(seal_soon, robust=True)


def _event(
    project: Project | None,
    actor: User | None,
    action: str,
    obj: models.Model | None,
    before: dict[str, Any] | None,
    after: dict[str, Any] | None,
    at: datetime,
) -> Event:
    return Event(
        project=project,
        actor=actor,
        action=action,
        object_type=obj._meta.label_lower if obj is not None else "",
        object_id=str(obj.pk) if obj is not None else "",
        object_label=str(obj)[:LABEL_LENGTH] if obj is not None else "",
        before=_plain(before),
        after=_plain(after),
        at=at,
        request_id=current_request_id(),
    )


@transaction.atomic
def sign_heads(*, projects: Sequence[Project | None], at: datetime) -> list[str]:
    """Accept the chains of these projects as they are, and return the names of those whose heads were signed again.

    For use after a restore of an older copy, or with another audit key. A chain with a broken link is not signed. An
    event records the fault and the previous note of the head.
    """
    signed = []
    for chain in Chain.objects.select_for_update(of=("self",)).filter(_of(projects)).order_by("pk"):
        if signed_checkpoints.fault_of(chain) is None or first_break(chain) is not None:
            continue
        name, project = chain.name, chain.project
        noted = signed_checkpoints.noted_head(name)
        before = {"fault": signed_checkpoints.fault_of(chain), "noted": noted._asdict() if noted else None}
        signed_checkpoints.sign(chain)
        chain.save(update_fields=["signature"])
        head = ChainHead(chain.length, chain.digest)
        record(
            project=project, actor=None, action="audit.signed", obj=chain, before=before, after=head._asdict(), at=at
        )
        transaction.on_commit(partial(signed_checkpoints.note, name, head))
        signed.append(project.slug if project else name)
    return signed


def _of(projects: Sequence[Project | None]) -> models.Q:
    """The chains of these projects; None is that of records of no project."""
    own = models.Q(project__in=[project for project in projects if project is not None])
    return own | models.Q(project=None) if None in projects else own


def _plain(values: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if values is None else json.loads(json.dumps(values, cls=DjangoJSONEncoder, allow_nan=False))
