"""Reading the judgements of a collection for its preview, while its passages and queries are in its files alone."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db.models import QuerySet

from apps.accounts.models import Project
from apps.common.database.scratch import Scratch
from apps.common.files.tabular import TableFile
from apps.judging.execution.judgement_import import JudgementReader
from apps.judging.formats.judgements import SKIP, GradeMap, is_whole

MOST_GRADES = 100
"""Grades that are counted by how files write them; a file with more has no grades in that column."""


class KnownIds:
    """The ids that a file brings, on disk, and those of rows that are here already and stay."""

    def __init__(self, ids: Iterable[str], stored: QuerySet[Any]) -> None:
        self._stored = stored
        self._scratch = Scratch("CREATE TABLE known (id TEXT PRIMARY KEY, number INTEGER) WITHOUT ROWID;")
        rows = ((each, number) for number, each in enumerate(ids, start=1))
        self._scratch.write("INSERT OR IGNORE INTO known VALUES (?, ?)", rows)

    def numbered(self, ids: set[str]) -> dict[str, int]:
        """A number for each of these ids that is known, another for each: below 0 for a stored row."""
        asked = [json.dumps([*ids])]
        rows = self._scratch.read("SELECT id, number FROM known WHERE id IN (SELECT value FROM json_each(?))", asked)
        found: dict[str, int] = dict(rows)
        if others := ids - found.keys():
            stored = self._stored.filter(outside_id__in=others).values_list("outside_id", "pk")
            found |= {outside_id: -pk for outside_id, pk in stored}
        return found


class PlannedReader(JudgementReader):
    """Reads judgements of passages and queries that will be here once the collection is."""

    not_a_query = "is not a query of the collection"
    not_a_passage = "is not a passage of the collection"

    def __init__(self, project: Project, source: TableFile, *, queries: KnownIds, passages: KnownIds) -> None:
        super().__init__(project, None, source)
        self._known_queries, self._known_passages = queries, passages

    def queries_named(self, ids: set[str]) -> dict[str, int]:
        return self._known_queries.numbered(ids)

    def blocks_named(self, ids: set[str]) -> dict[str, int]:
        return self._known_passages.numbered(ids)


class CountedGrades(Mapping[str, int | None]):
    """A grade map that counts what it is asked for. Without one, a whole number is the grade that it says."""

    def __init__(self, grades: GradeMap | None) -> None:
        self._grades = grades
        self.met: Counter[str] = Counter()

    def __contains__(self, written: object) -> bool:
        """Asked once for each row."""
        if written in self.met or len(self.met) < MOST_GRADES:
            self.met[str(written)] += 1
        return is_whole(str(written)) if self._grades is None else written in self._grades

    def __getitem__(self, written: str) -> int | None:
        return int(written) if self._grades is None else self._grades[written]

    def __iter__(self) -> Iterator[str]:
        return iter(self.met)

    def __len__(self) -> int:
        return len(self.met)

    def as_rows(self, scale: Iterable[int]) -> list[list[Any]]:
        """Each grade as files write it, what it becomes ("" while nobody has said it), and how many there are."""
        known = {str(grade) for grade in scale} | {SKIP}
        return [
            [written, becomes if (becomes := self._becomes(written)) in known else "", count]
            for written, count in sorted(self.met.items(), key=lambda met: _in_order(met[0]))
        ]

    def _becomes(self, written: str) -> str:
        if self._grades is None:
            return str(int(written)) if is_whole(written) else ""
        grade = self._grades.get(written, "")
        return SKIP if grade is None else str(grade)


def _in_order(written: str) -> tuple[bool, int, str]:
    return (not is_whole(written), int(written) if is_whole(written) else 0, written)
