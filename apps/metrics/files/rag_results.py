"""RAG evaluation files as results: a line for each question, with what the system retrieved for it.

The names are those of ragas and of the files that evaluate generated answers: {"user_input": "…", "retrieved_contexts":
["…", "…"]}, best first, with ids in `retrieved_context_ids` where there are any.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList, fault

QUESTIONS = ("query_id", "user_input", "question")
CONTEXTS = ("retrieved_contexts", "contexts")
IDS = ("retrieved_context_ids", "context_ids")


def as_results(
    records: Iterable[tuple[int, dict[str, Any]]], name: str, errors: ErrorList
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records, with a result for each context of those that have contexts instead of one result."""
    for line, record in records:
        if "qid" in record or not any(field in record for field in (*CONTEXTS, *IDS)):
            yield line, record
            continue
        try:
            yield from ((line, result) for result in _results(name, line, record))
        except InputError as error:
            errors.add(error)


def _results(name: str, line: int, record: dict[str, Any]) -> list[dict[str, Any]]:
    question = next((record[field] for field in QUESTIONS if record.get(field)), None)
    if not isinstance(question, str) or not question.strip():
        raise fault(name, line, QUESTIONS[1], question or "", "every line needs its question, as text.")
    texts, ids = _list(name, line, record, CONTEXTS), _list(name, line, record, IDS)
    if texts and ids and len(texts) != len(ids):
        message = f"there are {len(ids)} ids for {len(texts)} contexts; give one for each."
        raise fault(name, line, next(field for field in IDS if field in record), "", message)
    results = []
    for place in range(max(len(texts), len(ids))):
        given = {"text": texts[place]} if texts else {}
        known = {"id": ids[place]} if ids else {}
        results.append({"qid": question, "rank": place + 1, **given, **known})
    return results


def _list(name: str, line: int, record: dict[str, Any], fields: tuple[str, ...]) -> list[str]:
    """The texts in the first of these fields that the record has; numbers are ids as well."""
    field = next((field for field in fields if record.get(field) is not None), "")
    values = record.get(field) or []
    if not isinstance(values, list):
        raise fault(name, line, field, values, "must be a list of texts, best first.")
    for place, value in enumerate(values, 1):
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise fault(name, line, f"{field}[{place}]", value, "must be a text.")
    return [str(value) for value in values]
