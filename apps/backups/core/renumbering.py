"""Gives the rows of a project the keys that they have on the server which takes it in."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from apps.audit.core.numbering import PEOPLE, Numbering
from apps.backups.core.kinds import Kind
from apps.backups.core.rows import Table

Row = list[Any]
Change = Callable[[Any], Any]
Ways = Mapping[str, Sequence[str]]
"""The way to each key in a value, and the tables of which one has it: `.name` for a value of an object, `[]` for each
of a list and `[0]` for its first."""
NO_KEY = 0
"""Stands where there is no key, or none yet."""


def renumbered(
    table: Table, numbering: Numbering, *, references: Mapping[str, str], ways: Mapping[str, Ways]
) -> Callable[[Row], Row]:
    """What gives a row of this table, in the common form, its keys here, in place.

    `references` names the table of each foreign key by its column, `ways` those of keys in other columns. Tables that
    share a way have to be renumbered alike. Raises KeyError for the key of a row that does not come along.
    """
    changes: list[tuple[int, Change]] = []
    for place, column in enumerate(table.columns):
        if column.name == table.key:
            changes.append((place, _key(numbering, table.name)))
        elif column.name in references:
            changes.append((place, _key(numbering, references[column.name])))
        elif column.name in ways:
            changes.append((place, _value(numbering, ways[column.name], is_json=column.kind == Kind.JSON)))
    return lambda row: _changed(row, changes)


def _changed(row: Row, changes: Sequence[tuple[int, Change]]) -> Row:
    for place, change in changes:
        if row[place] is not None:
            row[place] = change(row[place])
    return row


def _key(numbering: Numbering, table: str) -> Change:
    return lambda key: numbering.here(table, key)


def _key_or_none(numbering: Numbering, table: str) -> Change:
    """Of a table whose rows stay behind, a key that no row has: here it could be that of another row."""
    return _key(numbering, table) if table in numbering.distances or table == PEOPLE else lambda key: NO_KEY


def _value(numbering: Numbering, ways: Ways, *, is_json: bool) -> Change:
    steps = [(_steps(way), _key_or_none(numbering, tables[0])) for way, tables in ways.items()]

    def change(value: Any) -> Any:
        inner = value[0] if is_json else value
        for way, of_key in steps:
            inner = _along(inner, way, of_key)
        return [inner] if is_json else inner

    return change


def _steps(way: str) -> list[str]:
    """`.runs[].run` as `runs`, `[]`, `run`."""
    return [step for step in way.replace("[", ".[").split(".") if step]


def _along(value: Any, way: Sequence[str], change: Change) -> Any:
    """The value with each key at the end of the way changed; where the way does not lead on, nothing is."""
    if not way:
        return _at_the_end(value, change)
    step, *further = way
    if step == "[]" and isinstance(value, list):
        return [_along(each, further, change) for each in value]
    if step == "[0]" and isinstance(value, list) and value:
        return [_along(value[0], further, change), *value[1:]]
    if isinstance(value, dict) and step in value:
        return {**value, step: _along(value[step], further, change)}
    return value


def _at_the_end(value: Any, change: Change) -> Any:
    if isinstance(value, str) and value.isdecimal() and int(value) > NO_KEY:  # as a form has sent it
        return str(change(int(value)))
    is_key = isinstance(value, int) and not isinstance(value, bool) and value > NO_KEY
    return change(value) if is_key else value
