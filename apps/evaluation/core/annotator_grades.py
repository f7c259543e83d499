"""The grades that people gave, put in the place of those that were released. Knows no database.

A released grade is what several people's answers added up to. Whose answers they were is asked here: a run is scored
under one person's grades by putting them over the released ones and leaving the others as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from apps.metrics.columns import BlockIds, Floats, Ints, Judged, Ranked, pair_keys
from apps.metrics.measures import Measure, measure_run


class GivenGrades(NamedTuple):
    """People's grades of judged pairs, one row each; a person grades a pair once.

    `people` are the keys of the persons, ascending; `person` is a place among them and `place` a row of the released
    judgements.
    """

    people: tuple[int, ...]
    person: Ints
    place: Ints
    grade: Ints

    def by(self, person: int) -> tuple[Ints, Ints]:
        """The rows this person (a place among `people`) graded, ascending, and the grades."""
        chosen = self.person == person
        order = np.argsort(self.place[chosen], kind="stable")
        return self.place[chosen][order], self.grade[chosen][order]


def given_on(judged: Judged, person: Ints, query: Ints, block: Ints, grade: Ints) -> GivenGrades:
    """People's grades of pairs that were released, from columns of keys; of a person's grades of a pair the last."""
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
    """How many of the `size` released judgements two people or more have graded."""
    return int((np.bincount(given.place, minlength=size) > 1).sum())


def with_grades(judged: Judged, place: Ints, grade: Ints) -> Judged:
    """The judgements with other grades at the rows named; every other row stays as it was released."""
    grades = judged.grade.copy()
    grades[place] = grade
    return Judged(judged.queries, judged.query, judged.block, grades)


def sheets_of(
    measures: Sequence[Measure],
    judged: Judged,
    given: GivenGrades,
    ranked: Ranked,
    block_ids: BlockIds,
    released: Floats,
) -> Floats:
    """The scores of one run under each person's grades: shape (people, queries, measures).

    `released` holds the scores under the released grades, shape (queries, measures): they stand for a person in every
    query of which that person graded nothing, so that each query weighs the same on each sheet.
    """
    sheets = np.repeat(released[None], len(given.people), axis=0)
    for person in range(len(given.people)):
        place, grade = given.by(person)
        seen = np.zeros(len(judged.queries), dtype=bool)
        seen[judged.query[place]] = True
        kept = seen[ranked.query]
        part = Ranked(ranked.query[kept], ranked.block[kept], ranked.score[kept])
        values = measure_run(measures, with_grades(judged, place, grade), part, block_ids)
        sheets[person, seen] = values[seen]
    return sheets
