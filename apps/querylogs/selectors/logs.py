"""Reads of search logs, scoped to one project; and what the page of one shows before the draw."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from statistics import median
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet
from django.http import Http404

from apps.accounts.models import Project
from apps.common.text.words import words_of
from apps.corpus.models import Import
from apps.queries.core.masking import KINDS, MASK, with_masks
from apps.queries.models import Query, Source
from apps.queries.selectors import live_queries, sources_in, valid_permission
from apps.querylogs import rules
from apps.querylogs.core.sampling import SamplePlan, Stratum, plan_sample, population_of
from apps.querylogs.enums import LEAST_PEOPLE, PUBLIC_PEOPLE, USUAL_PEOPLE, OfferState, Outcome, Plan
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


class Traced(NamedTuple):
    """What a system returned for a query, and where that was told: `places` are those of the passages in the list."""

    query: int
    system: str
    trace: str
    span: str
    passages: Sequence[Mapping[str, str]]
    places: Sequence[int]
    at: datetime


def with_traces() -> QuerySet[OfferedQuery]:
    """The kept queries whose grades may go back to their traces."""
    kept = OfferedQuery.objects.filter(state=OfferState.KEPT, query__isnull=False).exclude(returned={})
    return kept.filter(log__figures__grades_back=True)


def traced(queries: Iterable[int]) -> Iterator[Traced]:
    """What was told of these queries, by their keys; `at` is when their log was drawn."""
    rows = with_traces().filter(query__in=queries).order_by("pk")
    for query, returned, at in rows.values_list("query", "returned", "log__created_at"):
        for system, told in sorted(returned.items()):
            if "span" in told:
                yield Traced(query, system, told["trace"], told["span"], told["passages"], told["places"], at)


def runs_of(log: QueryLog) -> QuerySet[Run]:
    """The runs that were made of it, newest first."""
    return Run.objects.filter(project=log.project, origin__startswith=origin_of(log)).order_by("-pk")


def origin_of(log: QueryLog) -> str:
    """How the origin of the runs of a log begins."""
    return f"Search log {log.pk}, {log.name}: "


NAMES = {
    "e-mail": "E-mail address",
    "link": "Link",
    "phone": "Phone number",
    "card": "Card number",
    "IBAN": "Bank account (IBAN)",
    "national id": "National id number",
    "key": "Long key or hash",
    "street address": "Street address",
    "name on list": "Name on your list",
}
SECONDS_A_QUERY = 10
BAR = 100


class MaskRow(NamedTuple):
    name: str
    places: int
    examples: list[list[tuple[str, bool]]]


class PeopleChoice(NamedTuple):
    """A number of people to choose: its key, what it is for, and what it leaves."""

    key: str
    people: int
    words: str
    queries: int
    searches: int
    share: float
    is_chosen: bool


class BandRow(NamedTuple):
    """A stratum on the page; `rows` is the number of rows of its band on the first of them, else 0."""

    stratum: Stratum
    rows: int
    searched: str
    outcome: str
    bar: float
    like: float


def sample_of(figures: Mapping[str, Any], options: Mapping[str, Any]) -> SamplePlan:
    """The sample that the choices would give, from the figures of the preview."""
    population = population_of(figures["rows"], options["people"], LEAST_PEOPLE)
    return plan_sample(population, options["wanted"], Plan(options["plan"]))


def mapping_context(item: Import, *, at: datetime) -> dict[str, Any]:
    """Context of `querylogs/mapping.html`; without figures while no column has the queries."""
    figures, options = item.plan.get("log") or {}, item.options
    if not figures:
        return {"log": None}
    plan = sample_of(figures, options)
    permitted = is_permitted(item.project, options["source"], at)
    return {
        "log": figures,
        "returned": _located(figures.get("located")),
        "unused": sorted(figures["unused"].items(), key=lambda one: -one[1]),
        "counted": figures["searches"] - figures["left_out"]["total"],
        "masks": [
            MaskRow(
                NAMES.get(kind, kind), figures["masked"][kind], [with_masks(text) for text in figures["examples"][kind]]
            )
            for kind in KINDS
        ],
        "places_masked": sum(figures["masked"].values()),
        "names": MaskedName.objects.filter(project=item.project).count(),
        "choices": _choices(figures, options, is_permitted=permitted),
        "few": figures["queries"] - plan.queries,
        "is_few": options["people"] < USUAL_PEOPLE,
        "plan": plan,
        "rows": _rows(plan, has_results=figures["has_results"], has_times=figures["has_times"]),
        "nothing": _nothing(plan),
        "chance": plan.places / plan.queries if plan.queries else 0,
        "minutes": max(1, round(plan.places * SECONDS_A_QUERY / 60)),
        "refusal": rules.draw_refusal(
            least=options["people"],
            has_people=figures["has_people"],
            queries=plan.queries,
            is_permitted=permitted,
        ),
        "shown": [[(with_masks(cell["text"]), cell["is_out"]) for cell in row] for row in item.plan["table"]["sample"]],
    }


def _located(figures: dict[str, Any] | None) -> dict[str, Any] | None:
    """The figures of the passages with the share of those that were found."""
    if not figures or not figures["snapshot"]:
        return figures
    return figures | {"share": (figures["by_id"] + figures["by_text"]) / max(1, figures["total"])}


def _choices(figures: dict[str, Any], options: dict[str, Any], *, is_permitted: bool) -> list[PeopleChoice]:
    """The usual numbers of people, and the lower ones where the source may use them."""
    usual = [("i", USUAL_PEOPLE, "for use inside"), ("p", PUBLIC_PEOPLE, "for a public set")]
    if is_permitted:
        usual.insert(0, ("1", 1, "with the permission of the source"))
    if options["people"] not in {people for _, people, _ in usual}:
        usual.append(("", options["people"], "as chosen"))
    rows = []
    for key, people, words in usual:
        population = population_of(figures["rows"], people, LEAST_PEOPLE)
        share = population.traffic / max(1, figures["searches"] - figures["left_out"]["total"])
        queries = int(population.counts.sum())
        rows.append(PeopleChoice(key, people, words, queries, population.traffic, share, people == options["people"]))
    return rows


def _rows(plan: SamplePlan, *, has_results: bool, has_times: bool) -> list[BandRow]:
    """The strata that have queries, by band; of outcomes that the log cannot tell none."""
    searched = [f"{plan.head_from:,} searches and more", f"{plan.torso_from:,} and more", "fewer"]
    filled = [one for one in plan.strata if one.queries]
    most = max((max(one.places, one.like_traffic) for one in filled), default=1) or 1
    rows = []
    for words, (_, inside) in zip(_of_bands(searched, filled), groupby(filled, key=lambda one: one.band), strict=True):
        strata = list(inside)
        for number, one in enumerate(strata):
            outcome = one.outcome.label if has_results or has_times else "not known"
            rows.append(
                BandRow(
                    one,
                    0 if number else len(strata),
                    words,
                    outcome,
                    BAR * one.places / most,
                    BAR * one.like_traffic / most,
                )
            )
    return rows


def _of_bands(words: Sequence[str], strata: Sequence[Stratum]) -> list[str]:
    bands = list(dict.fromkeys(one.band for one in strata))
    every = list(type(strata[0].band)) if strata else []
    return [words[every.index(band)] for band in bands]


def _nothing(plan: SamplePlan) -> dict[str, float]:
    strata = [one for one in plan.strata if one.outcome == Outcome.NOTHING]
    return {"places": sum(one.places for one in strata), "like": sum(one.like_traffic for one in strata)}
