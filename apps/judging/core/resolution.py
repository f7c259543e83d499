"""A person's answer for a pair with its evidence, and the resolution of the answers of one pair. No database."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from apps.judging.enums import DecidedBy


class PairState(StrEnum):
    """The progress of a pair. Derived from its judgements, never stored."""

    UNJUDGED = "unjudged"
    PARTLY = "partly judged"
    AGREED = "agreed"
    DISAGREED = "disagreed"
    RECONCILED = "reconciled"
    ADJUDICATED = "adjudicated"


class Resolution(StrEnum):
    """What a pair's grade rests on."""

    SINGLE = "single"
    UNANIMOUS = "unanimous"
    MAJORITY = "majority"
    RECONCILED = "reconciled"
    ADJUDICATED = "adjudicated"
    LEAD_WHO_JUDGED = "lead_who_judged"
    CARRIED = "carried"
    UNRESOLVED = "unresolved"


class Ruling(NamedTuple):
    """The decision on a pair; `grade` is None when the pair can't be judged at all."""

    grade: int | None
    by: str = DecidedBy.LEAD

    @property
    def resolved(self) -> "Resolved":
        state = PairState.RECONCILED if self.by == DecidedBy.JUDGES else PairState.ADJUDICATED
        return Resolved(state, RESOLVED_BY[DecidedBy(self.by)], self.grade)


RESOLVED_BY = {
    DecidedBy.LEAD: Resolution.ADJUDICATED,
    DecidedBy.LEAD_WHO_JUDGED: Resolution.LEAD_WHO_JUDGED,
    DecidedBy.JUDGES: Resolution.RECONCILED,
}


class Resolved(NamedTuple):
    """The state of a pair, what resolved it, and the grade if there is one.

    `grade` is None both while nothing is settled and when a ruling is that the pair can't be judged; `resolution`
    distinguishes the two.
    """

    state: PairState
    resolution: Resolution
    grade: int | None

    @property
    def needs_lead(self) -> bool:
        """Whether every seat is done and the answers settle nothing."""
        is_open = self.state in (PairState.AGREED, PairState.DISAGREED)
        return is_open and self.resolution is Resolution.UNRESOLVED


def resolve(answers: Sequence[int | None], *, planned: int, ruling: Ruling | None = None) -> Resolved:
    """Resolve the live answers of a pair that was planned for `planned` judges.

    An answer is a grade, or None for "can't judge", which is neither a grade nor a missing answer: it takes a
    seat and counts against a majority, but never becomes a grade. Grades are never averaged; a majority is
    more than half of the planned seats. When everybody says that the pair can't be judged they agree, and yet
    nothing is resolved: a lead decides. Raises ValueError for more answers than seats.
    """
    if len(answers) > planned:
        raise ValueError(f"{len(answers)} answers for {planned} seats")
    if ruling is not None:
        return ruling.resolved
    if not answers:
        return Resolved(PairState.UNJUDGED, Resolution.UNRESOLVED, None)
    if len(answers) < planned:
        return Resolved(PairState.PARTLY, Resolution.UNRESOLVED, None)
    return _resolve_complete(answers)


def _resolve_complete(answers: Sequence[int | None]) -> Resolved:
    top, votes = Counter(answers).most_common(1)[0]
    state = PairState.AGREED if votes == len(answers) else PairState.DISAGREED
    if top is None or 2 * votes <= len(answers):
        return Resolved(state, Resolution.UNRESOLVED, None)
    if votes < len(answers):
        return Resolved(state, Resolution.MAJORITY, top)
    return Resolved(state, Resolution.SINGLE if votes == 1 else Resolution.UNANIMOUS, top)


def settled_facets(given: Iterable[Sequence[str] | None], grade: int | None) -> list[str] | None:
    """The subtopics of a pair with this grade: those that at least half of the judges chose who were asked for them.

    Of two judges one is enough, of three it takes two. None where nobody was asked or where there is no grade; no
    subtopic where the grade is 0.
    """
    asked = [facets for facets in given if facets is not None]
    if not asked or grade is None:
        return None
    votes = Counter(facet for facets in asked for facet in facets)
    return sorted(facet for facet, n in votes.items() if 2 * n >= len(asked)) if grade > 0 else []


def facets_refusal(facets: Sequence[str], known: Sequence[str], grade: int | None) -> str | None:
    """Why these subtopics cannot go with this grade of a pair whose query has the `known` ones."""
    if unknown := [facet for facet in facets if facet not in known]:
        return f"The query has no subtopic {unknown[0]}. Load the page again, and judge the pair anew."
    if facets and (grade is None or grade < 1):
        return "Only a grade from 1 on has subtopics. Send this answer without them."
    return None


class ResolutionRule(StrEnum):
    """A rule by which a round may settle pairs without a majority. A lead accepts it; none of them is a mean."""

    MAJORITY = "majority"
    NEAR_MEDIAN = "near-median"
    LOWER = "lower"


def settled_by(rule: ResolutionRule, answers: Sequence[int | None]) -> int | None:
    """The grade that a rule gives a trivial disagreement, or None where a lead has to decide.

    Only near grades are trivial; with a "can't judge" answer no disagreement is.
    """
    if rule is ResolutionRule.NEAR_MEDIAN:
        return near_median(answers)
    if rule is ResolutionRule.LOWER:
        return lower_of_neighbours(answers)
    return None


def near_median(answers: Sequence[int | None]) -> int | None:
    """The middle of an odd number of grades, none of which is more than one grade away from it; otherwise None."""
    grades = sorted(answer for answer in answers if answer is not None)
    if len(grades) < len(answers) or len(grades) % 2 == 0:
        return None
    middle = grades[len(grades) // 2]
    return middle if grades[-1] - middle <= 1 and middle - grades[0] <= 1 else None


def lower_of_neighbours(answers: Sequence[int | None]) -> int | None:
    """The lower of the grades when all of them are within one of each other; otherwise None."""
    grades = [answer for answer in answers if answer is not None]
    if not grades or len(grades) < len(answers) or max(grades) - min(grades) > 1:
        return None
    return min(grades)


def spread(answers: Sequence[int | None]) -> float:
    """How far apart the answers are, to order pairs by agreement; 0 is full agreement.

    The distance of the extreme grades, plus a whole scale (3) for each "can't judge" where another answer is a grade.
    """
    grades = [answer for answer in answers if answer is not None]
    if not grades:
        return 0.0
    return float(max(grades) - min(grades) + 3 * (len(answers) - len(grades)))


MOST_SPANS = 20


class Span(NamedTuple):
    """A marked part of a text: start included, end not."""

    start: int
    end: int


def spans_refusal(spans: Any, text: str) -> str | None:
    """Why these spans can't be evidence in this text, or None when they can.

    Spans are mappings or pairs with whole-number `start` and `end`, in order and not overlapping, each over at least
    one character that is not blank.
    """
    try:
        parsed = parse_spans(spans)
    except (TypeError, ValueError, KeyError, IndexError):
        return "Evidence is a list of spans, each with a start and an end."
    if len(parsed) > MOST_SPANS:
        return f"At most {MOST_SPANS} spans of evidence fit one judgement."
    floor = 0
    for start, end in parsed:
        if not (0 <= start < end <= len(text)):
            return f"Evidence from {start} to {end} is outside the text, which ends at {len(text)}."
        if start < floor:
            return "Spans of evidence are listed in order and do not overlap."
        if not text[start:end].strip():
            return f"Evidence from {start} to {end} is blank."
        floor = end
    return None


def parse_spans(spans: Any) -> list[Span]:
    """Turn mappings or pairs into spans. Raises TypeError, ValueError or KeyError for anything else."""
    if not isinstance(spans, (list, tuple)):
        raise TypeError("not a list")
    return [_parse(span) for span in spans]


def _parse(span: Any) -> Span:
    start, end = (span["start"], span["end"]) if isinstance(span, dict) else span
    if any(isinstance(value, bool) or not isinstance(value, int) for value in (start, end)):
        raise TypeError("not a whole number")
    return Span(start, end)


def stored(spans: Iterable[Span]) -> list[list[int]]:
    """Spans as they are stored and sent: [start, end]."""
    return [[start, end] for start, end in spans]


@dataclass(frozen=True, slots=True)
class Answer:
    """A person's answer for a pair: a grade, or a reason why it can't be judged.

    Without `is_again` it is their first answer for the pair, and refused when they have graded it already. `facets` are
    the subtopics that the block answers, by id; None where they were not asked.
    """

    grade: int | None = None
    cant_judge: str = ""
    note: str = ""
    spans: Any = field(default_factory=list)
    active_ms: int | None = None
    away_ms: int | None = None
    is_again: bool = True
    facets: Sequence[str] | None = None


MOST_TIME_MS = 7 * 24 * 3_600_000
"""The longest time that a client may report, a week."""
LONGEST_TIME_MS = 2_000_000_000
"""The longest time that is stored."""


def milliseconds(value: int | None) -> int | None:
    """A time as it is stored: within what the column holds, whatever a browser's clock said."""
    return None if value is None else max(0, min(value, LONGEST_TIME_MS))
