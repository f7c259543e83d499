"""Reads of the grades that figures are computed from: few are read at once, very many by a job.

Reading takes longest, so beyond MOST_AT_ONCE grades a job does it (`execution.read_grades`), and figures show their
date. What is computed from grades is cached for all processes until there is a newer one. Each would compute the same:
everything random is seeded, and the cache key names whatever a figure depends on apart from grades. The grades
themselves are large, and each process has its own.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.core.cache import cache, caches
from django.db.models import QuerySet

from apps.accounts.models import Project
from apps.agreement.core.weeks import Columns, columns_from, unpacked
from apps.agreement.models import ReadGrades
from apps.agreement.selectors.agreement import live_grades, one_item_a_text
from apps.common.database.batched_reads import forget, once
from apps.common.database.functions import Day
from apps.common.digests import digest_of
from apps.common.errors import Refusal
from apps.judging.enums import RoundState
from apps.judging.models import Judgement, Round
from apps.metrics.agreement.ratings import Dated, Ratings

GRADES = "grades"
"""What is cached of grades themselves, and the cache of few entries that they are cached in."""
CACHE_SECONDS = 3_600
MOST_AT_ONCE = 50_000
MOST_CELLS = 2_000_000
PATIENCE = timedelta(minutes=2)


class GradesNotRead(Refusal):
    """There are too many grades to read within a request, and no job has read them yet."""

    status = 503

    def __init__(self, reading: ReadGrades | None) -> None:
        super().__init__(
            "These grades are loading. Try again in a minute."
            if reading
            else "These grades are not loaded yet. Open the page Agreement.",
            code="grades_not_read",
        )
        self.reading = reading


class GradeSource(NamedTuple):
    """The source of the grades of some rounds: `newest` is the key of the project's last one.

    `reading` is the row of the job that reads them; None for few grades, and before the first request. `closed_at` is
    when the last of the rounds was closed, None while one is not: closed rounds get no more grades.
    """

    newest: int
    is_many: bool
    reading: ReadGrades | None
    closed_at: datetime | None = None

    @property
    def stamp(self) -> int:
        """The version of the grades: cached figures are valid while it is unchanged."""
        return self.reading.newest if self.is_many and self.reading else self.newest

    def is_due(self, at: datetime) -> bool:
        """Whether a job should read them now: there are newer ones, and the last request is some time ago."""
        if not self.is_many:
            return False
        if self.reading is None:
            return True
        if self.closed_at and self.reading.read_at and self.reading.asked_at > self.closed_at:
            return False
        return self.reading.newest < self.newest and self.reading.asked_at <= at - PATIENCE


def newest_of(project: Project) -> int:
    """The key of the project's last judgement, 0 before the first."""
    return once(newest_key(project), lambda: newest_judgements(project).first() or 0)


def newest_key(project: Project) -> tuple[str, int]:
    """The name under which a page knows `newest_of`."""
    return "newest judgement", project.pk


def newest_judgements(project: Project) -> QuerySet[Judgement, int]:
    """The keys of the project's judgements, the last one first."""
    return Judgement.objects.filter(round__project=project).order_by("-pk").values_list("pk", flat=True)


def source_of(project: Project, rounds: Sequence[Round]) -> GradeSource:
    """The source of the grades of these rounds, the same throughout a request that only reads."""
    return once(_source_key(project, rounds), lambda: _source_now(project, rounds))


def source_after(project: Project, rounds: Sequence[Round]) -> GradeSource:
    """The source as it is now, after a lock was waited for."""
    forget_source(project, rounds)
    return source_of(project, rounds)


def forget_source(project: Project, rounds: Sequence[Round]) -> None:
    """Have it read again, after it was changed."""
    forget(newest_key(project))
    forget(_source_key(project, rounds))


def _source_key(project: Project, rounds: Sequence[Round]) -> tuple[str, int, str]:
    return "source of grades", project.pk, digest_of_rounds(rounds)


def _source_now(project: Project, rounds: Sequence[Round]) -> GradeSource:
    newest = newest_of(project)
    if newest <= MOST_AT_ONCE:  # keys count up from 1: there are at most that many
        return GradeSource(newest, False, None)
    rows = ReadGrades.objects.filter(project=project, digest=digest_of_rounds(rounds))
    reading = rows.defer("packed").select_related("job").first()
    if reading is None and not _are_many(rounds):
        return GradeSource(newest, False, None)
    return GradeSource(newest, True, reading, _closed_at(rounds))


def _are_many(rounds: Sequence[Round]) -> bool:
    judgements = Judgement.objects.filter(round__in=rounds).order_by()
    return judgements[: MOST_AT_ONCE + 1].count() > MOST_AT_ONCE


def _closed_at(rounds: Sequence[Round]) -> datetime | None:
    times = [round_.closed_at for round_ in rounds if round_.state == RoundState.CLOSED and round_.closed_at]
    return max(times) if rounds and len(times) == len(rounds) else None


def digest_of_rounds(rounds: Iterable[Round]) -> str:
    return digest_of(sorted(round_.pk for round_ in rounds))


def columns_in(project: Project, rounds: Sequence[Round]) -> Columns:
    """The grades in force in these rounds, read now."""
    rows: Any = live_grades(project, rounds).values_list(
        "entry__query_id", "entry__version_id", "annotator_id", "grade", Day("given_at")
    )
    columns = columns_from(rows.iterator(chunk_size=10_000))
    return columns._replace(table=one_item_a_text(columns.table))


def dated_in(project: Project, rounds: Sequence[Round]) -> Dated:
    """The grades of these rounds with their days, as pages show them. Raises GradesNotRead."""
    source = source_of(project, rounds)

    def compute() -> Dated:
        return _columns_of(source, project, rounds).rated(project.grades)

    dated: Dated = _cached(source, project, rounds, GRADES, compute)
    return dated


def ratings_in(project: Project, rounds: Sequence[Round]) -> Ratings:
    """The same grades without days."""
    return dated_in(project, rounds).ratings


def _columns_of(source: GradeSource, project: Project, rounds: Sequence[Round]) -> Columns:
    if not source.is_many:
        return columns_in(project, rounds)
    if source.reading is None or source.reading.read_at is None:
        raise GradesNotRead(source.reading)
    return unpacked(bytes(source.reading.packed or b""))


def cached(project: Project, rounds: Sequence[Round], name: str, compute: Callable[[], Any]) -> Any:
    """The result of `compute`, cached for these rounds until there are newer grades or another scale.

    `name` includes whatever else the result depends on, so that all processes return the same.
    """
    return _cached(source_of(project, rounds), project, rounds, name, compute)


def _cached(
    source: GradeSource, project: Project, rounds: Sequence[Round], name: str, compute: Callable[[], Any]
) -> Any:
    of = [name, sorted(round_.pk for round_ in rounds), project.grades]
    key = f"agreement:{project.slug}:{digest_of(of)}"
    store = caches[GRADES] if name == GRADES else cache
    was = store.get(key)
    if was is not None and was[0] == source.stamp:
        return was[1]
    result = compute()
    if not isinstance(result, Dated) or result.ratings.codes.size <= MOST_CELLS:
        store.set(key, (source.stamp, result), CACHE_SECONDS)
    return result
