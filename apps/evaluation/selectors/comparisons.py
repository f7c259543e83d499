"""Two evaluations of one split of a version as a pair: values, differences and drops, for pages, API and actions.

And its family: all comparisons by the same measure that somebody looked at on the version, over which it is corrected.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from django.db.models import Min, QuerySet

from apps.accounts.selectors import policy
from apps.common.database.batched_reads import BatchedRead, ListOf, answer_to
from apps.common.errors import Refusal
from apps.evaluation.core import packing
from apps.evaluation.models import Comparison, Evaluation, PlannedComparison, RegressionNote, Score, by_grades
from apps.evaluation.selectors import evaluations
from apps.evaluation.selectors.evaluations import ladder_shown, on_ground, part_of, scorable_runs
from apps.goldsets.models import VersionQuery, VersionTriple
from apps.metrics.columns import Floats, Ints
from apps.metrics.comparison import MeasureComparison, Regressions, RunComparison, RunValues, compare_runs
from apps.metrics.expected.rules import items_of
from apps.metrics.statistics.anytime import joining_order
from apps.metrics.statistics.families import Plan, RankedDifference, standings
from apps.metrics.statistics.significance import Correction
from apps.retrieval.models import Run

NO_MEASURE = "These two share no measure. Score both with the same list."


class ComparisonRefused(Refusal):
    """The evaluations cannot be compared, or not be seen yet."""


def names_of(baseline: Run, candidate: Run) -> tuple[str, str]:
    """The names of two runs: their systems, or their tags when one system made both."""
    if baseline.system_id != candidate.system_id:
        return baseline.system.name, candidate.system.name
    return baseline.tag, candidate.tag


def _joined(evaluation: Evaluation) -> QuerySet[Any, tuple[str, int]]:
    """The number of the version in which each query, or triple, joined the gold set."""
    version = evaluation.version
    rows, name = (
        (VersionTriple.objects, "label") if evaluation.counts_questions else (VersionQuery.objects, "outside_id")
    )
    until = rows.filter(version__gold_set=version.gold_set_id, version__number__lte=version.number)
    return until.order_by(name).values(name).annotate(joined=Min("version__number")).values_list(name, "joined")


def ordered(one: int, other: int) -> tuple[int, int]:
    """Two keys in order: A against B is B against A."""
    return (one, other) if one <= other else (other, one)


class Look(NamedTuple):
    """A comparison on record, on any version of a gold set; `systems` are those of its runs."""

    version: int
    runs: tuple[int, int]
    tags: tuple[str, str]
    systems: tuple[int, int]
    n: int


def ground_of(evaluation: Evaluation) -> dict[str, Any]:
    """What the comparisons of one family share, with version and measure."""
    return {name: getattr(evaluation, name) for name in ("split", "hit", "slice_id", "slice_size")}


class Background(NamedTuple):
    """What a comparison is seen against: the order of its queries, and the looks and plans by each measure.

    Looks are those on such ground of any version of the gold set, first look first; plans are numbers of queries by
    measure and systems, none on a slice.
    """

    order: Ints
    looks: dict[str, list[Look]]
    plans: dict[tuple[str, tuple[int, int]], int]


def background_of(evaluation: Evaluation) -> Background:
    """In one statement."""
    return answer_to(evaluation.version, background_question(evaluation))


def background_question(evaluation: Evaluation) -> BatchedRead[Background]:
    """The order is that in which queries, or triples, joined the gold set: `joining_order`."""
    gold_set, names = evaluation.version.gold_set_id, ("pk", "tag", "system_id")
    looks = Comparison.objects.filter(version__gold_set=gold_set, **ground_of(evaluation)).order_by("pk")
    plans = PlannedComparison.objects.filter(gold_set=gold_set, split=evaluation.split, hit=evaluation.hit)
    asked = {
        "joined": ListOf(_joined(evaluation)),
        "looks": ListOf(
            looks.values_list(
                "measure", "version_id", *(f"{run}__{name}" for name in names for run in ("first", "second")), "n"
            )
        ),
        "plans": ListOf(plans.values_list("measure", "first_id", "second_id", "queries")),
    }

    def read(found: Mapping[str, Any]) -> Background:
        by_measure: dict[str, list[Look]] = {}
        for measure, version, one, two, first, second, left, right, n in found["looks"]:
            look = Look(version, (one, two), (first, second), ordered(left, right), n)
            by_measure.setdefault(measure, []).append(look)
        planned = [] if evaluation.slice_id else found["plans"]
        return Background(
            joining_order(evaluation.query_ids, dict(found["joined"])),
            by_measure,
            {(measure, (one, other)): queries for measure, one, other, queries in planned},
        )

    return BatchedRead(asked, read)


class Compared(NamedTuple):
    """One comparison of a family: its evaluations, baseline first, with the tags of their runs."""

    evaluations: tuple[int, int]
    tags: tuple[str, str]
    standing: RankedDifference
    is_shown: bool


@dataclass(frozen=True)
class ComparisonFamily:
    """All comparisons by one measure on one ground of a version, strongest evidence first.

    That of the pair asked for is among them, on record or not. `seen` is the largest number of queries at which its two
    systems were compared, `reached` whether the plan has been.
    """

    rows: Sequence[Compared]
    is_recorded: bool
    seen: int
    reached: bool

    @property
    def shown(self) -> RankedDifference:
        return next(row.standing for row in self.rows if row.is_shown)


@dataclass
class EvaluationPair:
    """A baseline and a candidate that `rules.comparison_refusal` allows to compare; `background` where it is read."""

    baseline: Evaluation
    candidate: Evaluation
    values: tuple[Mapping[str, Floats], Mapping[str, Floats]]
    correction: Correction = Correction.HOLM
    background: Background | None = None
    _families: dict[str, ComparisonFamily] = field(default_factory=dict)

    @classmethod
    def of(cls, baseline: Evaluation, candidate: Evaluation, correction: Correction = Correction.HOLM) -> Self:
        """The pair with its values, read from the database."""
        values = evaluations.values_of(baseline), evaluations.values_of(candidate)
        return cls(baseline, candidate, values, correction)

    @property
    def runs(self) -> tuple[int, int]:
        return ordered(self.baseline.run_id, self.candidate.run_id)

    @property
    def systems(self) -> tuple[int, int]:
        return ordered(self.baseline.run.system_id, self.candidate.run.system_id)

    def among(self, measure: str) -> RunComparison:
        """The comparison, by this measure corrected over its family: the one source of a verdict by it.

        By the other measures it is corrected over the measures of the comparison.
        """
        rows = [
            row._replace(standing=self.family(measure).shown) if row.measure == measure else row
            for row in self.comparison.measures
        ]
        return replace(self.comparison, measures=rows)

    def counted(self, measure: str) -> int:
        """How many queries have a value by the measure."""
        return int((~np.isnan(self.values[1][measure])).sum())

    def family(self, measure: str) -> ComparisonFamily:
        """All comparisons by the measure on this version that were looked at, and this one."""
        if measure not in self._families:
            self._families[measure] = self._family(measure)
        return self._families[measure]

    def _family(self, measure: str) -> ComparisonFamily:
        version, n = self.candidate.version_id, self.counted(measure)
        looks = list(self._background.looks.get(measure, []))
        is_recorded = any(look.version == version and look.runs == self.runs for look in looks)
        if not is_recorded:
            tags = (self.baseline.run.tag, self.candidate.run.tag)
            tags = tags if self.baseline.run_id == self.runs[0] else (tags[1], tags[0])
            looks.append(Look(version, self.runs, tags, self.systems, n))
        values = self._values(measure, [look for look in looks if look.version == version])
        here = [look for look in looks if look.version == version and values.keys() >= set(look.runs)]
        found = standings(
            np.column_stack([values[look.runs[0]][1] for look in here]),
            np.column_stack([values[look.runs[1]][1] for look in here]),
            seed=self.candidate.seed,
            originals=self._originals,
            order=self._background.order,
            correction=self.correction,
        )
        plans = {systems: queries for (by, systems), queries in self._background.plans.items() if by == measure}
        rows = [
            self._row(look, values, replace(standing, plan=_plan_of(look, looks, plans)))
            for look, standing in zip(here, found, strict=True)
        ]
        own = [look for look in looks if look.systems == self.systems]
        return ComparisonFamily(
            rows=sorted(rows, key=lambda row: row.standing.place),
            is_recorded=is_recorded,
            seen=max(look.n for look in own),
            reached=any(look.n >= plans.get(self.systems, look.n + 1) for look in own),
        )

    def _row(self, look: Look, values: Mapping[int, tuple[int, Floats]], standing: RankedDifference) -> Compared:
        """A member of the family. The pair asked for is turned as it was asked for, others second against first."""
        row = Compared((values[look.runs[0]][0], values[look.runs[1]][0]), look.tags, standing, look.runs == self.runs)
        if not row.is_shown or self.baseline.run_id == look.runs[0]:
            return row
        difference = standing.difference
        low, high = difference.interval or (None, None)
        turned = difference._replace(
            mean=-difference.mean,
            interval=None if low is None or high is None else (-high, -low),
            better=difference.worse,
            worse=difference.better,
        )
        return Compared(row.evaluations[::-1], row.tags[::-1], replace(standing, difference=turned), is_shown=True)

    def _values(self, measure: str, looks: Sequence[Look]) -> dict[int, tuple[int, Floats]]:
        """By run its latest evaluation on this ground, with the values of the measure; those of the pair as given."""
        own = ((one.run_id, (one.pk, values[measure])) for one, values in self._sides)
        runs = {run for look in looks for run in look.runs}
        if runs <= set(self.runs):
            return dict(own)
        scored = Score.objects.filter(
            evaluation__in=evaluations.on_ground(
                self.candidate.version, self.candidate.split, self.candidate.hit, evaluations.part_of(self.candidate)
            ).filter(run__in=runs, scored_at__isnull=False),
            measure=measure,
        )
        columns = scored.order_by("evaluation_id").values_list("evaluation__run_id", "evaluation_id", "values")
        found = {run: (evaluation, packing.unpack(bytes(packed))) for run, evaluation, packed in columns}
        return found | dict(own)

    @property
    def _sides(self) -> list[tuple[Evaluation, Mapping[str, Floats]]]:
        return list(zip((self.baseline, self.candidate), self.values, strict=True))

    @cached_property
    def _background(self) -> Background:
        return self.background or background_of(self.candidate)

    @cached_property
    def _originals(self) -> Ints | None:
        return evaluations.originals_in(self.candidate)

    @cached_property
    def comparison(self) -> RunComparison:
        """By the measures of both, in the candidate's order; the threshold of drops is the project's."""
        first, second = map(RunValues, names_of(self.baseline.run, self.candidate.run), self.values)
        shared = [name for name in self.candidate.measures if name in first.values]
        (comparison,) = compare_runs(
            first,
            [second],
            shared,
            self.candidate.query_ids,
            seed=self.candidate.seed,
            originals=self._originals,
            order=self._background.order,
            bar=self.bar,
            items=items_of(self.candidate.hit),
        )
        return comparison

    @property
    def bar(self) -> float:
        """The fall beyond which a drop needs an explanation in this project."""
        return float(policy(self.candidate.project, "regression_bar"))

    def notes(self, measure: str) -> dict[str, RegressionNote]:
        """The decisions, by outside id of the query."""
        return evaluations.notes_on(self.baseline, self.candidate, measure)

    def regressions(self, measure: str) -> Regressions:
        drops, notes = self.comparison.drops(measure), self.notes(measure)
        return Regressions(len(drops), sum(drop.query_id not in notes for drop in drops))

    def verdict(self, measure: MeasureComparison) -> str:
        return self.among(measure.measure).verdict(self.judged(measure.measure), self.regressions(measure.measure))

    def judged(self, measure: str) -> MeasureComparison:
        """The comparison by a measure that both have, corrected over its family."""
        found = self.among(measure).measure(measure)
        assert found is not None
        return found


def _plan_of(look: Look, looks: Sequence[Look], plans: Mapping[tuple[int, int], int]) -> Plan | None:
    """The plan of a comparison, and whether it is the first look at so many queries."""
    queries = plans.get(look.systems)
    if queries is None:
        return None
    first = next((one for one in looks if one.systems == look.systems and one.n >= queries), look)
    return Plan(queries, look.n, first is look)


MOST_RUNS = 20


class RunBeside(NamedTuple):
    """Another complete run on the snapshot, with the evaluation that is nearest to one of its own; None without any."""

    run: Run
    evaluation: Evaluation | None


def runs_beside(evaluation: Evaluation) -> list[RunBeside]:
    """The other runs on the snapshot, those measured alike first, newest first: at most MOST_RUNS.

    Nearest is an evaluation by the same rule on the same queries, then one by another by grades, then one on another
    version of the gold set. Runs whose score here stays sealed are left out.
    """
    ladder = ladder_shown(evaluation.version, evaluation.split, evaluation.hit)
    left_out = {evaluation.run_id, *(ladder.sealed.values() if ladder else ())}
    runs = {run.pk: run for run in scorable_runs(evaluation.version, evaluation.hit) if run.pk not in left_out}
    if part_of(evaluation) is None:
        same_set = {"version__gold_set": evaluation.version.gold_set_id, "split": evaluation.split}
        rows = Evaluation.objects.filter(by_grades(), **same_set)
    else:
        rows = on_ground(evaluation.version, evaluation.split, evaluation.hit, part_of(evaluation))
    scored = rows.filter(run__in=runs, scored_at__isnull=False).select_related("version").defer("query_ids", "counts")
    nearest: dict[int, Evaluation] = {}
    for row in sorted(scored, key=lambda row: _distance(evaluation, row)):
        nearest.setdefault(row.run_id, row)
    beside = [RunBeside(run, nearest.get(pk)) for pk, run in runs.items()]
    return sorted(beside, key=lambda one: (_nearness(evaluation, one), -one.run.pk))[:MOST_RUNS]


def _nearness(own: Evaluation, beside: RunBeside) -> tuple[int, ...]:
    return (2, 0) if beside.evaluation is None else _distance(own, beside.evaluation)[:2]


def _distance(own: Evaluation, other: Evaluation) -> tuple[int, int, int]:
    return (int(other.version_id != own.version_id), int(other.hit != own.hit), -other.pk)


def by_share(evaluation: Evaluation, measure: str) -> dict[int, dict[float, float | None]]:
    """By run the mean of its first measure by each share of words, where that is this one; on the same queries.

    Each by its latest evaluation by this rule, by the shares that all have.
    """
    rows = on_ground(evaluation.version, evaluation.split, evaluation.hit, part_of(evaluation))
    found = {
        run: {one["share"]: one["mean"] for one in counts.get("shares", ())}
        for run, measures, counts in rows.exclude(scored_at=None)
        .order_by("pk")
        .values_list("run_id", "measures", "counts")
        if measures[0] == measure
    }
    return {run: means for run, means in found.items() if means}
