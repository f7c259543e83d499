"""Data and charts of the page of two runs on the same triples."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from django.utils.safestring import SafeString

from apps.accounts.selectors import Member
from apps.common.drawing.charts import (
    Scale,
    clip,
    figures,
    plot,
    scale,
    svg,
    tag,
    text,
    ticks,
    title,
)
from apps.common.drawing.svg import dot_of
from apps.common.text.wording import interval, number, p_value, percent, percent_interval, plural, signed
from apps.evaluation import rules
from apps.evaluation.core.basis import rule_name
from apps.evaluation.models import Evaluation, RegressionNote, Score
from apps.evaluation.presenters.comparison import ComparisonSheet, PairSheet
from apps.evaluation.presenters.hit_score_tables import (
    HitSheet,
    KindRow,
    is_clear,
    is_yes_or_no,
    kind_rows,
    right_of,
)
from apps.evaluation.presenters.score_tables import EvaluationSheet
from apps.evaluation.selectors import evaluations
from apps.evaluation.selectors.comparisons import NO_MEASURE, ComparisonRefused, EvaluationPair
from apps.goldsets.models import VersionTriple
from apps.metrics.comparison import MeasureComparison, QueryChange
from apps.metrics.expected.measures import RankBin
from apps.metrics.expected.rules import BY_GRADES, KINDS, TEXT
from apps.metrics.measures.registry import parse_measure
from apps.metrics.statistics.significance import Correction

WIDTH, RANKS_HEIGHT = 592.0, 220.0
BASE, TOP, TALLEST = 188.0, 16.0, 150.0
BAR, GAP = 24.0, 2.0
LONGEST_KIND = 26
KINDS_FROM, KINDS_TO, KIND_STEP = 200.0, 432.0, 36.0
WORDS_AT, COUNTS_AT = 448.0, 188.0
BY_QUESTIONS = "These two are scored on Q&As. Compare them on their own page; grades and queries play no part there."


def rank_chart(names: Sequence[str], runs: Sequence[Sequence[RankBin]], cutoff: int | None) -> SafeString:
    """Bars of how many questions have their first hit at each rank, run beside run; sunken ground after the cutoff."""
    bins, total = runs[0], sum(one.questions for one in runs[0])
    step = WIDTH / len(bins)
    most = max((one.questions for run in runs for one in run), default=0) or 1
    parts = _beyond(names, runs, cutoff, step) if cutoff else []
    for place, one in enumerate(bins):
        middle = step * (place + 0.5)
        left = middle - (BAR * len(runs) + GAP * (len(runs) - 1)) / 2
        for at, (name, run) in enumerate(zip(names, runs, strict=True)):
            parts += _bar(name, run[place], left + at * (BAR + GAP), most, total, is_last=at == len(runs) - 1)
        parts.append(text(middle, BASE + 18, one.words, anchor="middle"))
    parts.append(tag("path", class_="axis", d=f"M0 {BASE + 0.5:.1f}H{WIDTH:.0f}"))
    return plot(svg(WIDTH, RANKS_HEIGHT, f"First right rank of {' and '.join(names)}, questions", parts))


def _bar(name: str, one: RankBin, x: float, most: int, total: int, *, is_last: bool) -> list[str]:
    height = max(TALLEST * one.questions / most, 1.0 if one.questions else 0.0)
    words = title(f"{name}, rank {one.words}: {one.questions:,} of {total:,}")
    bar = tag("rect", words, class_="b" if is_last else "a", x=x, y=BASE - height, width=BAR, height=height)
    css = "strong" if is_last else "word"
    return [bar, text(x + BAR / 2, BASE - height - 5, f"{one.questions:,}", anchor="middle", class_=css)]


def _beyond(names: Sequence[str], runs: Sequence[Sequence[RankBin]], cutoff: int, step: float) -> list[str]:
    """The ground behind the ranks that do not count, where a bin begins there; and how many questions lie in it."""
    first = next((place for place, one in enumerate(runs[0]) if one.first == cutoff + 1), None)
    if first is None:
        return []
    x = step * first
    missed = [sum(one.questions for one in run[first:]) for run in runs]
    counts = ", ".join(f"{name} {number_of:,}" for name, number_of in zip(names, missed, strict=True))
    return [
        tag("rect", class_="ground", x=x, y=TOP - 12, width=WIDTH - x, height=BASE - TOP + 12),
        tag("path", class_="limit", d=f"M{x:.1f} {TOP - 12:.1f}V{BASE:.1f}"),
        text(
            x + 8,
            TOP + 4,
            "after the first: missed" if cutoff == 1 else f"beyond the first {cutoff}: missed",
            class_="halo",
        ),
        text(x + 8, TOP + 20, counts, class_="halo"),
    ]


def rank_figures(names: Sequence[str], runs: Sequence[Sequence[RankBin]]) -> SafeString:
    rows = [[one.words, *(run[place].questions for run in runs)] for place, one in enumerate(runs[0])]
    return figures(["First right rank", *names], rows)


def kind_chart(measure: str, names: Sequence[str], rows: Sequence[KindRow]) -> SafeString:
    """One line for each kind: a dot with whisker for each run, and of two runs the difference in words."""
    ends = [
        end for row in rows for one in row.summaries for end in (*(one.interval or ()), one.mean) if end is not None
    ]
    low, high = max(0.0, min(ends, default=0.0) - 0.03), min(1.0, max(ends, default=1.0) + 0.03)
    place = scale(low, high, KINDS_FROM, KINDS_TO)
    bottom = KIND_STEP * len(rows) + 10
    yes_or_no = is_yes_or_no(measure)
    parts = []
    for value in ticks(low, high, 5):
        parts.append(tag("path", class_="grid", d=f"M{place(value):.1f} 4V{bottom:.1f}"))
        words = percent(value, 0) if yes_or_no else number(value, 1)
        parts.append(text(place(value), bottom + 20, words, anchor="middle"))
    for at, row in enumerate(rows):
        parts += _kind(row, names, place, 8 + KIND_STEP * at, yes_or_no=yes_or_no)
    parts.append(tag("path", class_="axis", d=f"M{KINDS_FROM:.0f} {bottom + 0.5:.1f}H{KINDS_TO:.0f}"))
    return plot(svg(WIDTH, bottom + 30, f"{measure} by kind of question, with 95 % intervals", parts))


def _kind(row: KindRow, names: Sequence[str], place: Scale, top: float, *, yes_or_no: bool) -> list[str]:
    css = "strong" if row.is_clear else "word"
    parts = [
        text(0, top + 22, clip(row.label, LONGEST_KIND), class_="strong" if not row.field else "word"),
        text(COUNTS_AT, top + 22, f"{row.n:,}", anchor="end"),
    ]
    for at, (name, one) in enumerate(zip(names, row.summaries, strict=True)):
        if one.mean is None:
            continue
        y = top + 12.5 + 11 * at
        words = f"{row.label}, {name}: {_words(one.mean, one.interval, one.n, yes_or_no=yes_or_no)}"
        mark = "a" if at == 0 and len(names) > 1 else "b"
        parts.append(dot_of(words, mark, place, one.mean, one.interval, y))
    if row.difference is not None:
        parts.append(text(WORDS_AT, top + 22, difference_words(row, yes_or_no=yes_or_no), class_=css))
    return parts


def difference_words(row: KindRow, *, yes_or_no: bool) -> str:
    """`+18, clear`: questions more or fewer, or the difference of the means."""
    difference = row.difference
    assert difference is not None
    moved = difference.better - difference.worse
    figure = (f"+{moved:,}" if moved > 0 else f"{moved:,}".replace("-", "−")) if yes_or_no else ""
    figure = figure or signed(difference.mean)
    if row.is_clear:
        return f"{figure}, clear"
    return f"{figure}, not settled" if difference.better + difference.worse else "no difference seen"


def _words(mean: float, bounds: tuple[float, float] | None, n: int, *, yes_or_no: bool) -> str:
    if yes_or_no:
        return f"{round(mean * n):,} of {n:,}, {percent(mean)}, interval {percent_interval(bounds)}"
    return f"{number(mean)}, {interval(bounds, 3)}, n {n:,}"


def kind_figures(measure: str, names: Sequence[str], rows: Sequence[KindRow]) -> SafeString:
    yes_or_no = is_yes_or_no(measure)
    head = ["Kind", "n", *names]
    table = [
        [
            row.name,
            f"{row.n:,}",
            *(_words(one.mean or 0.0, one.interval, one.n, yes_or_no=yes_or_no) for one in row.summaries),
        ]
        for row in rows
    ]
    if len(names) > 1:
        head.append(f"{names[1]} better, {names[0]} better")
        for cells, row in zip(table, rows, strict=True):
            assert row.difference is not None
            cells.append(f"{row.difference.better:,}, {row.difference.worse:,}")
    return figures(head, table)


class OtherRule(NamedTuple):
    """The same two runs under a hit rule: its key, its name, and the evaluations where both are scored by it."""

    key: str
    name: str
    hit: str
    is_shown: bool
    pair: tuple[Evaluation, Evaluation] | None
    figures: tuple[str, str] | None


class HitDrop(NamedTuple):
    """A triple that the two answer differently, with the first right rank of both, 0 for none."""

    change: QueryChange
    triple: VersionTriple
    before: int
    after: int
    note: RegressionNote | None

    @property
    def pk(self) -> int:
        return self.triple.pk


@dataclass
class HitComparison(PairSheet[HitSheet, HitDrop]):
    """Two runs on the same triples under one hit rule."""

    @property
    def figures(self) -> list[tuple[MeasureComparison, Score, Score, bool, tuple[int, int]]]:
        """Each measure with both scores, whether it is a count of questions, and then both counts."""
        rows = []
        for row in self.rows:
            before, after = self.baseline.scores[row.measure], self.candidate.scores[row.measure]
            rows.append((row, before, after, is_yes_or_no(row.measure), (right_of(before), right_of(after))))
        return rows

    @property
    def cutoff(self) -> int | None:
        return parse_measure(self.measure).cutoff

    @cached_property
    def finding(self) -> str:
        """The conclusion with its counts, as one sentence."""
        first, second = self.names
        before, after = self.baseline.scores[self.measure], self.candidate.scores[self.measure]
        if parse_measure(self.measure).name == "Success":
            where = "first" if self.cutoff == 1 else f"in its first {self.cutoff} results"
            right = f"finds the right passage {where} for {right_of(after):,} of {after.n:,} questions"
            return f"{second} {right}, {first} for {right_of(before):,}."
        figure = f"{second} has {number(after.mean)} {self.measure} over {after.n:,} questions"
        return f"{figure}, {first} {number(before.mean)}."

    @property
    def lead(self) -> str:
        """What follows from it: whether the difference is clear, and the kind of question that goes against it.

        A kind goes against a clear difference only where as many of its questions differ as a verdict needs; its
        interval is named.
        """
        assert self.headline is not None
        difference = self.headline.difference
        if not difference.mean:
            return "There is no difference."
        if self.standing.rests_on_evidence:
            return f"By the evidence it {'is' if self.headline.is_sure else 'is not'} settled."
        if not is_clear(difference):
            return "The difference is not settled."
        if not self.headline.is_sure:
            return f"The difference is not settled among {self.standing.count:,} comparisons."
        against = [(kind, other) for kind in self.kinds[1:] if (other := kind.against(difference)) is not None]
        if not against:
            return "The difference is clear."
        row, opposite = max(against, key=lambda one: one[0].n)
        first, second = row.summaries
        if is_yes_or_no(self.measure):
            left, right = (round((one.mean or 0) * one.n) for one in (first, second))
            figures = f"{self.names[1]} {right:,} of {row.n:,}, {self.names[0]} {left:,}"
        else:
            figures = f"{self.names[1]} {number(second.mean)}, {self.names[0]} {number(first.mean)}"
        between = f"difference {signed(opposite.mean)}, {interval(opposite.interval, 3, differences=True)}"
        return f"The difference is clear. Against it: {row.label[0].lower()}{row.label[1:]} ({figures}; {between})."

    @property
    def method(self) -> str:
        """The exact test in words, then its name and p; for other measures the interval and the randomisation test."""
        assert self.headline is not None
        difference, exact = self.headline.difference, self.headline.mcnemar
        first, second = self.names
        if exact is None:
            interval_of = "95 % interval of the paired difference over questions"
            return f"{interval_of}; randomisation test p = {p_value(difference.p)}."
        moved = difference.tally.moved
        if not moved:
            return "They agree on every question."
        split = f"{second} alone found {exact.candidate_alone:,}, {first} alone {exact.baseline_alone:,}"
        often = _often(exact.p)
        test = f"exact McNemar test, p = {p_value(exact.p, 3)}"
        return (
            f"They disagree on {plural(moved, 'question')}: {split}. If both were "
            f"equally good, a split this uneven would come up {often} ({test})."
        )

    @cached_property
    def kinds(self) -> list[KindRow]:
        return kind_rows([self.baseline, self.candidate], self.measure)

    @property
    def misses(self) -> int:
        """How many questions that this person may see the candidate misses within the cutoff of the measure."""
        return len(self.candidate.missed(self.measure))

    @cached_property
    def graded(self) -> EvaluationPair | None:
        """The same two runs by grades on the same split, where both are scored so; else by text."""
        found = self._latest(BY_GRADES) or self._latest(TEXT)
        return EvaluationPair.of(*found) if found and found[0].query_ids == found[1].query_ids else None

    @property
    def graded_by(self) -> str:
        """What both can be scored by for grades: the blocks they return, or text where one cuts its own passages."""
        runs = (self.baseline.evaluation.run, self.candidate.evaluation.run)
        return TEXT if any(run.returns_passages for run in runs) else BY_GRADES

    @cached_property
    def others(self) -> list[OtherRule]:
        """The four rules with their keys; the rule shown with its own parameters."""
        shown = self.candidate.evaluation.hit
        rules_shown = [shown if shown.startswith(kind) else kind for kind in KINDS]
        return [self._other(str(key), hit, shown) for key, hit in enumerate(rules_shown, 1)]

    def _other(self, key: str, hit: str, shown: str) -> OtherRule:
        own = (self.baseline.evaluation, self.candidate.evaluation)
        pair = own if hit == shown else self._latest(hit)
        scores = [next((s for s in one.scores.all() if s.measure == self.measure), None) for one in pair or ()]
        figures = tuple(_figure(score) for score in scores)
        return OtherRule(
            key, rule_name(hit), hit, hit == shown, pair, (figures[0], figures[1]) if len(figures) == 2 else None
        )

    @cached_property
    def _measured(self) -> dict[tuple[str, int], Evaluation]:
        runs = (self.baseline.evaluation.run_id, self.candidate.evaluation.run_id)
        return evaluations.latest_by_rule(self.candidate.evaluation, runs)

    def _latest(self, hit: str) -> tuple[Evaluation, Evaluation] | None:
        runs = (self.baseline.evaluation.run_id, self.candidate.evaluation.run_id)
        found = [self._measured[hit, run] for run in runs if (hit, run) in self._measured]
        return (found[0], found[1]) if len(found) == len(runs) else None

    @cached_property
    def changes(self) -> list[HitDrop]:
        """The questions that differ and that this person may see, worst first, whether or not they are drops."""
        before, after = self.baseline.ranks.tolist(), self.candidate.ranks.tolist()
        return [
            HitDrop(
                row,
                self.candidate.triples[row.place],
                before[row.place],
                after[row.place],
                self.notes.get(row.query_id),
            )
            for row in self.all_changes
            if self.candidate.visible[row.place] and row.change
        ]

    @cached_property
    def drops(self) -> list[HitDrop]:
        return [one for one in self.changes if one.change.is_drop]

    @property
    def other_changes(self) -> list[HitDrop]:
        """Those that need no explanation."""
        return [one for one in self.changes if not one.change.is_drop]


def _figure(score: Score | None) -> str:
    if score is None:
        return "not scored by this measure"
    if is_yes_or_no(score.measure):
        return f"{right_of(score):,} of {score.n:,}"
    return number(score.mean)


def _often(p: float) -> str:
    """How often chance alone would show it: "about 6 times in 1,000"."""
    if p < 0.001:
        return "less than once in 1,000"
    times = round(p * 1000)
    return "every time" if times >= 1000 else f"about {plural(times, 'time')} in 1,000"


def compared(
    member: Member, first: Evaluation, second: Evaluation, measure: str, correction: Correction = Correction.HOLM
) -> ComparisonSheet | HitComparison:
    """The comparison by grades or on Q&As, as the two were scored, as far as the person may see it.

    Raises ComparisonRefused.
    """
    if reason := rules.comparison_refusal(first, second):
        raise ComparisonRefused(reason, code="comparison_refused")
    sheet: ComparisonSheet | HitComparison
    if second.counts_questions:
        sheet = HitComparison(HitSheet(first, member), HitSheet(second, member), measure, correction)
    else:
        sheet = ComparisonSheet(EvaluationSheet(first, member), EvaluationSheet(second, member), measure, correction)
    if not sheet.measure:
        raise ComparisonRefused(NO_MEASURE, code="no_measure")
    return sheet
