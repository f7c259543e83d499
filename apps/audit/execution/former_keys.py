"""The digests of records that were sealed on another server, under the keys that they had there."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from django.apps import apps
from django.db.models import Model

from apps.audit.core.numbering import PROJECTS, Numbering, numbering_of
from apps.audit.execution.sealing import record_digest
from apps.audit.models import Chain, Event
from apps.audit.selectors.sealed_kinds import SealedKind

CHANGED = ""
"""The digest of a record that names rows which did not come with it."""


def numberings_of(chain: Chain) -> list[Numbering]:
    """From the keys here to those under which the chain was sealed: one for each move, the last move first."""
    return [numbering_of(stored) for stored in chain.moves or ()]


def digest_there(kind: SealedKind, row: Model, project_id: int | None, numberings: Sequence[Numbering]) -> str:
    """The digest of a record as it was when it was sealed; CHANGED where it cannot have been sealed so."""
    values = {field.attname: getattr(row, field.attname) for field in kind.model._meta.concrete_fields}
    try:
        for numbering in numberings:
            values = _there(kind.model, values, numbering)
            project_id = None if project_id is None else numbering.there(PROJECTS, project_id)
    except (KeyError, ValueError):
        return CHANGED
    return record_digest(kind, SimpleNamespace(pk=values[kind.model._meta.pk.attname], **values), project_id)


def _there(model: type[Model], values: dict[str, Any], numbering: Numbering) -> dict[str, Any]:
    there = dict(values)
    for field in model._meta.concrete_fields:
        target = model if field.primary_key else field.related_model
        if target is not None and (key := values[field.attname]) is not None:
            there[field.attname] = numbering.there(target._meta.db_table, key)
    if model is Event:
        there["object_id"] = numbering.name_there(table_of(values["object_type"]), values["object_id"])
    return there


def table_of(object_type: str) -> str:
    """The table of the objects that an event names so; "" for a type that this version does not know."""
    try:
        return apps.get_model(object_type)._meta.db_table
    except (LookupError, ValueError):
        return ""
