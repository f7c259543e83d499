"""What the fields of a task are, where a tool leaves their names to whoever made the task."""

from collections.abc import Sequence

from apps.corpus.core.columns import plain_heading
from apps.judging.core import table_roles as roles

QUERY_IDS = ("query id", "qid", "topic id", "question id")
QUERIES = ("query", "question", "search", "search query", "query text", "user query", "topic", "keyword", "prompt")
PASSAGE_IDS = (
    "passage id", "block id", "block", "doc id", "docid", "docno", "document id", "corpus id", "chunk id", "url",
)  # fmt: skip
PASSAGES = (
    "passage", "text", "document", "doc", "context", "chunk", "content", "body", "passage text", "document text",
    "answer", "result", "snippet",
)  # fmt: skip


def roles_of(
    headings: Sequence[str], *, passages: Sequence[str] = (), graded: Sequence[str] = (), notes: Sequence[str] = ()
) -> dict[str, str]:
    """The role of each heading that has an obvious one: an id goes before a text, the first usual name before others.

    `passages`, `graded` and `notes` are headings of which the form of the file says so. Of several that could be the
    grade none is chosen: a person is asked.
    """
    found: dict[str, str] = {}
    given = [heading for heading in passages if heading in headings]
    for role, names in ((roles.QUERY_ID, QUERY_IDS), (roles.QUERY, QUERIES)):
        if heading := _first(headings, names):
            found[heading] = role
    if heading := next(iter(given), "") or _first(headings, PASSAGE_IDS) or _first(headings, PASSAGES):
        found[heading] = roles.PASSAGE
    if len(notes) == 1:
        found[notes[0]] = roles.NOTE
    if len(graded) == 1:
        found[graded[0]] = roles.GRADE
    return found


def _first(headings: Sequence[str], names: Sequence[str]) -> str:
    plain = {plain_heading(heading): heading for heading in reversed(headings)}
    return next((plain[name] for name in names if name in plain), "")
