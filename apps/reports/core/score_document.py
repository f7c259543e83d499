"""The report of a scorecard: means, differences, strata, queries, definitions, denominators, inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from apps.common.drawing.svg import DrawnEstimate
from apps.common.text.wording import count, interval, number, p_value, plural, signed
from apps.evaluation.core.charts import delta_bars, stratum_bounds, stratum_dots, stratum_legend
from apps.metrics import comparison
from apps.metrics.comparison import MeasureComparison, QueryChange, RunComparison
from apps.metrics.measures.entries import Measure
from apps.metrics.scorecard import Scorecard, notes_of
from apps.metrics.scoring import JUDGED_AT_10
from apps.metrics.statistics.places import places
from apps.metrics.statistics.significance import Statistic, Summary
from apps.metrics.statistics.strata import ComparedStratum
from apps.reports.core.document import (
    PLACES,
    WIDTH,
    Block,
    Document,
    Facts,
    Mean,
    Paragraph,
    ReportChart,
    ReportSection,
    Table,
    dots,
    interval_head,
    means_chart,
    stacked,
    summary_cells,
)

SUPPLEMENT_WORDS = (
    "The verdict rests on the interval and the randomisation test; t, Wilcoxon and the effect size, which is the mean "
    "difference in standard deviations, are for comparison. Evidence is the strongest at any number of queries, alone."
)
CODE = frozenset({0})
FIELD_WORDS = {"query_type": "type"}
"""The names on pages of columns of strata, where they differ."""


def lead_of_comparisons(card: Scorecard) -> str:
    """The verdict on the first measure when one run is compared with the baseline; "" without a comparison."""
    if not card.comparisons:
        return ""
    if len(card.comparisons) > 1:
        return (
            f"{len(card.comparisons)} runs compared with {card.comparisons[0].baseline}: {card.family} differences, "
            "p corrected over all of them."
        )
    (compared,) = card.comparisons
    if not compared.measures:
        baseline, candidate = compared.names
        return f"{candidate} and {baseline} share no measure with a value for every {card.items.one}."
    return verdict_of(card, compared)


def verdict_of(card: Scorecard, compared: RunComparison) -> str:
    """The difference on the first measure in one sentence, and how many queries fell."""
    row = compared.measures[0]
    fell = [change.query_id for change in compared.drops(row.measure)]
    if not card.with_intervals:
        baseline, candidate = compared.names
        words = f"{candidate} minus {baseline} on {row.measure} is {signed(row.difference.mean)}"
        p, few = (
            comparison.p_words(row.corrected, row.over(card.family)),
            comparison.handful_words(row.difference.tally, card.items),
        )
        return " ".join(filter(None, [f"{words}, {p}{few}; {_regressions(fell)}.", compared.judged_words]))
    if card.decisions is None:
        return f"{compared.verdict(row).removesuffix('.')}; {_regressions(fell)}."
    open_ones = sum((row.measure, query) not in card.decisions for query in fell)
    return compared.verdict(row, comparison.Regressions(len(fell), open_ones))


def _regressions(fell: Sequence[str]) -> str:
    return plural(len(fell), "drop") if fell else "no drop"


def difference_parts(card: Scorecard) -> Iterator[ReportSection]:
    """For each candidate its differences, its queries, and the queries that fell."""
    for compared in card.comparisons:
        yield measures_part(card, compared)
        if compared.measures:
            yield _queries_part(card, compared)
            yield _fell_part(card, compared)


def measures_part(card: Scorecard, compared: RunComparison) -> ReportSection:
    """The differences of one comparison of the card, with the tests; its verdict only where there are several."""
    baseline, candidate = compared.names
    name = f"{candidate} minus {baseline}"
    rows = [_estimate(candidate, row) for row in compared.measures]
    blocks: list[Block] = [Paragraph(verdict_of(card, compared))] if len(card.comparisons) > 1 and rows else []
    if rows:
        drawn, narrow = dots(name, rows, signs=True), stacked(name, rows, signs=True)
        blocks += [ReportChart([drawn], _measures_table(card, compared, name), [narrow])]
        first = compared.measures[0]
        blocks.append(Paragraph(f"{first.measure}: {first.decides_words(compared.family, card.items)}"))
        if first.standing:
            over = f"all comparisons by it on this version, {first.standing.count:,} so far"
            words = f"p of {first.measure} is corrected over {over}; that of another measure over the measures here."
            blocks.append(Paragraph(words, quiet=True))
        blocks += [Paragraph(f"{row.measure}: {row.mcnemar.words}.") for row in compared.measures if row.mcnemar]
        if few := comparison.handfuls(compared.measures, card.items):
            blocks += [Paragraph(line) for line in [*few, comparison.HANDFUL_WORDS]]
        blocks += [_supplement_table(card, compared), Paragraph(SUPPLEMENT_WORDS, quiet=True)]
    if compared.left_out:
        blocks.append(
            Paragraph(f"Without a value for every {card.items.one}, so not compared: {', '.join(compared.left_out)}.")
        )
    note = f"paired over {card.items.counted(len(card.queries))}; hollow: the interval contains zero"
    return ReportSection(f"{candidate} against {baseline}", blocks, note=note)


def _estimate(candidate: str, row: MeasureComparison) -> DrawnEstimate:
    """The difference as it is drawn: hollow unless its interval excludes zero."""
    value, low, high, n = row.estimate.value, row.estimate.low, row.estimate.high, row.estimate.n
    return DrawnEstimate(candidate, value, low, high, n, row.measure, open=not row.difference.is_settled)


def _measures_table(card: Scorecard, compared: RunComparison, name: str) -> Table:
    between = interval_head(card.shown_confidence)
    head = ["Measure", *compared.names, "Difference", between, "p", "p, Holm"]
    rows = []
    for row in compared.measures:
        difference = row.difference
        ends = interval(difference.interval, PLACES, differences=True) if card.with_intervals else ""
        figures = [number(row.baseline, PLACES), number(row.candidate, PLACES), signed(difference.mean, PLACES), ends]
        drops = len(compared.drops(row.measure))
        counts = [difference.better, difference.equal, difference.worse, drops, difference.n]
        p_values = [p_value(difference.p), p_value(row.corrected)]
        rows.append([row.measure, *figures, *p_values, *map(count, counts)])
    return Table(name, [*head, "Better", "Equal", "Worse", "Fell", "n"], rows, code=CODE)


def _supplement_table(card: Scorecard, compared: RunComparison) -> Table:
    baseline, candidate = compared.names
    effect_head = ["Effect size", f"{card.confidence * 100:g} % interval"]
    head = [
        "Measure",
        "t",
        "p, t test",
        "Wilcoxon",
        "p, Wilcoxon",
        "Evidence",
        *effect_head,
        "Detectable",
        f"{card.items.many.capitalize()} needed",
    ]
    rows = []
    for row in compared.measures:
        supplement, tests = row.supplement, row.supplement.tests
        effect = [number(tests.effect, 3), interval(tests.effect_interval, 3, differences=True)]
        power = [number(supplement.detectable, PLACES), supplement.needed_words]
        rows.append(
            [
                row.measure,
                *_statistic(tests.t),
                *_statistic(tests.wilcoxon),
                row.anytime.strongest_words,
                *effect,
                *power,
            ]
        )
    return Table(f"Other tests of {candidate} against {baseline}", head, rows, code=CODE)


def _statistic(statistic: Statistic | None) -> list[str]:
    return [number(statistic.value, 2), p_value(statistic.p)] if statistic else ["not defined", ""]


def _queries_part(card: Scorecard, compared: RunComparison) -> ReportSection:
    """The difference of every query that may be shown, worst first, by the first measure."""
    measure, visible = compared.measures[0].measure, set(card.visible_queries)
    changes = [change for change in compared.changes(measure) if change.place in visible]
    noun, plural = card.items
    title = f"Every {noun}, {measure}"
    if not changes:
        return ReportSection(title, [Paragraph(f"No {noun} may be shown by itself: only the means are.")])
    baseline, candidate = compared.names
    name = f"Difference in {measure} by {noun}, {candidate} minus {baseline}"
    head = [noun.capitalize(), baseline, candidate, "Difference"]
    figures = Table(name, head, [_cells(change) for change in changes], code=CODE)
    note = "worst first"
    if len(changes) < len(card.queries):
        note += f"; {len(card.queries) - len(changes):,} {plural} are not shown"
    return ReportSection(title, [ReportChart([delta_bars(measure, changes, width=WIDTH)], figures)], note=note)


def _cells(change: QueryChange) -> list[str]:
    figures = (change.baseline, change.candidate)
    return [change.query_id, *(number(value, PLACES) for value in figures), signed(change.change, PLACES)]


def _fell_part(card: Scorecard, compared: RunComparison) -> ReportSection:
    """The queries that got worse by more than the bar, for every measure.

    Where people decide on them, only those of the first measure, with the decisions; for the other measures their
    number. A comparison is explained and closed by one measure.
    """
    visible, first = set(card.visible_queries), compared.measures[0].measure
    fell = {row.measure: compared.drops(row.measure) for row in compared.measures}
    listed = fell if card.decisions is None else {first: fell[first]}
    rows = [
        [measure, *_cells(change), *_decision(card, measure, change)]
        for measure, drops in listed.items()
        for change in drops
        if change.place in visible
    ]
    title = f"Drops of {compared.candidate.name}"
    others = [] if card.decisions is None else _fell_by_others(card, fell, first)
    if not rows:
        which = "any measure" if card.decisions is None else first
        shown = " that is shown here" if any(listed.values()) else ""
        none = f"No {card.items.one}{shown} got worse by more than {compared.bar:g} on {which}."
        return ReportSection(title, [Paragraph(none), *others])
    head = ["Measure", card.items.one.capitalize(), *compared.names, "Difference"]
    head += [] if card.decisions is None else ["Decision"]
    table = Table(title, head, rows, words=2, code=frozenset({0, 1}), prose=frozenset({5}))
    return ReportSection(
        title, [table, *others], note=f"{card.items.many} that got worse by more than {compared.bar:g}"
    )


def _fell_by_others(card: Scorecard, fell: Mapping[str, Sequence[QueryChange]], first: str) -> list[Block]:
    """How many queries fell by each of the other measures."""
    counts = [f"{measure} {count(len(drops))}" for measure, drops in fell.items() if drops and measure != first]
    words = f"Each measure is explained and closed separately. {card.items.many.capitalize()} that got worse by others"
    return [Paragraph(f"{words}: {', '.join(counts)}.", quiet=True)] if counts else []


def _decision(card: Scorecard, measure: str, change: QueryChange) -> list[str]:
    if card.decisions is None:
        return []
    return [card.decisions.get((measure, change.query_id), "not explained yet")]


def scored_document(
    card: Scorecard, *, title: str = "", about: Sequence[str] = (), basis: Sequence[tuple[str, str]] = ()
) -> Document:
    """The report of a scorecard; `basis` has facts about what was scored, shown with the digests of the inputs."""
    parts = [
        means_part(card),
        *difference_parts(card),
        *strata_parts(card),
        *query_parts(card),
        definitions_of(card.measures, with_judged=not card.counts_questions),
        ReportSection("How to read the figures", [Paragraph(note) for note in notes_of(card)]),
        *basis_parts(card, basis),
    ]
    named = title or f"Scores of {', '.join(run.tag for run in card.runs)}"
    lead = lead_of_comparisons(card) or lead_of_means(card)
    return Document(named, f"{card.lost_words} {lead}".strip(), parts, about)


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
        Mean(
            name,
            run.tag,
            run.scores.summaries[place],
            run.people[place] if run.people else None,
            run.scores.if_judged[place].range if run.scores.if_judged else None,
        )
        for place, name in enumerate(card.measures)
        for run in card.runs
    ]
    for place, name in enumerate(card.measures if card.weights is not None else ()):
        means += [Mean(f"{name}, weighted", run.tag, run.weighted[place]) for run in card.runs]
    if not card.counts_questions and JUDGED_AT_10 not in card.measures.values():
        means += [Mean("judged@10", run.tag, run.judged_at_10) for run in card.runs]
    chart = means_chart("Means with their intervals", means, card.shown_confidence)
    over = f"{len(card.queries):,} {'questions' if card.counts_questions else 'judged queries'}"
    over += f", {card.hit}" if card.hit else ""
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
