"""Queries from a table of any shape: its rows as queries, and what a person has to know or decide."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.utils.text import slugify

from apps.accounts.models import Project
from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.json_tables import is_code
from apps.common.files.near_ids import Proposal, propose_fit
from apps.common.files.tables import MAX_ID
from apps.common.files.tabular import TableFile
from apps.common.text.wording import plural
from apps.common.text.words import plain_words
from apps.corpus.core.import_plans import TableChoice, plain_heading
from apps.corpus.core.table_plans import (
    DONE,
    LEAVE_FAULTY,
    STOP,
    WARN,
    TableMessage,
    TableView,
    taking,
    undoing,
    unread_rows,
)
from apps.corpus.execution.import_reading import open_mapped
from apps.queries.core import table_roles as roles
from apps.queries.core.naming import Facet, QueryNames, parse_facets
from apps.queries.core.strata import LONGEST_DAY, TYPED, checked_day
from apps.queries.formats.records import QueryRow
from apps.queries.models import Query
from apps.queries.selectors import names_in, source_slugs

KIND = "queries"
FIT_IDS, MAKE_SOURCES = "fit-ids", "make-sources"
LIMITS = {roles.LABEL: 200, roles.GROUP: 120, **TYPED}


AS_QUERY_LOG = "Each is a query log, unless its name is another kind of source. Change that under Content, Permissions."


class QueryTable(NamedTuple):
    """The queries of a table, before anything is compared or stored. `doubled` are rows with the id of another one."""

    rows: list[QueryRow]
    view: TableView
    doubled: Sequence[InputError] = ()


class _Reading(NamedTuple):
    """What rows are read with, and what was noticed on the way, by kind. `unknown` counts rows by what is no source."""

    choice: TableChoice
    names: QueryNames
    fits: Mapping[str, str]
    sources: Mapping[str, str]
    noticed: dict[str, list[str]]
    unknown: Counter[str]

    def note(self, kind: str, words: str) -> None:
        self.noticed.setdefault(kind, []).append(words)


def read_query_table(source: TableFile, *, project: Project, options: Mapping[str, Any]) -> QueryTable:
    """Read a table of queries. Raises InputError for what is no table, or when nothing names the queries."""
    table = open_mapped(source, project=project, kind=KIND, roles=roles.ROLES, options=options)
    view, choice = table.view, table.view.choice
    view.hows = {heading: roles.HOW[role] for heading, role in choice.columns.items() if role}
    if choice.heading_of(roles.TEXT) is None:
        view.messages.append(TableMessage(STOP, "Choose the column of the queries."))
        return QueryTable([], view)
    records = table.records
    near = _near_ids(project, records, choice)
    reading = _Reading(
        choice=choice,
        names=names_in(project),
        fits=near.fits if near and FIT_IDS in choice.answers else {},
        sources=source_slugs(project),
        noticed={},
        unknown=Counter(),
    )
    doubled: list[InputError] = []
    rows = _rows(source, records, reading, doubled)
    if _is_unsure(view, options):
        title = (
            f"The file is read as 1 row, and “{choice.heading_of(roles.TEXT)}” may be the query. Choose the columns."
        )
        view.messages.append(TableMessage(STOP, title))
    view.messages += _messages(near, reading, table.errors)
    _note_new_ids(project, rows, view)
    return QueryTable(rows, view, [] if LEAVE_FAULTY in choice.answers else doubled)


def _is_unsure(view: TableView, options: Mapping[str, Any]) -> bool:
    """Whether JSON of one row may be several queries: no heading names the query, and nobody has chosen it."""
    texts = view.choice.headings_of(roles.TEXT)
    is_chosen = view.is_remembered or bool(TableChoice.from_json(options.get("table") or {}).columns)
    is_named = any(f" {usual} " in f" {plain_heading(texts[0])} " for usual in roles.TEXT_HEADINGS)
    return view.how == "JSON" and view.rows == 1 and len(view.headings) > 1 and not is_chosen and not is_named


def _near_ids(project: Project, records: list[tuple[int, dict[str, str]]], choice: TableChoice) -> Proposal | None:
    """The rule by which ids of the table become ids of queries that are here."""
    heading = choice.heading_of(roles.QUERY_ID)
    if heading is None:
        return None
    known = set(Query.objects.filter(project=project).values_list("outside_id", flat=True))
    written = list(dict.fromkeys(cells[heading].strip() for _, cells in records))
    return propose_fit(written, known, taken=[one for one in written if one in known])


def _rows(
    source: TableFile, records: list[tuple[int, dict[str, str]]], reading: _Reading, doubled: list[InputError]
) -> list[QueryRow]:
    """A row for each query, the first of those with the same id; others with other words are mistakes."""
    rows: dict[str, QueryRow] = {}
    for line, cells in records:
        row = _row(line, cells, reading)
        if row is None:
            continue
        first = rows.setdefault(row.query_id, row)
        if first is row:
            continue
        if plain_words(first.text) == plain_words(row.text):
            reading.note("repeated", f"line {line}: {row.query_id}, {row.text}")
        else:
            message = f"is the id of another query: “{first.text}” in line {first.line}, “{row.text}” here"
            doubled.append(source.error(line, roles.QUERY_ID, row.query_id, message))
    return list(rows.values())


def _row(line: int, cells: Mapping[str, str], reading: _Reading) -> QueryRow | None:
    values = {
        role: cells[heading].strip() for role in roles.HOW if (heading := reading.choice.heading_of(role)) is not None
    }
    text, query_id = values[roles.TEXT], values.get(roles.QUERY_ID, "")
    query_id = reading.fits.get(query_id, query_id)
    if not text:
        reading.note("textless", f"line {line}")
        return None
    if is_code(text):
        reading.note("code", f"line {line}: {text}")
        return None
    if len(query_id) > MAX_ID or any(letter.isspace() or not letter.isprintable() for letter in query_id):
        reading.note("bad ids", f"line {line}: {query_id}")
        return None
    if not query_id:
        if roles.QUERY_ID in values:
            reading.note("unnamed", f"line {line}: {text}")
        query_id = reading.names.id_for(text)
        text = reading.names.text_of(query_id) or text
    else:
        reading.names.learn(query_id, text)
    return QueryRow(
        line=line,
        query_id=query_id,
        text=text,
        label=_cut(values, roles.LABEL),
        intent=values.get(roles.INTENT),
        description=values.get(roles.DESCRIPTION),
        source=_source(line, values, reading),
        difficulty=_difficulty(line, values, reading),
        domain=_cut(values, roles.DOMAIN),
        query_type=_cut(values, roles.QUERY_TYPE),
        group_key=_cut(values, roles.GROUP),
        expertise=_cut(values, roles.EXPERTISE),
        answer_format=_cut(values, roles.FORMAT),
        asked_on=_day(line, values, reading),
        tags=_tags(values),
        facets=_facets(line, values, reading),
    )


def _cut(values: Mapping[str, str], role: str) -> str | None:
    return values[role][: LIMITS[role]].strip() if role in values else None


def _tags(values: Mapping[str, str]) -> tuple[str, ...] | None:
    if roles.TAGS not in values:
        return None
    return tuple(tag.strip() for tag in re.split("[;,]", values[roles.TAGS]) if tag.strip())


def _day(line: int, values: Mapping[str, str], reading: _Reading) -> str | None:
    """The day of a cell, of which a time is left out."""
    if roles.DAY not in values:
        return None
    try:
        return checked_day(values[roles.DAY][:LONGEST_DAY])
    except ValueError:
        reading.note("days", f"line {line}: {values[roles.DAY]}")
        return None


def _facets(line: int, values: Mapping[str, str], reading: _Reading) -> tuple[Facet, ...] | None:
    if roles.FACETS not in values:
        return None
    try:
        return tuple(parse_facets(values[roles.FACETS]))
    except ValueError as fault:
        reading.note("facets", f"line {line}: {fault}")
        return None


def _difficulty(line: int, values: Mapping[str, str], reading: _Reading) -> str | None:
    written = values.get(roles.DIFFICULTY, "")
    known = roles.DIFFICULTIES.get(written.casefold())
    if written and known is None:
        reading.note("difficulties", f"line {line}: {written}")
    return str(known) if known else None


def _source(line: int, values: Mapping[str, str], reading: _Reading) -> str | None:
    written = values.get(roles.SOURCE, "")
    known = reading.sources.get(written.casefold())
    if known is None and slugify(written):
        reading.unknown[written] += 1
        return written if MAKE_SOURCES in reading.choice.answers else None
    if written and known is None:
        reading.note("sources", f"line {line}: {written}")
    return known


def _messages(near: Proposal | None, reading: _Reading, errors: ErrorList) -> list[TableMessage]:
    messages = []
    if near:
        messages.append(_about_near(near, reading.choice))
    if reading.unknown:
        messages.append(_about_sources(reading.unknown, reading.choice))
    for kind, (state, one, many) in NOTICES.items():
        if found := reading.noticed.get(kind, []):
            messages.append(TableMessage(state, one if len(found) == 1 else many.format(len(found)), "", found))
    if errors:
        messages.append(unread_rows(errors))
    return messages


NOTICES = {
    "textless": (DONE, "1 row without a query stays out.", "{:,} rows without a query stay out."),
    "code": (
        STOP,
        "1 row has JSON or markup instead of a query. Choose another column, or the form of the file.",
        "{:,} rows have JSON or markup instead of queries. Choose another column, or the form of the file.",
    ),
    "unnamed": (
        WARN,
        "1 row has no id; the query is found by its words, or gets an id.",
        "{:,} rows have no id; their queries are found by their words, or get ids.",
    ),
    "bad ids": (WARN, "1 row has an id with blanks and stays out.", "{:,} rows have ids with blanks and stay out."),
    "repeated": (DONE, "1 row repeats a query and counts once.", "{:,} rows repeat a query and count once."),
    "difficulties": (
        WARN,
        "1 difficulty is not easy, standard, medium or hard; it is left out.",
        "{:,} difficulties are not easy, standard, medium or hard; they are left out.",
    ),
    "sources": (
        WARN,
        "1 source has a name without a Latin letter or a digit; it is left out.",
        "{:,} sources have names without a Latin letter or a digit; they are left out.",
    ),
    "days": (
        WARN,
        "1 day is not written as 2026-03-01; it is left out.",
        "{:,} days are not written as 2026-03-01; they are left out.",
    ),
    "facets": (
        STOP,
        "1 row has subtopics that cannot be read. Mend it, or do not read that column.",
        "{:,} rows have subtopics that cannot be read. Mend them, or do not read that column.",
    ),
}


def _about_near(near: Proposal, choice: TableChoice) -> TableMessage:
    written, known = near.example
    count = len(near.fits)
    ids = plural(count, "id")
    examples = [f"{written} is {known}" for written, known in near.fits.items()]
    if FIT_IDS in choice.answers:
        title = f"{ids} matched to queries that are here: {written} is {known}."
        return TableMessage(DONE, title, "", examples, undoing(choice, FIT_IDS))
    title = f"{ids} nearly {'matches a query that is' if count == 1 else 'match queries that are'} here."
    words = f"They differ by {near.difference}: {written} is {known}. Unmatched ids become new queries."
    fix = taking(choice, FIT_IDS, f"Match all {count:,}" if count > 1 else "Match it")
    return TableMessage(WARN, title, words, examples, fix)


def _about_sources(unknown: Counter[str], choice: TableChoice) -> TableMessage:
    count = len(unknown)
    examples = [f"{name}: {plural(rows, 'row')}" for name, rows in sorted(unknown.items())]
    if MAKE_SOURCES in choice.answers:
        title = f"{plural(count, 'source is', 'sources are')} created."
        return TableMessage(DONE, title, AS_QUERY_LOG, examples, undoing(choice, MAKE_SOURCES))
    is_none = plural(count, "source is not one", "sources are not sources")
    title = f"{is_none} of this project; {'it is' if count == 1 else 'they are'} left out."
    fix = taking(choice, MAKE_SOURCES, f"Create these {count:,} sources" if count > 1 else "Create this source")
    return TableMessage(WARN, title, "", examples, fix)


def _note_new_ids(project: Project, rows: list[QueryRow], view: TableView) -> None:
    """The count on the button, and a message with the ids of queries that came without one."""
    known = set(Query.objects.filter(project=project).values_list("outside_id", flat=True))
    view.button = "Import 1 query" if len(rows) == 1 else f"Import {len(rows):,} queries"
    made = [row.query_id for row in rows if row.query_id not in known]
    if made and view.choice.heading_of(roles.QUERY_ID) is None:
        ids = f"the id {made[0]}" if len(made) == 1 else f"the ids {made[0]} to {made[-1]}"
        count = plural(len(made), "new query gets", "new queries get")
        view.messages.append(TableMessage(DONE, f"{count} {ids}."))
