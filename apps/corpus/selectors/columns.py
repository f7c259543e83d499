"""The choice of columns of a table: of this import, of an earlier table with the same headings, or proposed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from apps.accounts.models import Project
from apps.common.digests import digest_of_lines
from apps.corpus.core.columns import ColumnRole, TableChoice, propose_columns
from apps.corpus.models import RememberedColumns


class SettledChoice(NamedTuple):
    """The choice that counts, and whether it is that of an earlier table."""

    choice: TableChoice
    is_remembered: bool


def headings_digest(headings: Sequence[str]) -> str:
    """What two tables with the same headings, in any order, have in common."""
    return digest_of_lines(sorted(heading.casefold() for heading in headings))


def are_remembered(project: Project, kind: str, headings: Sequence[str]) -> bool:
    """Whether an earlier table had these headings, and its columns were remembered."""
    digest = headings_digest(headings)
    return RememberedColumns.objects.filter(project=project, kind=kind, headings=digest).exists()


def settled_choice(
    project: Project,
    kind: str,
    roles: Sequence[ColumnRole],
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    options: Mapping[str, Any],
    *,
    known: Mapping[str, str] = MappingProxyType({}),
) -> SettledChoice:
    """The choice in the options where it is for these headings, else the remembered one, else a proposal.

    A choice for some of the headings goes before what the form of the file says of them (`known`), and both before what
    is proposed for the others.
    """
    given = TableChoice.from_json(options.get("table") or {})
    if set(given.columns) == set(headings):
        return SettledChoice(_in_order(given, headings), is_remembered=False)
    stored = RememberedColumns.objects.filter(project=project, kind=kind, headings=headings_digest(headings)).first()
    if stored and not given.columns and set((earlier := TableChoice.from_json(stored.choice)).columns) == set(headings):
        choice = replace(earlier, sheet=given.sheet, answers=())
        return SettledChoice(_in_order(choice, headings), is_remembered=True)
    proposed = propose_columns(roles, headings, rows)
    many = {role.name for role in roles if role.is_many}
    chosen = {role for role in given.columns.values() if role not in many}
    named = {heading: role for heading, role in known.items() if role not in chosen} | dict(given.columns)
    named = {heading: role for heading, role in named.items() if heading in proposed}
    free = {heading: "" if role in named.values() and role not in many else role for heading, role in proposed.items()}
    return SettledChoice(replace(given, columns=free | named), is_remembered=False)


def _in_order(choice: TableChoice, headings: Sequence[str]) -> TableChoice:
    """The choice with its columns in the order of the table, which a database may not keep."""
    return replace(choice, columns={heading: choice.columns[heading] for heading in headings})
