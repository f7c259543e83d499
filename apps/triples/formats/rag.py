"""Question, contexts and answer, one JSON object a line, as frameworks that evaluate generated answers have them.

The names of both `rag` and `ragas` exports are read. Contexts are named by id: a text alone does not say which block of
which corpus it is. Fields that say nothing about a triple, such as a system's response, are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile, read_jsonl
from apps.triples.formats.entry import TripleRecord

QUESTION = ("question", "user_input")
ANSWER = ("ground_truth", "reference")
CONTEXT_IDS = ("context_ids", "reference_context_ids")
KEPT = ("id", "query_id", "match", "metadata")
MARKS = frozenset({"user_input", "ground_truth"})


def is_rag(line: str) -> bool:
    """Whether the first line of a file is of this form."""
    try:
        values = json.loads(line)
    except ValueError:
        return False
    return isinstance(values, dict) and bool(MARKS & values.keys())


def read(source: TableFile, errors: ErrorList) -> Iterator[TripleRecord]:
    for line, values in read_jsonl(source, errors):
        ids = _first(values, CONTEXT_IDS)
        if not isinstance(ids, list) or not ids:
            field = next((name for name in CONTEXT_IDS if name in values), CONTEXT_IDS[0])
            message = "is a list with the ids of the passages that answer the question"
            errors.add(source.error(line, field, "" if ids is None else ids, message))
            continue
        yield TripleRecord(line, _entry(values, ids))


def _entry(values: dict[str, Any], ids: list[Any]) -> dict[str, Any]:
    entry = {name: values[name] for name in KEPT if values.get(name) is not None}
    for name, names in (("question", QUESTION), ("expected_answer", ANSWER)):
        if (value := _first(values, names)) is not None:
            entry[name] = value
    evidence = values.get("evidence")
    if isinstance(evidence, list) and len(evidence) == len(ids):
        entry["expected_blocks"] = [
            {"block_id": block_id, "evidence": marked} for block_id, marked in zip(ids, evidence, strict=True)
        ]
    else:
        entry["expected_blocks"] = [{"block_id": block_id} for block_id in ids]
    return entry


def _first(values: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((values[name] for name in names if name in values), None)
