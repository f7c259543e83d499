"""Files of triples as questions with their expected blocks."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from apps.common.errors import InputError
from apps.common.files.faults import MOST_LISTED, ErrorList, all_of
from apps.common.files.linefiles import name_of
from apps.common.files.tabular import TableFile
from apps.evaluation.core.question_kinds import KIND, kinds_of_answer
from apps.metrics.expected.rules import ExpectedBlock, Question, Returned
from apps.metrics.files.strata import QueryDivision
from apps.triples.formats import read_entries
from apps.triples.formats.entry import ALL, Entry

DIVISIONS = ("domain", "difficulty", "source")


class TripleFile(NamedTuple):
    """The questions of a file of triples, and how their metadata divide them."""

    questions: list[Question]
    divisions: tuple[QueryDivision, ...]


def load_triples(path: str) -> TripleFile:
    """The triples of a JSONL or YAML file, as exported or as published. Raises InputErrors with every bad line."""
    with opened(path) as source:
        entries = entries_in(source)
    if not entries:
        raise InputError(name_of(path), None, "", "", "the file contains no triples.")
    labels = {field: tuple(getattr(entry, field) for entry in entries) for field in DIVISIONS}
    divisions = [QueryDivision(field, named) for field, named in labels.items() if len(set(named) - {""}) > 1]
    return TripleFile(
        [question_of(entry) for entry in entries], (*divisions, *kind_divisions([kinds_in(entry) for entry in entries]))
    )


def kinds_in(entry: Entry) -> list[str]:
    """The kinds of an entry's question: numeric, compound, once disputed, written by machine."""
    return kinds_of_answer(
        entry.expected_answer,
        needs_all=entry.match == ALL,
        resolution=entry.resolution,
        is_machine_written=entry.is_machine_written,
    )


def kind_divisions(kinds: Sequence[Sequence[str]]) -> list[QueryDivision]:
    """One division for each kind that some of the questions are of and others are not: a question can be of several."""
    names = dict.fromkeys(name for row in kinds for name in row)
    divided = {name: tuple(name if name in row else "" for row in kinds) for name in names}
    return [QueryDivision(KIND, labels) for labels in divided.values() if "" in labels]


def entries_in(source: TableFile) -> list[Entry]:
    """The entries of a file, each with an id: its own, else its query's, else its line.

    Raises InputErrors with every bad line, and where two have the same id.
    """
    errors = ErrorList(MOST_LISTED)
    entries: list[Entry] = []
    form = "yaml" if source.name.removesuffix(".gz").endswith((".yaml", ".yml")) else "jsonl"
    for place, (record, entry) in enumerate(read_entries(source, errors, format=form), 1):
        entries.append(entry if entry.id else entry._replace(id=entry.query_id or f"line {record.line or place}"))
    seen: set[str] = set()
    for entry in entries:
        if entry.id in seen:
            errors.add(InputError(source.name, None, "id", entry.id, "two triples have this id."))
        seen.add(entry.id)
    if errors:
        raise all_of(errors)
    return entries


def question_of(entry: Entry) -> Question:
    blocks = tuple(
        ExpectedBlock(one.block_id, one.document_id, one.pages, tuple(evidence.text for evidence in one.evidence))
        for one in entry.blocks
    )
    return Question(entry.id, blocks, entry.match == ALL, entry.query_id)


def with_texts(questions: Sequence[Question], blocks: Mapping[str, Returned]) -> list[Question]:
    """The questions with what the corpus knows of their blocks where the file of triples does not say it."""
    return [
        one._replace(expected=tuple(_filled(block, blocks.get(block.block_id)) for block in one.expected))
        for one in questions
    ]


def _filled(block: ExpectedBlock, known: Returned | None) -> ExpectedBlock:
    if known is None:
        return block
    evidence = block.evidence or ((known.text,) if known.text else ())
    return ExpectedBlock(block.block_id, block.document_id or known.document_id, block.pages or known.pages, evidence)


def names_of(questions: Sequence[Question]) -> dict[str, list[str]]:
    """The ids of the questions by each name that a run may give them: their own, and that of their query."""
    names: dict[str, list[str]] = {}
    for one in questions:
        for name in dict.fromkeys(filter(None, (one.id, one.query_id))):
            names.setdefault(name, []).append(one.id)
    return names


@contextmanager
def opened(path: str) -> Iterator[TableFile]:
    """The file at this path, `-` being standard input. Raises InputError where it cannot be read."""
    if path == "-":
        yield TableFile(name_of(path), io.BytesIO(sys.stdin.buffer.read()))
        return
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(Path(path).open("rb"))
        except OSError as error:
            raise InputError(path, None, "", "", f"cannot be read: {error.strerror}.") from error
        yield TableFile(name_of(path), stream)
