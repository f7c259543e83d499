"""The balance board: shares of the live queries and Q&As by source, and of the queries by stratum."""

from collections import Counter
from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Any, NamedTuple

from django.utils.safestring import SafeString

from apps.accounts.models import Project
from apps.common.drawing import charts
from apps.queries.enums import Difficulty
from apps.queries.models import Source
from apps.queries.selectors import stratum_counts, triples_by_source

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


def tally(rows: Iterable[tuple], *places: int) -> Counter[Any]:
    """Sums of the last column of rows, by the value in one column, or by the values in several."""
    value_of, counts = itemgetter(*places), Counter[Any]()
    for row in rows:
        counts[value_of(row)] += row[-1]
    return counts


SOURCE, QUERY_TYPE, DIFFICULTY, DOMAIN = range(4)


class StratumBoard(NamedTuple):
    """The shares by one property of the queries."""

    title: str
    name: str
    shares: list[StratumShare]


class SourceMix(NamedTuple):
    """Where the items of one kind come from; `short` names the sources below their target."""

    items: str
    total: int
    chart: SafeString
    figures: SafeString
    short: list[tuple[str, int]]


class Balance(NamedTuple):
    """`mixes` has the kinds of which there are any; `strata`, `domains` and `table` are of the queries."""

    queries: int
    triples: int
    mixes: list[SourceMix]
    strata: list[StratumBoard]
    domains: list[str]
    table: list[tuple[str, list[int], int]]


def balance_board(project: Project) -> Balance:
    rows = stratum_counts(project)
    sources = {source.slug: source for source in Source.objects.filter(project=project)}
    slugs = {source.pk: slug for slug, source in sources.items()}
    triples = {slugs.get(pk or 0, ""): number for pk, number in triples_by_source(project).items()}
    mixes = [_mix("Queries", tally(rows, SOURCE), sources), _mix("Q&As", triples, sources)]
    difficulties = shares(tally(rows, DIFFICULTY), order=Difficulty.values)
    strata = [
        StratumBoard("Type", "query_type", shares(tally(rows, QUERY_TYPE))),
        StratumBoard("Difficulty", "difficulty", difficulties),
        StratumBoard("Domain", "domain", shares(tally(rows, DOMAIN))),
    ]
    domains = [share.value for share in strata[2].shares]
    cells = tally(rows, DIFFICULTY, DOMAIN)
    table = [
        (share.value, [cells.get((share.value, domain), 0) for domain in domains], share.number)
        for share in difficulties
    ]
    return Balance(
        queries=sum(row[-1] for row in rows),
        triples=sum(triples.values()),
        mixes=[mix for mix in mixes if mix.total],
        strata=strata,
        domains=domains,
        table=table,
    )


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
