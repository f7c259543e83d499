"""Data of the page of two runs on the same triples."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from apps.accounts.selectors import Member
from apps.common.text.wording import interval, number, p_value, signed
from apps.evaluation import rules
from apps.evaluation.edges.comparison import ComparisonSheet, comparison_between
from apps.evaluation.edges.hit_sheets import HitSheet, KindRow, is_clear, is_yes_or_no, kind_rows, right_of, rule_name
from apps.evaluation.edges.pair_sheets import PairSheet
from apps.evaluation.models import Evaluation, RegressionNote, Score
from apps.evaluation.selectors import evaluations
from apps.evaluation.selectors.comparisons import NO_MEASURE, ComparisonRefused, EvaluationPair
from apps.goldsets.models import VersionTriple
from apps.metrics.comparison import MeasureComparison, QueryChange
from apps.metrics.expected.rules import KINDS
from apps.metrics.measures.registry import parse_measure


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
        if not is_clear(difference):
            return "The difference is not settled."
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
        difference = self.headline.difference
        first, second = self.names
        if not is_yes_or_no(self.measure):
            return f"Paired bootstrap over questions; randomisation test p = {p_value(difference.p)}."
        counts, p = difference.tally, difference.tally.sign_p
        if p is None:
            return "They agree on every question."
        split = f"{second} alone found {counts.better:,}, {first} alone {counts.worse:,}"
        often = _often(p)
        test = f"exact McNemar test, p = {p_value(p, 3)}"
        return (
            f"They disagree on {counts.moved:,} question{'' if counts.moved == 1 else 's'}: {split}. If both were "
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
        """The same two runs by grades on the same split, where both are scored so."""
        found = self._latest("")
        return EvaluationPair.of(*found) if found and found[0].query_ids == found[1].query_ids else None

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
    return "every time" if times >= 1000 else f"about {times} time{'' if times == 1 else 's'} in 1,000"


def hit_comparison_of(member: Member, baseline: int, candidate: int, measure: str) -> HitComparison:
    """The comparison of two evaluations by triples, as far as the person may see it. Raises ComparisonRefused."""
    first, second = evaluations.evaluations_with_values(member.project, baseline, candidate)
    return hit_comparison_between(member, first, second, measure)


def hit_comparison_between(member: Member, first: Evaluation, second: Evaluation, measure: str) -> HitComparison:
    """As `hit_comparison_of`, of two that were read."""
    if reason := rules.comparison_refusal(first, second):
        raise ComparisonRefused(reason, code="comparison_refused")
    sheet = HitComparison(HitSheet(first, member), HitSheet(second, member), measure)
    if sheet.headline is None:
        raise ComparisonRefused(NO_MEASURE, code="no_measure")
    return sheet


def pair_sheet_between(
    member: Member, first: Evaluation, second: Evaluation, measure: str
) -> ComparisonSheet | HitComparison:
    """The comparison by grades or by triples, as the two were scored. Raises ComparisonRefused."""
    compared = hit_comparison_between if second.hit else comparison_between
    return compared(member, first, second, measure)
