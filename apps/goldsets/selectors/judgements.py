"""The queries of a frozen version, and the single judgements that its grades rest on, streamed pair by pair."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from django.db.models import Count, OuterRef, Q, QuerySet

from apps.common.database.batched_reads import BatchedRead, CountOf, ListOf
from apps.common.database.functions import bytewise
from apps.common.text.wording import utc_second
from apps.goldsets.formats.content import FrozenQuery, JudgementRow
from apps.goldsets.models import Version, VersionGrade, VersionQuery
from apps.judging.core.resolution import PairState, resolve
from apps.judging.enums import RoundKind
from apps.judging.models import Judgement, Seat, SecondGrade
from apps.retrieval.models import PoolEntry

CHUNK = 2_000
GRADES_AT_ONCE = 5_000


class HeldQuery(NamedTuple):
    """A query of a version: its key there and in the project, that of its source, how many grades it has, itself."""

    pk: int
    query: int
    source: int | None
    grades: int
    frozen: FrozenQuery


def queries_held(version: Version) -> Iterator[HeldQuery]:
    """In the bytewise order of ids."""
    grades = VersionGrade.objects.filter(query=OuterRef("pk")).values("pk")
    rows = VersionQuery.objects.filter(version=version).annotate(n=CountOf(grades)).order_by(bytewise("outside_id"))
    columns = ("pk", "query_id", "query__source", "n", "outside_id", "text", "split", "fields")
    for pk, query, source, n, outside_id, text, split, fields in rows.values_list(*columns).iterator(chunk_size=CHUNK):
        values = {**fields, "tags": tuple(fields.get("tags", ())), "facets": tuple(fields.get("facets", ()))}
        yield HeldQuery(pk, query, source, n, FrozenQuery(query_id=outside_id, text=text, split=split, **values))


def query_batches(queries: Iterable[HeldQuery]) -> Iterator[list[HeldQuery]]:
    """As many at once as have some thousand grades together: what belongs to them is read by keys and sorted in memory.

    A database that sorts a million wide rows itself holds them all, in memory or on its disk.
    """
    batch: list[HeldQuery] = []
    held = 0
    for query in queries:
        batch.append(query)
        held += 1 + query.grades
        if held >= GRADES_AT_ONCE:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


FIELDS = (
    "round",
    "annotator",
    "pass_number",
    "grade",
    "cant_judge",
    "note",
    "given_at",
    "active_ms",
    "away_ms",
    "guideline",
    "facets",
)
PAIR = ("entry__query_id", "entry__version__block_id", "entry__version__text_digest")


class _Place(NamedTuple):
    """Where a graded pair stands in the version, and its names there."""

    query: int
    position: int
    query_id: str
    block_id: str
    split: str


class Judges(NamedTuple):
    """What files call people, rounds and guidelines, by key, and the pools of the rounds: read once, not joined to a
    million rows.
    """

    people: dict[int, str]
    rounds: dict[int, int]
    guidelines: dict[int | None, int | None]
    pools: frozenset[int]


def judges_question(version: Version) -> BatchedRead[Judges]:
    """Who judged the version, each by a name that is the same at every export of it, and another one in another."""
    columns = ("annotator", "round", "round__number", "round__pool", "guideline", "guideline__number")
    rows = ListOf(_given(version).order_by().values_list(*columns).distinct())

    def read(found: Mapping[str, Any]) -> Judges:
        known = found["judges"]
        return Judges(
            _pseudonyms(version, {row[0] for row in known}),
            {row[1]: row[2] for row in known},
            {None: None, **{row[4]: row[5] for row in known}},
            frozenset(row[3] for row in known),
        )

    return BatchedRead({"judges": rows}, read)


def _pseudonyms(version: Version, people: Iterable[int]) -> dict[int, str]:
    def place(pk: int) -> bytes:
        return hashlib.sha256(f"{version.digest} {pk}".encode()).digest()

    return {pk: f"person {number}" for number, pk in enumerate(sorted(people, key=place), start=1)}


def judgements_of(
    version: Version, judges: Judges, queries: Iterable[HeldQuery], *, noted: bool = False
) -> Iterator[JudgementRow]:
    """Those on the queries given, which are the version's: in the order of its grades, of one pair by round and person.

    People judged what is in force for the freeze: what was given or superseded later is not in the version. Grades
    that were carried over to a text are nobody's answer on it and have no row. One that stands in a later round too,
    beside a second opinion, is listed once, under the round in which it was given. With `noted` only answers with a
    note.
    """
    given = _given(version)
    chosen = given.filter(~Q(note="") | Q(supersedes__isnull=False)) if noted else given
    settling = set() if noted else set(version.rounds.filter(plan__reconcile=True).values_list("pk", flat=True))
    for batch in query_batches(queries):
        entries = PoolEntry.objects.filter(pool__in=judges.pools, query__in=[query.query for query in batch])
        answers = list(
            chosen.filter(entry__in=entries.values("pk")).values_list("pk", "supersedes", "entry", *PAIR, *FIELDS)
        )
        if not answers:
            continue
        superseded = {row[1] for row in answers}
        places, second, asked = _places(batch), {}, set[tuple[int, int]]()
        if settling:
            second = _second_of(version, {row[2] for row in answers})
            asked = _differing(settling, [row for row in answers if row[0] not in superseded])
        rows = []
        for pk, _, entry, query, block, digest, *rest in answers:
            place = places.get((query, block, digest))
            if place is not None and pk not in superseded:
                row = _row(place, rest, judges)
                again = second.get((rest[0], entry, rest[1])) or (("", "") if (rest[0], entry) in asked else None)
                if again and row.pass_number == 1:
                    row = row._replace(second=again[0], reason=again[1])
                rows.append((place, row))
        once: dict[JudgementRow, JudgementRow] = {}
        for _, row in sorted(rows, key=_order):
            answer = row._replace(round=0, active_ms=None, away_ms=None, guideline=None, second=None, reason="")
            once.setdefault(answer, row)
        yield from (row for row in once.values() if row.note or not noted)


def _given(version: Version) -> QuerySet[Judgement]:
    """Answers of people until the freeze, superseded ones too, without checks against a known answer."""
    rounds = version.rounds.filter(kind__in=[RoundKind.JUDGING, RoundKind.IMPORTED]).values("pk")
    return Judgement.objects.filter(round__in=rounds, pass_number__gte=1, given_at__lte=version.frozen_at)


def _second_of(version: Version, entries: set[int]) -> dict[tuple[int, int, int], tuple[int | str, str]]:
    """By round, entry and judge, what they answered last until the freeze after seeing the others' grades, and why."""
    given = SecondGrade.objects.filter(look__entry__in=entries, given_at__lte=version.frozen_at).order_by("pk")
    columns = ("look__round", "look__entry", "look__judge", "grade", "cant_judge", "reason")
    return {
        (round_, entry, judge): (cant_judge if grade is None else grade, reason)
        for round_, entry, judge, grade, cant_judge, reason in given.values_list(*columns)
    }


def _differing(rounds: set[int], answers: list[Any]) -> set[tuple[int, int]]:
    """The round and entry of each pair of these rounds that all of its judges have graded without settling it."""
    graded = defaultdict(list)
    for _, _, entry, _, _, _, round_, _, pass_number, grade, *_ in answers:
        if round_ in rounds and pass_number == 1:
            graded[round_, entry].append(grade)
    several = {entry for (_, entry), grades in graded.items() if len(set(grades)) > 1}
    seats = Seat.objects.filter(round__in=rounds, entry__in=several, pass_number=1).order_by()
    planned = seats.values_list("round", "entry").annotate(n=Count("pk"))
    found = {(round_, entry): resolve(graded[round_, entry], planned=n) for round_, entry, n in planned}
    return {pair for pair, each in found.items() if each.needs_lead and each.state is PairState.DISAGREED}


def _places(queries: list[HeldQuery]) -> dict[tuple[Any, ...], _Place]:
    """The graded pairs by query and text: a text may have been judged in an earlier edition that has the same."""
    numbered = {query.pk: (number, query) for number, query in enumerate(queries)}
    grades = VersionGrade.objects.filter(query__in=numbered).values_list(
        "query_id", "position", "block_id", "block_version__block_id", "block_version__text_digest"
    )
    places = {}
    for pk, position, block_id, block, digest in grades:
        number, query = numbered[pk]
        names = query.frozen.query_id, block_id, query.frozen.split
        places[query.query, block, digest] = _Place(number, position, *names)
    return places


def _row(place: _Place, values: list[Any], judges: Judges) -> JudgementRow:
    round_, annotator, passed, grade, cant_judge, note, given_at, active_ms, away_ms, guideline, facets = values
    return JudgementRow(
        place.query_id,
        place.block_id,
        judges.rounds[round_],
        judges.people[annotator],
        passed,
        grade,
        cant_judge,
        note,
        utc_second(given_at),
        active_ms,
        away_ms,
        judges.guidelines[guideline],
        place.split,
        facets=None if facets is None else "; ".join(facets),
    )


def _order(placed: tuple[_Place, JudgementRow]) -> tuple[int, int, int, str, int]:
    place, row = placed
    return place.query, place.position, row.round, row.annotator, row.pass_number
