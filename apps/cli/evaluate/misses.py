"""The questions that a system missed: nothing right among the first passages, and what came first instead."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

from apps.cli.evaluate.by_text import TextRun
from apps.cli.evaluate.released import ReleaseSplit
from apps.cli.evaluate.scoring import Answered, Evaluated
from apps.metrics.columns import LOST, NOTHING, UNJUDGED, Judged
from apps.metrics.expected.hits import find_hits
from apps.metrics.expected.measures import first_ranks
from apps.metrics.expected.rules import BY_GRADES, ExpectedBlock, HitRule, Returned, counts_questions
from apps.metrics.measures.measure_input import Pass
from apps.metrics.scorecard import Scorecard
from apps.retrieval.core.ranking import as_results

USUAL_CUTOFF = 10
NOT_RETURNED = 0


NO_GRADE = "not judged"
NO_GRADE_BY_TEXT = {UNJUDGED: "covers no judged passage", LOST: "not located", NOTHING: "covers no passage"}


class First(NamedTuple):
    """What came first for a question: the passage, None where nothing was returned. `grade` is its grade, or what it
    earns by text; without one `ungraded` says why, and is "" on Q&As.
    """

    passage: Returned | None = None
    grade: int | None = None
    ungraded: str = ""

    @property
    def grade_words(self) -> str:
        return self.ungraded if self.grade is None else f"grade {self.grade}"


Firsts = dict[int, First]
"""What came first for each query by its place in the release."""


class Miss(NamedTuple):
    """A question without anything right among its first passages.

    `rank` is that of the first right passage, from 1; NOT_RETURNED without one. `expected` are blocks with their grade
    by grades, else the expected blocks.
    """

    question_id: str
    query_id: str
    text: str
    rank: int
    first: First
    expected: tuple[dict[str, Any], ...]


class Misses(NamedTuple):
    """Of `of` questions of one side those with nothing right among the first `cutoff`. `hit` is "" by grades of blocks,
    and a rule by text or on triples.
    """

    hit: str
    cutoff: int
    of: int
    missed: tuple[Miss, ...]

    @property
    def counts_questions(self) -> bool:
        return counts_questions(self.hit)

    @property
    def whose(self) -> str:
        if self.counts_questions:
            return "on Q&As"
        return "by grades, by text" if self.hit else "by grades"


def misses_of(release: ReleaseSplit, judged: Judged | None, run: Answered, scored: Evaluated) -> list[Misses]:
    """The misses of each side that was scored, by grades first."""
    sides = []
    if scored.by_grades and scored.text_run:
        sides.append(_by_text(release, scored.text_run, str(scored.by_grades.hit), cutoff_of(scored.by_grades)))
    elif scored.by_grades and judged is not None:
        sides.append(_by_grades(release, judged, run, cutoff_of(scored.by_grades)))
    if scored.on_triples and scored.on_triples.hit:
        sides.append(_on_triples(release, run, scored.on_triples.hit, cutoff_of(scored.on_triples)))
    return sides


def cutoff_of(card: Scorecard) -> int:
    """That of the first measure that has one."""
    return next((one.cutoff for one in card.measures.values() if one.cutoff), USUAL_CUTOFF)


def _by_grades(release: ReleaseSplit, judged: Judged, run: Answered, cutoff: int) -> Misses:
    """The queries with a relevant block, and without one in the first results."""
    assert run.ranked is not None
    ranking = Pass(judged, run.ranked, run.ids)
    return _missed(release, ranking, _firsts(release, run, ranking), BY_GRADES, cutoff)


def _by_text(release: ReleaseSplit, run: TextRun, hit: str, cutoff: int) -> Misses:
    """The queries with a relevant block, and without any that the first passages cover."""
    return _missed(release, run.ranking, firsts_by_text(release, run), hit, cutoff)


def _missed(release: ReleaseSplit, ranking: Pass, firsts: Firsts, hit: str, cutoff: int) -> Misses:
    """The misses by grades."""
    ranks: dict[int, int] = {}
    for query, rank in zip(*(column.tolist() for column in ranking.rows(1, None)), strict=True):
        ranks.setdefault(query, rank + 1)
    has_relevant, relevant = ranking.relevant(1) > 0, _relevant(release)
    missed = []
    for place, query in enumerate(release.queries):
        rank = ranks.get(place, NOT_RETURNED)
        if not has_relevant[place] or 0 < rank <= cutoff:
            continue
        first, expected = firsts.get(place, First()), tuple(relevant[query.query_id])
        missed.append(Miss(query.query_id, query.query_id, query.text, rank, first, expected))
    return Misses(hit, cutoff, int(has_relevant.sum()), tuple(missed))


def firsts_by_grades(release: ReleaseSplit, judged: Judged, run: Answered) -> Firsts:
    """What a run of blocks has first."""
    assert run.ranked is not None
    return _firsts(release, run, Pass(judged, run.ranked, run.ids))


def firsts_by_text(release: ReleaseSplit, run: TextRun) -> Firsts:
    """What a run that is measured by text has first, and what that earns."""
    earnings = run.ranking.earnings
    assert earnings is not None
    is_first = earnings.rank == 0
    firsts: Firsts = {}
    for place, earned in zip(earnings.query[is_first].tolist(), earnings.grade[is_first].tolist(), strict=True):
        passage, ungraded = run.passages[release.queries[place].query_id][0], NO_GRADE_BY_TEXT.get(earned, "")
        firsts[place] = First(passage, None if ungraded else earned, ungraded)
    return firsts


def _firsts(release: ReleaseSplit, run: Answered, ranking: Pass) -> Firsts:
    at_first = ranking.rank == 0
    grades = dict(zip(ranking.query[at_first].tolist(), ranking.grade[at_first].tolist(), strict=True))
    firsts: Firsts = {}
    for place, number in zip(*(column.tolist() for column in ranking.top(1)), strict=True):
        block = bytes(run.ids[number]).decode()
        firsts[place] = First(release.blocks.get(block, Returned(block)), grades.get(place), NO_GRADE)
    return firsts


def _relevant(release: ReleaseSplit) -> dict[str, list[dict[str, Any]]]:
    """The relevant blocks of each query, best first."""
    relevant: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(release.grades, key=lambda one: (-one.grade, one.block_id)):
        if row.grade >= 1:
            relevant.setdefault(row.query_id, []).append({"block_id": row.block_id, "grade": row.grade})
    return relevant


def _on_triples(release: ReleaseSplit, run: Answered, hit: HitRule, cutoff: int) -> Misses:
    """The triples that the rule says something about, and without a hit among the first passages."""
    hits = find_hits(release.questions, run.returned, hit)
    ranks = (first_ranks(hits) + 1).tolist()
    known = list(compress(zip(release.triples, ranks, strict=True), hits.is_defined))
    missed = []
    for triple, rank in known:
        if 0 < rank <= cutoff:
            continue
        question, returned = triple.question, run.returned.get(triple.question.id, ())
        first, expected = First(next(iter(returned), None)), tuple(map(_expected, question.expected))
        missed.append(Miss(question.id, triple.asked.query_id, triple.asked.text, rank, first, expected))
    return Misses(str(hit), cutoff, len(known), tuple(missed))


def _expected(block: ExpectedBlock) -> dict[str, Any]:
    return {
        "block_id": block.block_id,
        "document_id": block.document_id or None,
        "pages": list(block.pages) if block.pages else None,
        "evidence": list(block.evidence),
    }


def write_misses(path: Path, sides: Iterable[Misses]) -> None:
    """Write a JSON line for each missed question of each side; an empty file says that none was missed."""
    lines = (json.dumps(one, ensure_ascii=False) + "\n" for side in sides for one in _as_json(side))
    path.write_text("".join(lines), encoding="utf-8")


def _as_json(side: Misses) -> Iterator[Mapping[str, Any]]:
    for miss in side.missed:
        graded = {} if side.counts_questions else {"first_grade": miss.first.grade}
        yield {
            "qid": miss.question_id,
            "query_id": miss.query_id,
            "question": miss.text,
            "measured": f"hit rule {side.hit}" if side.counts_questions else side.whose,
            "cutoff": side.cutoff,
            "rank": miss.rank or None,
            "expected": list(miss.expected),
            "first": None if miss.first.passage is None else as_results([miss.first.passage])[0],
            **graded,
        }


def named(expected: Sequence[Mapping[str, Any]], most: int = 3) -> str:
    """The ids of what was expected, the first ones."""
    shown = ", ".join(str(one["block_id"]) for one in expected[:most])
    return f"{shown} and {len(expected) - most:,} more" if len(expected) > most else shown
