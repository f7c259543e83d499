"""Hard negatives in a report and on pages: how many, how they were found, and scores before and after adding them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from apps.common.drawing.svg import DrawnEstimate
from apps.common.text.words import count, interval, number, signed
from apps.metrics.statistics.significance import DEFAULT_CONFIDENCE, FEWEST_FOR_A_VERDICT
from apps.reports.core.charts import dots, stacked
from apps.reports.core.document import Block, Paragraph, ReportChart, Table
from apps.reports.core.mean_parts import PLACES, interval_head
from apps.reports.core.negatives import NegativeEffect

FOUND_HEAD = (
    "Split",
    "Graded queries",
    "With hard negatives",
    "Judged not relevant",
    "Hard",
    "Like a relevant passage",
    "As high, not judged",
)
READING = (
    "Before: each ranking without the hard negatives, the results below moving up. After: the ranking as it is, so the"
    " ordinary score. The rest of what a score lacks is due to passages that nobody judged, or that were not found."
)
ALIKE_WORDS = "Near-duplicates of a relevant passage are left out."
EQUAL_WORDS = "Passages with the text of a relevant one are left out; the index of near-duplicates was not built."


class MeasuredSplit(NamedTuple):
    """What is known of the hard negatives of one split: `result` is that of a computed report."""

    split: str
    baseline: str
    depth: int
    result: Mapping[str, Any]

    @property
    def effects(self) -> list[tuple[str, NegativeEffect]]:
        """By measure, then in the order of the runs."""
        lines = [(run["tag"], NegativeEffect.read(facts)) for run in self.result["runs"] for facts in run["effects"]]
        measures = list(dict.fromkeys(effect.measure for _, effect in lines))
        return sorted(lines, key=lambda line: measures.index(line[1].measure))

    @property
    def how(self) -> str:
        """How they were found, in a sentence or two."""
        left_out = ALIKE_WORDS if self.result["knows_alike"] else EQUAL_WORDS
        return f"Hard: among the first {count(self.depth)} results of {self.baseline}, and judged 0. {left_out}"


def negative_parts(splits: Sequence[MeasuredSplit]) -> Iterator[Block]:
    """How many there are and how they were found; then, for each split, what they do to the scores of each run."""
    for words in dict.fromkeys(f"{one.how} All of them count; none is sampled." for one in splits):
        yield Paragraph(words)
    yield found_table(splits)
    for one in splits:
        yield Paragraph(lead_of(one))
        yield effect_chart(one)
    yield Paragraph(READING, quiet=True)


def found_table(splits: Sequence[MeasuredSplit]) -> Table:
    rows = []
    for one in splits:
        found = one.result["found"]
        names = ("queries", "with_hard", "low", "hard", "alike", "unjudged")
        rows.append([one.split, *(count(found[name]) for name in names)])
    return Table("Hard negatives of each split", FOUND_HEAD, rows)


def lead_of(one: MeasuredSplit) -> str:
    """The largest fall by the first measure, in a sentence."""
    if not one.result["found"]["hard"]:
        return f"There is no hard negative on {one.split}, so no score changes."
    effects = one.effects
    first = [line for line in effects if line[1].measure == effects[0][1].measure]
    tag, effect = min(first, key=lambda line: (line[1].change.value or 0.0, line[0]))
    change = f"{signed(effect.change.value)}, {interval(effect.change.interval, 3, differences=True)}"
    queries = "1 query falls" if effect.worse == 1 else f"{count(effect.worse)} queries fall"
    return f"On {one.split} they change {effect.measure} of {tag} most: {change}; {queries}."


def effect_chart(one: MeasuredSplit) -> ReportChart:
    name = f"Scores on {one.split} before and after adding hard negatives"
    drawn = [_drawn(tag, effect) for tag, effect in one.effects]
    return ReportChart([dots(name, drawn, signs=True)], effect_table(one), [stacked(name, drawn, signs=True)])


def _drawn(tag: str, effect: NegativeEffect) -> DrawnEstimate:
    change = effect.change
    is_settled = change.n >= FEWEST_FOR_A_VERDICT and change.high is not None and change.high < 0
    return DrawnEstimate(tag, change.value, change.low, change.high, change.n, effect.measure, open=not is_settled)


def effect_table(one: MeasuredSplit) -> Table:
    head = [
        "Measure",
        "Run",
        "Before",
        "After",
        "Change",
        interval_head(DEFAULT_CONFIDENCE),
        "Queries that fall",
        "n",
    ]
    rows = [[effect.measure, tag, *_cells(effect)] for tag, effect in one.effects]
    name = f"Scores on {one.split} before and after adding hard negatives"
    return Table(name, head, rows, words=2, code=frozenset({0, 1}))


def _cells(effect: NegativeEffect) -> list[str]:
    change = effect.change
    return [
        number(effect.before.value, PLACES),
        number(effect.after.value, PLACES),
        signed(change.value, PLACES),
        interval(change.interval, PLACES, differences=True),
        count(effect.worse),
        count(change.n),
    ]
