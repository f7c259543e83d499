"""Which rows belong to a project, by the foreign keys that lead from them to it.

Everything belongs to one project, or to none; so the shortest way from a table to the project is as good as another.
"""

from collections.abc import Collection, Iterator
from functools import cache
from typing import NamedTuple

from django.apps import apps
from django.db import connection, models

PEOPLE, PROJECTS = "accounts_user", "accounts_project"
RECORD_OF_DELETION = "accounts_projectdeletion"
LAST = ("audit_event", "audit_link", "audit_chain")
"""Deleted last, in this order: links name rows of all tables, and an event without its link would be sealed again."""


class ProjectTable(NamedTuple):
    """A table with rows of projects. `condition` is SQL on such a row, with one place for the key of the project."""

    table: str
    condition: str

    def of(self, project_id: int) -> str:
        """The condition for one project."""
        return self.condition.replace("%s", str(int(project_id)))


@cache
def project_tables() -> list[ProjectTable]:
    """The tables with rows of projects, each before those that it refers to, and that of projects last."""
    by_table = {model._meta.db_table: model for model in _models()}
    paths = {name: path for name in by_table if (path := _path(by_table, name)) is not None}
    paths.pop(RECORD_OF_DELETION)
    ordered = [name for name in _children_first(by_table, paths) if name not in LAST]
    return [
        *(ProjectTable(name, _condition(paths[name])) for name in [*ordered, *LAST]),
        ProjectTable(PROJECTS, '"id" = %s'),
    ]


@cache
def mutual_references() -> list[tuple[str, str]]:
    """Of tables that refer to each other, the table and the column that can be empty."""
    by_table = {model._meta.db_table: model for model in _models()}
    return [
        (name, field.column)
        for name, model in by_table.items()
        for field in _references(model)
        if field.null and (other := _target(field)) in by_table and other != name and _leads_to(by_table, other, name)
    ]


def count_rows(project_id: int, table: str) -> int:
    """How many rows of the table belong to the project."""
    [condition] = [each.condition for each in project_tables() if each.table == table]
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT COUNT(*) FROM "{table}" WHERE {condition}', [project_id])
        return int(cursor.fetchone()[0])


def people_of(project_id: int, tables: Collection[str]) -> str:
    """A condition on people: they are named in rows of the project, in one of these tables."""
    by_table = {model._meta.db_table: model for model in _models()}
    named = [
        f'SELECT "{field.column}" FROM "{each.table}" WHERE {each.of(project_id)}'
        for each in project_tables()
        if each.table in tables
        for field in _references(by_table[each.table])
        if _target(field) == PEOPLE
    ]
    return f'"id" IN ({" UNION ".join(named)})'


def key_ranges(each: ProjectTable, project_id: int, *, size: int) -> Iterator[tuple[int, int]]:
    """The keys of the project's rows in ranges of so many rows, as first and last, the highest first."""
    below = ""
    values = [project_id]
    while True:
        with connection.cursor() as cursor:
            cursor.execute(
                f'SELECT MIN("id"), MAX("id"), COUNT(*) FROM (SELECT "id" FROM "{each.table}"'
                f' WHERE {each.condition}{below} ORDER BY "id" DESC LIMIT {size}) AS part',
                values,
            )
            first, last, rows = cursor.fetchone()
        if not rows:
            return
        yield first, last
        below, values = ' AND "id" < %s', [project_id, first]


def _models() -> list[type[models.Model]]:
    return [
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy and model.__module__.startswith("apps.")
    ]


def _references(model: type[models.Model]) -> list[models.ForeignKey]:
    return [field for field in model._meta.concrete_fields if isinstance(field, models.ForeignKey)]


def _target(field: models.ForeignKey) -> str:
    return field.related_model._meta.db_table


def _path(by_table: dict, start: str) -> list[str] | None:
    """From a row to its project: a column, the table it names, a column of that, …, the last of them to the project."""
    waiting: list[tuple[str, list[str]]] = [(start, [])]
    seen = {start}
    for table, steps in waiting:
        for field in _references(by_table[table]):
            target = _target(field)
            if target == PROJECTS:
                return [*steps, field.column]
            if not field.null and target in by_table and target not in seen:
                seen.add(target)
                waiting.append((target, [*steps, field.column, target]))
    return None


def _condition(path: list[str]) -> str:
    column, *steps = path
    if not steps:
        return f'"{column}" = %s'
    table, *further = steps
    return f'"{column}" IN (SELECT "id" FROM "{table}" WHERE {_condition(further)})'


def _children_first(by_table: dict, names: dict[str, list[str]]) -> list[str]:
    """Each table before those that it cannot be without; what can be empty is emptied."""
    left, ordered = set(names), []
    loose = set(mutual_references())
    while left:
        needed = {
            _target(field)
            for name in left
            for field in _references(by_table[name])
            if _target(field) != name and (name, field.column) not in loose
        }
        free = sorted(left - needed)
        assert free, left
        ordered += free
        left -= set(free)
    return ordered


def _leads_to(by_table: dict, start: str, end: str) -> bool:
    waiting, seen = [start], {start}
    for table in waiting:
        if table == end:
            return True
        further = {_target(field) for field in _references(by_table[table])} & by_table.keys() - seen
        seen |= further
        waiting += sorted(further)
    return False
