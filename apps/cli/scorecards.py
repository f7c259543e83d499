"""A scorecard as a table for people, and as JSON, CSV and TSV for machines."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from apps.cli.arguments import aligned, delimited
from apps.common.files.csvsafe import safe_cell
from apps.common.text.jsontext import figures, written
from apps.common.text.wording import harmless, number, p_value, signed
from apps.metrics.scorecard import LOWER_END, ByText, Scorecard, ScoredRun, notes_of
from apps.metrics.scoring import conventions
from apps.metrics.statistics.intervals import effective_number
from apps.metrics.statistics.significance import RESAMPLES, Summary

if TYPE_CHECKING:
    from apps.metrics.comparison import MeasureComparison, RunComparison

NOTE_WIDTH = 100
MOST_FELL = 10


def as_table(card: Scorecard) -> str:
    parts = [textwrap.fill(card.lost_words, NOTE_WIDTH)] if card.lost_words else []
    parts.append(aligned(_summary_rows(card), first_left=2))
    if card.weights is not None:
        parts.append(aligned(_weighted_rows(card), first_left=2))
    for field in card.strata_fields:
        parts += _strata(card, field)
    for compared in card.comparisons:
        parts += _comparison(card, compared)
    if card.with_queries:
        parts += [aligned(_query_rows(card, run)) for run in card.runs]
    parts.append("\n".join(textwrap.fill(note, NOTE_WIDTH) for note in notes_of(card)))
    return harmless("\n\n".join(parts)) + "\n"


def _heading(card: Scorecard) -> str:
    return f"{card.confidence * 100:g} % interval" if card.with_intervals else ""


def _summary_rows(card: Scorecard) -> list[list[str]]:
    rows = [
        [
            "measure",
            "run",
            "mean",
            _heading(card),
            "n",
            *(["judged", "if all were judged"] if _has_bounds(card) else []),
        ]
    ]
    for place, name in enumerate(card.measures):
        for order, run in enumerate(card.runs):
            rows.append(["" if order else name, run.tag, *_summary(run.scores.summaries[place])])
            if run.scores.if_judged:
                share, *_ = known = run.scores.if_judged[place]
                rows[-1] += ["" if share is None else number(share, 4), _between(known.range)]
    for order, run in enumerate(() if card.counts_questions else card.runs):
        judged = Summary(run.scores.judged_at_10, None, run.scores.answered)
        rows.append(["" if order else "judged@10", run.tag, *_summary(judged), *([""] * (len(rows[0]) - 5))])
    return rows


def _weighted_rows(card: Scorecard) -> list[list[str]]:
    rows = [["measure", "run", "weighted mean", _heading(card), "n"]]
    for place, name in enumerate(card.measures):
        for order, run in enumerate(card.runs):
            rows.append(["" if order else name, run.tag, *_summary(run.weighted[place])])
    return rows


def _has_bounds(card: Scorecard) -> bool:
    return any(run.scores.if_judged for run in card.runs)


def _summary(summary: Summary) -> list[str]:
    """Mean, interval and n."""
    mean = "undefined" if summary.mean is None else number(summary.mean, 4)
    return [mean, _between(summary.interval), str(summary.n)]


def _between(interval: tuple[float, float] | None, *, signs: bool = False) -> str:
    if interval is None:
        return ""
    low, high = (signed(end, 4) if signs else number(end, 4) for end in interval)
    return f"{low} to {high}"


def _strata(card: Scorecard, field: str) -> Iterator[str]:
    if card.shown_strata(field):
        yield aligned(_stratum_rows(card, field), first_left=3)
    if small := card.small_words(field):
        yield f"{field}: {small}"


def _stratum_rows(card: Scorecard, field: str) -> list[list[str]]:
    """The strata below each other for each measure, and the runs within each."""
    rows = [["measure", field, "run", "mean", _heading(card), "n"]]
    for place, name in enumerate(card.measures):
        for first, stratum in enumerate(card.shown_strata(field)):
            for order, run in enumerate(card.runs):
                shown = [name if not first and not order else "", "" if order else stratum.name]
                rows.append([*shown, run.tag, *_summary(stratum.summaries[order][place])])
    return rows


def _comparison(card: Scorecard, compared: RunComparison) -> Iterator[str]:
    """The differences of one candidate, and the queries that fell by the first measure."""
    from apps.metrics.comparison import HANDFUL_WORDS, handfuls

    baseline, candidate = compared.names
    head = [f"{candidate} against {baseline}", "difference", _heading(card), "p", "p, Holm"]
    rows = [[*head, "better", "equal", "worse", "fell", "n"]]
    for row in compared.measures:
        difference = row.difference
        counts = [difference.better, difference.equal, difference.worse, len(compared.drops(row.measure)), difference.n]
        between = _between(difference.interval, signs=True)
        rows.append([row.measure, signed(difference.mean, 4), between, f"{difference.p:.4f}", f"{difference.holm:.4f}"])
        rows[-1] += [str(count) for count in counts]
    rows += [[name, "undefined", *[""] * 8] for name in compared.left_out]
    yield aligned(rows)
    if exact := [f"{row.measure}: {row.mcnemar.words}." for row in compared.measures if row.mcnemar]:
        yield "\n".join(exact)
    if few := handfuls(compared.measures, card.items):
        yield "\n".join(textwrap.fill(line, NOTE_WIDTH) for line in [*few, HANDFUL_WORDS])
    if compared.measures:
        yield aligned(_supplement_rows(card, compared))
        first = compared.measures[0]
        yield textwrap.fill(f"{first.measure}: {first.decides_words(compared.family, card.items)}", NOTE_WIDTH)
        yield from _fell(compared, compared.measures[0].measure)


def _supplement_rows(card: Scorecard, compared: RunComparison) -> list[list[str]]:
    head = ["other tests", "p, t test", "p, Wilcoxon", "evidence", "effect size", "detectable"]
    rows = [[*head, f"{card.items.many} needed"]]
    for row in compared.measures:
        supplement, tests = row.supplement, row.supplement.tests
        p_values = [p_value(test.p) if test else "undefined" for test in (tests.t, tests.wilcoxon)]
        detectable = "" if supplement.detectable is None else f"{supplement.detectable:.4f}"
        evidence = row.anytime.strongest_words
        rows.append([row.measure, *p_values, evidence, signed(tests.effect, 3), detectable, supplement.needed_words])
    return rows


def _fell(compared: RunComparison, measure: str) -> Iterator[str]:
    if drops := compared.drops(measure):
        listed = ", ".join(f"{drop.query_id} {signed(drop.change)}" for drop in drops[:MOST_FELL])
        more = f", and {len(drops) - MOST_FELL:,} more" if len(drops) > MOST_FELL else ""
        yield textwrap.fill(f"Fell by more than {compared.bar:g} {measure}: {listed}{more}.", NOTE_WIDTH)


def _query_rows(card: Scorecard, run: ScoredRun) -> list[list[str]]:
    rows = [[f"{run.tag}, {card.items.one}", *card.measures]]
    for query, values in zip(card.queries, run.scores.values.tolist(), strict=True):
        rows.append([query, *("undefined" if math.isnan(value) else number(value, 4) for value in values)])
    return rows


COLUMNS = ["run", "query", "measure", "value", "low", "high", "n"]
STRATUM_COLUMNS = ["stratum"]
BOUNDS_COLUMNS = ["judged", "if_judged_low", "if_judged_high"]
AGAINST_COLUMNS = ["against", "p", "p_holm"]
RULE_COLUMNS = ["hit"]
ALL_QUERIES, WEIGHTED = "all", "weighted"


def as_csv(card: Scorecard) -> str:
    """One value a row. Means have the query `all` and their interval, weighted ones `weighted`; values of queries have
    none.

    With bounds the rows of means have `judged`, `if_judged_low` and `if_judged_high`; with strata there is a column
    `stratum`, as `field=name`; with a baseline there are `against`, `p` and `p_holm`, and a difference is a row whose
    `against` names the baseline. By text the last column is `hit`, the rule.
    """
    return delimited(_rows(card), ",")


def as_tsv(card: Scorecard) -> str:
    """As CSV, separated by tabs."""
    return delimited(_rows(card), "\t")


def _rows(card: Scorecard) -> Iterator[list[str]]:
    """The heading, and what each run has under it."""
    columns = list(COLUMNS)
    columns += BOUNDS_COLUMNS if _has_bounds(card) else []
    columns += STRATUM_COLUMNS if card.strata else []
    columns += AGAINST_COLUMNS if card.comparisons else []
    columns += RULE_COLUMNS if card.is_by_text else []
    rule = {column: str(card.hit) for column in RULE_COLUMNS}
    yield columns
    of_runs = (chain(_of_run(card, run), _of_strata(card, place)) for place, run in enumerate(card.runs))
    for cells in chain(chain.from_iterable(of_runs), _of_comparisons(card)):
        yield [{**cells, **rule}.get(column, "") for column in columns]


Cells = dict[str, str]


def _of_run(card: Scorecard, run: ScoredRun) -> Iterator[Cells]:
    tag = safe_cell(run.tag)
    if card.with_queries:
        for query, row in zip(card.queries, run.scores.values.tolist(), strict=True):
            for name, value in zip(card.measures, row, strict=True):
                written = "" if math.isnan(value) else repr(value)
                yield {"run": tag, "query": safe_cell(query), "measure": name, "value": written}
    for place, cells in enumerate(_means(tag, list(card.measures), run.scores.summaries)):
        ends = run.scores.if_judged[place] if run.scores.if_judged else ()
        known = zip(BOUNDS_COLUMNS, ("" if end is None else repr(end) for end in ends), strict=False)
        yield {**cells, **dict(known)}
    for cells in _means(tag, list(card.measures), run.weighted) if run.weighted else ():
        yield {**cells, "query": WEIGHTED}
    if not card.counts_questions:
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


def as_json(card: Scorecard) -> str:
    missing = set().union(*(run.missing for run in card.runs))
    body = {
        **_measured_against(card),
        "queries": {
            **_counted(card),
            "in_run": len(card.queries) - len(missing),
            "missing": len(missing),
        },
        "runs": [_run(card, place) for place in range(len(card.runs))],
        **_comparisons(card),
        "confidence": card.shown_confidence,
        **({"stratified": card.stratified} if card.stratified else {}),
        **({} if card.weights is None else {"effective_queries": effective_number(card.weights)}),
        "seed": card.seed,
        "conventions": _conventions(card),
    }
    return written(body) + "\n"


def _conventions(card: Scorecard) -> str:
    rule = [card.hit.words] if card.hit else []
    measures = list(card.measures.values())
    return " ".join(rule if card.counts_questions else [*rule, conventions(measures, with_ties=not card.is_by_text)])


def _measured_against(card: Scorecard) -> dict[str, Any]:
    """The hit rule, and what its figures on triples cannot know; nothing for scores by grades of blocks."""
    if card.hit is None:
        return {}
    if card.is_by_text:
        return {"hit": str(card.hit), "share": card.hit.share}
    return {"hit": str(card.hit), "lower_end": LOWER_END, "undefined": list(card.undefined)}


def _counted(card: Scorecard) -> dict[str, int]:
    if not card.counts_questions:
        counted = {"judged": len(card.queries), "with_relevant": card.with_relevant}
        return counted | ({"unanswerable": card.unanswerable} if card.unanswerable else {})
    return {"measured": len(card.queries), "undefined": len(card.undefined)}


def _run(card: Scorecard, place: int) -> dict[str, Any]:
    run = card.runs[place]
    entry: dict[str, Any] = {
        "tag": run.tag,
        "queries": {"in_run": run.scores.answered, "missing": run.scores.missing},
        "measures": _estimates(card, run.scores.summaries),
        **({} if card.counts_questions else {"judged@10": run.scores.judged_at_10}),
    }
    if run.by_text:
        entry["located"] = _located(run.by_text)
    if run.weighted:
        entry["weighted"] = _estimates(card, run.weighted)
    if run.scores.counts:
        entry["results"] = run.scores.counts._asdict()
    if run.scores.if_judged:
        known = zip(card.measures, run.scores.if_judged, strict=True)
        entry["if_judged"] = {name: one._asdict() for name, one in known}
    if card.strata:
        entry["strata"] = {field: {} for field in dict.fromkeys(stratum.field for stratum in card.strata)}
    for stratum in card.strata:
        measures = _estimates(card, stratum.summaries[place])
        entry["strata"][stratum.field][stratum.name] = {"n": stratum.n, "measures": measures}
    if card.with_queries:
        entry["per_query"] = dict(zip(card.queries, figures(list(card.measures), run.scores.values), strict=True))
    return entry


def _located(one: ByText) -> dict[str, Any]:
    return {
        "returned": one.returned,
        "located": one.returned - one.lost,
        "not_located": [lost._asdict() for lost in one.listed],
        "without_text": one.textless,
        "graded_without_text": one.absent,
        "by_share": {f"{share:g}": mean for share, mean in one.by_share.items()},
    }


def _estimates(card: Scorecard, summaries: Sequence[Summary]) -> dict[str, Any]:
    return {name: one.estimate.as_json for name, one in zip(card.measures, summaries, strict=True)}


def _comparisons(card: Scorecard) -> dict[str, Any]:
    if not card.comparisons:
        return {}
    return {
        "comparisons": [
            {
                "baseline": compared.baseline.name,
                "candidate": compared.candidate.name,
                "measures": {row.measure: _measure(compared, row) for row in compared.measures},
                "left_out": list(compared.left_out),
            }
            for compared in card.comparisons
        ],
        "family": card.family,
        "compared_resamples": RESAMPLES,
    }


def _measure(compared: RunComparison, row: MeasureComparison) -> dict[str, Any]:
    drops = compared.drops(row.measure)
    return {
        **row.as_json,
        "regressions": len(drops),
        "regressed": [
            {"query": drop.query_id, "baseline": drop.baseline, "candidate": drop.candidate, "difference": drop.change}
            for drop in drops
        ],
    }


FORMATS = {"table": as_table, "json": as_json, "csv": as_csv, "tsv": as_tsv}
