"""What an answer says of passages that a system cut itself: their documents, pages and texts."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from apps.metrics.expected.rules import Returned
from apps.retrieval.core.engines.base import BadParameters
from apps.retrieval.core.engines.remote.base import RemoteError, RemoteHit, checked_id

HIGHEST_PAGE = 999_999_999
LONGEST_TEXT = 100_000
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


class OwnPaths(NamedTuple):
    """The paths to each part of a passage in an answer, "" for what it does not say."""

    documents: str = ""
    texts: str = ""
    first_pages: str = ""
    last_pages: str = ""

    def check(self, ids: str) -> None:
        """Raises BadParameters."""
        if self.last_pages and not self.first_pages:
            raise BadParameters("The path to the last pages needs the path to the first pages.")
        if self.first_pages and not self.documents:
            raise BadParameters("Pages are pages of a document: give the path to the documents too.")
        if any(self) and not (ids or self.documents or self.texts):
            raise BadParameters("Give the path to the ids, to the documents or to the texts.")


def passage_of(values: Mapping[str, Any], passage_id: str, number: int) -> Returned:
    """The passage that item `number` of an answer says, from the values at its paths. Raises RemoteError."""
    document = values.get("documents")
    returned = Returned(
        id=passage_id,
        document_id="" if document is None else checked_id(document, number),
        pages=_pages(values.get("first_pages"), values.get("last_pages"), number),
        text=_text(values.get("texts"), number),
    )
    if not (returned.id or returned.document_id or returned.text.strip()):
        raise RemoteError(f"Item {number} of the answer has no id, no document and no text.")
    return returned


def _pages(first: Any, last: Any, number: int) -> tuple[int, int] | None:
    if first is None:
        return None
    ends = (first, first if last is None else last)
    if not all(type(end) is int and 0 <= end <= HIGHEST_PAGE for end in ends) or ends[0] > ends[1]:
        raise RemoteError(f"The pages of item {number} are not whole numbers, the first before the last.")
    return ends


def _text(value: Any, number: int) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > LONGEST_TEXT or _UNSTORABLE.search(value):
        raise RemoteError(f"The text of item {number} is no text of at most {LONGEST_TEXT:,} characters.")
    return value


def told_in(hits: Sequence[RemoteHit]) -> list[Returned]:
    """The passages of an answer that tells more than ids, in its order; none for an answer of ids alone.

    With texts every item keeps its place, whatever its id or text is; without any an id counts where it stands first.
    """
    if all(hit.own is None for hit in hits):
        return []
    told = [hit.own or Returned(hit.id) for hit in hits]
    if any(one.text for one in told):
        return told
    return list({hit.id: one for hit, one in reversed(list(zip(hits, told, strict=True)))}.values())[::-1]


class MayCutPassages:
    """An engine whose hits are passages of its own where it has a path to any part of them."""

    documents: str
    texts: str
    first_pages: str
    last_pages: str

    @property
    def own(self) -> OwnPaths:
        return OwnPaths(self.documents, self.texts, self.first_pages, self.last_pages)

    @property
    def returns_passages(self) -> bool:
        return any(self.own)

    def mapped(self, value: Any, number: int) -> str:
        """The id of item `number` of an answer as the snapshot has it. Raises RemoteError."""
        return checked_id(value, number)

    def hit(self, row: Mapping[str, Any], score: float | None, number: int) -> RemoteHit:
        """Item `number` of an answer, from the values at its paths. Raises RemoteError."""
        if not self.returns_passages:
            return RemoteHit(self.mapped(row["ids"], number), score)
        passage_id = "" if row.get("ids") is None else self.mapped(row["ids"], number)
        return RemoteHit(passage_id, score, passage_of(row, passage_id, number))
