"""A scorecard as CSV or TSV, one value a row.

Means have the query `all` and their interval; values of queries have none. With strata there is one more column,
`stratum`, as `field=name`; with a baseline there are `against`, `p` and `p_holm`, and a difference is a row whose
`against` names the baseline.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain

from apps.cli.tables import delimited
from apps.common.files.csvsafe import safe_cell
from apps.metrics.scorecard import Scorecard, ScoredRun
from apps.metrics.statistics.significance import Summary

COLUMNS = ["run", "query", "measure", "value", "low", "high", "n"]
STRATUM_COLUMNS = ["stratum"]
AGAINST_COLUMNS = ["against", "p", "p_holm"]
ALL_QUERIES = "all"


def as_csv(card: Scorecard) -> str:
    return delimited(_rows(card), ",")


def as_tsv(card: Scorecard) -> str:
    return delimited(_rows(card), "\t")


def _rows(card: Scorecard) -> Iterator[list[str]]:
    """The heading, and what each run has under it."""
    columns = list(COLUMNS)
    columns += STRATUM_COLUMNS if card.strata else []
    columns += AGAINST_COLUMNS if card.comparisons else []
    yield columns
    of_runs = (chain(_of_run(card, run), _of_strata(card, place)) for place, run in enumerate(card.runs))
    for cells in chain(chain.from_iterable(of_runs), _of_comparisons(card)):
        yield [cells.get(column, "") for column in columns]


Cells = dict[str, str]


def _of_run(card: Scorecard, run: ScoredRun) -> Iterator[Cells]:
    tag = safe_cell(run.tag)
    if card.with_queries:
        for query, row in zip(card.queries, run.scores.values.tolist(), strict=True):
            for name, value in zip(card.measures, row, strict=True):
                written = "" if math.isnan(value) else repr(value)
                yield {"run": tag, "query": safe_cell(query), "measure": name, "value": written}
    yield from _means(tag, list(card.measures), run.scores.summaries)
    if card.hit is None:
        yield from _means(tag, ["judged@10"], [Summary(run.scores.judged_at_10, None, run.scores.answered)])


def _means(tag: str, names: Sequence[str], summaries: Sequence[Summary]) -> Iterator[Cells]:
    for name, summary in zip(names, summaries, strict=True):
        low, high = summary.interval or ("", "")
        mean = "" if summary.mean is None else str(summary.mean)
        yield {
            "run": tag,
            "query": ALL_QUERIES,
            "measure": name,
            "value": mean,
            "low": str(low),
            "high": str(high),
            "n": str(summary.n),
        }


def _of_strata(card: Scorecard, place: int) -> Iterator[Cells]:
    tag = safe_cell(card.runs[place].tag)
    for stratum in card.strata:
        name = safe_cell(f"{stratum.field}={stratum.name}")
        for row in _means(tag, list(card.measures), stratum.summaries[place]):
            yield {**row, "stratum": name}


def _of_comparisons(card: Scorecard) -> Iterator[Cells]:
    for compared in card.comparisons:
        baseline, candidate = map(safe_cell, compared.names)
        for row in compared.measures:
            difference = row.difference
            (cells,) = _means(candidate, [row.measure], [Summary(difference.mean, difference.interval, difference.n)])
            yield {**cells, "against": baseline, "p": str(difference.p), "p_holm": str(difference.holm)}
