"""Guards that let go of the rows of a project that is being deleted, and of no others.

A project goes as a whole or not at all: its rows can be deleted from the moment when its deletion is on record
(`accounts_projectdeletion`, whose rows nobody can change or delete) until it is finished.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib import import_module

from apps.common.database.triggers import Guard


def on_deletion(*modules: str) -> list[Guard]:
    """The guards on deletion that these migrations declare, as "app 0002_guards"."""
    named = [import_module("apps.{}.migrations.{}".format(*module.split())) for module in modules]
    return [guard for module in named for guard in module.GUARDS if guard.event == "DELETE"]


def with_project(guards: Iterable[Guard], paths: Mapping[str, str]) -> list[Guard]:
    """The guards, open to rows of projects that are being deleted.

    A path leads from a row of the table to the key of its project: its column, or its column, the table that it names,
    and a column of that, and so on, as "round_id judging_round project_id".
    """
    return [_with_project(guard, paths[guard.table]) for guard in guards]


def _with_project(guard: Guard, path: str) -> Guard:
    being_deleted = (
        'EXISTS (SELECT 1 FROM "accounts_projectdeletion" WHERE "finished_at" IS NULL'
        f' AND "project_id" = {_project(path)})'
    )
    condition = f"({guard.condition}) AND NOT {being_deleted}" if guard.condition else f"NOT {being_deleted}"
    return replace(guard, condition=condition, and_truncation=guard.and_truncation or not guard.condition)


def _project(path: str) -> str:
    column, *steps = path.split()
    value = f'OLD."{column}"'
    for table, further in zip(steps[::2], steps[1::2], strict=True):
        value = f'(SELECT "{further}" FROM "{table}" WHERE "id" = {value})'
    return value
