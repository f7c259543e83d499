"""How often what Karat says of thin evidence is true: intervals, gates and tests, on samples of known populations.

    python benchmarks/coverage.py [--quick] [--trials 2000] [--only mean,gates]

Each cell draws many samples of n queries (or items) from a population whose true value is known, asks the functions
that Karat prints its figures with, and counts. One standard error of a share near 95 % is 0.5 points at 2,000 trials.
Everything random is seeded: the same command prints the same table. Groups:

mean        scores as nDCG@10 has them (12 % zeros, 6 % ones, the rest a beta), as RR has them (1, 1/2, 1/3 … or 0), and
            as AP of a hard set has them (beta, mean 0.15, skewed); scores that are nearly always 0 (P@5 of 0.08; nDCG
            of which nine in ten are 0) or 1 (RR with four in five at the first rank); success for 50, 90 and 97 %
stratified  the mean when three kinds of queries, of another level each, were sampled apart
traffic     the mean over all searches of a log of 4,000 queries, of a sample from it, balanced or like the traffic
difference  two runs of which every second query is answered alike, the others drawn anew from a better population; that
            differ on a fifth, a tenth and 3 % of queries, and on three in ten, mostly to one side
variants    the mean, and a difference of nothing, over queries that are four wordings each of a question
people      the mean under 2, 3, 5 and 8 people, who all are as lenient, or each of a leniency of their own with a
            standard deviation of 0.03 or 0.1, with chance of 0.1 on every query, or of 0.3, as far as queries scatter
gates       how often a gate passes, fails and is not known yet, whose truth is on the wrong side of its bound, or on it
looks       how often a comparison that is looked at while queries come in calls equal runs different: by the test after
            every second query from 10 to 100, by the evidence after each of 300; and how many queries either needs
board       how often anything on a board of 5, 10 or 20 equal runs is called better, each pair of them compared on 50
            queries: by a paired t-test alone, corrected by Holm and by Benjamini and Hochberg, and by the evidence at
            any of them, corrected by Holm; and where half of the runs are better by 0.1, which share of what is called
            better or worse is false, and which share of the true differences is found; of a quarter of the samples
ladder      by how much the best published score of 5, 20 and 100 runs that are equally good is too high, on 100 queries
            of test, when all are published, and when a score has to beat the best so far by a step
pairs       P@10 of a fifth of relevant results, from a random sample of the pairs of all queries, by Hájek and by
            Horvitz and Thompson: results of a query alike by half (intraclass correlation), by a fifth, and not at all
kappa       two annotators, four grades, right with a chance of 0.6 to 0.85 and near misses likelier than far ones
levels      two annotators who know the grade in a share of cases, and else guess it or take another, mostly the next
alpha       three such annotators as under kappa, every tenth cell empty
clusters    two annotators who know the grade in a share of cases, the same on every query or not, and else guess it
false       two runs whose values are swapped at random: share of p up to 0.05, which should be 5 %
"""

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from apps.gates.core.decisions import RunEvidence, decide
from apps.gates.core.rule import FAILED, PASSED, rule_of
from apps.metrics.agreement.alpha import krippendorff_alpha
from apps.metrics.agreement.counting import MISSING, category_counts, pair_table
from apps.metrics.agreement.pairs import cohen_kappa
from apps.metrics.agreement.uncertainty import Settings
from apps.metrics.measures.entries import Measure
from apps.metrics.measures.registry import parse_measure
from apps.metrics.statistics.anytime import NEEDED, evidence_of
from apps.metrics.statistics.bootstrap import people_intervals
from apps.metrics.statistics.intervals import Draw
from apps.metrics.statistics.pair_samples import SampledFigure, SampledPairs, hajek, horvitz_thompson
from apps.metrics.statistics.places import beats_by, places
from apps.metrics.statistics.power import queries_needed
from apps.metrics.statistics.significance import (
    LEVEL,
    Correction,
    differences,
    sign_flip_p,
    summaries,
    weighted_summaries,
)
from apps.querylogs.core.sampling import Population, draw, plan_sample
from apps.querylogs.enums import Plan
from apps.retrieval.core.sampling import sample_pairs

SIZES = (10, 20, 30, 50, 100, 200)
OF_AGREEMENT = (50, 100, 200)
GATE_SIZES = (5, 6, 10, 20, 30, 100)
PEOPLE = (2, 3, 5, 8)
LENIENCY = (0.0, 0.03, 0.1)
AT_ONCE = 100
FALSE = "randomisation test, p ≤ 0.05 where nothing differs"

PREVALENCE = np.array([0.5, 0.2, 0.18, 0.12])
GRADED_AS = np.array(
    [
        [0.85, 0.1, 0.04, 0.01],
        [0.2, 0.6, 0.15, 0.05],
        [0.05, 0.2, 0.6, 0.15],
        [0.02, 0.06, 0.17, 0.75],
    ]
)
TAKEN_AS = np.array(
    [
        [0.0, 0.7, 0.25, 0.05],
        [0.55, 0.0, 0.4, 0.05],
        [0.1, 0.5, 0.0, 0.4],
        [0.05, 0.25, 0.7, 0.0],
    ]
)
RECIPROCALS = np.array([1, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 7, 1 / 10, 0])
CHANCES = np.array([0.45, 0.15, 0.1, 0.06, 0.04, 0.03, 0.02, 0.15])
LEVELS = np.array([0.4, 0.7, 1.0])
RANKS = np.array([1, 1 / 2, 1 / 3, 1 / 5, 1 / 10, 0])
FIRST_RANK = np.array([0.8, 0.06, 0.03, 0.02, 0.01, 0.08])
NDCG, SUCCESS = parse_measure("nDCG@10"), parse_measure("Success@5")

T = TypeVar("T")
Intervals = Iterator[tuple[float, float]]
Maker = Callable[[np.random.Generator, int, int], Intervals]


class Line(NamedTuple):
    """A line of the table. `make` yields AT_ONCE intervals from a source of chance, a number of queries and a seed."""

    group: str
    truth: float
    make: Maker


def like_ndcg(chance: np.random.Generator, shape: tuple[int, ...], share: float = 0.12) -> np.ndarray:
    """Scores with a share of zeros, 6 % of ones and a beta between."""
    kind = chance.random(shape)
    return np.where(kind < share, 0.0, np.where(kind > 0.94, 1.0, chance.beta(2.2, 1.6, shape)))


def mean_like_ndcg(share: float = 0.12) -> float:
    return 0.06 + (0.94 - share) * 2.2 / 3.8


def like_rr(chance: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return chance.choice(RECIPROCALS, p=CHANCES, size=shape)


def like_ap(chance: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return chance.beta(0.5, 2.8, shape)


def hard_precision(chance: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return chance.binomial(5, chance.beta(0.096, 1.104, shape)) / 5


def mostly_zero(chance: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return np.where(chance.random(shape) < 0.9, 0.0, chance.beta(2.2, 1.6, shape))


def mostly_first(chance: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return chance.choice(RANKS, p=FIRST_RANK, size=shape)


def success(share: float) -> Callable[..., np.ndarray]:
    return lambda chance, shape: (chance.random(shape) < share).astype(float)


def moved(share: float, *, is_skew: bool = False) -> Callable[..., np.ndarray]:
    """Differences of runs that differ on a share of queries, by 0.05 on average, or mostly up and by 0.15."""

    def draw(chance: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        amount = chance.beta(1, 4, shape) - 0.05 if is_skew else chance.uniform(-0.45, 0.55, shape)
        return np.where(chance.random(shape) < share, amount, 0.0)

    return draw


def anew(chance: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Every second query alike, the others drawn anew from a better population."""
    change = like_ndcg(chance, shape, 0.06) - like_ndcg(chance, shape)
    return np.where(chance.random(shape) < 0.5, 0.0, change)


# What is asked


VARIANTS = 4


def of_variants(is_difference: bool) -> Maker:
    """Intervals over n queries that are four wordings each of a quarter as many questions."""

    def intervals(chance: np.random.Generator, n: int, seed: int) -> Intervals:
        originals = np.arange(n) // VARIANTS
        level = like_ndcg(chance, (originals[-1] + 1, AT_ONCE))[originals]
        values = np.clip(level + chance.normal(0, 0.05, (n, AT_ONCE)), level - 0.1, level + 0.1)
        if is_difference:
            other = like_ndcg(chance, (originals[-1] + 1, AT_ONCE))[originals]
            for found in differences(values, other, seed=seed, resamples=0, originals=originals):
                yield found.interval
        else:
            for summary in summaries([NDCG] * AT_ONCE, values, originals=originals):
                yield summary.interval

    return intervals


def of_mean(draw: Callable[..., np.ndarray], measure: Measure = NDCG) -> Maker:
    """Intervals of the mean of scores that `draw` makes."""

    def intervals(chance: np.random.Generator, n: int, seed: int) -> Intervals:
        for summary in summaries([measure] * AT_ONCE, draw(chance, (n, AT_ONCE))):
            yield summary.interval

    return intervals


def of_strata(chance: np.random.Generator, n: int, seed: int) -> Intervals:
    strata = np.arange(n) % 3
    values = like_ndcg(chance, (n, AT_ONCE)) * LEVELS[strata][:, None]
    level = (LEVELS[strata].mean() - LEVELS.mean()) * mean_like_ndcg()  # n is not always a multiple of three
    for summary in summaries([NDCG] * AT_ONCE, values, strata=strata):
        yield tuple(end - level for end in summary.interval)


class SearchLog(NamedTuple):
    """Queries of a log: how often each is searched (as Zipf has it), what comes of it, and its score."""

    population: Population
    scores: np.ndarray

    @property
    def truth(self) -> float:
        return float(np.average(self.scores, weights=self.population.searches))


def search_log(*, is_yes_or_no: bool) -> SearchLog:
    """4,000 queries; those that find nothing score lower, and those searched often score higher."""
    chance = np.random.default_rng(5)
    searches = np.maximum(5, 3_000 / np.arange(1, 4_001) ** 0.75).astype(np.int64)
    outcomes = chance.choice(3, len(searches), p=[0.8, 0.05, 0.15])
    level = np.where(outcomes == 2, 0.2, 0.7) * np.where(searches > 90, 1.2, np.where(searches > 17, 1.0, 0.7))
    yes = (chance.random(len(searches)) < level).astype(float)
    scores = yes if is_yes_or_no else chance.beta(2 * level, 2 * (1 - level))
    return SearchLog(Population(searches, outcomes, np.ones_like(searches)), scores)


def of_traffic(log: SearchLog, plan: Plan) -> Maker:
    """Intervals of the mean weighted to the traffic of a log, of samples drawn from it."""

    def intervals(chance: np.random.Generator, n: int, seed: int) -> Intervals:
        sample = plan_sample(log.population, n, plan)
        strata = [np.flatnonzero(sample.memberships == number) for number in range(len(sample.strata))]
        for turn in range(AT_ONCE):
            drawn = draw(sample.chances, sample.memberships, [chance.permutation(one) for one in strata], seed + turn)
            how = Draw(sample.chances[drawn], sample.memberships[drawn])
            weights = log.population.searches[drawn] / how.chances
            yield weighted_summaries(log.scores[drawn][:, None], weights, draw=how)[0].interval

    return intervals


def of_difference(draw: Callable[..., np.ndarray]) -> Maker:
    """Intervals of paired differences that `draw` makes."""

    def intervals(chance: np.random.Generator, n: int, seed: int) -> Intervals:
        change = draw(chance, (n, AT_ONCE))
        for found in differences(np.zeros(change.shape), change, seed=seed, resamples=0):
            yield found.interval

    return intervals


def of_people(people: int, apart: float, noise: float = 0.1) -> Maker:
    """Intervals over queries and people; `apart` and `noise` are the standard deviations of leniency and of chance."""

    def intervals(chance: np.random.Generator, n: int, seed: int) -> Intervals:
        scores = like_ndcg(chance, (n, AT_ONCE))
        leniency = chance.normal(0, apart, (people, 1, AT_ONCE))
        sheets = scores + leniency + chance.normal(0, noise, (people, n, AT_ONCE))
        yield from people_intervals(sheets)

    return intervals


def graded(chance: np.random.Generator, n: int, people: int, graded_as: np.ndarray = GRADED_AS) -> np.ndarray:
    """Grades of n items, items by people."""
    true = chance.choice(len(PREVALENCE), p=PREVALENCE, size=n)
    return (chance.random((n, people, 1)) > graded_as.cumsum(axis=1)[true][:, None, :]).sum(axis=2)


def of_kappa(kind: str, graded_as: np.ndarray = GRADED_AS) -> Maker:
    def intervals(chance: np.random.Generator, n: int, seed: int) -> Intervals:
        for trial in range(AT_ONCE):
            grades = graded(chance, n, 2, graded_as)
            yield cohen_kappa(
                pair_table(grades[:, 0], grades[:, 1], 4), kind=kind, settings=Settings(seed + trial)
            ).interval

    return intervals


def of_alpha(level: str) -> Maker:
    def intervals(chance: np.random.Generator, n: int, seed: int) -> Intervals:
        for trial in range(AT_ONCE):
            grades = graded(chance, n, 3)
            grades[chance.random(grades.shape) < 0.1] = MISSING
            yield krippendorff_alpha(category_counts(grades, 4), level=level, settings=Settings(seed + trial)).interval

    return intervals


def true_agreement(distance: np.ndarray, graded_as: np.ndarray = GRADED_AS) -> float:
    """Kappa and alpha of the population, which are one: both annotators grade alike. `distance` is 0 for equals."""
    both = np.einsum("t,ti,tj->ij", PREVALENCE, graded_as, graded_as)
    share = both.sum(axis=0)
    return 1 - (both * distance).sum() / (np.outer(share, share) * distance).sum()


def ordinal_distance() -> np.ndarray:
    """Krippendorff's: the squared sum of the shares from one grade to the other, half of the two ends."""
    share = PREVALENCE @ GRADED_AS
    reach = np.cumsum(share) - share / 2
    return (reach[:, None] - reach[None, :]) ** 2


def lines_of_means() -> dict[str, Line]:
    ndcg = mean_like_ndcg()
    return {
        "mean, as nDCG": Line("mean", ndcg, of_mean(like_ndcg)),
        "mean, as RR": Line("mean", float(RECIPROCALS @ CHANCES), of_mean(like_rr)),
        "mean, as AP": Line("mean", 0.5 / 3.3, of_mean(like_ap)),
        "mean, P@5 of 0.08": Line("mean", 0.08, of_mean(hard_precision)),
        "mean, nDCG, 90 % zeros": Line("mean", 0.1 * 2.2 / 3.8, of_mean(mostly_zero)),
        "mean, RR, 80 % ones": Line("mean", float(RANKS @ FIRST_RANK), of_mean(mostly_first)),
        **{
            f"mean, success of {share:.0%}": Line("mean", share, of_mean(success(share), SUCCESS))
            for share in (0.5, 0.9, 0.97)
        },
        "mean, three strata": Line("stratified", LEVELS.mean() * ndcg, of_strata),
        **{
            f"mean weighted to traffic, {words}, {plan}": Line("traffic", log.truth, of_traffic(log, plan))
            for words, log in (("graded", search_log(is_yes_or_no=False)), ("yes or no", search_log(is_yes_or_no=True)))
            for plan in Plan
        },
        "mean, four wordings of each question": Line("variants", ndcg, of_variants(False)),
        "difference, four wordings of each question": Line("variants", 0.0, of_variants(True)),
        "difference, 50 % differ": Line("difference", 0.5 * (mean_like_ndcg(0.06) - ndcg), of_difference(anew)),
        "difference, 20 % differ": Line("difference", 0.01, of_difference(moved(0.2))),
        "difference, 10 % differ": Line("difference", 0.005, of_difference(moved(0.1))),
        "difference, 3 % differ": Line("difference", 0.0015, of_difference(moved(0.03))),
        "difference, 30 % differ, skew": Line("difference", 0.045, of_difference(moved(0.3, is_skew=True))),
        **{
            f"mean over queries and {people} people, {apart:g} apart": Line("people", ndcg, of_people(people, apart))
            for people in PEOPLE
            for apart in LENIENCY
        },
        "mean over queries and 3 people, 0 apart, much chance": Line("people", ndcg, of_people(3, 0.0, 0.3)),
    }


def lines_of_agreement() -> dict[str, Line]:
    level = np.arange(4)
    nominal, squared = (level[:, None] != level).astype(float), (level[:, None] - level) ** 2.0
    return {
        "Cohen's κ": Line("kappa", true_agreement(nominal), of_kappa("nominal")),
        "Cohen's κ, quadratic": Line("kappa", true_agreement(squared), of_kappa("quadratic")),
        "Krippendorff's α, nominal": Line("alpha", true_agreement(nominal), of_alpha("nominal")),
        "Krippendorff's α, ordinal": Line("alpha", true_agreement(ordinal_distance()), of_alpha("ordinal")),
    }


def lines_of_levels() -> dict[str, Line]:
    """Kappas near 0.2, 0.5 and 0.8; of those who else guess, each kappa is the square of the share they know."""
    level = np.arange(4)
    distances = {"nominal": (level[:, None] != level).astype(float), "quadratic": (level[:, None] - level) ** 2.0}
    guessed = np.tile(PREVALENCE, (4, 1))
    found = {}
    for words, kind, otherwise, shares in (
        ("guessed", "nominal", guessed, (0.447, 0.707, 0.894)),
        ("guessed", "quadratic", guessed, (0.447, 0.707, 0.894)),
        ("near misses", "quadratic", TAKEN_AS, (0.274, 0.62, 0.864)),
    ):
        for share in shares:
            graded_as = share * np.eye(4) + (1 - share) * otherwise
            truth = true_agreement(distances[kind], graded_as)
            found[f"κ of {truth:.1f}, {kind}, {words}"] = Line("levels", truth, of_kappa(kind, graded_as))
    return found


# Pairs that belong to queries


def clustered_grades(
    chance: np.random.Generator,
    queries: int,
    each: int,
    level: float,
    *,
    varies: bool,
    people: int = 2,
    prevalence: Sequence[float] = PREVALENCE,
) -> tuple[np.ndarray, np.ndarray]:
    """Grades of pairs, items by people, and the query of each; `each` is the mean number of pairs of a query.

    On a query everybody knows the grade in the same share of cases, and else guesses. That share squared is `level` on
    average, so that every kappa and alpha of the population is `level`. Where it `varies`, it is from a beta
    distribution, uniform for 0.5, grades of one query are more alike than those of all, and numbers of pairs differ.
    """
    everywhere = np.asarray(prevalence)
    if varies:
        known = np.sqrt(chance.beta(2 * level, 2 - 2 * level, queries))
        own = chance.dirichlet(3 * everywhere, queries)
        sizes = 2 + chance.geometric(1 / (each - 1), queries) - 1 if each > 2 else np.full(queries, each)
    else:
        known, own, sizes = np.full(queries, level**0.5), np.tile(everywhere, (queries, 1)), np.full(queries, each)
    query = np.repeat(np.arange(queries), sizes)
    true = (chance.random((len(query), 1)) > own.cumsum(axis=1)[query, :-1]).sum(axis=1)
    guessed = chance.choice(len(everywhere), p=everywhere, size=(len(query), people))
    return np.where(chance.random(guessed.shape) < known[query, None], true[:, None], guessed), query


def of_clusters(level: float, each: int, *, varies: bool, share: float = 1.0, over: str = "queries") -> Maker:
    """Intervals of ordinal alpha over queries, or over items; `share` of n queries are drawn, with `each` pairs."""

    def intervals(chance: np.random.Generator, n: int, seed: int) -> Intervals:
        for trial in range(AT_ONCE):
            grades, query = clustered_grades(chance, round(share * n), each, level, varies=varies)
            clusters = query if over == "queries" else None
            counts = category_counts(grades, len(PREVALENCE))
            yield krippendorff_alpha(
                counts, level="ordinal", settings=Settings(seed + trial), clusters=clusters
            ).interval

    return intervals


def lines_of_clusters() -> dict[str, Line]:
    """Alpha over queries for n of them, and for three tenths of n: 15, 30 and 60."""
    lines = {}
    for level in (0.2, 0.5, 0.8, 0.9):
        for varies, words in ((False, "alike"), (True, "as varied as queries are")):
            for each in (2, 8, 30):
                for share, size in ((1.0, "n"), (0.3, "0.3 n")):
                    name = f"α of {level}, {each} pairs of each of {size} queries, {words}"
                    lines[name] = Line("clusters", level, of_clusters(level, each, varies=varies, share=share))
            name = f"α of {level}, 8 pairs of each of n queries, {words}, over items"
            lines[name] = Line("clusters", level, of_clusters(level, 8, varies=varies, over="items"))
    return lines


def coverage(truth: float, make: Maker, n: int, trials: int) -> float:
    """The share of intervals that hold the truth; one that is undefined does not."""
    held = 0
    for batch in range(trials // AT_ONCE):
        chance = np.random.Generator(np.random.PCG64([n, batch]))
        held += sum(bool(ends) and ends[0] <= truth <= ends[1] for ends in make(chance, n, batch * AT_ONCE))
    return held / (trials // AT_ONCE * AT_ONCE)


def false_positives(n: int, trials: int) -> float:
    """The share of p up to 0.05 where nothing differs."""
    seen = 0
    for batch in range(trials // AT_ONCE):
        chance = np.random.Generator(np.random.PCG64([n, batch]))
        change = like_ndcg(chance, (n, AT_ONCE)) - like_ndcg(chance, (n, AT_ONCE))
        seen += sum(p <= 0.05 for p in sign_flip_p(change, seed=batch, resamples=10_000))
    return seen / (trials // AT_ONCE * AT_ONCE)


# Gates

Truth = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]
"""Makes the values of a baseline and of a run on n queries."""


class GateLine(NamedTuple):
    """A gate and runs of which it is known what it should say."""

    facts: dict[str, object]
    draw: Truth
    figure: str = "nDCG@10"


def loses(share: float, amount: float) -> Truth:
    """A run that is the baseline but for a share of queries, on which it loses so much."""
    return lambda chance, n: (np.full(n, 0.5), 0.5 - amount * (chance.random(n) < share))


def equal(chance: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two runs as good as each other, which differ on every query."""
    return like_ndcg(chance, (n,)), like_ndcg(chance, (n,))


def scores_of(draw: Callable[..., np.ndarray]) -> Truth:
    return lambda chance, n: (np.zeros(n), draw(chance, (n,)))


AT_LEAST = {"at_least": 0.9, "on": "interval"}
MARGIN = {"no_worse_than": "baseline", "margin": 0.02}
GATES = {
    "drop of .02 at most; true drop .05, on one query in ten": GateLine(MARGIN, loses(0.1, 0.5)),
    "drop of .02 at most; true drop .02, on one query in ten": GateLine(MARGIN, loses(0.1, 0.2)),
    "drop of .02 at most; true drop .02, on one query in 25": GateLine(MARGIN, loses(0.04, 0.5)),
    "no worse beyond noise; equal runs": GateLine({"no_worse_than": "baseline"}, equal),
    "Success of .9 at least; true .85": GateLine(AT_LEAST, scores_of(success(0.85)), "Success@5"),
    "Success of .9 at least; true .9": GateLine(AT_LEAST, scores_of(success(0.9)), "Success@5"),
    "Success of .9 at least; true .97": GateLine(AT_LEAST, scores_of(success(0.97)), "Success@5"),
    "RR of .9 at least; true .856": GateLine(AT_LEAST, scores_of(mostly_first), "RR"),
}


def outcomes(line: GateLine, n: int, trials: int) -> tuple[float, float]:
    """The shares of runs that pass and that fail."""
    rule = rule_of({"name": "gate", "figure": line.figure, **line.facts})
    chance = np.random.Generator(np.random.PCG64([n, 7]))
    queries, passed, failed = [str(place) for place in range(n)], 0, 0
    for _ in range(trials):
        baseline, values = line.draw(chance, n)
        state = decide(rule, RunEvidence(queries, {line.figure: values}, {line.figure: baseline})).state
        passed, failed = passed + (state == PASSED), failed + (state == FAILED)
    return passed / trials, failed / trials


def print_gates(trials: int) -> None:
    def shown(shares: tuple[float, float]) -> list[str]:
        return [" / ".join(f"{share:.1%}" for share in shares)]

    rows = {words: [partial(outcomes, line, n, trials) for n in GATE_SIZES] for words, line in GATES.items()}
    print_cells(["passes / fails", *of_sizes(GATE_SIZES)], rows, shown)


# Looks

LOOKS = range(10, 101, 2)
LONGEST = 300
"""Queries for which the evidence is looked at after each."""
PATIENCE = 5
"""Samples go on for so many times the queries of the fixed test."""


def of_equals(first: Callable[..., np.ndarray], share: float = 1.0) -> Callable[..., np.ndarray]:
    """Differences of two runs of the same population, which answer a share of queries differently."""
    return lambda chance, shape: (first(chance, shape) - first(chance, shape)) * (chance.random(shape) < share)


def two_values(down: float, often: float) -> Callable[..., np.ndarray]:
    """Differences with a mean of 0: down so far so often, and else up a little."""
    return lambda chance, shape: np.where(chance.random(shape) < often, -down, down * often / (1 - often))


def gains(mean: float, spread: float) -> Callable[..., np.ndarray]:
    """Differences that are normal, cut at -1 and 1."""
    return lambda chance, shape: np.clip(chance.normal(mean, spread, shape), -1, 1)


def half_up(mean: float) -> Callable[..., np.ndarray]:
    """Every second query is answered anew, every second one is answered better."""

    def draw(chance: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        anew_by = chance.beta(2.2, 1.6, shape) - chance.beta(2.2, 1.6, shape)
        up = 2 * mean * (chance.random(shape) < 0.5)
        return np.clip(anew_by * (chance.random(shape) < 0.5) + up, -1, 1)

    return draw


def more_success(before: float, after: float) -> Callable[..., np.ndarray]:
    return lambda chance, shape: success(after)(chance, shape) - success(before)(chance, shape)


EQUALS = {
    "every query differs, as nDCG": of_equals(like_ndcg),
    "half of them differ": of_equals(like_ndcg, 0.5),
    "one in ten differs": of_equals(like_ndcg, 0.1),
    "yes or no, half right": of_equals(success(0.5)),
    "down by .5 on one in ten, up by .056 on the others": two_values(0.5, 0.1),
    "down by 1 on one in fifty, up by .02 on the others": two_values(1.0, 0.02),
}
BETTER = {
    "nDCG +.05, half of the queries differ": half_up(0.05),
    "nDCG +.10, half of the queries differ": half_up(0.1),
    "+.03, standard deviation .2": gains(0.03, 0.2),
    "+.10, standard deviation .3": gains(0.1, 0.3),
    "success from 50 to 60 %": more_success(0.5, 0.6),
    "success from 80 to 90 %": more_success(0.8, 0.9),
    "+.02, standard deviation .1": gains(0.02, 0.1),
    "+.05, standard deviation .1": gains(0.05, 0.1),
}


def chance_of_looks(trials: int, seed: int) -> Iterator[np.random.Generator]:
    """One source of chance for each batch of samples."""
    return (np.random.Generator(np.random.PCG64([seed, batch])) for batch in range(trials // AT_ONCE))


def fixed_wins(draw: Callable[..., np.ndarray], looks: Sequence[int], trials: int) -> float:
    """The share of samples in which the randomisation test finds a difference at any of these numbers of queries."""
    found = []
    for chance in chance_of_looks(trials, 1):
        change = draw(chance, (max(looks), AT_ONCE))
        p_values = [sign_flip_p(change[:n], resamples=2_000) for n in looks]
        found.append((np.array(p_values) < LEVEL).any(axis=0))
    return float(np.mean(found))


def evidence_wins(draw: Callable[..., np.ndarray], trials: int) -> float:
    """The share of samples in which the evidence is enough after any of `LONGEST` queries."""
    samples = (evidence_of(draw(chance, (LONGEST, AT_ONCE))) for chance in chance_of_looks(trials, 2))
    return float(np.mean([[one.strongest >= NEEDED for one in sample] for sample in samples]))


def price(draw: Callable[..., np.ndarray], trials: int) -> tuple[int, float, float]:
    """The queries of a fixed test with a power of 80 %, and those until the evidence is enough, divided by them: of
    half of the samples, and of four in five.
    """
    known = draw(np.random.Generator(np.random.PCG64(3)), (200_000,))
    fixed = queries_needed(float(known.mean()), float(known.std())) or 0
    after: list[float] = []
    for chance in chance_of_looks(trials, 4):
        for one in evidence_of(draw(chance, (PATIENCE * fixed, AT_ONCE))):
            reached = one.alone >= NEEDED
            after.append(reached.argmax() + 1 if reached.any() else np.inf)
    return fixed, *(float(np.quantile(after, share, method="higher")) / fixed for share in (0.5, 0.8))


def print_looks(trials: int) -> None:
    def tasks(draw: Callable[..., np.ndarray]) -> list[Callable[[], float]]:
        fixed = [partial(fixed_wins, draw, looks, trials) for looks in ([100], LOOKS)]
        return [*fixed, partial(evidence_wins, draw, trials)]

    def shown(found: tuple[int, float, float]) -> list[str]:
        fixed, half, most = found
        return [f"{fixed:,}", f"× {half:.1f}", f"× {most:.1f}"]

    head = ["called different, of runs that are equal", "fixed test at 100", "at any of 46 looks"]
    equals = {words: tasks(draw) for words, draw in EQUALS.items()}
    print_cells([*head, "evidence, at any of 300"], equals, as_percent)
    head = ["queries until it is settled", "fixed test", "evidence, half of the time", "four times in five"]
    print_cells(head, {words: [partial(price, draw, trials)] for words, draw in BETTER.items()}, shown)


# Boards

BOARDS = (5, 10, 20)
ON_BOARD = 50
AHEAD = 0.1


class Called(NamedTuple):
    """What is called better or worse on a board: whether anything is, the false share of it, the found share of what
    is true (1 where nothing is), each by no correction, Holm, Benjamini and Hochberg, and evidence after Holm.
    """

    anything: np.ndarray
    false: np.ndarray
    found: np.ndarray


def board_of(chance: np.random.Generator, runs: int, ahead: float = 0.0) -> np.ndarray:
    """Values of runs on the same queries: every second one is as the query is hard, the others are drawn anew.

    With `ahead` every second run is better by so much, where there is room.
    """
    hard = like_ndcg(chance, (ON_BOARD, 1))
    values = np.where(chance.random((ON_BOARD, runs)) < 0.5, hard, like_ndcg(chance, (ON_BOARD, runs)))
    return np.clip(values + ahead * (np.arange(runs) % 2), 0.0, 1.0 + ahead)


def called(values: np.ndarray, ahead: float = 0.0) -> Called:
    """What each way calls different on one board, where runs at odd places are `ahead`."""
    from scipy.stats import ttest_1samp

    one, other = np.triu_indices(values.shape[1], 1)
    change = values[:, other] - values[:, one]
    apart = [places(values, correction=way).better for way in Correction]
    evidence = evidence_of(np.clip(change, -1.0, 1.0))
    said = np.array(
        [
            ttest_1samp(change, 0.0).pvalue < LEVEL,
            *((better | better.T)[one, other] for better in apart),
            [pair.is_settled for pair in evidence],
        ]
    )
    is_true = ((one + other) % 2 == 1) & (ahead > 0)
    number = said.sum(axis=1)
    false = (said & ~is_true).sum(axis=1) / np.maximum(number, 1)
    found = (said & is_true).sum(axis=1) / max(1, is_true.sum()) if is_true.any() else np.ones(len(said))
    return Called(number > 0, false, found)


def boards(runs: int, trials: int, ahead: float = 0.0) -> Called:
    """The means over so many boards."""
    chance = np.random.Generator(np.random.PCG64([runs, round(100 * ahead)]))
    seen = [called(board_of(chance, runs, ahead), ahead) for _ in range(trials)]
    return Called(*(np.mean(part, axis=0) for part in zip(*seen, strict=True)))


def print_boards(trials: int) -> None:
    def anything(seen: Called) -> list[str]:
        return [f"{share:.1%}" for share in seen.anything]

    def false_and_found(seen: Called) -> list[str]:
        return [f"{false:.1%}; {found:.0%}" for false, found in zip(seen.false, seen.found, strict=True)]

    ways = ["each pair alone", "Holm", "Benjamini–Hochberg", "evidence, Holm"]
    equals = {f"{runs} runs, {runs * (runs - 1) // 2} pairs": [partial(boards, runs, trials)] for runs in BOARDS}
    print_cells(["anything called better, of equal runs", *ways], equals, anything)
    halves = {f"{runs} runs": [partial(boards, runs, trials, AHEAD)] for runs in BOARDS}
    head = f"false of what is called, half of the runs +{AHEAD:g}; found of what is true"
    print_cells([head, *ways], halves, false_and_found)


# Samples of pairs

SAMPLE_SIZES = (100, 200, 500)
PAIR_QUERIES = 200
PAIR_DEPTH = 10
ALIKE = (0.5, 0.2, 0.0)
SHARES = (0.2, 0.05)


def judged_pairs(
    chance: np.random.Generator, share: float, alike: float, queries: int = PAIR_QUERIES, depth: int = PAIR_DEPTH
) -> np.ndarray:
    """Relevance of a run's results, a row for each query: a share is relevant, those of a query are alike."""
    beta = share * (1 - alike) / alike if alike else 0.0
    level = chance.beta(beta, beta * (1 - share) / share, queries) if alike else np.full(queries, share)
    return (chance.random((queries, depth)) < level[:, None]).astype(float)


def of_pairs(share: float, alike: float, estimate: Callable[..., SampledFigure]) -> Maker:
    """Of each sample `n` is the number of pairs. Every fourth query has five results only, of ten places."""

    def make(chance: np.random.Generator, n: int, seed: int) -> Intervals:
        found = np.where(np.arange(PAIR_QUERIES) % 4 == 0, PAIR_DEPTH // 2, PAIR_DEPTH)
        query = np.repeat(np.arange(PAIR_QUERIES), found)
        place = np.concatenate([np.arange(many) for many in found])
        for number in range(AT_ONCE):
            relevant = judged_pairs(chance, share, alike)[query, place]
            drawn = sample_pairs(query, n, seed + number)
            at = drawn.positions
            pairs = SampledPairs(relevant[at], np.full(n, drawn.probability), query[at], found, PAIR_DEPTH)
            yield estimate(pairs).estimate.interval or (0.0, 1.0)

    return make


def lines_of_pairs() -> dict[str, Line]:
    return {
        f"P@10, {share:.0%} relevant, alike by {alike:g}, {name}": Line(
            "pairs", share * 0.875, of_pairs(share, alike, estimate)
        )
        for name, estimate in (("Hájek", hajek), ("Horvitz and Thompson", horvitz_thompson))
        for share in SHARES
        for alike in ALIKE
    }


# Choosing among equal runs by their scores on test

RUNS = (5, 20, 100)
STEPS = (0.0, 0.01, 0.03, 0.06)
TEST_QUERIES = 100


def overstated(step: float, runs: int, trials: int) -> float:
    """By how much the best published mean of equal runs is above their true mean, on average.

    One after the other is published only if it beats the best so far by `step`; with 0 every better one.
    """
    over = []
    for chance in chance_of_looks(trials, 5):
        means = np.concatenate([like_ndcg(chance, (10, runs, TEST_QUERIES)).mean(axis=2) for _ in range(AT_ONCE // 10)])
        for sample in means:
            best = sample[0]
            for mean in sample[1:]:
                best = mean if beats_by(step, mean, best) else best
            over.append(best - mean_like_ndcg())
    return float(np.mean(over))


def print_ladder(trials: int) -> None:
    def shown(above: float) -> list[str]:
        return [f"{above:.4f}"]

    words = {step: f"step {step:g}" if step else "all are published" for step in STEPS}
    rows = {words[step]: [partial(overstated, step, runs, trials) for runs in RUNS] for step in STEPS}
    head = ["best published score of equal runs is too high by", *(f"{runs} runs" for runs in RUNS)]
    print_cells(head, rows, shown)


# Printing


_tasks: Sequence[Callable[[], Any]] = ()


def _perform(number: int) -> Any:
    return _tasks[number]()


def in_order(tasks: Sequence[Callable[[], T]]) -> Iterator[T]:
    """What the tasks return, in their order. Each takes its own source of chance, so any process may have any of them.

    Processes that are forked have the tasks already: none could be sent to them.
    """
    global _tasks
    _tasks = tasks
    with multiprocessing.get_context("fork").Pool() as pool:
        yield from pool.imap(_perform, range(len(tasks)))


def print_cells(
    head: Sequence[str], rows: Mapping[str, Sequence[Callable[[], T]]], shown: Callable[[T], list[str]]
) -> list[T]:
    """A table of what the tasks of each row return, each as one cell or several; and these results."""
    for cells in (head, ["---"] * len(head)):
        print(f"| {' | '.join(cells)} |", flush=True)
    found = in_order([task for tasks in rows.values() for task in tasks])
    results = []
    for words, tasks in rows.items():
        own = [next(found) for _ in tasks]
        print(f"| {' | '.join([words, *(cell for one in own for cell in shown(one))])} |", flush=True)
        results += own
    print(flush=True)
    return results


def of_sizes(sizes: Sequence[int]) -> list[str]:
    return [f"n = {n}" for n in sizes]


def as_percent(share: float) -> list[str]:
    return [f"{share:.1%}"]


def print_table(found: dict[str, Line], sizes: tuple[int, ...], only: set[str], trials: int) -> None:
    """Each line of these groups, of all where none is named, at each size."""
    rows = {
        words: [partial(coverage, line.truth, line.make, n, trials) for n in sizes]
        for words, line in found.items()
        if not only or line.group in only
    }
    if rows:
        shares = print_cells(["95 % interval of", *of_sizes(sizes)], rows, as_percent)
        print(f"Mean {np.mean(shares):.1%}, lowest {min(shares):.1%}.\n", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--trials", type=int, default=2_000, help="samples a figure, in hundreds (default: 2000)")
    parser.add_argument("--quick", action="store_true", help="400 samples a figure, of agreement 100")
    parser.add_argument("--only", default="", metavar="GROUPS", help="names from the list above, divided by commas")
    args = parser.parse_args()
    trials = 400 if args.quick else args.trials
    if trials < AT_ONCE:
        parser.error(f"--trials is {AT_ONCE} or more")
    only = set(filter(None, args.only.split(",")))
    start = time.perf_counter()
    print_table(lines_of_means(), SIZES, only, trials)
    print_table(lines_of_pairs(), SAMPLE_SIZES, only, trials)
    if not only or "gates" in only:
        print_gates(trials)
    if not only or "looks" in only:
        print_looks(trials)
    if not only or "board" in only:
        print_boards(max(AT_ONCE, trials // 4))
    if not only or "ladder" in only:
        print_ladder(trials)
    if not only or "false" in only:
        rows = {FALSE: [partial(false_positives, n, trials) for n in SIZES]}
        print_cells(["of two runs that do not differ", *of_sizes(SIZES)], rows, as_percent)
    print_table({**lines_of_agreement(), **lines_of_levels()}, OF_AGREEMENT, only, max(AT_ONCE, trials // 4))
    print_table(lines_of_clusters(), OF_AGREEMENT, only, max(AT_ONCE, trials // 4))
    print(f"{trials} trials a figure, {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
