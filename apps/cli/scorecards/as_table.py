"""A scorecard for people: four decimals, the runs below each other for each measure, and notes."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from apps.cli.tables import aligned
from apps.common.text.wording import number, p_value, signed
from apps.metrics.estimate import NONE
from apps.metrics.scorecard import Scorecard, ScoredRun, notes_of
from apps.metrics.statistics.significance import Summary

if TYPE_CHECKING:
    from apps.metrics.comparison import RunComparison

NOTE_WIDTH = 100
MOST_FELL = 10


def as_table(card: Scorecard) -> str:
    parts = [aligned(_summary_rows(card), first_left=2)]
    for field in card.strata_fields:
        parts += _strata(card, field)
    for compared in card.comparisons:
        parts += _comparison(card, compared)
    if card.with_queries:
        parts += [aligned(_query_rows(card, run)) for run in card.runs]
    parts.append("\n".join(textwrap.fill(note, NOTE_WIDTH) for note in notes_of(card)))
    return "\n\n".join(parts) + "\n"


def _heading(card: Scorecard) -> str:
    return "" if card.interval == NONE else f"{card.confidence * 100:g} % interval"


def _summary_rows(card: Scorecard) -> list[list[str]]:
    rows = [["measure", "run", "mean", _heading(card), "n"]]
    for place, name in enumerate(card.measures):
        for order, run in enumerate(card.runs):
            rows.append(["" if order else name, run.tag, *_summary(run.scores.summaries[place])])
    for order, run in enumerate(card.runs if card.hit is None else ()):
        judged = Summary(run.scores.judged_at_10, None, run.scores.answered)
        rows.append(["" if order else "judged@10", run.tag, *_summary(judged)])
    return rows


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
        yield from _fell(compared, compared.measures[0].measure)


def _supplement_rows(card: Scorecard, compared: RunComparison) -> list[list[str]]:
    rows = [["other tests", "p, t test", "p, Wilcoxon", "effect size", "detectable", f"{card.items.many} needed"]]
    for row in compared.measures:
        supplement, tests = row.supplement, row.supplement.tests
        p_values = [p_value(test.p) if test else "undefined" for test in (tests.t, tests.wilcoxon)]
        detectable = "" if supplement.detectable is None else f"{supplement.detectable:.4f}"
        rows.append([row.measure, *p_values, signed(tests.effect, 3), detectable, supplement.needed_words])
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
