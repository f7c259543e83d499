"""The results of `karat score` as plain values, for its outputs and for reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from apps.common.text.wording import number, percent, plural
from apps.metrics.columns import Floats, Ints
from apps.metrics.estimate import Items
from apps.metrics.expected.rules import TEXT, HitRule, items_of
from apps.metrics.files.input_digests import Input
from apps.metrics.measures.entries import Measure
from apps.metrics.scoring import RunScores, conventions
from apps.metrics.statistics.anytime import NEEDED, fixed_words
from apps.metrics.statistics.intervals import Interval, effective_number
from apps.metrics.statistics.significance import RESAMPLES, Summary, summaries
from apps.metrics.statistics.strata import Division

if TYPE_CHECKING:
    from apps.metrics.comparison import RunComparison


MOST_LOST = 0.02
"""A larger share of passages that are not located is said before all figures."""


class LostPassage(NamedTuple):
    """A returned passage that is not located: for which query, at which rank from 1, and how it begins."""

    query: str
    rank: int
    text: str


class ByText(NamedTuple):
    """How a run is measured by text: how many passages it returned, and how many of them are not located, the first
    ones in `listed`.

    `textless` of those that are not located have no text, neither their own nor that of an id of the corpus.
    `by_share` is the mean of the first measure by the share, None where it is not defined; `absent` counts the graded
    blocks that the corpus does not have. `depth` is the most passages for one query.
    """

    returned: int
    lost: int
    listed: Sequence[LostPassage] = ()
    by_share: Mapping[float, float | None] = {}
    textless: int = 0
    absent: int = 0
    depth: int = 0

    @property
    def lost_share(self) -> float:
        return self.lost / self.returned if self.returned else 0.0


class ScoredRun(NamedTuple):
    """The scores of one run under its name in the report; `missing` are judged queries without results.

    `people` are the intervals of its measures over queries and annotators; empty without any. `judged` is judged@10
    with its interval where that was stored; else `scores` has the mean alone. `weighted` are its means weighted by
    query; empty without weights. `by_text` is how it was measured by text, None for the other ways.
    """

    tag: str
    scores: RunScores
    missing: tuple[str, ...] = ()
    people: Sequence[Interval | None] = ()
    judged: Summary | None = None
    weighted: Sequence[Summary] = ()
    by_text: ByText | None = None

    @property
    def judged_at_10(self) -> Summary:
        return self.judged or Summary(self.scores.judged_at_10, None, self.scores.answered)


class StratumScores(NamedTuple):
    """The queries whose `field` is `name`: their number, and for each run the summary of every measure."""

    field: str
    name: str
    n: int
    summaries: tuple[Sequence[Summary], ...]


class Scorecard(NamedTuple):
    """Everything in the output. Measures have the names under which they were requested.

    With `comparisons` the first run is the baseline. `family` is the number of differences that p was corrected over,
    `stratified` the field whose strata intervals are computed within. `visible` is, for each
    query, whether it may be shown by itself; None: all may. `decisions` are those on drops, by measure and query; None
    where none are expected. Strata of fewer than `fewest` queries are left out of what people read.

    With a `hit` rule the queries are questions of triples, `undefined` those that the rule says nothing about, and
    `unreadable` counts the returned passages without what it reads; but for the rule by text, which is by grades.
    `originals` are as in `summaries`, `weights` are
    those of the queries; None without any. `unanswerable` counts the queries that nothing answers.
    """

    measures: Mapping[str, Measure]
    queries: tuple[str, ...]
    with_relevant: int
    runs: Sequence[ScoredRun]
    confidence: float
    seed: int
    with_intervals: bool = True
    with_queries: bool = False
    strata: Sequence[StratumScores] = ()
    stratified: str = ""
    comparisons: Sequence[RunComparison] = ()
    decisions: Mapping[tuple[str, str], str] | None = None
    inputs: Sequence[Input] = ()
    visible: Sequence[bool] | None = None
    fewest: int = 0
    hit: HitRule | None = None
    undefined: Sequence[str] = ()
    unreadable: int = 0
    originals: Ints | None = None
    weights: Floats | None = None
    unanswerable: int = 0

    @property
    def counts_questions(self) -> bool:
        """Whether the values are of triples; else they are by grades, of blocks or by text."""
        return self.hit is not None and not self.is_by_text

    @property
    def is_by_text(self) -> bool:
        return self.hit is not None and self.hit.kind == TEXT

    @property
    def lost_words(self) -> str:
        """That many passages are not located, as sentences; "" where there are few."""
        told = [(run.tag, run.by_text) for run in self.runs if run.by_text and run.by_text.lost_share > MOST_LOST]
        return " ".join(
            f"{tag}: {one.lost:,} of {plural(one.returned, 'returned passage')} ({percent(one.lost_share)}) "
            "could not be located in the corpus and earn nothing."
            for tag, one in told
        )

    @property
    def items(self) -> Items:
        """What the values are of, for sentences."""
        return items_of(self.hit)

    def shown_strata(self, field: str) -> list[StratumScores]:
        """The strata of a field that are large enough to show."""
        return [one for one in self.strata if one.field == field and one.n >= self.fewest]

    def small_words(self, field: str) -> str:
        """The number of hidden strata of a field, as a sentence; "" without any."""
        small = sum(one.field == field and one.n < self.fewest for one in self.strata)
        noun = "stratum" if small == 1 else "strata"
        left = "is" if small == 1 else "are"
        return f"{small:,} {noun} of fewer than {self.fewest} {self.items.many} {left} left out." if small else ""

    @property
    def strata_fields(self) -> list[str]:
        return list(dict.fromkeys(stratum.field for stratum in self.strata))

    @property
    def shown_confidence(self) -> float | None:
        """The confidence of the intervals; None without intervals."""
        return self.confidence if self.with_intervals else None

    @property
    def visible_queries(self) -> list[int]:
        """The rows of the queries that may be shown one by one."""
        return [place for place in range(len(self.queries)) if self.visible is None or self.visible[place]]

    @property
    def family(self) -> int:
        return sum(len(comparison.measures) for comparison in self.comparisons)

    def by_strata(self, divisions: Iterable[Division]) -> Scorecard:
        """The card with the scores of every run in each stratum of a division: largest first, then by name."""
        measures, strata = list(self.measures.values()), list[StratumScores]()
        for division in divisions:
            labels = np.array(division.labels)
            found = []
            for name in division.strata:
                inside = labels == name
                scores = tuple(
                    summaries(
                        measures,
                        run.scores.values[inside],
                        confidence=self.confidence,
                        with_interval=self.with_intervals,
                    )
                    for run in self.runs
                )
                found.append(StratumScores(division.field, name, int(inside.sum()), scores))
            strata += sorted(found, key=lambda stratum: -stratum.n)
        return self._replace(strata=strata)

    def compared(self, strata: Ints | None = None) -> Scorecard:
        """The card with all runs but the first compared with it; `strata` are as in `comparison.compare_runs`."""
        from apps.metrics.comparison import RunValues, compare_runs  # not for runs that are only scored

        first, *others = (RunValues(run.tag, run.scores.columns(self.measures)) for run in self.runs)
        comparisons = compare_runs(
            first,
            others,
            list(self.measures),
            self.queries,
            confidence=self.confidence,
            seed=self.seed,
            with_intervals=self.with_intervals,
            strata=strata,
            originals=self.originals,
            items=self.items,
        )
        return self._replace(comparisons=comparisons)


def with_distinct_tags(runs: Sequence[ScoredRun], paths: Sequence[str]) -> list[ScoredRun]:
    """The runs; those that share a tag get their file name added, or else their number."""
    shared = Counter(run.tag for run in runs)
    names = Counter((run.tag, Path(path).name) for run, path in zip(runs, paths, strict=True))
    renamed = []
    for place, (run, path) in enumerate(zip(runs, paths, strict=True), 1):
        name = Path(path).name
        label = name if names[run.tag, name] == 1 else f"{path}, {place}"
        renamed.append(run if shared[run.tag] == 1 else run._replace(tag=f"{run.tag} ({label})"))
    return renamed


def notes_of(card: Scorecard) -> Iterator[str]:
    """Denominators, conventions, and the methods of intervals and p."""
    yield from _of_questions(card) if card.counts_questions else [_judged_words(card)]
    if card.is_by_text:
        yield from _of_texts(card)
    for run in card.runs:
        if run.scores.missing:
            yield f"{run.tag} lacks {run.scores.missing} of them."
        if counts := run.scores.counts:
            found = f"{counts.relevant_returned:,} of {plural(counts.relevant, 'relevant block')}"
            yield f"{run.tag} returns {plural(counts.returned, 'result')}, with {found}."
    if not card.counts_questions:
        yield conventions(list(card.measures.values()), with_ties=not card.is_by_text)
        yield from _of_unjudged(card)
    if card.originals is not None:
        questions = plural(len(set(card.originals.tolist())), "question")
        yield f"The queries word {questions}: intervals and p take the variants of a question as one."
    if card.with_intervals:
        within = f", within each stratum of {card.stratified}" if card.stratified else ""
        yield f"Intervals: Wilson's, scaled by the scatter over {card.items.many}{within} unless they are yes or no."
    if card.weights is not None:
        yield (
            f"Weighted means count a query as often as its weight says. The weights of {len(card.weights):,} "
            f"{card.items.many} say as much as {effective_number(card.weights):,.1f} equal ones; differences and "
            "strata are not weighted."
        )
    if any(run.people for run in card.runs):
        yield WITH_PEOPLE
    if card.comparisons:
        yield from _of_comparisons(card)


WITH_PEOPLE = (
    "The interval with people allows for other judges as well as for other queries: it is the wider, the more people"
    " differ on the pairs that several of them graded."
)
LOWER_END = (
    "Only the expected passages are known to be right. Others may be right too: these figures are a lower end,"
    " that of FailureRate is an upper one."
)
MOST_NAMED = 10


IF_JUDGED = (
    "If all were judged: the lowest and the highest mean if every unjudged result that the measure reads got some "
    "grade of the scale. Relevant passages that the run did not return, and nobody judged, are not counted."
)


def _judged_words(card: Scorecard) -> str:
    judged = f"{len(card.queries)} queries judged, {card.with_relevant} with a relevant block"
    if not card.unanswerable:
        return f"{judged}."
    count = plural(card.unanswerable, "unanswerable query counts", "unanswerable queries count")
    return f"{judged}. {count} in AbstentionRate and FalseAnswerRate, and in no mean of what was found."


def text_words(rule: HitRule) -> str:
    """The rule by text with its share, which is always told."""
    return f"{rule.kind} (share {rule.share:g})"


def _of_texts(card: Scorecard) -> Iterator[str]:
    """The rule by text, which passages it did not locate, and what another share would say."""
    assert card.hit is not None
    yield f"Measured by {text_words(card.hit)}. {card.hit.words} Cutoffs count passages as they were returned."
    for run in card.runs:
        if run.by_text is None:
            continue
        found = run.by_text.returned - run.by_text.lost
        words = f"{run.tag}: {found:,} of {plural(run.by_text.returned, 'returned passage')} located in the corpus."
        if run.by_text.lost:
            named = [f"{one.query}, rank {one.rank}: “{one.text}”" for one in run.by_text.listed]
            if more := run.by_text.lost - len(named):
                named.append(f"and {more:,} more" if named else f"{more:,}")
            words += f" Not located: {'; '.join(named)}."
        if run.by_text.textless:
            has = "has" if run.by_text.textless == 1 else "have"
            words += f" {run.by_text.textless:,} of these {has} neither a text nor an id of the corpus."
        yield words
        if run.by_text.by_share:
            yield f"{run.tag}, {next(iter(card.measures))} by the share: {_by_share(run.by_text)}."
    if absent := max((run.by_text.absent for run in card.runs if run.by_text), default=0):
        have = "has" if absent == 1 else "have"
        yield f"{plural(absent, 'graded passage')} {have} no text in the corpus, so that nothing can earn the grade."


def _by_share(one: ByText) -> str:
    figures = [f"{number(mean, 4)} at {share:g}" for share, mean in one.by_share.items()]
    return ", ".join(figures)


def _of_questions(card: Scorecard) -> Iterator[str]:
    """The hit rule, what it leaves out, and what the figures cannot know."""
    assert card.hit is not None
    questions = plural(len(card.queries), "question")
    yield f"{questions}, hit rule {card.hit}. {card.hit.words} A question without results is a miss."
    if card.undefined:
        named = ", ".join(card.undefined[:MOST_NAMED])
        more = f" and {len(card.undefined) - MOST_NAMED:,} more" if len(card.undefined) > MOST_NAMED else ""
        yield f"The rule says nothing about {named}{more}: an expected block lacks what it reads. They are left out."
    if card.unreadable:
        yield f"{card.unreadable:,} returned passages have nothing that the rule reads, and cannot be hits."
    yield LOWER_END


def _of_unjudged(card: Scorecard) -> Iterator[str]:
    """Which runs have more unjudged results in their first ten, where any measure counts those as not relevant."""
    shares = {run.tag: run.judged_at_10.mean for run in card.runs}
    low = [tag for tag, share in shares.items() if share is not None and share < 1]
    counting = ("judged_only" in one.entry.takes and not one.judged_only for one in card.measures.values())
    if any(run.scores.if_judged for run in card.runs):
        yield IF_JUDGED
    if low and any(counting):
        whose = "its" if len(low) == 1 else "their"
        shown = f"judged@10 of {', '.join(low)} is below 100 %"
        yield f"{shown}: unjudged counts as not relevant, so {whose} true figures may be better or worse."


def _of_comparisons(card: Scorecard) -> Iterator[str]:
    many = card.items.many
    family = plural(card.family, "difference")
    yield (
        f"Differences: candidate minus baseline, paired over {many}; intervals by Student's t with one pseudo-query; "
        "p by a two-sided sign-flip randomisation test of "
        f"{RESAMPLES:,} resamples, seed {card.seed}, corrected by Holm over {family}."
    )
    yield f"Evidence may be looked at as often as you like, and settles from {NEEDED:g} on. {fixed_words(card.items)}"
    yield (
        f"Detectable is the smallest true difference that so many {many} show with 80 % power at level 0.05; {many} "
        "needed are those for the difference seen."
    )
    if any(comparison.left_out for comparison in card.comparisons):
        yield f"A measure without a value for some {card.items.one} of either run has no paired difference."
