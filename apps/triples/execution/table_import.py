"""Questions and answers from a table of any shape, as the entries of a file, and what a person has to decide."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from apps.accounts.models import Project
from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.corpus.core.columns import TableChoice
from apps.corpus.core.table_plans import STOP, TableMessage, TableView, counted, unread_rows
from apps.corpus.execution.table_opening import open_mapped
from apps.corpus.models import Snapshot
from apps.corpus.selectors.passage_matching import Passage, match_passages, passages_that_count
from apps.queries.selectors import source_slugs
from apps.triples.core import table_roles as roles
from apps.triples.formats import EntryRecord
from apps.triples.formats.entry import TripleRecord
from apps.triples.formats.reading import entry_of

KIND = "triples"
NEEDED = {
    roles.QUESTION: "Choose the column of the questions.",
    roles.ANSWER: "Choose the column of the answers.",
    roles.PASSAGE: "Choose the column of the passages.",
}


class TripleTable(NamedTuple):
    """The entries of a table, before they are compared or stored."""

    rows: list[EntryRecord]
    view: TableView


def read_triple_table(
    source: TableFile, *, project: Project, snapshot: Snapshot, options: Mapping[str, Any]
) -> TripleTable:
    """Read a table of questions and answers on a snapshot. Raises InputError for what is no table."""
    table = open_mapped(source, project=project, kind=KIND, roles=roles.ROLES, options=options)
    view, choice = table.view, table.view.choice
    view.messages += [TableMessage(STOP, words) for role, words in NEEDED.items() if not choice.heading_of(role)]
    if view.refusals:
        return TripleTable([], view)
    sources = source_slugs(project)
    records = [(line, _values(cells, choice)) for line, cells in table.records]
    for _, values in records:
        values[roles.SOURCE] = sources.get(values[roles.SOURCE].casefold(), values[roles.SOURCE])
    matches = match_passages(snapshot, [values[roles.PASSAGE] for _, values in records])
    counts = Counter(values[roles.PASSAGE] for _, values in records)
    passages, messages = passages_that_count(matches, counts, snapshot.name, choice)
    hows = roles.HOW | {roles.PASSAGE: matches.how}
    view.hows = {heading: hows[role] for heading, role in choice.columns.items() if role}
    view.messages += messages
    rows = _entries(source, records, passages, snapshot, table.errors)
    if table.errors:
        view.messages.append(unread_rows(table.errors))
    view.button = f"Import {counted(len(rows), 'Q&A')}"
    return TripleTable(rows, view)


def _values(cells: Mapping[str, str], choice: TableChoice) -> dict[str, str]:
    """The cells of a row by role."""
    headings = {role.name: choice.heading_of(role.name) for role in roles.ROLES}
    return {role: cells[heading].strip() if heading else "" for role, heading in headings.items()}


def _entries(
    source: TableFile,
    records: list[tuple[int, dict[str, str]]],
    passages: Mapping[str, Passage],
    snapshot: Snapshot,
    errors: ErrorList,
) -> list[EntryRecord]:
    """The entries of the rows whose passage is known; a row without a question or an answer is an error."""
    rows = []
    for line, values in records:
        if (passage := passages.get(values[roles.PASSAGE])) is None:
            continue
        record = TripleRecord(line, _entry_values(values, passage, snapshot))
        try:
            rows.append(EntryRecord(record, entry_of(source, record)))
        except InputError as error:
            errors.add(error)
    return rows


def _entry_values(values: Mapping[str, str], passage: Passage, snapshot: Snapshot) -> dict[str, Any]:
    """The row as the values of an entry in a file."""
    evidence = [values[roles.EVIDENCE]] if values[roles.EVIDENCE] else []
    return {
        "question": values[roles.QUESTION],
        "expected_answer": values[roles.ANSWER],
        "expected_block": {"block_id": passage.block_id, "evidence": evidence},
        "metadata": {
            "domain": values[roles.DOMAIN],
            "difficulty": values[roles.DIFFICULTY].casefold(),
            "source": values[roles.SOURCE],
        },
        "note": values[roles.NOTE],
        "snapshot": {"corpus": snapshot.corpus.slug, "digest": snapshot.digest},
    }
