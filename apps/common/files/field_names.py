"""What columns and fields of ids are called in files, and which of several is meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# Accepted names of the id columns, in any capitals, with blanks, hyphens or underscores; the first one is the
# documented one.
QUERY = ("query", "query_id", "qid", "topic", "topic_id", "query_number")
BLOCK = ("block", "block_id", "doc_id", "docid", "docno", "corpus_id", "passage_id", "product_id")
ITEM = ("item", "item_id", "id")
_OF_GRADES = {"mean", "average", "avg", "median", "majority", "sum", "total", "count", "votes"}
OF_ALL = frozenset({*_OF_GRADES, "length", "batch", "fold", "split"})
"""Words of headings beside those of raters whose numbers nobody gave: worked out of the grades, or about the row."""
INSTEAD_OF = {
    "query_id": {"query", "topic"},
    "qid": {"query", "topic"},
    "topic_id": {"query", "topic"},
    "block_id": {"block"},
    "docno": {"docid", "doc_id"},
}
"""Names that are the id where the others stand beside them: `query` then has the words, and `docid` of PyTerrier is a
number of its own index, beside the id of the collection in `docno`."""


class SameMeaning(ValueError):
    """Two headings of which it cannot be told which is meant."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second} mean the same; keep one of them")
        self.second = second


def plain_name(heading: str) -> str:
    """A heading in small letters, its words divided by underscores: "Query-ID" is query_id."""
    return re.sub(r"[\s_-]+", "_", heading.strip().strip('"').strip().casefold()).strip("_") or heading


def meant(names: Sequence[str], headings: Iterable[str]) -> str | None:
    """The heading with one of these names; of several the one that is the id beside the others. None for none.

    Raises SameMeaning where that cannot be told.
    """
    there = [heading for heading in headings if plain_name(heading) in names]
    for heading in there:
        others = {plain_name(other) for other in there if other is not heading}
        if others <= INSTEAD_OF.get(plain_name(heading), set()):
            return heading
    if there:
        first, second, *_ = sorted(there, key=lambda heading: names.index(plain_name(heading)))
        raise SameMeaning(first, second)
    return None
