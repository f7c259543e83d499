"""The balance board: shares of the live queries by stratum, as charts and tables."""

from typing import NamedTuple

from django.utils.safestring import SafeString

from apps.accounts.models import Project
from apps.common.drawing import charts
from apps.queries.core.balance import StratumShare, crossed, shares, tally
from apps.queries.enums import Difficulty
from apps.queries.models import Source
from apps.queries.selectors import stratum_counts

SOURCE, QUERY_TYPE, DIFFICULTY, DOMAIN = range(4)


class StratumBoard(NamedTuple):
    """The shares by one property of the queries."""

    title: str
    name: str
    shares: list[StratumShare]


class SourceBalance(NamedTuple):
    """`mix` is the chart of the sources, None without any; `short` names those below their target."""

    total: int
    mix: SafeString | None
    figures: SafeString | None
    short: list[tuple[str, int]]
    strata: list[StratumBoard]
    domains: list[str]
    table: list[tuple[str, list[int], int]]


def balance_board(project: Project) -> SourceBalance:
    rows = stratum_counts(project)
    sources = {source.slug: source for source in Source.objects.filter(project=project)}
    targets = {slug: source.target_share for slug, source in sources.items() if source.target_share}
    by_source = shares(tally(rows, SOURCE), targets)
    difficulties = shares(tally(rows, DIFFICULTY), order=Difficulty.values)
    strata = [
        StratumBoard("Type", "query_type", shares(tally(rows, QUERY_TYPE))),
        StratumBoard("Difficulty", "difficulty", difficulties),
        StratumBoard("Domain", "domain", shares(tally(rows, DOMAIN))),
    ]
    names = {slug: source.name for slug, source in sources.items()} | {"": "no source"}
    domains = [share.value for share in strata[2].shares]
    cells = crossed(rows, DIFFICULTY, DOMAIN)
    table = [
        (share.value, [cells.get((share.value, domain), 0) for domain in domains], share.number)
        for share in difficulties
    ]
    return SourceBalance(
        total=sum(row[-1] for row in rows),
        mix=_drawn(by_source, names) if rows else None,
        figures=_figures(by_source, names) if rows else None,
        short=[(names[share.value], share.short) for share in by_source if share.short],
        strata=strata,
        domains=domains,
        table=table,
    )


def _drawn(by_source: list[StratumShare], names: dict[str, str]) -> SafeString:
    bars = [charts.Bar(names[share.value], share.number, share.share, share.target) for share in by_source]
    return charts.plot(charts.target_bars("Queries by source, as shares of all live queries", bars, width=640))


def _figures(by_source: list[StratumShare], names: dict[str, str]) -> SafeString:
    return charts.figures(
        ["Source", "Queries", "Share", "Target"],
        [
            (
                names[share.value],
                f"{share.number:,}",
                f"{share.share:.1%}",
                "none" if share.target is None else f"{share.target:.1%}",
            )
            for share in by_source
        ],
    )
