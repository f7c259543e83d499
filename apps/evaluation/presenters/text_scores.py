"""Data of the page of a run's scores by text: what its passages earn, other shares of words, what it compares with."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from django.urls import reverse
from django.utils.safestring import SafeString

from apps.common.drawing.charts import BarPart, parts_bar
from apps.common.text.wording import interval, number, percent, plural
from apps.evaluation.core.basis import rule_name
from apps.evaluation.core.earnings import FIRST
from apps.evaluation.models import Evaluation, Score
from apps.evaluation.presenters import score_charts as charts
from apps.evaluation.presenters.returned_passages import shown_on_dev
from apps.evaluation.presenters.score_tables import EvaluationSheet
from apps.evaluation.selectors.comparisons import RunBeside, by_share, runs_beside
from apps.goldsets.models import VersionQuery
from apps.metrics.comparison import is_lower_better
from apps.metrics.expected.rules import HitRule
from apps.metrics.measures.entries import WORDS
from apps.metrics.measures.registry import parse_measure

MOST_LOST = 0.02
"""Above this share of passages that were not located, the headline says how many they are."""
GRADE_FILLS = ("part-grade-0", "part-grade-1", "part-grade-2", "part-grade-3")
SHARE_WORDS = {0.5: "half of the words", 1.0: "every word"}


class EarnedRow(NamedTuple):
    """What some of the first passages earn: a grade, or in words why none."""

    words: str
    passages: int
    share: str
    fill: str
    grade: int | None = None


class WordsRow(NamedTuple):
    """A measure of words with its score at each cutoff, None where it was not asked for."""

    name: str
    words: str
    scores: list[tuple[int, Score | None]]


class ComparedRow(NamedTuple):
    """Another run: how it is measured, whether the two are compared, why (not), and the button that mends it."""

    run: RunBeside
    measured: str
    is_comparable: bool
    why: str
    act: str
    url: str


@dataclass
class TextPage:
    """One evaluation by text."""

    sheet: EvaluationSheet

    @property
    def evaluation(self) -> Evaluation:
        return self.sheet.evaluation

    @property
    def counts(self) -> dict[str, Any]:
        return self.evaluation.counts

    @property
    def rule(self) -> HitRule:
        assert self.evaluation.rule is not None
        return self.evaluation.rule

    @property
    def rule_name(self) -> str:
        return rule_name(self.evaluation.hit)

    @property
    def main(self) -> Score:
        return self.sheet.scores[self.evaluation.measures[0]]

    @property
    def first_shown(self) -> VersionQuery | None:
        """The first query whose returned passages have a page."""
        return next(iter(shown_on_dev(self.sheet)), None)

    @property
    def headline(self) -> str:
        name, score = self.main.measure, self.main
        if score.mean is None:
            return f"Measured by text, this run has no value of {name}."
        reached = f"Measured by text, this run reaches {number(score.mean, 3)} on {name}"
        return f"{reached}; the interval is {interval(score.interval, 3)}." if score.interval else f"{reached}."

    @property
    def lost_share(self) -> float:
        passages = self.counts["passages"]
        return self.counts["lost"] / passages if passages else 0.0

    @property
    def _lost(self) -> str:
        lost = self.counts["lost"]
        return f"{plural(lost, 'passage')} {'is' if lost == 1 else 'are'} in no document of this snapshot"

    @property
    def alarm(self) -> str:
        """What the headline says of passages that were not located; "" where they are few."""
        if self.lost_share <= MOST_LOST:
            return ""
        return f"{self._lost}: {percent(self.lost_share, 1)} of what it returned first."

    @property
    def located_words(self) -> str:
        passages, located = self.counts["passages"], self.counts["located"]
        if not passages:
            return "The run returned nothing for these queries."
        words = f"{percent(located / passages, 1)} located: {located:,} of {passages:,} returned passages."
        count = "counts" if self.counts["lost"] == 1 else "count"
        return f"{words} {self._lost} and {count} as not relevant." if self.counts["lost"] else words

    @property
    def word_measures(self) -> list[str]:
        return [name for name in self.evaluation.measures if _is_of_words(name)]

    @property
    def cutoffs(self) -> list[int]:
        return sorted({parse_measure(name).cutoff or 0 for name in self.word_measures})

    @property
    def words_rows(self) -> list[WordsRow]:
        """The measures of words, those of one kind in a row."""
        rows: dict[str, dict[int, Score]] = {}
        for name in self.word_measures:
            measure = parse_measure(name)
            kind = str(measure._replace(cutoff=None)).removesuffix("@")
            rows.setdefault(kind, {})[measure.cutoff or 0] = self.sheet.scores[name]
        return [
            WordsRow(kind, _ABOUT.get(kind.partition("(")[0], ""), [(at, found.get(at)) for at in self.cutoffs])
            for kind, found in rows.items()
        ]

    @cached_property
    def earned(self) -> list[EarnedRow]:
        """What the first passages earn, the best grade first; zeros too, so that the rows of all runs are alike."""
        earn, total = self.counts["earn"], self.counts["passages"]
        scale = {int(entry["grade"]) for entry in self.evaluation.version.manifest.get("scale", ())}
        grades = sorted({*map(int, earn["grades"]), *(grade for grade in scale if grade >= 0)}, reverse=True)
        rows: list[tuple[str, int, str, int | None]] = [
            (f"earn grade {grade}", earn["grades"].get(str(grade), 0), GRADE_FILLS[min(grade, 3)], grade)
            for grade in grades
        ]
        rows += [(words, earn[name], fill, None) for name, words, fill in _UNGRADED]
        return [
            EarnedRow(words, count, percent(count / total, 1) if total else "", fill, grade)
            for words, count, fill, grade in rows
        ]

    @property
    def earned_bar(self) -> SafeString:
        parts = [BarPart(row.words, row.passages, row.fill) for row in self.earned]
        return parts_bar(f"What the {self.counts['passages']:,} returned passages earn", parts, width=592)

    @property
    def first(self) -> int:
        return FIRST

    @property
    def shares(self) -> list[charts.ByShare]:
        return [
            charts.ByShare(one["share"], one["mean"], one["low"], one["high"], self._share_words(one["share"]))
            for one in self.counts["shares"]
        ]

    def _share_words(self, share: float) -> str:
        return "this page" if share == self.rule.share else SHARE_WORDS.get(share, "")

    @property
    def share_chart(self) -> SafeString:
        return charts.by_share(self.main.measure, self.shares, self.main.n)

    @property
    def share_figures(self) -> SafeString:
        return charts.share_figures(self.main.measure, self.shares, self.main.n)

    @cached_property
    def order_words(self) -> str:
        """Whether the runs by text keep their order by every share; "" for one run."""
        runs = by_share(self.evaluation, self.main.measure)
        if len(runs) < 2:
            return ""
        sign = 1 if is_lower_better(self.main.measure) else -1
        orders = [sorted(runs, key=lambda run: sign * (runs[run][share] or 0.0)) for share in next(iter(runs.values()))]
        many = plural(len(runs), "run")
        if all(order == orders[0] for order in orders):
            return f"The {many} by text keep their order by all {len(orders)} shares."
        return f"The order of the {many} by text is not the same by all {len(orders)} shares."

    @cached_property
    def compared(self) -> list[ComparedRow]:
        return [self._compared(run) for run in runs_beside(self.evaluation)]

    @property
    def first_comparison(self) -> str:
        """The address of the comparison with the newest comparable run; "" without one."""
        return next((row.url for row in self.compared if row.is_comparable), "")

    def _compared(self, beside: RunBeside) -> ComparedRow:
        own, other = self.evaluation, beside.evaluation
        slug, version = own.project.slug, own.version.label
        asked = {"version": own.version_id, "split": own.split, "hit": own.hit, "run": beside.run.pk}
        score = reverse("evaluation:overview", args=[slug], query=asked, fragment="score-runs")
        if other is None:
            return ComparedRow(
                beside, "not measured", False, f"not measured on {version}", f"Score on {version}", score
            )
        by = rule_name(other.hit) if other.is_by_text else "by id"
        measured = f"{by}, {other.version.label}"
        if other.version_id != own.version_id:
            why = f"other version: it is measured on {other.version.label}"
            return ComparedRow(beside, measured, False, why, f"Score on {version}", score)
        if other.hit == own.hit:
            url = reverse("evaluation:compare", args=[slug, other.pk, own.pk])
            return ComparedRow(beside, measured, True, "same rule, share, version and queries", "Compare", url)
        if other.is_by_text:
            return ComparedRow(beside, measured, False, "another share of the words", "Measure by this share", score)
        why = "it returns the project’s own passages; by text it can be measured too"
        return ComparedRow(beside, measured, False, why, "Measure by text too", score)


_ABOUT = {
    "TokenRecall": "of all relevant words, the share returned",
    "TokenPrecision": "of all returned words, the share relevant",
    "TokenIoU": "of all relevant or returned words, the share that is both",
}
_UNGRADED = (
    ("repeated", "cover only what an earlier result covered", "part-repeated"),
    ("none", "cover no passage", "part-none"),
    ("unjudged", "cover unjudged passages only", "part-unjudged"),
    ("lost", "not located", "part-lost"),
)


def _is_of_words(name: str) -> bool:
    return WORDS in parse_measure(name).entry.needs


def without_words(names: Sequence[str]) -> list[str]:
    """The measures that are not of words: those have a table of their own."""
    return [name for name in names if not _is_of_words(name)]
