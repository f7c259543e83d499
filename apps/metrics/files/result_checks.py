"""Results compared with the corpus that they are from: its documents, and starts and ends in its texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList, fault
from apps.metrics.expected.hits import words_of
from apps.metrics.expected.rules import Returned
from apps.metrics.files.results import ResultRow

SEVERAL = ""
NOT_ONE_BLOCK = (
    "the document '{}' has several passages in the corpus, and start and end count the characters of one: give its id, "
    "or leave start and end out, since the text says where the passage is from."
)
NO_DOCUMENT = (
    "the corpus has no document '{}'. Correct it, or leave document_id out where the line has a text: the text says "
    "where the passage is from."
)


class CorpusFacts(NamedTuple):
    """What a corpus has of what results name: the texts of blocks by their ids, and documents.

    `documents` has the id of the only block of each document, SEVERAL where it has more. `are_all`: another document is
    a mistake.
    """

    texts: Mapping[str, str]
    documents: Mapping[str, str]
    are_all: bool = True


FactsOf = Callable[[Collection[str], Collection[str]], CorpusFacts]
"""The facts on blocks and documents with these ids, as far as the corpus has them, for those that read it in parts."""


def facts_among(blocks: Mapping[str, Returned]) -> CorpusFacts:
    """The facts of a whole corpus."""
    documents: dict[str, str] = {}
    for block in blocks.values():
        if block.document_id:
            documents[block.document_id] = SEVERAL if block.document_id in documents else block.id
    return CorpusFacts({name: block.text for name, block in blocks.items()}, documents, bool(documents))


def checked(
    rows: Iterable[tuple[int, ResultRow]], name: str, facts_of: FactsOf, errors: ErrorList
) -> list[tuple[int, ResultRow]]:
    """The rows, each with its line; a start and an end are then under the id of their block, and with their text.

    A row that the corpus contradicts is added to `errors` and left out; a document that it has not is listed once.
    """
    rows = list(rows)
    documents = {row.returned.document_id for _, row in rows} - {""}
    spans = [row.returned for _, row in rows if row.returned.span]
    if not documents and not spans:
        return rows
    facts = facts_of((), documents)
    named = {one.id or facts.documents.get(one.document_id, SEVERAL) for one in spans} - {SEVERAL}
    facts = facts._replace(texts=facts_of(named, ()).texts if named else {})
    found, strangers = [], set[str]()
    for line, row in rows:
        try:
            found.append((line, row._replace(returned=_checked(name, line, row.returned, facts, strangers))))
        except InputError as error:
            errors.add(error)
        except _ListedAlready:
            continue
    return found


class _ListedAlready(Exception):
    """The document of a row is unknown, and listed."""


def _checked(name: str, line: int, told: Returned, facts: CorpusFacts, strangers: set[str]) -> Returned:
    document = told.document_id
    needs_document = facts.are_all or (told.span is not None and not told.id)
    if document and needs_document and document not in facts.documents:
        if document in strangers:
            raise _ListedAlready
        strangers.add(document)
        raise fault(name, line, "document_id", document, NO_DOCUMENT.format(document))
    if told.span is None:
        return told
    block = told.id or facts.documents.get(document, SEVERAL)
    if not block:
        raise fault(name, line, "id", "", NOT_ONE_BLOCK.format(document))
    start, end = told.span
    text = facts.texts.get(block)
    if text is None:
        raise fault(name, line, "id", block, f"the corpus has no passage '{block}' for start and end to count in.")
    if end > len(text):
        raise fault(name, line, "end", end, f"the passage '{block}' has no more than {len(text):,} characters.")
    if told.text and words_of(told.text) != words_of(text[start:end]):
        theirs = f"characters {start} to {end} of the passage '{block}' are others, which begin with"
        raise fault(name, line, "text", told.text, f"{theirs} “{text[start : min(end, start + 40)]}”.")
    return told._replace(id=block, text=told.text or text[start:end])
