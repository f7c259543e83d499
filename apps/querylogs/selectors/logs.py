"""Reads of search logs, scoped to one project."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from statistics import median
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet
from django.http import Http404

from apps.accounts.models import Project
from apps.common.text.words import words_of
from apps.queries.core.masking import MASK
from apps.queries.models import Query, Source
from apps.queries.selectors import live_queries, sources_in, valid_permission
from apps.querylogs.enums import OfferState
from apps.querylogs.models import MaskedName, OfferedQuery, QueryLog
from apps.retrieval.models import Run

SHOWN_NEAR = 3


def logs_in(project: Project) -> QuerySet[QueryLog]:
    """Newest first, with `waiting` and `came_in`, the numbers of queries not read and of those in the project."""
    logs = QueryLog.objects.filter(project=project).select_related("source", "created_by")
    return logs.annotate(
        drawn=Count("offered"),
        waiting=Count("offered", filter=Q(offered__state=OfferState.WAITING)),
        came_in=Count("offered", filter=Q(offered__query__isnull=False)),
    ).order_by("-pk")


def log_in(project: Project, pk: int) -> QueryLog:
    try:
        return logs_in(project).get(pk=pk)
    except QueryLog.DoesNotExist:
        raise Http404("No such search log.") from None


def offered_in(log: QueryLog) -> QuerySet[OfferedQuery]:
    """In the order drawn."""
    return OfferedQuery.objects.filter(log=log).select_related("query").order_by("position")


def one_offered(log: QueryLog, position: int) -> OfferedQuery:
    try:
        return offered_in(log).get(position=position)
    except OfferedQuery.DoesNotExist:
        raise Http404("No such query in this log.") from None


def names_in(project: Project) -> QuerySet[MaskedName]:
    return MaskedName.objects.filter(project=project).select_related("created_by").order_by("name")


def is_permitted(project: Project, slug: str, at: datetime) -> bool:
    """Whether this source has a permission that holds."""
    source: Source | None = sources_in(project).filter(slug=slug).first() if slug else None
    return source is not None and valid_permission(source, at) is not None


class Tally(NamedTuple):
    """What has become of the offered queries; they add up to all of them."""

    kept: int
    edited: int
    same: int
    rejected: int
    waiting: int
    expired: int

    @property
    def total(self) -> int:
        return self.kept + self.same + self.rejected + self.waiting + self.expired


def tally_of(offered: Iterable[OfferedQuery]) -> Tally:
    rows = list(offered)
    states = Counter(one.state for one in rows)
    return Tally(
        kept=states[OfferState.KEPT],
        edited=sum(one.is_edited for one in rows if one.state == OfferState.KEPT),
        same=states[OfferState.SAME],
        rejected=states[OfferState.REJECTED],
        waiting=states[OfferState.WAITING],
        expired=states[OfferState.EXPIRED],
    )


def clicks_as_run(log: QueryLog) -> Iterator[str]:
    """What people clicked for the queries that came in, as lines of a TREC run: a hint for pools, never a grade."""
    for offered in offered_in(log).filter(query__isnull=False):
        assert offered.query is not None
        for rank, document in enumerate(offered.clicked, start=1):
            yield f"{offered.query.outside_id} Q0 {document} {rank} {len(offered.clicked) - rank + 1} clicks\n"


class Near(NamedTuple):
    """A query of the project with words in common: its text in parts, each with whether it is one of these words."""

    query: Query
    parts: list[tuple[str, bool]]


def nearest(project: Project, text: str, most: int = SHOWN_NEAR) -> list[Near]:
    """The live queries with the largest share of words in common, the closest first; those with none are left out."""
    own = {word.casefold() for word in words_of(MASK.sub(" ", text))}
    if not own:
        return []
    found = []
    for pk, other in live_queries(project).values_list("pk", "text"):
        theirs = {word.casefold() for word in words_of(MASK.sub(" ", other))}
        if common := own & theirs:
            found.append((len(common) / len(own | theirs), -pk))
    best = [-pk for _, pk in sorted(found, reverse=True)[:most]]
    queries = live_queries(project).in_bulk(best)
    return [Near(queries[pk], _parts(queries[pk].text, own)) for pk in best]


def _parts(text: str, words: set[str]) -> list[tuple[str, bool]]:
    return [(word, any(one.casefold() in words for one in words_of(word))) for word in text.split()]


def traffic_of(offered: OfferedQuery) -> dict[str, Any]:
    """What is kept of its searches with the query."""
    weeks = [f"{week:%Y-%m-%d}" for week in (offered.first_week, offered.last_week) if week]
    return {
        "log": offered.log_id,
        "position": offered.position,
        "stratum": f"{offered.get_band_display()}, {offered.get_outcome_display()}",
        "searches": offered.searches,
        "people": offered.people,
        "chance": offered.chance,
        "weeks": weeks,
    }


class SystemRow(NamedTuple):
    """What a system returned for the queries that were kept, by its name; the median in milliseconds, None for none."""

    name: str
    queries: int
    passages: int
    unknown: int
    median: float | None


def systems_in(log: QueryLog) -> list[SystemRow]:
    kept = OfferedQuery.objects.filter(log=log, state=OfferState.KEPT).exclude(returned={})
    told: dict[str, list[dict[str, Any]]] = {}
    for returned in kept.values_list("returned", flat=True):
        for name, one in returned.items():
            told.setdefault(name, []).append(one)
    rows = []
    for name, results in sorted(told.items()):
        times = [one["milliseconds"] for one in results if one["milliseconds"] is not None]
        passages = sum(len(one["passages"]) for one in results)
        unknown = sum(one["unknown"] for one in results)
        rows.append(SystemRow(name, len(results), passages, unknown, median(times) if times else None))
    return rows


def runs_of(log: QueryLog) -> QuerySet[Run]:
    """The runs that were made of it, newest first."""
    return Run.objects.filter(project=log.project, origin__startswith=origin_of(log)).order_by("-pk")


def origin_of(log: QueryLog) -> str:
    """How the origin of the runs of a log begins."""
    return f"Search log {log.pk}, {log.name}: "
