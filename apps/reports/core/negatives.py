"""Negatives for training, hard ones and easy ones; what hard ones do to scores, and how reports tell it.

A hard negative is a block that a baseline ranks among its first `depth` and that people judged 0 or less. An unjudged
block that a good system ranks high may well be relevant, so a hard negative is always judged. An easy one is sampled
from the blocks that no run has in its top; where nobody judged it, it is marked as assumed. Near-duplicates of a
relevant block are never proposed. Knows no database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from apps.common.drawing.svg import DrawnEstimate
from apps.common.text.wording import count, interval, number, signed
from apps.corpus.core.near_duplicates import Signatures
from apps.metrics.columns import Floats, Ints, Judged, Ranked, pair_keys
from apps.metrics.estimate import STUDENT, Estimate
from apps.metrics.measures.entries import Measure
from apps.metrics.statistics.bootstrap import DEFAULT_SEED
from apps.metrics.statistics.significance import (
    DEFAULT_CONFIDENCE,
    FEWEST_FOR_A_VERDICT,
    NO_INTERVAL,
    Difference,
    Summary,
    differences,
    summaries,
)
from apps.reports.core.document import PLACES, Block, Paragraph, ReportChart, Table, dots, interval_head, stacked
from apps.reports.core.unjudged_priority import Top

HARD, EASY = "hard", "easy"
JUDGED, ASSUMED = "judged", "assumed"
ALIKE = 0.8
SPARE = 10

Bools = NDArray[np.bool_]

# Whether each block of the first column is a near-duplicate of any block of the second.
Alike = Callable[[Ints, Ints], Bools]
MEASURES = "RR P@1 nDCG@10"
"""Measures in which a passage that is not relevant has no part but its place: taking one out never lowers them."""
FIGURES = ("before", "after", "change")
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


class NegativesChoice(NamedTuple):
    """How many of each kind per query, how many ranks count as high, and the seed of the easy ones."""

    hard: int = 10
    easy: int = 5
    depth: int = 100
    seed: int = DEFAULT_SEED


class Negative(NamedTuple):
    """A block by its position. `rank` counts from 1 in the baseline; an easy one has none, an assumed one no grade."""

    position: int
    kind: str
    basis: str
    rank: int | None
    grade: int | None


class SampledNegatives(NamedTuple):
    """More candidates than needed, best first, since those like a relevant block are dropped later."""

    relevant: Ints
    hard: Ints
    hard_ranks: Ints
    easy: Ints


def sample_negatives(
    query: str, ranking: Ints, tops: Ints, grades: Mapping[int, int], blocks: int, choice: NegativesChoice
) -> SampledNegatives:
    """Candidates for one query. `ranking` is the baseline's, best first; `tops` has the top results of every run.

    The easy ones depend only on the query's id, the seed and the excluded blocks.
    """
    relevant = np.array(sorted(place for place, grade in grades.items() if grade > 0), dtype=np.int64)
    high = np.asarray(ranking[: choice.depth], dtype=np.int64)
    is_hard = np.array([grades.get(place, 1) <= 0 for place in high.tolist()], dtype=bool)
    hard = np.flatnonzero(is_hard)[: choice.hard + SPARE]
    excluded = np.union1d(np.concatenate([tops, high]), relevant)
    random = np.random.default_rng([choice.seed, crc32(query.encode())])
    wanted = choice.easy + SPARE if choice.easy else 0
    tries = random.choice(blocks, size=min(blocks, wanted + len(excluded)), replace=False) if wanted else relevant[:0]
    easy = tries[~np.isin(tries, excluded)][:wanted]
    return SampledNegatives(relevant, high[hard], hard + 1, easy.astype(np.int64))


def choose_negatives(
    sampled: SampledNegatives, grades: Mapping[int, int], alike: Alike, choice: NegativesChoice
) -> list[Negative]:
    """The negatives of one query: hard ones by rank, then easy ones in the order in which they were sampled."""
    hard, easy = (alike(column, sampled.relevant) for column in (sampled.hard, sampled.easy))
    negatives = [
        Negative(place, HARD, JUDGED, rank, grades[place])
        for place, rank in zip(sampled.hard[~hard].tolist(), sampled.hard_ranks[~hard].tolist(), strict=True)
    ][: choice.hard]
    for place in sampled.easy[~easy].tolist()[: choice.easy]:
        negatives.append(Negative(place, EASY, JUDGED if place in grades else ASSUMED, None, grades.get(place)))
    return negatives


def alike_by(texts: Mapping[int, str], signatures: Signatures | None) -> Alike:
    """Near-duplicates: the same digest in `texts` (by position), or signatures that agree in four fifths."""

    def alike(candidates: Ints, relevant: Ints) -> Bools:
        if not len(candidates) or not len(relevant):
            return np.zeros(len(candidates), dtype=bool)
        known = {texts[place] for place in relevant.tolist()}
        same = np.array([texts[place] in known for place in candidates.tolist()], dtype=bool)
        if signatures is None:
            return same
        minima = signatures.minima
        share = (minima[candidates][:, None, :] == minima[relevant][None, :, :]).mean(axis=2)
        return same | (share >= ALIKE).any(axis=1)

    return alike


class HardNegatives(NamedTuple):
    """The hard negatives of the judged queries as pair keys, sorted; and the numbers that tell how they were found.

    Of `queries` graded ones, `with_hard` have any. `low` pairs were judged 0 or less, at whatever rank. Of those that
    the baseline ranks high, `alike` are near-duplicates of a relevant passage, and so no hard negatives. `unjudged`
    results stand as high, and nobody judged them: they may be relevant, so they are none either.
    """

    keys: Ints
    queries: int
    with_hard: int
    low: int
    alike: int
    unjudged: int


def find_hard(judged: Judged, top: Top, alike: Alike) -> HardNegatives:
    """`top` has the first results of the baseline, as deep as counts as high; `alike` as `alike_by` gives."""
    keys = pair_keys(top.query, top.block)
    known, grades = judged.lookup
    at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    is_judged = known[at] == keys
    is_low = is_judged & (grades[at] <= 0)
    passed = _like_relevant(judged, top, is_low, alike)
    hard = is_low & ~passed
    return HardNegatives(
        keys=np.sort(keys[hard]),
        queries=len(judged.queries),
        with_hard=len(np.unique(top.query[hard])),
        low=int((judged.grade <= 0).sum()),
        alike=int(passed.sum()),
        unjudged=int((~is_judged).sum()),
    )


def _like_relevant(judged: Judged, top: Top, is_low: Bools, alike: Alike) -> Bools:
    """Which of the low results are near-duplicates of a passage that is relevant to the same query."""
    passed = np.zeros(len(is_low), dtype=bool)
    relevant = _by_query(judged.query, np.flatnonzero(judged.grade > 0))
    for query, rows in _by_query(top.query, np.flatnonzero(is_low)).items():
        if query in relevant:
            passed[rows] = alike(top.block[rows], judged.block[relevant[query]])
    return passed


def _by_query(query: Ints, rows: Ints) -> dict[int, Ints]:
    """Those rows of a column of queries, by query."""
    ordered = rows[np.argsort(query[rows], kind="stable")]
    found, starts = np.unique(query[ordered], return_index=True)
    return dict(zip(found.tolist(), np.split(ordered, starts[1:]), strict=True)) if len(found) else {}


def without_pairs(ranked: Ranked, keys: Ints) -> Ranked:
    """The ranking without these pairs; the others keep their order."""
    kept = ~np.isin(pair_keys(ranked.query, ranked.block), keys)
    return Ranked(ranked.query[kept], ranked.block[kept], ranked.score[kept], ranked.abstained)


class NegativeEffect(NamedTuple):
    """One measure of one run: its mean before the hard negatives were added, after, and the change, paired by query.

    Taking hard negatives out of a ranking moves every result below them up, as in a corpus that does not have them. So
    a score without them is the score before they were added, and the ordinary score is the one after. Rankings are
    whole: no candidates are sampled, since scores over sampled candidates can order systems otherwise than exact scores
    do (Krichene and Rendle, KDD 2020).

    `worse` queries fall. There is no p: a change cannot be above zero, so no change by chance is no hypothesis.
    """

    measure: str
    before: Estimate
    after: Estimate
    change: Estimate
    worse: int

    @property
    def as_json(self) -> dict[str, Any]:
        figures = {name: getattr(self, name).as_json for name in FIGURES}
        return {"measure": self.measure, **figures, "worse": self.worse}

    @classmethod
    def read(cls, facts: Mapping[str, Any]) -> Self:
        figures = {name: Estimate.read(facts[name]) for name in FIGURES}
        return cls(measure=facts["measure"], **figures, worse=facts["worse"])


def effects_of(measures: Sequence[Measure], before: Floats, after: Floats) -> list[NegativeEffect]:
    """From values of the shape (queries, measures) of the measures in `MEASURES`: both of the same queries."""
    means = (summaries(measures, values) for values in (before, after))
    rows = zip(measures, *means, differences(before, after), strict=True)
    return [_effect(str(measure), old, new, change) for measure, old, new, change in rows]


def _effect(measure: str, before: Summary, after: Summary, change: Difference) -> NegativeEffect:
    moved = Estimate.of(change.mean, change.interval, change.n, STUDENT, "" if change.interval else NO_INTERVAL)
    return NegativeEffect(measure, before.estimate, after.estimate, moved, change.worse)


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
