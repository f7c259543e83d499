"""The judgements of one file, by our keys, on disk: what an import asks of them, in flat memory."""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from apps.common.database.bulk import chunks
from apps.common.database.scratch import AT_ONCE, Scratch
from apps.judging.core.resolution import resolve
from apps.judging.selectors.placeholders import EarlierAnswer, EarlierDecision

TABLES = """
CREATE TABLE graded (
  id INTEGER PRIMARY KEY, line INTEGER, query INTEGER, version INTEGER, grade INTEGER, note TEXT, rater TEXT,
  words TEXT, person INTEGER, cant_judge TEXT NOT NULL DEFAULT '', given_at TEXT, facets TEXT
);
CREATE INDEX graded_pair ON graded (query, version);
CREATE TABLE final (
  query INTEGER, version INTEGER, grade INTEGER, words TEXT, person INTEGER, reason TEXT, PRIMARY KEY (query, version)
);
CREATE TABLE pair (id INTEGER PRIMARY KEY, query INTEGER, version INTEGER, ratings INTEGER, entry INTEGER);
CREATE UNIQUE INDEX pair_once ON pair (query, version);
CREATE TABLE ruling (pair INTEGER PRIMARY KEY, grade INTEGER);
"""
PAIRS = """INSERT INTO pair (query, version, ratings)
SELECT query, version, COUNT(*) FROM graded GROUP BY query, version ORDER BY MIN(id)"""
ANSWERS = """SELECT pair.id, final.query IS NOT NULL, final.grade, graded.grade FROM pair
JOIN graded ON graded.query = pair.query AND graded.version = pair.version
LEFT JOIN final ON final.query = pair.query AND final.version = pair.version
WHERE pair.ratings > 1 OR final.query IS NOT NULL ORDER BY pair.id"""
SEATED = """SELECT line, graded.query, pair.entry, seat, grade, note, rater, person, cant_judge, given_at, facets FROM (
  SELECT id, line, query, version, grade, note, rater, person, cant_judge, given_at, facets,
    ROW_NUMBER() OVER (PARTITION BY query, version ORDER BY id) AS seat FROM graded
) AS graded JOIN pair ON pair.query = graded.query AND pair.version = graded.version ORDER BY graded.id"""

TOGETHER = """UPDATE graded SET facets = (
  SELECT json_group_array(DISTINCT one.value) FROM graded AS other, json_each(other.facets) AS one
   WHERE other.query = graded.query AND other.version = graded.version AND other.rater = graded.rater
) WHERE facets IS NOT NULL"""
CHOSEN = """SELECT DISTINCT query, one.value FROM graded LEFT JOIN json_each(graded.facets) AS one
WHERE graded.facets IS NOT NULL AND graded.person IS NULL"""
LESSER = """DELETE FROM graded WHERE id IN (SELECT id FROM (
  SELECT id, ROW_NUMBER() OVER (PARTITION BY query, version, rater ORDER BY grade DESC, id) AS place FROM graded
) WHERE place > 1)"""
SEATED_ONCE = """SELECT line, graded.query, pair.entry, 1, grade, note, rater, NULL, '', NULL, facets FROM graded
JOIN pair ON pair.query = graded.query AND pair.version = graded.version ORDER BY graded.id"""
"""The same where no pair has a second judgement: nothing has to be sorted."""


class Graded(NamedTuple):
    """One imported judgement, by our keys. `rater` is who gave it, in a file with several.

    `facets` are ids of subtopics as a JSON list, None where the file says none of them.
    """

    line: int
    query_id: int
    version_id: int
    grade: int
    note: str
    rater: str = ""
    facets: str | None = None

    @property
    def pair(self) -> tuple[int, int]:
        """Query and block version."""
        return self.query_id, self.version_id


class SeatedGrade(NamedTuple):
    """One judgement with the pair it is of: the key of its pool entry, and its number among those of the pair.

    `person` and `given_at` of one that was here already and stands beside those of the file.
    """

    line: int
    query_id: int
    entry_id: int
    seat: int
    grade: int | None
    note: str
    rater: str
    person: int | None
    cant_judge: str
    given_at: str | None
    facets: str | None


class Ruling(NamedTuple):
    """A decision to store; of a lead, `person`, who made it here, or without one as the final grade of the file."""

    entry_id: int
    grade: int | None
    person: int | None
    reason: str | None


class GradedRows:
    """The judgements in the order of the file. Add all of them, and then all final grades, before anything is asked."""

    def __init__(self, scratch: Scratch | None = None) -> None:
        """A `scratch` that was stored has all of them already."""
        self._scratch = scratch or Scratch(TABLES)
        self._count = int(self._scratch.value("SELECT COUNT(*) FROM graded")) if scratch else 0

    def store(self, path: Path) -> None:
        """Write them to a file, from which `Scratch.at` reads them again."""
        self._scratch.store(path)

    def add(self, rows: Iterable[tuple[Graded, str]]) -> None:
        """Add judgements, each with its line of the digest."""
        self._count += self._scratch.write(
            "INSERT INTO graded (line, query, version, grade, note, rater, facets, words)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            ((*graded, words) for graded, words in rows),
        )

    def add_finals(self, finals: Iterable[tuple[int, int, int, str]]) -> None:
        """Add final grades: query, block version, grade, line of the digest. The first one of a pair counts."""
        self._scratch.write("INSERT OR IGNORE INTO final (query, version, grade, words) VALUES (?, ?, ?, ?)", finals)

    def given(self) -> Iterator[tuple[int, int, str, int]]:
        """Query, block version, rater and grade of the judgements of the file, pair by pair."""
        statement = "SELECT query, version, rater, grade FROM graded WHERE person IS NULL ORDER BY query, version"
        return self._scratch.read(statement)

    def leave_out(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Leave out all judgements of these pairs; call `settle` again."""
        pairs = list(pairs)
        self._count -= self._scratch.write("DELETE FROM graded WHERE query = ? AND version = ?", pairs)
        self._scratch.write("DELETE FROM final WHERE query = ? AND version = ?", pairs)

    def join(self, answers: Iterable[EarlierAnswer], decisions: Iterable[EarlierDecision]) -> None:
        """Add what is here already on the pairs, in place of what was added before; call `settle` again.

        A final grade of the file comes before an earlier decision.
        """
        self._scratch.write("DELETE FROM graded WHERE person IS NOT NULL")
        self._scratch.write("DELETE FROM final WHERE person IS NOT NULL")
        self._scratch.write(
            "INSERT INTO graded (line, query, version, grade, note, rater, person, cant_judge, given_at, facets)"
            " VALUES (0, ?, ?, ?, ?, '', ?, ?, ?, ?)",
            (
                (
                    *each.pair,
                    each.grade,
                    each.note,
                    each.annotator_id,
                    each.cant_judge,
                    each.given_at.isoformat(),
                    None if each.facets is None else json.dumps(each.facets),
                )
                for each in answers
            ),
        )
        self._scratch.write(
            "INSERT OR IGNORE INTO final (query, version, grade, person, reason) VALUES (?, ?, ?, ?, ?)",
            ((*each.pair, each.grade, each.adjudicator_id, each.reason) for each in decisions),
        )

    def keep_best(self) -> None:
        """Of several judgements of a pair by one person, for several facets, keep the best grade; then `settle`.

        It keeps all the facets.
        """
        self._scratch.write(TOGETHER)
        self._count -= self._scratch.write(LESSER)

    def facets_by_query(self) -> dict[int, set[str]]:
        """The facets that the judgements of the file name, of each query for which it says some or none."""
        found: dict[int, set[str]] = {}
        for query, facet in self._scratch.read(CHOSEN):
            found.setdefault(query, set()).update([] if facet is None else [facet])
        return found

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Graded]:
        rows = self._scratch.read(
            "SELECT line, query, version, grade, note, rater, facets FROM graded WHERE person IS NULL ORDER BY id"
        )
        return map(Graded._make, rows)

    def digest_lines(self) -> Iterator[str]:
        """Ids and grades, sorted, so that the same grades in another file are the same import."""
        all_words = "SELECT words FROM graded UNION ALL SELECT words FROM final"
        statement = f"SELECT words FROM ({all_words}) WHERE words IS NOT NULL ORDER BY words"
        return map(itemgetter(0), self._scratch.read(statement))

    @cached_property
    def by_grade(self) -> dict[int, int]:
        return dict(self._scratch.read("SELECT grade, COUNT(*) FROM graded WHERE person IS NULL GROUP BY 1 ORDER BY 1"))

    @cached_property
    def raters(self) -> list[str]:
        """The raters of the file, by name; none where the importer is the annotator of all."""
        rows = self._scratch.read("SELECT DISTINCT rater FROM graded WHERE rater <> '' ORDER BY rater")
        return [rater for (rater,) in rows]

    @property
    def people(self) -> set[int]:
        """Who gave the grades that were here already and stand beside those of the file, by key."""
        return {pk for (pk,) in self._scratch.read("SELECT DISTINCT person FROM graded WHERE person IS NOT NULL")}

    @cached_property
    def queries(self) -> list[int]:
        """The queries that have judgements, by key."""
        return [query for (query,) in self._scratch.read("SELECT DISTINCT query FROM pair ORDER BY query")]

    @cached_property
    def pairs(self) -> int:
        return int(self._scratch.value("SELECT COUNT(*) FROM pair"))

    @cached_property
    def shared_pairs(self) -> int:
        """How many pairs have more than one judgement."""
        return int(self._scratch.value("SELECT COUNT(*) FROM pair WHERE ratings > 1"))

    @cached_property
    def most_ratings(self) -> int:
        """The most judgements of one pair; 0 for no pair."""
        return int(self._scratch.value("SELECT COALESCE(MAX(ratings), 0) FROM pair"))

    def settle(self) -> tuple[int, int]:
        """Find the pairs, and the final grades that their judgements do not resolve to.

        Call it after all were added. Returns the number of these rulings, and of pairs that nothing settles.
        """
        self._scratch.write("DELETE FROM pair")
        self._scratch.write("DELETE FROM ruling")
        self._scratch.write(PAIRS)
        rulings = unsettled = 0
        for part in chunks(self._resolved(), AT_ONCE):
            unsettled += sum(grade is None and not is_final for _, is_final, _, grade in part)
            rulings += self._scratch.write(
                "INSERT INTO ruling VALUES (?, ?)",
                [
                    (pair, final)
                    for pair, is_final, final, grade in part
                    if is_final and (final is None or final != grade)
                ],
            )
        return rulings, unsettled

    def _resolved(self) -> Iterator[tuple[int, bool, int | None, int | None]]:
        """Pairs of several judgements or with a final grade: number, whether and which, what the judgements resolve to.

        A final grade that is None: a lead has decided that the pair can't be judged.
        """
        for (pair, is_final, final), answers in groupby(self._scratch.read(ANSWERS), key=itemgetter(0, 1, 2)):
            grades = [grade for _, _, _, grade in answers]
            yield pair, bool(is_final), final, resolve(grades, planned=len(grades)).grade

    def new_pairs(self) -> Iterator[tuple[int, int, int]]:
        """Each pair in the order of its first judgement: number, query, block version."""
        return self._scratch.read("SELECT id, query, version FROM pair ORDER BY id")

    def enter(self, entries: Sequence[tuple[int, int]]) -> None:
        """Note the key of the pool entry of pairs, each with the number of its pair."""
        self._scratch.write("UPDATE pair SET entry = ? WHERE id = ?", entries)

    def seated(self) -> Iterator[SeatedGrade]:
        """The judgements in file order, with the pool entries of their pairs."""
        return map(SeatedGrade._make, self._scratch.read(SEATED if self.shared_pairs else SEATED_ONCE))

    def rulings(self) -> Iterator[Ruling]:
        """The final grades that the judgements do not resolve to, by query and block version."""
        rows = self._scratch.read(
            "SELECT pair.entry, ruling.grade, final.person, final.reason FROM ruling JOIN pair ON pair.id = ruling.pair"
            " JOIN final ON final.query = pair.query AND final.version = pair.version ORDER BY pair.query, pair.version"
        )
        return map(Ruling._make, rows)
