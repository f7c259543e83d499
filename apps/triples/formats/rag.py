"""Question, contexts and answer, one JSON object a line, as frameworks that evaluate generated answers have them.

The names of both `rag` and `ragas` exports are read. A context is named by the id of its passage; one that has none is
looked for by its text. Fields that say nothing about a triple, such as a system's response, are ignored.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile, read_jsonl
from apps.corpus.core.near_duplicates import NEAR_SHARE, NOTHING, TextMatches, text_key
from apps.triples.formats.entry import TripleRecord

BY_ID, BY_TEXT, NEARLY, UNKNOWN = "by id", "by text", "nearly", "unknown"
RULE = f"at least {NEAR_SHARE:.0%} of its runs of three words".replace("%", " %")


class Contexts:
    """Gives the passage of each context, and counts what was found how.

    `where` names the snapshot in sentences. Near matches are proposals: they count when somebody takes them.
    """

    def __init__(self, matches: TextMatches = NOTHING, *, where: str = "", takes_near: bool = False) -> None:
        self.matches = matches
        self.where = where
        self.takes_near = takes_near
        self.counts: Counter[str] = Counter()
        self.example = ""
        """A near match in words."""

    def block_of(self, text: str) -> str:
        """The id of the passage. Raises ValueError with a sentence where there is none, or none that was agreed to."""
        key = text_key(text)
        if (exact := self.matches.exact.get(key)) is not None:
            self.counts[BY_TEXT] += 1
            return exact
        if (near := self.matches.near.get(key)) is None:
            self.counts[UNKNOWN] += 1
            raise ValueError(
                f"no passage of {self.where} has this text, nor {RULE}; name its passage in context_ids, or import the "
                "documents it is from"
            )
        self.counts[NEARLY] += 1
        self.example = self.example or f"{near.block_id} has {near.share:.0%} of one".replace("%", " %")
        if not self.takes_near:
            raise ValueError(f"{near.block_id} has {near.share:.0%} of this text".replace("%", " %") + NOT_TAKEN)
        return near.block_id


NOT_TAKEN = ", which is a near match; take near matches, or name its passage in context_ids"

QUESTION = ("question", "user_input")
ANSWER = ("ground_truth", "ground_truths", "reference")
CONTEXT_IDS = ("context_ids", "reference_context_ids")
CONTEXTS = ("contexts", "reference_contexts")
KEPT = ("id", "query_id", "match", "metadata")
MARKS = frozenset({"user_input", "ground_truth", "ground_truths"})


def is_rag(line: str) -> bool:
    """Whether the first line of a file is of this form."""
    try:
        values = json.loads(line)
    except ValueError:
        return False
    return isinstance(values, dict) and bool(MARKS & values.keys())


def read(source: TableFile, errors: ErrorList, contexts: Contexts | None = None) -> Iterator[TripleRecord]:
    """The entries of a file; `contexts` has the passages of texts."""
    contexts = contexts or Contexts(where="this project")
    for line, values in read_jsonl(source, errors):
        try:
            yield TripleRecord(line, _entry(values, _block_ids(source, line, values, contexts)))
        except InputError as error:
            errors.add(error)


def texts_without_ids(source: TableFile) -> Iterator[str]:
    """The contexts of a file that name no passage. Its mistakes are for `read` to tell."""
    for _, values in read_jsonl(source, ErrorList()):
        if not _ids(values):
            yield from (text for text in _texts(values) if isinstance(text, str))


def _block_ids(source: TableFile, line: int, values: dict[str, Any], contexts: Contexts) -> list[Any]:
    """The ids that are given, or those of the passages with the texts. Raises InputError."""
    if ids := _ids(values):
        contexts.counts[BY_ID] += len(ids)
        return ids
    texts = _texts(values)
    if not texts:
        field = next((name for name in (*CONTEXT_IDS, *CONTEXTS) if name in values), CONTEXTS[0])
        message = "is a list with the passages that answer the question, by text here or by id in context_ids"
        raise source.error(line, field, values.get(field, ""), message)
    field = next(name for name in CONTEXTS if name in values)
    found = []
    for place, text in enumerate(texts, start=1):
        where = f"{field}[{place}]"
        if not isinstance(text, str) or not text.strip():
            raise source.error(line, where, text, "is the text of a passage")
        try:
            found.append(contexts.block_of(text))
        except ValueError as reason:
            raise source.error(line, where, text, str(reason)) from None
    return found


def _ids(values: dict[str, Any]) -> list[Any]:
    ids = _first(values, CONTEXT_IDS)
    return ids if isinstance(ids, list) else []


def _texts(values: dict[str, Any]) -> list[Any]:
    texts = _first(values, CONTEXTS)
    return texts if isinstance(texts, list) else [texts] if isinstance(texts, str) else []


def _entry(values: dict[str, Any], ids: list[Any]) -> dict[str, Any]:
    entry = {name: values[name] for name in KEPT if values.get(name) is not None}
    for name, names in (("question", QUESTION), ("expected_answer", ANSWER)):
        if (value := _first(values, names)) is not None:
            entry[name] = value[0] if isinstance(value, list) and len(value) == 1 else value
    evidence = values.get("evidence")
    marks = evidence if isinstance(evidence, list) and len(evidence) == len(ids) else [None] * len(ids)
    blocks = [
        {"block_id": block_id} if mark is None else {"block_id": block_id, "evidence": mark}
        for block_id, mark in zip(ids, marks, strict=True)
    ]
    entry["expected_blocks"] = blocks if _ids(values) else _each_once(blocks)
    return entry


def _each_once(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Two contexts may be parts of one passage."""
    return list({block["block_id"]: block for block in reversed(blocks)}.values())[::-1]


def _first(values: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((values[name] for name in names if name in values), None)
