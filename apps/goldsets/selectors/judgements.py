"""The single judgements that the grades of a frozen version rest on, streamed pair by pair."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from django.db.models import QuerySet

from apps.common.text.wording import utc_second
from apps.goldsets.formats.content import JudgementRow
from apps.goldsets.models import Version, VersionGrade, VersionQuery
from apps.goldsets.selectors.batches import query_batches
from apps.judging.enums import RoundKind
from apps.judging.models import Guideline, Judgement
from apps.retrieval.models import PoolEntry

FIELDS = (
    "pk",
    "entry",
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
)


class _Place(NamedTuple):
    """Where a graded pair stands in the version, and its names there."""

    query: int
    position: int
    query_id: str
    block_id: str
    split: str


class _Names(NamedTuple):
    """What files call people, rounds and guidelines, by key: read once, not joined to a million rows."""

    people: dict[int, str]
    rounds: dict[int, int]
    guidelines: dict[int | None, int | None]


def judgements_of(
    version: Version, queries_of: QuerySet[VersionQuery], *, noted: bool = False
) -> Iterator[JudgementRow]:
    """Those on the queries given, which are the version's: in the order of its grades, of one pair by round and person.

    People judged what is in force for the freeze: what was given or superseded later is not in the version. Grades
    that were carried over to a text are nobody's answer on it and have no row. With `noted` only answers with a note.
    """
    rounds = list(version.rounds.values_list("pk", "number", "pool"))
    guidelines = Guideline.objects.filter(project=version.gold_set.project_id).values_list("pk", "number")
    numbers = {pk: number for pk, number, _ in rounds}
    names = _Names(pseudonyms(version), numbers, {None: None, **dict(guidelines)})
    given = _given(version)
    chosen = given.exclude(note="") if noted else given
    pools = {pool for _, _, pool in rounds}
    for queries in query_batches(queries_of):
        entries = PoolEntry.objects.filter(pool__in=pools, query__in=[query.query_id for query in queries])
        pairs = entries.values("pk")
        answers = list(chosen.filter(entry__in=pairs).values_list(*FIELDS))
        if not answers:
            continue
        found, superseded = _places_of(queries, entries), _superseded(given.filter(entry__in=pairs))
        rows = [
            (found[entry], _row(found[entry], rest, names))
            for pk, entry, *rest in answers
            if entry in found and pk not in superseded
        ]
        yield from (row for _, row in sorted(rows, key=_order))


def pseudonyms(version: Version) -> dict[int, str]:
    """A name for everybody who judged: the same at every export of the version, another one in another version."""
    judged = _given(version).order_by().values_list("annotator", flat=True).distinct()
    shuffled = sorted(judged, key=lambda pk: hashlib.sha256(f"{version.digest} {pk}".encode()).digest())
    return {pk: f"person {place}" for place, pk in enumerate(shuffled, start=1)}


def _given(version: Version) -> QuerySet[Judgement]:
    """Answers of people until the freeze, superseded ones too, without checks against a known answer."""
    rounds = list(version.rounds.filter(kind__in=[RoundKind.JUDGING, RoundKind.IMPORTED]))
    return Judgement.objects.filter(round__in=rounds, pass_number__gte=1, given_at__lte=version.frozen_at)


def _superseded(given: QuerySet[Judgement]) -> set[int]:
    """The answers that others of these supersede. Nearly none do, so no index is as good as that of the pairs."""
    rows = given.values_list("supersedes", flat=True).exclude(supersedes=None)
    return {earlier for earlier in rows if earlier is not None}


def _places_of(queries: list[VersionQuery], entries: QuerySet[PoolEntry]) -> dict[int, _Place]:
    """Where each of these entries of pools stands; those without a grade in the version stand nowhere."""
    places = _places(queries)
    keys = entries.values_list("pk", "query_id", "version__block_id", "version__text_digest")
    return {pk: places[key] for pk, *rest in keys if (key := tuple(rest)) in places}


def _places(queries: list[VersionQuery]) -> dict[tuple[Any, ...], _Place]:
    """The graded pairs by query and text: a text may have been judged in an earlier edition that has the same."""
    numbered = {query.pk: (number, query) for number, query in enumerate(queries)}
    grades = VersionGrade.objects.filter(query__in=numbered).values_list(
        "query_id", "position", "block_id", "block_version__block_id", "block_version__text_digest"
    )
    places = {}
    for pk, position, block_id, block, digest in grades:
        number, query = numbered[pk]
        places[query.query_id, block, digest] = _Place(number, position, query.outside_id, block_id, query.split)
    return places


def _row(place: _Place, values: list[Any], names: _Names) -> JudgementRow:
    round_, annotator, passed, grade, cant_judge, note, given_at, active_ms, away_ms, guideline = values
    return JudgementRow(
        place.query_id,
        place.block_id,
        names.rounds[round_],
        names.people[annotator],
        passed,
        grade,
        cant_judge,
        note,
        utc_second(given_at),
        active_ms,
        away_ms,
        names.guidelines[guideline],
        place.split,
    )


def _order(placed: tuple[_Place, JudgementRow]) -> tuple[int, int, int, str, int]:
    place, row = placed
    return place.query, place.position, row.round, row.annotator, row.pass_number
