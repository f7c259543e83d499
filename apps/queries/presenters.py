"""The balance board: shares of the live queries and of the Q&As by every property, against targets."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from apps.accounts.models import Project
from apps.accounts.selectors import policy
from apps.common.drawing import charts
from apps.queries.core.strata import BALANCED, STRATA
from apps.queries.enums import Difficulty, SourceKind
from apps.queries.models import Source
from apps.queries.selectors import FAILURE, StratumCount, stratum_counts, triple_counts

UNNAMED = ""


class StratumShare(NamedTuple):
    """One value of a stratum. `share` is of all queries; `short` is how many more the target requires."""

    value: str
    number: int
    share: float
    target: float | None = None
    short: int = 0


def shares(
    counts: Mapping[str, int],
    targets: Mapping[str, float] | None = None,
    order: Iterable[str] = (),
) -> list[StratumShare]:
    """The values with their shares: those of `order` first, then by size, and the empty value last.

    Targets are shares of the present set, so `short` is how many are missing now; values that have a target and no
    query are listed with 0. No queries: every share is 0.
    """
    targets = targets or {}
    total = sum(counts.values())
    known = [value for value in order if value in counts or value in targets]
    rest = sorted((set(counts) | set(targets)) - set(known) - {UNNAMED}, key=lambda v: (-counts.get(v, 0), v))
    values = known + rest + ([UNNAMED] if counts.get(UNNAMED) else [])
    result = []
    for value in values:
        number, target = counts.get(value, 0), targets.get(value)
        short = max(0, round((target or 0) * total) - number)
        result.append(StratumShare(value, number, number / total if total else 0.0, target, short))
    return result


QUERIES, TRIPLES = "Queries", "Q&As"
FAILURE_MODE = "failure_mode"
PROPERTIES = {name: STRATA[name] for name in BALANCED} | {FAILURE_MODE: "Failure mode"}
MOST_NEXT = 3


def tally(rows: Iterable[StratumCount], name: str) -> Counter[str]:
    """How many there are of each value of a property. What has several failure modes counts for each."""
    counts = Counter[str]()
    for row in rows:
        for value in (row.failures or ("",)) if name == FAILURE_MODE else (getattr(row, name),):
            counts[value] += row.number
    return counts


class BoardRow(NamedTuple):
    """One value of a property: its share among the queries and among the Q&As."""

    value: str
    queries: StratumShare
    triples: StratumShare

    @property
    def target(self) -> float | None:
        return self.queries.target


class StratumBoard(NamedTuple):
    """The shares by one property."""

    title: str
    name: str
    rows: list[BoardRow]


class SourceMix(NamedTuple):
    """Where the items of one kind come from; `short` names the sources below their target."""

    items: str
    total: int
    chart: SafeString
    figures: SafeString
    short: list[tuple[str, int]]


class NextToAdd(NamedTuple):
    """A value that is short by `short` of its target, and the page where one is added."""

    items: str
    name: str
    value: str
    label: str
    short: int
    door: str
    url: str

    @property
    def title(self) -> str:
        return PROPERTIES[self.name]


class Balance(NamedTuple):
    """`mixes` has the kinds of which there are any, `table` difficulties by domains of the queries.

    `variants` are beside the queries: they repeat their originals.
    """

    queries: int
    variants: int
    triples: int
    mixes: list[SourceMix]
    strata: list[StratumBoard]
    domains: list[str]
    table: list[tuple[str, list[int], int]]
    next: list[NextToAdd]


def balance_board(project: Project) -> Balance:
    queries, variants = stratum_counts(project)
    triples = triple_counts(project)
    sources = {source.slug: source for source in Source.objects.filter(project=project)}
    targets = {
        "source": {slug: source.target_share for slug, source in sources.items() if source.target_share},
        **policy(project, "balance_targets"),
    }
    strata = [_stratum(name, queries, triples, targets.get(name, {})) for name in PROPERTIES]
    mixes = [_mix(items, tally(rows, "source"), sources) for items, rows in ((QUERIES, queries), (TRIPLES, triples))]
    domains = [row.value for row in strata[list(PROPERTIES).index("domain")].rows if row.queries.number]
    cells = Counter[tuple[str, str]]()
    for one in queries:
        cells[one.difficulty, one.domain] += one.number
    by_difficulty = shares(tally(queries, "difficulty"), order=Difficulty.values)
    return Balance(
        queries=sum(row.number for row in queries),
        variants=variants,
        triples=sum(row.number for row in triples),
        mixes=[mix for mix in mixes if mix.total],
        strata=strata,
        domains=domains,
        table=[(one.value, [cells[one.value, domain] for domain in domains], one.number) for one in by_difficulty],
        next=_next(project, strata, sources),
    )


def _stratum(
    name: str, queries: Sequence[StratumCount], triples: Sequence[StratumCount], targets: Mapping[str, float]
) -> StratumBoard:
    """The values of a property that a query, a Q&A or a target has, as `shares` orders those of all together."""
    counts = {items: tally(rows, name) for items, rows in ((QUERIES, queries), (TRIPLES, triples))}
    order = Difficulty.values if name == "difficulty" else ()
    together = shares(counts[QUERIES] + counts[TRIPLES], targets, order)
    by = {items: {one.value: one for one in shares(found, targets)} for items, found in counts.items()}
    none = {one.value: StratumShare(one.value, 0, 0.0, one.target) for one in together}
    rows = [
        BoardRow(one.value, *(by[items].get(one.value, none[one.value]) for items in (QUERIES, TRIPLES)))
        for one in together
    ]
    return StratumBoard(PROPERTIES[name], name, rows)


def _next(project: Project, strata: Iterable[StratumBoard], sources: Mapping[str, Source]) -> list[NextToAdd]:
    """The values that are most short of their targets, of queries and of Q&As."""
    short = [
        (-share.short, place, items, board.name, row.value)
        for place, board in enumerate(strata)
        for row in board.rows
        for items, share in ((QUERIES, row.queries), (TRIPLES, row.triples))
        if share.short
    ]
    found = []
    for missing, _, items, name, value in sorted(short)[:MOST_NEXT]:
        door, url = _door(project, items, name, value, sources.get(value) if name == "source" else None)
        label = sources[value].name if name == "source" else value
        found.append(NextToAdd(items, name, value, label, -missing, door, url))
    return found


def _door(project: Project, items: str, name: str, value: str, source: Source | None) -> tuple[str, str]:
    """Words and address of the page where one more of this value is added, with the value chosen."""

    def to(page: str, *args: str, **query: str | int) -> str:
        return f"{reverse(page, args=[project.slug, *args])}?{urlencode(query)}".removesuffix("?")

    if items == TRIPLES and name in {"query_type", FAILURE_MODE}:
        return "Write Q&As from such queries", to(
            "queries:list", **({"query_type": value} if name != FAILURE_MODE else {})
        )
    if items == TRIPLES:
        return "Write a Q&A", to("triples:bench", **{name: source.pk if source else value})
    if source is not None and source.kind == SourceKind.QUERY_LOG:
        return "Import a search log", to("corpus:import-new", "log")
    if source is not None and source.kind == SourceKind.FAILURE_CASE:
        return "Take failed searches", to("queries:failures")
    if source is not None:
        return "Import queries", to("corpus:import-new", "queries")
    if name == FAILURE_MODE:
        return "Add a query", to("queries:new", tags=f"{FAILURE}{value}")
    return "Add a query", to("queries:new", **{name: value})


def _mix(items: str, counts: Mapping[str, int], sources: Mapping[str, Source]) -> SourceMix:
    targets = {slug: source.target_share for slug, source in sources.items() if source.target_share}
    names = {slug: source.name for slug, source in sources.items()} | {"": "no source"}
    by_source = shares(counts, targets)
    bars = [charts.Bar(names[share.value], share.number, share.share, share.target) for share in by_source]
    drawing = charts.target_bars(f"{items} by source, as shares of all that are live", bars, width=640)
    figures = [
        (
            names[share.value],
            f"{share.number:,}",
            f"{share.share:.1%}",
            "none" if share.target is None else f"{share.target:.1%}",
        )
        for share in by_source
    ]
    return SourceMix(
        items=items,
        total=sum(counts.values()),
        chart=charts.plot(drawing),
        figures=charts.figures(["Source", items, "Share", "Target"], figures),
        short=[(names[share.value], share.short) for share in by_source if share.short],
    )
