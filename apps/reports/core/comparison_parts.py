"""The parts of a report that tell how runs differ from a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from apps.common.drawing.svg import DrawnEstimate
from apps.common.text.wording import count, interval, number, p_value, signed
from apps.evaluation.core.charts import delta_bars
from apps.metrics import comparison
from apps.metrics.comparison import Change, Row
from apps.metrics.scorecard import NONE, Against, Scorecard
from apps.metrics.statistics.paired_tests import Statistic
from apps.reports.core.charts import WIDTH, dots, stacked
from apps.reports.core.document import Block, Paragraph, ReportChart, ReportSection, Table
from apps.reports.core.mean_parts import PLACES, interval_head

BESIDE_WORDS = (
    "The verdict rests on the interval and the randomisation test; t, Wilcoxon and the effect size, which is the mean "
    "difference in standard deviations, stand beside them."
)
CODE = frozenset({0})


def lead_of_comparisons(card: Scorecard) -> str:
    """The verdict on the first measure when one run is set against the baseline; "" without a comparison."""
    if not card.comparisons:
        return ""
    if len(card.comparisons) > 1:
        return (
            f"{len(card.comparisons)} runs set against {card.comparisons[0].baseline}: {card.family} differences, "
            "p corrected over all of them."
        )
    (against,) = card.comparisons
    if not against.rows:
        return f"{against.candidate} and {against.baseline} share no measure with a value for every query."
    return verdict_of(card, against)


def verdict_of(card: Scorecard, against: Against) -> str:
    """The difference on the first measure in one sentence, and how many queries fell."""
    row = against.rows[0]
    fell = [change.query_id for change in against.fell[row.measure]]
    if card.interval == NONE:
        said = f"{against.candidate} minus {against.baseline} on {row.measure} is {signed(row.difference.mean)}"
        sure = comparison.p_words(row.difference.holm, card.family) + comparison.handful_words(row.difference.tally)
        return f"{said}, {sure}; {_regressions(fell)}."
    names = (against.baseline, against.candidate)
    if against.notes is None:
        said = comparison.verdict(*names, row, card.family, confidence=card.confidence)
        return f"{said.removesuffix('.')}; {_regressions(fell)}."
    open_ones = sum((row.measure, query) not in against.notes for query in fell)
    counts = comparison.Regressions(len(fell), open_ones)
    return comparison.verdict(*names, row, card.family, counts, confidence=card.confidence)


def _regressions(fell: Sequence[str]) -> str:
    return f"{len(fell):,} regression{'' if len(fell) == 1 else 's'}" if fell else "no regression"


def difference_parts(card: Scorecard) -> Iterator[ReportSection]:
    """For each candidate its differences, its queries, and what fell."""
    for against in card.comparisons:
        yield _measures_part(card, against)
        if against.rows:
            yield _queries_part(card, against)
            yield _fell_part(card, against)


def _measures_part(card: Scorecard, against: Against) -> ReportSection:
    name = f"{against.candidate} minus {against.baseline}"
    rows = [_estimate(against.candidate, row) for row in against.rows]
    blocks: list[Block] = [Paragraph(verdict_of(card, against))] if len(card.comparisons) > 1 and against.rows else []
    if rows:
        drawn, narrow = dots(name, rows, signs=True), stacked(name, rows, signs=True)
        blocks += [ReportChart([drawn], _measures_table(card, against, name), [narrow])]
        if few := comparison.handfuls(against.rows):
            blocks += [Paragraph(line) for line in [*few, comparison.HANDFUL_WORDS]]
        blocks += [_beside_table(card, against), Paragraph(BESIDE_WORDS, quiet=True)]
    if against.left_out:
        blocks.append(Paragraph(f"Without a value for every query, so not compared: {', '.join(against.left_out)}."))
    note = f"paired over {count(len(card.queries))} queries; hollow: the interval holds zero"
    return ReportSection(f"{against.candidate} against {against.baseline}", blocks, note=note)


def _estimate(candidate: str, row: Row) -> DrawnEstimate:
    """The difference as it is drawn: hollow when its interval does not exclude zero."""
    found = row.difference
    low, high = found.interval or (None, None)
    return DrawnEstimate(candidate, found.mean, low, high, found.n, row.measure, open=not found.is_settled)


def _measures_table(card: Scorecard, against: Against, name: str) -> Table:
    between = interval_head(card.shown_confidence)
    head = ["Measure", against.baseline, against.candidate, "Difference", between, "p", "p, Holm"]
    rows = []
    for row in against.rows:
        found = row.difference
        ends = "" if card.interval == NONE else interval(found.interval, PLACES, differences=True)
        figures = [number(row.baseline, PLACES), number(row.candidate, PLACES), signed(found.mean, PLACES), ends]
        counts = [found.better, found.equal, found.worse, len(against.fell[row.measure]), found.n]
        rows.append([row.measure, *figures, p_value(found.p), p_value(found.holm), *map(count, counts)])
    return Table(name, [*head, "Better", "Equal", "Worse", "Fell", "n"], rows, code=CODE)


def _beside_table(card: Scorecard, against: Against) -> Table:
    """What stands beside the randomisation test."""
    name = f"Other tests of {against.candidate} against {against.baseline}"
    head = [
        "Measure",
        "t",
        "p, t test",
        "Wilcoxon",
        "p, Wilcoxon",
        "Effect size",
        f"{card.confidence * 100:g} % interval",
    ]
    rows = []
    for measure, beside in against.beside.items():
        tests = beside.tests
        effect = [number(tests.effect, 3), interval(tests.effect_interval, 3, differences=True)]
        power = [number(beside.detectable, PLACES), beside.needed_words]
        rows.append([measure, *_statistic(tests.t), *_statistic(tests.wilcoxon), *effect, *power])
    return Table(name, [*head, "Detectable", "Queries needed"], rows, code=CODE)


def _statistic(found: Statistic | None) -> list[str]:
    return [number(found.value, 2), p_value(found.p)] if found else ["not defined", ""]


def _queries_part(card: Scorecard, against: Against) -> ReportSection:
    """The difference of every query that may be told, worst first, by the first measure."""
    measure = against.rows[0].measure
    place = list(card.measures).index(measure)
    values = {run.tag: run.scores.values[:, place] for run in card.runs}
    left, right = values[against.baseline], values[against.candidate]
    told = set(card.told_queries)
    is_lower_better = card.measures[measure].entry.is_lower_better
    found = [
        change
        for change in comparison.changes(card.queries, left, right, is_lower_better=is_lower_better, bar=against.bar)
        if change.place in told
    ]
    name = f"Difference in {measure} by query, {against.candidate} minus {against.baseline}"
    if not found:
        return ReportSection(
            f"Every query, {measure}", [Paragraph("The queries are sealed: only their means are told.")]
        )
    head = ["Query", against.baseline, against.candidate, "Difference"]
    figures = Table(name, head, [_cells(change) for change in found], code=CODE)
    note = "worst first"
    if len(found) < len(card.queries):
        note += f"; {len(card.queries) - len(found):,} sealed queries are not told"
    return ReportSection(
        f"Every query, {measure}", [ReportChart([delta_bars(measure, found, width=WIDTH)], figures)], note=note
    )


def _cells(change: Change) -> list[str]:
    figures = (change.baseline, change.candidate)
    return [change.query_id, *(number(value, PLACES) for value in figures), signed(change.change, PLACES)]


def _fell_part(card: Scorecard, against: Against) -> ReportSection:
    """The queries that got worse by more than the bar, for every measure.

    Where people decide on them, those of the first measure with what was decided: it is by one measure that a
    comparison is explained and closed. The others are counted.
    """
    told, first = set(card.told_queries), against.rows[0].measure
    listed = against.fell if against.notes is None else {first: against.fell[first]}
    rows = [
        [measure, *_cells(change), *_decision(against, measure, change)]
        for measure, fell in listed.items()
        for change in fell
        if change.place in told
    ]
    title = f"Regressions of {against.candidate}"
    others = _fell_by_others(against, first)
    if not rows:
        which = "any measure" if against.notes is None else first
        shown = " that is told here" if any(listed.values()) else ""
        return ReportSection(
            title, [Paragraph(f"No query{shown} fell by more than {against.bar:g} on {which}."), *others]
        )
    head = ["Measure", "Query", against.baseline, against.candidate, "Difference"]
    head += [] if against.notes is None else ["Decision"]
    table = Table(title, head, rows, words=2, code=frozenset({0, 1}), prose=frozenset({5}))
    return ReportSection(title, [table, *others], note=f"queries that fell by more than {against.bar:g}")


def _fell_by_others(against: Against, first: str) -> list[Block]:
    """How many queries fell by the measures that the comparison is not decided by."""
    if against.notes is None:
        return []
    fell = [f"{measure} {count(len(found))}" for measure, found in against.fell.items() if found and measure != first]
    said = "Each measure is explained and closed by itself. Queries that fell by others"
    return [Paragraph(f"{said}: {', '.join(fell)}.", quiet=True)] if fell else []


def _decision(against: Against, measure: str, change: Change) -> list[str]:
    if against.notes is None:
        return []
    return [against.notes.get((measure, change.query_id), "not explained yet")]
