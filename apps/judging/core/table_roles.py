"""What the columns of a table of grades can be."""

import re
from collections.abc import Sequence

from apps.corpus.core.columns import ColumnRole, share
from apps.judging.core.grade_values import is_grade_word, number_in
from apps.queries.core.table_roles import ID_HEADINGS, TEXT_HEADINGS

QUERY, QUERY_ID, PASSAGE, GRADE, RATED, FINAL = "query", "query_id", "passage", "grade", "rated", "final"
PERSON, NOTE, RANK = "person", "note", "rank"
MOST_GRADES = 25
_ADDRESS = re.compile(r"(?:https?://|/)\S*\Z|\S+/\S+\Z")


def _as_grades(values: Sequence[str]) -> float:
    """Few different values, numbers or words for grades."""
    distinct = set(values)
    if len(distinct) > MOST_GRADES:
        return 0.0
    return 0.4 + 0.6 * share(sorted(distinct), lambda value: number_in(value) is not None or is_grade_word(value))


def _as_texts(values: Sequence[str]) -> float:
    return share(values, lambda value: any(letter.isalpha() for letter in value) and not _ADDRESS.match(value))


def _as_addresses(values: Sequence[str]) -> float:
    return 0.5 + 0.5 * share(values, lambda value: bool(_ADDRESS.match(value)))


def _as_notes(values: Sequence[str]) -> float:
    """ "Note" is also a word for grade: a column of numbers is no note."""
    return 0.9 - 0.8 * share(values, lambda value: number_in(value) is not None)


ROLES = (
    ColumnRole(
        QUERY,
        "Query",
        TEXT_HEADINGS,
        _as_texts,
        by_values=True,
    ),
    ColumnRole(QUERY_ID, "Query id", ID_HEADINGS),
    ColumnRole(
        PASSAGE,
        "Passage",
        (
            "url", "link", "address", "page", "passage", "passage id", "block", "block id", "doc", "docid", "doc id",
            "docno", "document", "document id", "path", "href", "uri", "product", "product id", "sku", "item", "result",
            "hit", "seite", "adresse", "dokument",
        ),
        _as_addresses,
        by_values=True,
    ),
    ColumnRole(
        RATED,
        "Grade of one person",
        (
            "rater 1", "rater 2", "rater 3", "rater 4", "rater 5", "agent 1", "agent 2", "agent 3", "agent 4",
            "judge 1", "judge 2", "judge 3", "annotator 1", "annotator 2", "annotator 3", "assessor 1", "assessor 2",
            "assessor 3", "reviewer 1", "reviewer 2", "reviewer 3",
        ),
        _as_grades,
        is_many=True,
    ),
    ColumnRole(
        FINAL,
        "Final grade",
        ("final", "final rating", "final grade", "agreed", "agreed grade", "consensus", "gold", "adjudicated"),
        _as_grades,
    ),
    ColumnRole(
        GRADE,
        "Grade",
        (
            "grade", "rating", "relevance", "relevant", "rel", "judgement", "judgment", "label", "score", "verdict",
            "bewertung", "relevanz", "note", "stars",
        ),
        _as_grades,
        by_values=True,
    ),
    ColumnRole(RANK, "Rank", ("rank", "position", "pos", "place", "result no", "rang", "platz")),
    ColumnRole(
        NOTE,
        "Note",
        ("notes", "note", "comment", "comments", "remark", "remarks", "reason", "explanation", "kommentar"),
        _as_notes,
    ),
    ColumnRole(
        PERSON,
        "Person",
        ("rater", "annotator", "judge", "assessor", "person", "who", "rated by", "graded by", "reviewer", "rater name"),
    ),
)  # fmt: skip
BY_NAME = {role.name: role for role in ROLES}


def parse_table_columns(text: str) -> dict[str, str]:
    """`Search=query,URL=passage,Stars=grade` as a role for each heading named. Raises ValueError with a sentence."""
    columns: dict[str, str] = {}
    for part in text.split(","):
        heading, equals, role = (piece.strip() for piece in part.rpartition("="))
        if not equals or not heading or role not in BY_NAME:
            raise ValueError(f"'{part.strip()}' is not of the form heading=role; roles are {', '.join(BY_NAME)}")
        columns[heading] = role
    return columns
