"""What the columns of a table of grades can be, and which grade of the scale a grade of the file means."""

import re
from collections.abc import Iterable, Mapping, Sequence

from apps.corpus.core.import_plans import ColumnRole, share
from apps.queries.core.table_roles import ID_HEADINGS, TEXT_HEADINGS

_NUMBER = re.compile(r"[+-]?[0-9]{1,4}(?:[.,][0-9]{1,3})?\Z")
TOPS = (4, 5, 6, 7, 10, 100)
WORDS: tuple[tuple[float, tuple[str, ...]], ...] = (
    (
        0.0,
        (
            "no", "none", "not relevant", "irrelevant", "non relevant", "bad", "poor", "off topic", "false", "n",
            "wrong", "not", "nein", "nicht relevant", "unrelated", "useless", "fail",
        ),
    ),
    (
        0.5,
        (
            "partly", "partial", "partially", "partially relevant", "partly relevant", "somewhat", "somewhat relevant",
            "related", "fair", "maybe", "ok", "okay", "marginal", "marginally relevant", "teilweise", "medium", "mixed",
        ),
    ),
    (0.75, ("good", "relevant but not best", "mostly", "mostly relevant", "substantial", "gut")),
    (
        1.0,
        (
            "yes", "relevant", "perfect", "exact", "fully", "full", "highly relevant", "very relevant", "excellent",
            "complete", "completely", "true", "y", "right", "best", "ja", "vital", "ideal", "answers", "pass",
        ),
    ),
)  # fmt: skip


def number_in(value: str) -> float | None:
    """The number that a grade of the file is, with a decimal point or comma; None for words."""
    return float(value.replace(",", ".")) if _NUMBER.match(value.strip()) else None


def is_same_grade(value: str, grade: str) -> bool:
    """Whether a grade of the file is ours as it is, also when the file writes 1 as 1.0."""
    return value == grade or (number_in(value) is not None and number_in(value) == number_in(grade))


def is_grade_word(value: str) -> bool:
    return _plain(value) in _SHARES


def propose_grades(values: Iterable[str], scale: Mapping[int, str]) -> dict[str, str]:
    """A grade of the scale for each value that has an obvious one; values without one are left out of the map.

    Whole numbers of the scale are themselves. Numbers of another range are spread over the scale, between two grades
    the lower; a number below 0 is a code, which has no obvious grade. Names of the scale's grades, and usual words for
    yes, partly and no, are those grades. `scale` maps our grades to their names.
    """
    values = list(dict.fromkeys(value.strip() for value in values if value.strip()))
    names = {_plain(name): grade for grade, name in scale.items()}
    numbers = {value: number for value in values if (number := number_in(value)) is not None}
    numbers = {value: number for value, number in numbers.items() if number >= 0}
    by_number = _on_scale(list(numbers.values()), sorted(scale)) if numbers else {}
    proposed: dict[str, str] = {}
    for value in values:
        if value in numbers:
            proposed[value] = str(by_number[numbers[value]])
        elif (plain := _plain(value)) in names:
            proposed[value] = str(names[plain])
        elif plain in _SHARES:
            proposed[value] = str(_at(_SHARES[plain], sorted(scale)))
    return proposed


def _on_scale(numbers: Sequence[float], grades: Sequence[int]) -> dict[float, int]:
    if all(number in grades for number in numbers):
        return {number: int(number) for number in numbers}
    low, high = min(numbers), max(numbers)
    if all(number.is_integer() for number in numbers):
        low = min(low, 1)
        high = next((top for top in TOPS if top >= high), high)
    return {number: _at((number - low) / (high - low) if high > low else 0, grades) for number in numbers}


def _at(share: float, grades: Sequence[int]) -> int:
    """The grade at this share of the scale; between two grades the lower."""
    place = share * (len(grades) - 1)
    return grades[int(place + 0.5 - 1e-9)]


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.replace("_", " ").casefold()))


_SHARES = {_plain(word): share for share, words in WORDS for word in words}

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
