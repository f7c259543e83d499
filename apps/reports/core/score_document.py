"""The report of a scorecard: means with intervals, strata, queries, definitions, denominators, inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from apps.common.text.wording import number
from apps.evaluation.core.charts import stratum_bounds, stratum_dots, stratum_legend
from apps.metrics.measures.entries import Measure
from apps.metrics.scorecard import Scorecard, notes_of
from apps.metrics.scoring import JUDGED_AT_10
from apps.metrics.statistics.places import places
from apps.metrics.statistics.significance import Summary
from apps.metrics.statistics.strata import ComparedStratum
from apps.reports.core.comparison_parts import difference_parts, lead_of_comparisons
from apps.reports.core.document import Block, Document, Facts, Paragraph, ReportChart, ReportSection, Table
from apps.reports.core.mean_parts import PLACES, Mean, interval_head, means_chart, summary_cells

CODE = frozenset({0})
FIELD_WORDS = {"query_type": "type"}
"""The names on pages of columns of strata, where they differ."""


def scored_document(
    card: Scorecard, *, title: str = "", about: Sequence[str] = (), basis: Sequence[tuple[str, str]] = ()
) -> Document:
    """The report of a scorecard; `basis` has facts about what was scored, shown with the digests of the inputs."""
    parts = [
        means_part(card),
        *difference_parts(card),
        *strata_parts(card),
        *query_parts(card),
        definitions_of(card.measures, with_judged=card.hit is None),
        ReportSection("How to read the figures", [Paragraph(note) for note in notes_of(card)]),
        *basis_parts(card, basis),
    ]
    named = title or f"Scores of {', '.join(run.tag for run in card.runs)}"
    return Document(named, lead_of_comparisons(card) or lead_of_means(card), parts, about)


def lead_of_means(card: Scorecard) -> str:
    """The first measure in one sentence: of the only run, or of the best one and those not told apart from it."""
    name, best = next(iter(card.measures)), _best(card)
    if best is None:
        return f"{name} is not defined for any {card.items.one}."
    place, summary = best
    tag, figure = card.runs[place].tag, f"{number(summary.mean, PLACES)}{_bracket(card, summary)}, n {summary.n:,}"
    if len(card.runs) == 1:
        return f"{tag} has {name} {figure}."
    entry = card.measures[name].entry
    side = "lowest" if entry.is_lower_better else "highest"
    words = f"Of {len(card.runs)} runs {tag} has the {side} {name}, {figure}"
    first = np.column_stack([run.scores.values[:, 0] for run in card.runs])
    close = places(first, is_lower_better=entry.is_lower_better).not_told_apart_from(place)
    return f"{words}; not told apart from {', '.join(card.runs[at].tag for at in close)}." if close else f"{words}."


def _best(card: Scorecard) -> tuple[int, Summary] | None:
    """The index and summary of the best run by the first measure; the first one of a tie, None without a value."""
    sign = -1.0 if next(iter(card.measures.values())).entry.is_lower_better else 1.0
    rows = [(place, run.scores.summaries[0]) for place, run in enumerate(card.runs)]
    defined = [(place, summary) for place, summary in rows if summary.mean is not None]
    return max(defined, key=lambda one: sign * (one[1].mean or 0.0), default=None)


def _bracket(card: Scorecard, summary: Summary) -> str:
    if summary.interval is None:
        return ""
    low, high = summary.interval
    return f", {card.confidence * 100:g} % [{number(low, PLACES)}, {number(high, PLACES)}]"


def means_part(card: Scorecard) -> ReportSection:
    """Every measure of every run, and judged@10."""
    means = [
        Mean(name, run.tag, run.scores.summaries[place], run.people[place] if run.people else None)
        for place, name in enumerate(card.measures)
        for run in card.runs
    ]
    if card.hit is None and JUDGED_AT_10 not in card.measures.values():
        means += [Mean("judged@10", run.tag, run.judged_at_10) for run in card.runs]
    chart = means_chart("Means with their intervals", means, card.shown_confidence)
    over = f"{len(card.queries):,} questions, {card.hit}" if card.hit else f"{len(card.queries):,} judged queries"
    return ReportSection("Measures", [chart], note=f"means over {over}")


def strata_parts(card: Scorecard) -> Iterator[ReportSection]:
    """For each field, small charts of the first measure on one scale, and a table of all measures."""
    for field in card.strata_fields:
        yield _strata_part(card, field)


def _strata_part(card: Scorecard, field: str) -> ReportSection:
    first, words, strata = next(iter(card.measures)), FIELD_WORDS.get(field, field), card.shown_strata(field)
    shown = [ComparedStratum(one.name, one.n, tuple(each[0] for each in one.summaries)) for one in strata]
    names = [run.tag for run in card.runs]
    bounds = stratum_bounds(shown)
    drawings = [stratum_legend(names)] if len(names) > 1 else []
    drawings += [stratum_dots(one, names, bounds, heading=True) for one in shown]
    rows = [
        [stratum.name, name, run.tag, *summary_cells(summaries[place], card.shown_confidence)]
        for stratum in strata
        for place, name in enumerate(card.measures)
        for run, summaries in zip(card.runs, stratum.summaries, strict=True)
    ]
    head = [words.capitalize(), "Measure", "Run", "Mean", interval_head(card.shown_confidence), "n"]
    figures = Table(f"Means by {words}", head, rows, words=3, code=frozenset({1, 2}))
    outside = len(card.queries) - sum(stratum.n for stratum in card.strata if stratum.field == field)
    blocks: list[Block] = [ReportChart(drawings, figures)] if strata else []
    if small := card.small_words(field):
        blocks.append(Paragraph(small, quiet=True))
    if outside > 0:
        blocks.append(
            Paragraph(f"{outside:,} of {len(card.queries):,} {card.items.many} are in no {words}.", quiet=True)
        )
    return ReportSection(f"By {words}", blocks, note=f"{first}; one scale for all" if strata else "")


def query_parts(card: Scorecard) -> Iterator[ReportSection]:
    """One table of the visible queries for each run; nothing without `with_queries`."""
    if not card.with_queries:
        return
    noun = card.items.one
    for run in card.runs:
        values = run.scores.values.tolist()
        rows = [
            [card.queries[place], *(number(value, PLACES) for value in values[place])] for place in card.visible_queries
        ]
        table = Table(f"Every {noun} of {run.tag}", [noun.capitalize(), *card.measures], rows, code=CODE)
        yield ReportSection(f"Every {noun}, {run.tag}", [table], note=_hidden_words(card))


def _hidden_words(card: Scorecard) -> str:
    hidden = len(card.queries) - len(card.visible_queries)
    return f"{card.items.counted(hidden)} not shown here, but counted in the means" if hidden else ""


def definitions_of(measures: Mapping[str, Measure], *, with_judged: bool = True) -> ReportSection:
    """Each kind of measure once: its definition in words, its range and its source."""
    firsts: dict[str, str] = {}
    for name, measure in measures.items():
        firsts.setdefault(measure.entry.name, name)
    rows = []
    for name in firsts.values():
        entry = measures[name].entry
        rows.append([name, entry.words, _range(entry.low, entry.high), entry.source])
    if with_judged:
        share = "Judged passages in the top ten, divided by the passages returned there."
        rows.append(["judged@10", share, _range(0, 1), "ir-measures Judged@k"])
    return ReportSection(
        "Definitions", [Table("Definitions", ["Measure", "In words", "Range", "Source"], rows, 4, CODE, frozenset({1}))]
    )


def _range(low: float, high: float) -> str:
    """`0 to 1`, without a line break."""
    return f"{low:g} to {high:g}".replace(" ", "\N{NO-BREAK SPACE}")


def basis_parts(card: Scorecard, basis: Sequence[tuple[str, str]]) -> Iterator[ReportSection]:
    """What was scored: facts, and the digests of the files that were read."""
    blocks: list[Block] = [Facts(basis)] if basis else []
    if card.inputs:
        rows = [[one.role, one.name, one.sha256] for one in card.inputs]
        blocks.append(Table("Inputs", ["Input", "File", "SHA-256"], rows, words=3, code=frozenset({1, 2})))
    if blocks:
        yield ReportSection("Inputs", blocks)
