"""A heading above qrels: BEIR's `query-id corpus-id score`, or TREC's four columns with their names."""

import re
from collections.abc import Sequence

from apps.common.files.tables import BLOCK, QUERY

GRADES = ("grade", "score", "rel", "relevance", "rating", "label", "judgement", "judgment")
ITERATIONS = ("iteration", "iter", "q0", "zero")
NAMES = {
    "query_id": {*QUERY, "topic_id", "topic-id", "query_number"},
    "doc_id": {*BLOCK, "doc", "doc-id", "document", "document_id", "corpus_id", "passage", "passage_id"},
    "grade": set(GRADES),
    "iteration": set(ITERATIONS),
}
NEEDED = ("query_id", "doc_id", "grade")
TAB = "\t"
BLANKS = re.compile(r"[ \t\v\f]+")


def cells_of(line: str, *, by_tabs: bool) -> list[str]:
    """The cells of a line; ids in columns divided by tabs may have spaces."""
    return [cell.strip(" ") for cell in line.split(TAB)] if by_tabs else BLANKS.split(line.strip(" \t\v\f"))


def heading_of(line: str) -> Sequence[str] | None:
    """What each column is by its heading, or None for a line that is none."""
    cells = [cell.strip('"').lower() for cell in cells_of(line, by_tabs=TAB in line)]
    roles = [next((role for role, names in NAMES.items() if cell in names), "") for cell in cells]
    return roles if all(roles) and all(roles.count(name) == 1 for name in NEEDED) else None
