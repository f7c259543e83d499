"""Scores of a run under each annotator's own grades.

A released grade combines the answers of several people. Here one person's grades replace the released grades of the
same pairs; all others stay. No database.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.metrics.columns import BlockIds, Floats, Ints, Judged, Ranked, Result, pair_keys
from apps.metrics.measures.entries import Measure
from apps.metrics.measures.registry import measure_run


class GivenGrades(NamedTuple):
    """People's grades of judged pairs, one row each; a person has at most one grade for a pair.

    `people` are the keys of the persons, ascending; `person` is an index into them and `place` a row of the released
    judgements.
    """

    people: tuple[int, ...]
    person: Ints
    place: Ints
    grade: Ints

    def by(self, person: int) -> tuple[Ints, Ints]:
        """The rows that this person (an index into `people`) graded, ascending, and the grades."""
        chosen = self.person == person
        order = np.argsort(self.place[chosen], kind="stable")
        return self.place[chosen][order], self.grade[chosen][order]


def given_on(judged: Judged, person: Ints, query: Ints, block: Ints, grade: Ints) -> GivenGrades:
    """People's grades of released pairs, from columns of keys; of several by one person for a pair, the last."""
    keys = pair_keys(judged.query, judged.block)
    order = np.argsort(keys, kind="stable")
    wanted = pair_keys(query, block)
    if not len(keys) or not len(wanted):
        empty = np.empty(0, dtype=np.int64)
        return GivenGrades((), empty, empty, empty)
    at = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
    known = np.flatnonzero(keys[order][at] == wanted)
    place = order[at[known]]
    last = _last_of_each(person[known], place)
    people, member = np.unique(person[known][last], return_inverse=True)
    return GivenGrades(tuple(people.tolist()), member.astype(np.int64), place[last], grade[known][last])


def _last_of_each(person: Ints, place: Ints) -> Ints:
    """The last row of each person and place, ascending."""
    _, first_from_end = np.unique(np.column_stack((person, place))[::-1], axis=0, return_index=True)
    return np.sort(len(person) - 1 - first_from_end)


def shared_rows(given: GivenGrades, size: int) -> int:
    """How many of the `size` released judgements were graded by two people or more."""
    return int((np.bincount(given.place, minlength=size) > 1).sum())


def with_grades(judged: Judged, place: Ints, grade: Ints) -> Judged:
    """The judgements with new grades in these rows; every other row keeps its released grade, and all their facets."""
    grades = judged.grade.copy()
    grades[place] = grade
    return replace(judged, grade=grades)


def sheets_of(
    measures: Sequence[Measure],
    judged: Judged,
    given: GivenGrades,
    ranked: Result,
    block_ids: BlockIds,
    released: Floats,
) -> Floats:
    """The scores of one run under each person's grades: shape (people, queries, measures).

    `released` are the scores under the released grades, shape (queries, measures). They are used for every query in
    which a person graded nothing, so that each query has the same weight for each person.
    """
    sheets = np.repeat(released[None], len(given.people), axis=0)
    for person in range(len(given.people)):
        place, grade = given.by(person)
        seen = np.zeros(len(judged.queries), dtype=bool)
        seen[judged.query[place]] = True
        values = measure_run(measures, with_grades(judged, place, grade), _of_queries(ranked, seen), block_ids)
        sheets[person, seen] = values[seen]
    return sheets


def _of_queries(ranked: Result, chosen: NDArray[np.bool_]) -> Result:
    """The results of these queries; what is covered by text stays whole."""
    if not isinstance(ranked, Ranked):
        return ranked
    rows = chosen[ranked.query]
    return Ranked(ranked.query[rows], ranked.block[rows], ranked.score[rows], ranked.abstained)
