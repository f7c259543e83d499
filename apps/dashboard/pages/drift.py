"""Drift over the last twelve weeks: agreement of people with themselves, mean grade, changed blocks."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime
from itertools import accumulate
from typing import Any, NamedTuple

from django.core.cache import cache
from django.db.models import Count, F, QuerySet
from django.utils.safestring import SafeString

from apps.accounts.selectors import Member
from apps.agreement.core.drift import (
    FEWEST_IN_A_WEEK,
    LEAST_WEEKS,
    WEEK,
    WEEKS,
    DriftLine,
    FigureWeek,
    advice,
    alike_by_week,
    consistency_drop,
    first_week,
    grade_shift,
    lately_from,
    line_of,
    mean_by_week,
)
from apps.agreement.core.weeks import monday_of
from apps.agreement.selectors import agreement
from apps.agreement.selectors.agreement import repeats_since
from apps.agreement.selectors.grade_cache import GradesNotRead, cached, dated_in
from apps.common.database.batched_reads import once
from apps.common.database.functions import Day
from apps.common.drawing import charts
from apps.common.drawing.charts import Spot, spark
from apps.common.text.wording import count, number, percent
from apps.corpus.models import BlockVersion, Snapshot, SnapshotBlock
from apps.judging.models import Round

KEPT_SECONDS = 3_600
MANY_CHANGED = 0.05


class Spark(NamedTuple):
    """One sparkline: its title, its subject, and its drawing."""

    what: str
    of: str
    drawing: SafeString


class Drift(NamedTuple):
    """The sparklines, advice where the figures call for it, and the figures. `has_band`: one shows a usual range."""

    sparks: list[Spark]
    advice: str
    figures: SafeString
    has_band: bool


class Grades(NamedTuple):
    """The figures of every week, and lines through the weeks with enough grades."""

    alike: list[FigureWeek]
    means: list[FigureWeek]
    alike_line: DriftLine | None
    mean_line: DriftLine | None
    advice: str


def drift(
    member: Member, snapshot: Snapshot | None, at: datetime, rounds: Sequence[Round] | None = None
) -> Drift | None:
    """The drift that this member may see; None where pairs came back in fewer than three of the weeks.

    `snapshot` is the one that blocks are compared with, `rounds` are those they may see, if already read. A lead who
    grades in an open round sees nothing of that round.
    """
    rounds = agreement.rounds_for(member) if rounds is None else rounds
    today = at.astimezone(UTC).date()
    grades = _grades(member, rounds, today) if rounds else None
    if grades is None or grades.alike_line is None:
        return None
    changed = _changed(snapshot, today) if snapshot else []
    sparks = [
        Spark(
            "Self-consistency",
            "on blind duplicates",
            _spark("Share of blind duplicates graded alike", grades.alike_line, today, lambda value: percent(value, 0)),
        )
    ]
    if grades.mean_line:
        sparks.append(
            Spark(
                "Mean grade",
                "on repeated pairs",
                _spark("Mean grade on pairs of two people or more", grades.mean_line, today, lambda v: number(v, 2)),
            )
        )
    if snapshot and len(changed) >= LEAST_WEEKS:
        sparks.append(Spark("Passages changed", f"since {snapshot}", _blocks_spark(snapshot, changed, today)))
    sentences = [grades.advice, _of_blocks(snapshot, changed)]
    lines = [line for line in (grades.alike_line, grades.mean_line) if line]
    return Drift(
        sparks,
        " ".join(words for words in sentences if words),
        _figures(grades, changed),
        any(line.usual for line in lines),
    )


# Grades ------------------------------------------------------------------------------------------------------------


def _grades(member: Member, rounds: Sequence[Round], today: date) -> Grades | None:
    """Cached until the next grade or week; None while a job still computes them."""
    project = member.project
    try:
        grades: Grades = cached(project, rounds, f"drift {monday_of(today)}", lambda: _read(member, rounds, today))
    except GradesNotRead:
        return None
    return grades


def _read(member: Member, rounds: Sequence[Round], today: date) -> Grades:
    project, since, lately = member.project, first_week(today), lately_from(today)
    looks = repeats_since(rounds, since)
    alike = alike_by_week(looks)
    alike_line = line_of(alike, lately, low=0, high=1)
    if alike_line is None:
        return Grades(alike, [], None, None, "")
    dated = dated_in(project, rounds)
    means = mean_by_week(dated, since)
    scale = project.grades
    mean_line = line_of(means, lately, low=min(scale), high=max(scale))
    return Grades(
        alike, means, alike_line, mean_line, advice(grade_shift(dated, lately), consistency_drop(looks, lately))
    )


def _spark(name: str, line: DriftLine, today: date, write: Any) -> SafeString:
    spots = [
        Spot(_place(week.begins, today), week.value, f"week of {week.begins}: {write(week.value)}, n {week.n:,}")
        for week in line.weeks
    ]
    return spark(f"{name}, by week; last {spots[-1].words}", spots, write(line.weeks[-1].value), band=line.usual)


def _place(begins: date, today: date) -> float:
    """The position on the time axis: 0 is twelve weeks ago, 1 is this week."""
    return ((begins - first_week(today)) / WEEK) / (WEEKS - 1)


# Blocks ------------------------------------------------------------------------------------------------------------


def _changed(snapshot: Snapshot, today: date) -> list[FigureWeek]:
    """How many blocks of the snapshot had another text at the end of each week, of all its blocks.

    A block counts from the day its present text was imported. Removed blocks do not count: their date is not stored.
    """
    newest = once(texts_key(), lambda: newest_texts().first() or 0)
    key = f"dashboard:changed:{snapshot.pk}:{newest}"
    days = cache.get_or_set(key, lambda: _changed_by_day(snapshot), KEPT_SECONDS) or []
    begun = max(first_week(today), monday_of(snapshot.frozen_at.astimezone(UTC).date()))
    weeks = [begun + more * WEEK for more in range((monday_of(today) - begun) // WEEK + 1)]
    came = Counter[date]()
    for day, n in days:
        came[max(begun, monday_of(date.fromisoformat(day)))] += n
    sums = accumulate(came[week] for week in weeks)
    return [FigureWeek(week, n, snapshot.block_count) for week, n in zip(weeks, sums, strict=True)]


def texts_key() -> str:
    """The name under which the page knows the key of the newest text."""
    return "newest text"


def newest_texts() -> QuerySet[BlockVersion, int]:
    """The keys of all texts, the newest first."""
    return BlockVersion.objects.order_by("-pk").values_list("pk", flat=True)


def _changed_by_day(snapshot: Snapshot) -> list[tuple[str, int]]:
    in_corpus = SnapshotBlock.objects.filter(snapshot=snapshot, block__current__isnull=False)
    other = in_corpus.exclude(block__current__text_digest=F("version__text_digest"))
    rows = other.values_list(Day("block__current__created_at")).annotate(n=Count("pk")).order_by()
    return [(day, n) for day, n in rows]


def _blocks_spark(snapshot: Snapshot, changed: list[FigureWeek], today: date) -> SafeString:
    spots = [
        Spot(_place(week.begins, today), week.value, f"week of {week.begins}: {_of(week)} passages") for week in changed
    ]
    name = f"Passages changed since {snapshot}, by week; last {spots[-1].words}"
    return spark(name, spots, count(int(changed[-1].value)))


def _of(week: FigureWeek) -> str:
    return f"{week.value:,.0f} of {week.n:,}"


def _of_blocks(snapshot: Snapshot | None, changed: list[FigureWeek]) -> str:
    """Advice from a share of one block in twenty on; else ""."""
    if snapshot is None or not changed or changed[-1].value < MANY_CHANGED * changed[-1].n:
        return ""
    return f"{_of(changed[-1])} passages have changed since {snapshot}: base the next version on a newer snapshot."


# Figures -----------------------------------------------------------------------------------------------------------


def _figures(grades: Grades, changed: list[FigureWeek]) -> SafeString:
    """The table of figures, with a row for each week that has any."""
    alike, means, blocks = ({week.begins: week for week in weeks} for weeks in (grades.alike, grades.means, changed))
    every = sorted({*alike, *means, *blocks})
    rows = [
        [
            f"{week}",
            *_cells(alike.get(week), lambda value: percent(value, 0)),
            *_cells(means.get(week), lambda value: number(value, 2)),
            _of(blocks[week]) if week in blocks else "",
        ]
        for week in every
    ]
    return charts.figures(["Week of", "Graded alike", "n", "Mean grade", "n", "Passages changed"], rows)


def _cells(week: FigureWeek | None, write: Any) -> list[str]:
    if week is None:
        return ["", "0"]
    small = " (too few to draw)" if week.n < FEWEST_IN_A_WEEK else ""
    return [write(week.value), f"{week.n:,}{small}"]
