"""The parts of a report that show how runs differ from a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from apps.common.drawing.svg import DrawnEstimate
from apps.common.text.wording import count, interval, number, p_value, signed
from apps.evaluation.core.charts import delta_bars
from apps.metrics import comparison
from apps.metrics.comparison import MeasureComparison, QueryChange, RunComparison
from apps.metrics.estimate import NONE
from apps.metrics.scorecard import Scorecard
from apps.metrics.statistics.significance import Statistic
from apps.reports.core.charts import WIDTH, dots, stacked
from apps.reports.core.document import Block, Paragraph, ReportChart, ReportSection, Table
from apps.reports.core.mean_parts import PLACES, interval_head

SUPPLEMENT_WORDS = (
    "The verdict rests on the interval and the randomisation test; t, Wilcoxon and the effect size, which is the mean "
    "difference in standard deviations, are for comparison."
)
CODE = frozenset({0})


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
    if card.interval == NONE:
        baseline, candidate = compared.names
        words = f"{candidate} minus {baseline} on {row.measure} is {signed(row.difference.mean)}"
        p, few = (
            comparison.p_words(row.difference.holm, card.family),
            comparison.handful_words(row.difference.tally, card.items),
        )
        return " ".join(filter(None, [f"{words}, {p}{few}; {_regressions(fell)}.", compared.judged_words]))
    if card.decisions is None:
        return f"{compared.verdict(row).removesuffix('.')}; {_regressions(fell)}."
    open_ones = sum((row.measure, query) not in card.decisions for query in fell)
    return compared.verdict(row, comparison.Regressions(len(fell), open_ones))


def _regressions(fell: Sequence[str]) -> str:
    return f"{len(fell):,} drop{'' if len(fell) == 1 else 's'}" if fell else "no drop"


def difference_parts(card: Scorecard) -> Iterator[ReportSection]:
    """For each candidate its differences, its queries, and the queries that fell."""
    for compared in card.comparisons:
        yield _measures_part(card, compared)
        if compared.measures:
            yield _queries_part(card, compared)
            yield _fell_part(card, compared)


def _measures_part(card: Scorecard, compared: RunComparison) -> ReportSection:
    baseline, candidate = compared.names
    name = f"{candidate} minus {baseline}"
    rows = [_estimate(candidate, row) for row in compared.measures]
    blocks: list[Block] = [Paragraph(verdict_of(card, compared))] if len(card.comparisons) > 1 and rows else []
    if rows:
        drawn, narrow = dots(name, rows, signs=True), stacked(name, rows, signs=True)
        blocks += [ReportChart([drawn], _measures_table(card, compared, name), [narrow])]
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
        ends = "" if card.interval == NONE else interval(difference.interval, PLACES, differences=True)
        figures = [number(row.baseline, PLACES), number(row.candidate, PLACES), signed(difference.mean, PLACES), ends]
        drops = len(compared.drops(row.measure))
        counts = [difference.better, difference.equal, difference.worse, drops, difference.n]
        p_values = [p_value(difference.p), p_value(difference.holm)]
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
        *effect_head,
        "Detectable",
        f"{card.items.many.capitalize()} needed",
    ]
    rows = []
    for row in compared.measures:
        supplement, tests = row.supplement, row.supplement.tests
        effect = [number(tests.effect, 3), interval(tests.effect_interval, 3, differences=True)]
        power = [number(supplement.detectable, PLACES), supplement.needed_words]
        rows.append([row.measure, *_statistic(tests.t), *_statistic(tests.wilcoxon), *effect, *power])
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
