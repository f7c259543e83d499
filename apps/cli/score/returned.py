"""What a system returned for the questions of triples, from a TREC run or from a file of results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from apps.common.errors import InputError
from apps.common.files.faults import MOST_LISTED, ErrorList, all_of
from apps.common.files.tabular import TableFile, read_jsonl
from apps.metrics.expected.rules import Returned
from apps.metrics.files.results import read_results
from apps.metrics.files.trec_rows import parse_run

Names = Mapping[str, list[str]]


class Answers(NamedTuple):
    """The passages for each question by its id, best first.

    `by_name` has them under the names of the file, `unknown` are the names that no triple has.
    """

    tag: str
    returned: dict[str, list[Returned]]
    unknown: list[str]
    by_name: dict[str, list[Returned]]


def returned_by_run(source: TableFile, names: Names, blocks: Mapping[str, Returned]) -> Answers:
    """The blocks of a TREC run: score descending, ties by id descending. Raises InputErrors with every bad line."""
    errors = ErrorList(MOST_LISTED)
    scored: dict[str, list[tuple[float, bytes, str]]] = {}
    tag = ""
    for row in parse_run(_lines_of(source), source.name, errors=errors):
        tag = tag or row.tag
        scored.setdefault(row.query_id, []).append((row.score, row.block_id.encode(), row.block_id))
    _raise(errors)
    ranked = {
        query: [blocks.get(block, Returned(block)) for _, _, block in sorted(rows, reverse=True)]
        for query, rows in scored.items()
    }
    return _answers(tag or _stem(source.name), ranked, names)


def returned_by_results(source: TableFile, names: Names, blocks: Mapping[str, Returned]) -> Answers:
    """The passages of a file of results by rank; of our ids the corpus tells what the file does not."""
    errors = ErrorList(MOST_LISTED)
    ranked: dict[str, dict[int, Returned]] = {}
    for _, row in read_results(source, errors):
        ranked.setdefault(row.qid, {})[row.rank] = with_facts(row.returned, blocks)
    _raise(errors)
    ordered = {query: [rows[rank] for rank in sorted(rows)] for query, rows in ranked.items()}
    return _answers(_stem(source.name), ordered, names)


def with_facts(told: Returned, blocks: Mapping[str, Returned]) -> Returned:
    """The passage with what the corpus knows of our id, where the system does not tell it."""
    known = blocks.get(told.id)
    if known is None:
        return told
    return Returned(told.id, told.document_id or known.document_id, told.pages or known.pages, told.text or known.text)


def block_facts(path: str) -> dict[str, Returned]:
    """Each block of an exported corpus.jsonl by its id. Raises InputErrors with every bad line."""
    try:
        with Path(path).open("rb") as stream:
            return facts_in(TableFile(Path(path).name, stream))
    except OSError as error:
        raise InputError(path, None, "", "", f"cannot be read: {error.strerror}.") from error


def facts_in(source: TableFile) -> dict[str, Returned]:
    """As `block_facts`, of an open file."""
    errors = ErrorList(MOST_LISTED)
    blocks = {}
    for line, values in read_jsonl(source, errors):
        block = _block(values)
        if block is None:
            errors.add(source.error(line, "block_id", values.get("block_id"), "a block needs a block_id and a text."))
            continue
        blocks[block.id] = block
    _raise(errors)
    return blocks


def _block(values: dict[str, Any]) -> Returned | None:
    block, text = values.get("block_id"), values.get("text")
    if not isinstance(block, str) or not block or not isinstance(text, str):
        return None
    first, last = values.get("page_start"), values.get("page_end")
    ends = [end for end in (first, last) if isinstance(end, int)]
    document = values.get("document_id")
    return Returned(block, document if isinstance(document, str) else "", (ends[0], ends[-1]) if ends else None, text)


def _answers(tag: str, ranked: dict[str, list[Returned]], names: Names) -> Answers:
    return Answers(tag, by_question(ranked, names), sorted(ranked.keys() - names.keys()), ranked)


def by_question(ranked: Mapping[str, list[Returned]], names: Names) -> dict[str, list[Returned]]:
    """The passages by the id of each question, from those by the names that a run gives questions."""
    return {one: passages for name, passages in ranked.items() for one in names.get(name, ())}


def _lines_of(source: TableFile) -> Iterator[bytes]:
    number = 1
    while line := source.read_line(number):
        yield line
        number += 1


def _raise(errors: ErrorList) -> None:
    if errors:
        raise all_of(errors)


def _stem(name: str) -> str:
    return Path(name.removesuffix(".gz")).stem or "results"
