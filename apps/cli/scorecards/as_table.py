"""A scorecard for people: four decimals, runs under one another for each measure, and the conventions below."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence

from apps.common.text.wording import number, p_value, signed
from apps.metrics import comparison
from apps.metrics.scorecard import NONE, Against, Scorecard, ScoredRun, notes_of
from apps.metrics.statistics.significance import Summary

NOTE_WIDTH = 100
MOST_FELL = 10


def as_table(card: Scorecard) -> str:
    parts = [_aligned(_summary_rows(card))]
    for field in card.strata_fields:
        parts += _strata(card, field)
    for against in card.comparisons:
        parts += _comparison(card, against)
    if card.with_queries:
        parts += [_aligned(_query_rows(card, run), first_left=1) for run in card.runs]
    parts.append("\n".join(textwrap.fill(note, NOTE_WIDTH) for note in notes_of(card)))
    return "\n\n".join(parts) + "\n"


def _heading(card: Scorecard) -> str:
    return "" if card.interval == NONE else f"{card.confidence * 100:g} % interval"


def _summary_rows(card: Scorecard) -> list[list[str]]:
    rows = [["measure", "run", "mean", _heading(card), "n"]]
    for place, name in enumerate(card.measures):
        for order, run in enumerate(card.runs):
            rows.append(["" if order else name, run.tag, *_summary(run.scores.summaries[place])])
    for order, run in enumerate(card.runs):
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
        yield _aligned(_stratum_rows(card, field), first_left=3)
    if small := card.small_words(field):
        yield f"{field}: {small}"


def _stratum_rows(card: Scorecard, field: str) -> list[list[str]]:
    """Strata under one another for each measure, and the runs within each."""
    rows = [["measure", field, "run", "mean", _heading(card), "n"]]
    for place, name in enumerate(card.measures):
        for first, stratum in enumerate(card.shown_strata(field)):
            for order, run in enumerate(card.runs):
                shown = [name if not first and not order else "", "" if order else stratum.name]
                rows.append([*shown, run.tag, *_summary(stratum.summaries[order][place])])
    return rows


def _comparison(card: Scorecard, against: Against) -> Iterator[str]:
    """The differences of one candidate, and the queries that fell by the first measure."""
    heading = _heading(card)
    head = [f"{against.candidate} against {against.baseline}", "difference", heading, "p", "p, Holm"]
    rows = [[*head, "better", "equal", "worse", "fell", "n"]]
    for row in against.rows:
        found = row.difference
        counts = [found.better, found.equal, found.worse, len(against.fell[row.measure]), found.n]
        between = _between(found.interval, signs=True)
        rows.append([row.measure, signed(found.mean, 4), between, f"{found.p:.4f}", f"{found.holm:.4f}"])
        rows[-1] += [str(one) for one in counts]
    rows += [[name, "undefined", *[""] * 8] for name in against.left_out]
    yield _aligned(rows, first_left=1)
    if few := comparison.handfuls(against.rows):
        yield "\n".join(textwrap.fill(line, NOTE_WIDTH) for line in [*few, comparison.HANDFUL_WORDS])
    if against.beside:
        yield _aligned(_beside_rows(against), first_left=1)
    fell = against.fell[against.rows[0].measure] if against.rows else ()
    if fell:
        listed = ", ".join(f"{one.query_id} {signed(one.change)}" for one in fell[:MOST_FELL])
        more = f", and {len(fell) - MOST_FELL:,} more" if len(fell) > MOST_FELL else ""
        said = f"Fell by more than {against.bar:g} {against.rows[0].measure}: {listed}{more}."
        yield textwrap.fill(said, NOTE_WIDTH)


def _beside_rows(against: Against) -> list[list[str]]:
    rows = [["beside it", "p, t test", "p, Wilcoxon", "effect size", "detectable", "queries needed"]]
    for name, beside in against.beside.items():
        tests = [p_value(found.p) if found else "undefined" for found in (beside.tests.t, beside.tests.wilcoxon)]
        figures = [signed(beside.tests.effect, 3), "" if beside.detectable is None else f"{beside.detectable:.4f}"]
        rows.append([name, *tests, *figures, beside.needed_words])
    return rows


def _query_rows(card: Scorecard, run: ScoredRun) -> list[list[str]]:
    rows = [[f"{run.tag}, query", *card.measures]]
    for query, values in zip(card.queries, run.scores.values.tolist(), strict=True):
        rows.append([query, *("undefined" if math.isnan(value) else number(value, 4) for value in values)])
    return rows


def _aligned(rows: Sequence[Sequence[str]], *, first_left: int = 2) -> str:
    """Columns of even width: the first ones set left, figures set right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if column < first_left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
