"""The single judgements that the grades of a frozen version rest on, streamed pair by pair."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from itertools import groupby
from typing import Any

from django.db.models import F, QuerySet

from apps.common.text.wording import utc_second
from apps.goldsets.formats.content import JudgementRow
from apps.goldsets.models import Version
from apps.goldsets.selectors.bytewise import bytewise
from apps.judging.enums import RoundKind
from apps.judging.models import Judgement

CHUNK = 2_000
FROZEN = "entry__query__version_queries"
GRADE = f"{FROZEN}__grades"
FIELDS = (
    f"{FROZEN}__outside_id",
    f"{GRADE}__block_id",
    "round__number",
    "annotator",
    "pass_number",
    "grade",
    "cant_judge",
    "note",
    "given_at",
    "active_ms",
    "away_ms",
    "guideline__number",
    f"{FROZEN}__split",
)


def judgements_of(
    version: Version, *, splits: Collection[str], revoked: Collection[int] = ()
) -> Iterator[JudgementRow]:
    """In the order of the version's grades; of one pair by round, person and pass.

    People judged what is in force for the freeze: what was given or superseded later is not in the version. Grades
    that were carried over to a text are nobody's answer on it and have no row.
    """
    people = pseudonyms(version)
    rows: Any = _rows(version, splits, revoked).values_list(*FIELDS)
    for _, pair in groupby(rows.iterator(chunk_size=CHUNK), lambda row: row[:2]):
        yield from sorted((_row(row, people) for row in pair), key=_place)


def pseudonyms(version: Version) -> dict[int, str]:
    """A name for everybody who judged: the same at every export of the version, another one in another version."""
    judged = _in_force(version).order_by().values_list("annotator", flat=True).distinct()
    shuffled = sorted(judged, key=lambda pk: hashlib.sha256(f"{version.digest} {pk}".encode()).digest())
    return {pk: f"person {place}" for place, pk in enumerate(shuffled, start=1)}


def _in_force(version: Version) -> QuerySet[Judgement]:
    """Answers of people as they stood at the freeze, without checks against a known answer."""
    rounds = version.rounds.filter(kind__in=[RoundKind.JUDGING, RoundKind.IMPORTED])
    given = Judgement.objects.filter(round__in=rounds, pass_number__gte=1, given_at__lte=version.frozen_at)
    return given.exclude(superseded_by__given_at__lte=version.frozen_at)


def _rows(version: Version, splits: Collection[str], revoked: Collection[int]) -> QuerySet[Judgement]:
    """A text counts where it stands: it may have been judged in an earlier edition that has the same."""
    rows = _in_force(version).filter(
        **{
            f"{FROZEN}__version": version,
            f"{FROZEN}__split__in": splits,
            f"{GRADE}__block_version__block": F("entry__version__block"),
            f"{GRADE}__block_version__text_digest": F("entry__version__text_digest"),
        }
    )
    if revoked:
        rows = rows.exclude(entry__query__source__in=revoked)
    return rows.order_by(bytewise(f"{FROZEN}__outside_id"), f"{GRADE}__position", "pk")


def _row(values: tuple[Any, ...], people: dict[int, str]) -> JudgementRow:
    query_id, block_id, round_, annotator, passed, grade, cant_judge, note, given_at, *rest = values
    return JudgementRow(
        query_id, block_id, round_, people[annotator], passed, grade, cant_judge, note, utc_second(given_at), *rest
    )


def _place(row: JudgementRow) -> tuple[int, str, int]:
    return row.round, row.annotator, row.pass_number
