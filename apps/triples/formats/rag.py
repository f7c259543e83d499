"""Question, contexts and answer as frameworks that evaluate generated answers have them: JSON, JSONL or a table.

The names of ragas, DeepEval, Giskard, Haystack, Langfuse, LlamaIndex and SQuAD are read. A context is named by the id
of its passage; one that has none is looked for by its text. Fields that say nothing about a triple, such as a system's
response, are ignored.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from apps.common.errors import InputError
from apps.common.files.anytable import open_table
from apps.common.files.faults import ErrorList
from apps.common.files.json_lists import read_objects
from apps.common.files.json_tables import first_object, is_json, listed
from apps.common.files.tabular import TableFile
from apps.corpus.core.import_plans import plain_heading
from apps.corpus.core.near_duplicates import NEAR_SHARE, NOTHING, TextMatches, text_key
from apps.triples.formats.entry import TripleRecord

BY_ID, BY_TEXT, NEARLY, UNKNOWN, IMPOSSIBLE = "by id", "by text", "nearly", "unknown", "impossible"
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

QUESTION = ("question", "user_input", "input", "query")
ANSWER = (
    "ground_truth", "ground_truths", "ground_truth_answer", "reference", "reference_answer", "expected_output",
)  # fmt: skip
CONTEXT_IDS = ("context_ids", "reference_context_ids")
CONTEXTS = ("contexts", "reference_contexts", "ground_truth_documents", "context", "reference_context")
KEPT = ("id", "query_id", "match", "metadata")
MARKS = frozenset({"user_input", "ground_truth", "ground_truths", "ground_truth_documents", "reference_contexts"})
GISKARD = frozenset({"question", "reference_answer", "reference_context"})
PAIRED = (
    frozenset({"input", "expected_output"}),
    GISKARD,
    frozenset({"question", "context", "answers"}),
    frozenset({"question", "context", "answer_start"}),
    frozenset({"question", "context", "answers_text"}),
)
"""Fields that together are those of other frameworks: DeepEval and Langfuse, Giskard, SQuAD in its forms."""
WRAPPED = ("input", "expected_output")
SQUAD, SQUAD_TEXTS = "answers", "answers_text"
_HOP = re.compile(r"\A<\d+-hop>\s*")
"""What ragas writes before each context of a question that needs several."""
_DOCUMENT = re.compile(r"^Document \d+:[ \t]*", re.MULTILINE)
"""What Giskard writes before each passage, which it puts in one text."""


def is_rag(fields: Iterable[str]) -> bool:
    """Whether records with these fields are of this form."""
    names = set(map(_plain, fields))
    return not MARKS.isdisjoint(names) or any(paired <= names for paired in PAIRED)


def is_rag_table(source: TableFile) -> bool:
    """Whether a file is a table of this form, as ragas and SQuAD are saved too. The source stays at its beginning."""
    try:
        table = open_table(source, ErrorList())
        _, cells = next(iter(table.rows), (0, [""] * len(table.headings)))
    except InputError:
        return False
    finally:
        source.rewind()
    names = list(map(_plain, table.headings))
    return is_rag(names) and not _row_of(names, cells).keys().isdisjoint({*CONTEXTS, *CONTEXT_IDS})


def _plain(name: str) -> str:
    return plain_heading(name).replace(" ", "_")


def _records(source: TableFile, errors: ErrorList) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records by the plain names of their fields: the objects of JSON, or the rows of any table."""
    if is_json(source) and is_rag(first_object(source)):
        for line, values in read_objects(source, errors):
            yield line, _unwrapped({_plain(name): value for name, value in values.items()})
        return
    table = open_table(source, errors)
    names = list(map(_plain, table.headings))
    for line, cells in table.rows:
        yield line, _row_of(names, cells)


def _row_of(names: Sequence[str], cells: Sequence[str]) -> dict[str, Any]:
    """A row of a table, whose cells may be lists of contexts, and objects where Langfuse has some."""
    row: dict[str, Any] = dict(zip(names, cells, strict=True))
    lists = {name: listed(row[name]) for name in (*CONTEXTS, *CONTEXT_IDS) if name in row}
    if row.keys() >= {*WRAPPED}:
        row |= {name: found for name in (*WRAPPED, "metadata") if (found := _object_in(row.get(name, "")))}
    else:
        row.pop("metadata", None)  # in a cell it is no object
    return _unwrapped(row | lists)


def _object_in(cell: str) -> dict[str, Any]:
    """The object that a cell is in JSON; empty for anything else."""
    try:
        value = json.loads(cell) if cell.lstrip().startswith("{") else {}
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _unwrapped(values: dict[str, Any]) -> dict[str, Any]:
    """A record of Langfuse, whose input and output may be objects; it and Giskard have metadata of their own."""
    if not values.keys() >= {*WRAPPED}:
        if values.keys() >= GISKARD:
            values.pop("metadata", None)
        return values
    given, expected = (values[name] for name in WRAPPED)
    if isinstance(given, dict):
        values = {_plain(name): value for name, value in given.items()} | values
        del values["input"]
    if isinstance(expected, dict) and len(expected) == 1:
        values["expected_output"] = next(iter(expected.values()))
    told = values.pop("metadata", None)
    named = {_plain(name): value for name, value in told.items()} if isinstance(told, dict) else {}
    return {name: named[name] for name in (*CONTEXTS, *CONTEXT_IDS) if name in named} | values


def _is_impossible(values: dict[str, Any]) -> bool:
    """Whether SQuAD says that its text has no answer; what stands there as plausible is none."""
    return str(values.get("is_impossible", "")).strip().lower() in {"true", "1", "1.0", "yes"}


def _answered(values: dict[str, Any]) -> dict[str, Any]:
    """A record of SQuAD with the first of its answers as the others have theirs."""
    answers = values.get(SQUAD)
    if isinstance(answers, list):
        answers = next(iter(answers), None)
    if isinstance(answers, dict):
        texts = answers.get("text")
        values["ground_truth"] = next(iter(texts), "") if isinstance(texts, list) else texts
    elif SQUAD_TEXTS in values:  # beside plausible answers, which are none
        values["ground_truth"] = next(iter(listed(values[SQUAD_TEXTS])), "")
    elif "answer_start" in values:
        values["ground_truth"] = values.get("text")
    return values


def read(source: TableFile, errors: ErrorList, contexts: Contexts | None = None) -> Iterator[TripleRecord]:
    """The entries of a file; `contexts` has the passages of texts."""
    contexts = contexts or Contexts(where="this project")
    for line, values in _records(source, errors):
        if _is_impossible(values):
            contexts.counts[IMPOSSIBLE] += 1
            continue
        try:
            values = _answered(values)
            yield TripleRecord(line, _entry(values, _block_ids(source, line, values, contexts)))
        except InputError as error:
            errors.add(error)


def texts_without_ids(source: TableFile) -> Iterator[str]:
    """The contexts of a file that name no passage. Its mistakes are for `read` to tell."""
    for _, values in _records(source, ErrorList()):
        if not _ids(values):
            yield from (_HOP.sub("", text) for text in _texts(values) if isinstance(text, str))


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
            found.append(contexts.block_of(_HOP.sub("", text)))
        except ValueError as reason:
            raise source.error(line, where, text, str(reason)) from None
    return found


def _ids(values: dict[str, Any]) -> list[Any]:
    ids = _first(values, CONTEXT_IDS)
    return ids if isinstance(ids, list) else []


def _texts(values: dict[str, Any]) -> list[Any]:
    texts = _first(values, CONTEXTS)
    texts = [texts] if isinstance(texts, str) else texts if isinstance(texts, list) else []
    if len(texts) == 1 and isinstance(texts[0], str) and _DOCUMENT.match(texts[0]):
        return [text.strip() for text in _DOCUMENT.split(texts[0]) if text.strip()]
    return texts


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
