"""Questions and answers from a table, or with contexts, as the entries of a file, and what a person has to decide."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from apps.accounts.models import Project
from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.json_tables import is_code
from apps.common.files.tabular import TableFile
from apps.common.text.wording import plural
from apps.corpus.core.import_plans import ColumnRole, Fix, ImportPlan, TableChoice, share
from apps.corpus.core.table_plans import STOP, TableMessage, TableView, unread_rows
from apps.corpus.execution.import_reading import open_mapped
from apps.corpus.models import Snapshot
from apps.corpus.selectors.passage_matching import NamedPassage, match_passages, match_texts, passages_that_count
from apps.queries.selectors import source_slugs
from apps.triples.formats import EntryRecord
from apps.triples.formats.entry import TripleRecord
from apps.triples.formats.rag import (
    BY_ID,
    BY_TEXT,
    IMPOSSIBLE,
    NEARLY,
    RULE,
    UNKNOWN,
    Contexts,
    texts_without_ids,
)
from apps.triples.formats.reading import entry_of


def matched_contexts(source: TableFile, snapshot: Snapshot | None, *, takes_near: bool) -> Contexts:
    """The passages of all contexts of a file that name none. The file is at its beginning, before and after.

    Without a snapshot nothing is matched: the comparison of the entries says that there is none.
    """
    if snapshot is None:
        return Contexts(where="this project", takes_near=takes_near)
    matches = match_texts(snapshot, texts_without_ids(source))
    source.rewind()
    return Contexts(matches, where=f"{snapshot.corpus.name} {snapshot.name}", takes_near=takes_near)


def show_contexts(plan: ImportPlan, contexts: Contexts) -> None:
    """Say in the plan how many contexts were matched how, and offer to take those that nearly match, or not to."""
    counts = contexts.counts
    if counts[BY_TEXT] or counts[NEARLY] or counts[UNKNOWN]:
        found = [f"{counts[BY_ID]:,} by id"] if counts[BY_ID] else []
        found += [f"{counts[BY_TEXT]:,} by text", f"{counts[NEARLY]:,} nearly", f"{counts[UNKNOWN]:,} not at all"]
        plan.notes.append(f"Contexts matched in {contexts.where}: {', '.join(found)}.")
    if counts[IMPOSSIBLE]:
        without = plural(counts[IMPOSSIBLE], "question that has no answer stays", "questions that have no answer stay")
        plan.notes.append(f"{without} out.")
    if counts[NEARLY]:
        plan.fixes.append(_fix(contexts))


def _fix(contexts: Contexts) -> Fix:
    number = contexts.counts[NEARLY]
    counted = plural(number, "context is", "contexts are")
    if contexts.takes_near:
        words = f"{counted} the passage that has {RULE}: {contexts.example}."
        return Fix("near-contexts-undo", words, "Undo", {"near": False})
    words = f"{counted} nearly a passage, which has {RULE}: {contexts.example}."
    return Fix("near-contexts", words, "Match it" if number == 1 else f"Match all {number:,}", {"near": True})


QUESTION, ANSWER, PASSAGE, EVIDENCE = "question", "answer", "passage", "evidence"
DOMAIN, DIFFICULTY, SOURCE, NOTE = "domain", "difficulty", "source", "note"
AUTHOR, REVIEWED_BY, RESOLUTION = "author", "reviewed_by", "resolution"


def _as_texts(values: Sequence[str]) -> float:
    return share(values, lambda value: any(letter.isalpha() for letter in value))


def _as_answers(values: Sequence[str]) -> float:
    """A number is an answer too."""
    return share(values, lambda value: any(letter.isalnum() for letter in value))


OF_IDS = frozenset({"id", "ids", "uid", "uuid"})
ROLES = (
    ColumnRole(
        QUESTION,
        "Question",
        ("question", "questions", "query", "q", "frage", "prompt", "input", "user input", "request", "instruction"),
        _as_texts,
        foreign=OF_IDS,
    ),
    ColumnRole(
        ANSWER,
        "Answer",
        (
            "expected answer", "reference answer", "gold answer", "correct answer", "ground truth", "expected output",
            "expected response", "expected", "ideal", "answer", "a", "antwort", "reference",
        ),
        _as_answers,
        foreign=OF_IDS,
    ),
    ColumnRole(
        PASSAGE,
        "Passage",
        (
            "url", "link", "address", "page", "passage", "passage id", "block", "block id", "doc", "doc id", "document",
            "document id", "path", "context", "expected block", "doc uri", "chunk id", "chunk", "chunks", "seite",
            "adresse", "dokument",
        ),
    ),
    ColumnRole(EVIDENCE, "Evidence", ("evidence", "quote", "excerpt", "span", "highlight", "beleg"), _as_texts),
    ColumnRole(DOMAIN, "Domain", ("domain", "area", "subject", "topic", "category")),
    ColumnRole(DIFFICULTY, "Difficulty", ("difficulty", "level")),
    ColumnRole(SOURCE, "Source", ("source", "origin")),
    ColumnRole(AUTHOR, "Author", ("author", "added by", "written by", "creator", "autor")),
    ColumnRole(REVIEWED_BY, "Reviewed by", ("reviewed by", "reviewer", "reviewers", "checked by", "approved by")),
    ColumnRole(RESOLUTION, "Resolution", ("resolution", "review result", "outcome", "review outcome")),
    ColumnRole(NOTE, "Note", ("note", "notes", "comment", "comments", "remark", "remarks")),
)  # fmt: skip
HOW = {
    QUESTION: "what is asked",
    ANSWER: "what is expected",
    EVIDENCE: "the words of the passage that answer it",
    DOMAIN: "a stratum of scores",
    DIFFICULTY: "easy, standard, medium or hard",
    SOURCE: "the name of a source of this project",
    AUTHOR: "a member by name or e-mail, or somebody outside",
    REVIEWED_BY: "who reviewed it elsewhere",
    RESOLUTION: "how that ended, in the words of the file",
    NOTE: "for the reviewers",
}

KIND = "triples"
NEEDED = {
    QUESTION: "Choose the column of the questions.",
    ANSWER: "Choose the column of the answers.",
    PASSAGE: "Choose the column of the passages.",
}


class TripleTable(NamedTuple):
    """The entries of a table, before they are compared or stored."""

    rows: list[EntryRecord]
    view: TableView


def read_triple_table(
    source: TableFile, *, project: Project, snapshot: Snapshot, options: Mapping[str, Any]
) -> TripleTable:
    """Read a table of questions and answers on a snapshot. Raises InputError for what is no table."""
    table = open_mapped(source, project=project, kind=KIND, roles=ROLES, options=options)
    view, choice = table.view, table.view.choice
    view.messages += [TableMessage(STOP, words) for role, words in NEEDED.items() if not choice.heading_of(role)]
    if view.refusals:
        return TripleTable([], view)
    sources = source_slugs(project)
    records = [(line, _values(cells, choice)) for line, cells in table.records]
    for _, values in records:
        values[SOURCE] = sources.get(values[SOURCE].casefold(), values[SOURCE])
    matches = match_passages(snapshot, [values[PASSAGE] for _, values in records])
    counts = Counter(values[PASSAGE] for _, values in records)
    passages, messages = passages_that_count(matches, counts, snapshot.name, choice)
    hows = HOW | {PASSAGE: matches.how}
    view.hows = {heading: hows[role] for heading, role in choice.columns.items() if role}
    view.messages += messages
    rows = _entries(source, records, passages, snapshot, table.errors)
    if table.errors:
        view.messages.append(unread_rows(table.errors))
    view.button = f"Import {plural(len(rows), 'Q&A')}"
    return TripleTable(rows, view)


def _values(cells: Mapping[str, str], choice: TableChoice) -> dict[str, str]:
    """The cells of a row by role."""
    headings = {role.name: choice.heading_of(role.name) for role in ROLES}
    return {role: cells[heading].strip() if heading else "" for role, heading in headings.items()}


def _entries(
    source: TableFile,
    records: list[tuple[int, dict[str, str]]],
    passages: Mapping[str, NamedPassage],
    snapshot: Snapshot,
    errors: ErrorList,
) -> list[EntryRecord]:
    """The entries of the rows whose passage is known; a row without a question or an answer is an error."""
    rows = []
    for line, values in records:
        if not values[PASSAGE]:
            errors.add(source.error(line, PASSAGE, "", "is empty: the row names no passage"))
        if (passage := passages.get(values[PASSAGE])) is None:
            continue
        record = TripleRecord(line, _entry_values(values, passage, snapshot))
        try:
            for role in (QUESTION, ANSWER):
                if is_code(values[role]):
                    raise source.error(line, role, values[role], "is JSON or markup; choose the form of the file")
            rows.append(EntryRecord(record, entry_of(source, record)))
        except InputError as error:
            errors.add(error)
    return rows


def names_in(cell: str) -> list[str]:
    """The people in one cell: apart by semicolons or line ends, else by commas."""
    names = re.split(r"[;\n]" if re.search(r"[;\n]", cell) else ",", cell)
    return [name.strip() for name in names if name.strip()]


def _entry_values(values: Mapping[str, str], passage: NamedPassage, snapshot: Snapshot) -> dict[str, Any]:
    """The row as the values of an entry in a file."""
    evidence = [values[EVIDENCE]] if values[EVIDENCE] else []
    return {
        "question": values[QUESTION],
        "expected_answer": values[ANSWER],
        "expected_block": {"block_id": passage.block_id, "evidence": evidence},
        "metadata": {
            "domain": values[DOMAIN],
            "difficulty": values[DIFFICULTY].casefold(),
            "source": values[SOURCE],
            "added_by": values[AUTHOR],
            "reviewed_by": names_in(values[REVIEWED_BY]),
            "resolution": values[RESOLUTION],
        },
        "note": values[NOTE],
        "snapshot": {"corpus": snapshot.corpus.slug, "digest": snapshot.digest},
    }
