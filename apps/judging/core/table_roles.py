"""What the columns of a table of grades can be, and which grade of the scale a grade of the file means."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from apps.common.files.field_names import OF_ALL
from apps.common.files.numbers import number_in
from apps.corpus.core.import_plans import ColumnRole, named_columns, share
from apps.queries.core.table_roles import ID_HEADINGS, OF_OTHERS, OWN_IDS, TEXT_HEADINGS

TOPS = (4, 5, 6, 7, 10, 100)
WORDS: tuple[tuple[float, tuple[str, ...]], ...] = (
    (
        0.0,
        (
            "no", "none", "not relevant", "irrelevant", "non relevant", "bad", "poor", "off topic", "false", "n",
            "wrong", "not", "nein", "nicht relevant", "unrelated", "useless", "fail", "reject",
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
            "complete", "completely", "true", "y", "right", "best", "ja", "vital", "ideal", "answers", "pass", "accept",
        ),
    ),
)  # fmt: skip


def is_same_grade(value: str, grade: str) -> bool:
    """Whether a grade of the file is ours as it is, also when the file writes 1 as 1.0."""
    return value == grade or (number_in(value) is not None and number_in(value) == number_in(grade))


def is_grade_word(value: str) -> bool:
    return _plain(value) in _SHARES


def propose_grades(values: Iterable[str], scale: Mapping[int, str]) -> dict[str, str]:
    """A grade of the scale for each value that has an obvious one; values without one are left out of the map.

    Whole numbers of the scale are themselves. Where others go beyond it, all whole numbers are spread over the scale,
    between two grades the lower; not where one of them stands far from the others, as 33 does beside 0 to 3: it is
    rather a slip, and has no obvious grade. Neither has a number below 0, a code, or one between two grades, a mean.
    Names of the scale's grades, and usual words for yes, partly and no, are those grades. `scale` maps our grades to
    their names.
    """
    values = list(dict.fromkeys(value.strip() for value in values if value.strip()))
    names = {_plain(name): grade for grade, name in scale.items()}
    numbers = {value: number for value in values if (number := number_in(value)) is not None}
    wholes = [number for number in numbers.values() if number >= 0 and number.is_integer()]
    by_number = _on_scale(wholes, sorted(scale)) if wholes else {}
    proposed: dict[str, str] = {}
    for value in values:
        if value in numbers:
            if (grade := by_number.get(numbers[value])) is not None:
                proposed[value] = str(grade)
        elif (plain := _plain(value)) in names:
            proposed[value] = str(names[plain])
        elif plain in _SHARES:
            proposed[value] = str(_at(_SHARES[plain], sorted(scale)))
    return proposed


def _on_scale(numbers: Sequence[float], grades: Sequence[int]) -> dict[float, int]:
    on_scale = {number: int(number) for number in numbers if number in grades}
    if len(on_scale) == len(set(numbers)):
        return on_scale
    low, high = min(*numbers, 1), max(numbers)
    gap = max(after - before for before, after in pairwise(sorted({low, *numbers})))
    if on_scale and 2 * gap > high - low and not (len(set(numbers)) == 2 and high in TOPS):
        return on_scale
    high = next((top for top in TOPS if top >= high), high)
    return {number: _at((number - low) / (high - low), grades) for number in numbers}


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
    return 0.4 + 0.6 * share(sorted(distinct), lambda value: is_grade_word(value) or _is_grade_number(value))


def _is_grade_number(value: str) -> bool:
    number = number_in(value)
    return number is not None and abs(number) <= TOPS[-1]


def _as_texts(values: Sequence[str]) -> float:
    has_letters = share(values, lambda value: any(letter.isalpha() for letter in value) and not _ADDRESS.match(value))
    return has_letters * (0.6 + 0.4 * share(values, lambda value: " " in value))


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
        not_with=QUERY_ID,
    ),
    ColumnRole(QUERY_ID, "Query id", ID_HEADINGS, foreign=OF_OTHERS, of=QUERY, sure=OWN_IDS),
    ColumnRole(
        PASSAGE,
        "Passage",
        (
            "docno", "passage id", "block id", "docid", "doc id", "corpus id", "document id", "product id", "url",
            "link", "address", "page", "passage", "block", "doc", "ratings id", "document", "path", "href", "uri",
            "product", "sku", "item", "result", "hit", "seite", "adresse", "dokument",
        ),
        _as_addresses,
        by_values=True,
        foreign=frozenset({"assignment"}),  # the link of Toloka's is of the task
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
        by_values=True,
        is_many=True,
        foreign=OF_ALL,
        not_with=GRADE,
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
        not_with=RATED,
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
        (
            "rater", "annotator", "judge", "assessor", "person", "who", "rated by", "graded by", "reviewer",
            "rater name", "worker",
        ),
    ),
)  # fmt: skip
BY_NAME = {role.name: role for role in ROLES}


def parse_table_columns(text: str) -> dict[str, str]:
    """`Search=query,URL=passage,Stars=grade` as a role for each heading named. Raises ValueError with a sentence."""
    return named_columns(text, BY_NAME)
