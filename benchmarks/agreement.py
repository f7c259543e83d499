"""Agreement against statsmodels and scikit-learn: 100,000 items, 3 raters, 4 grades.

    python benchmarks/agreement.py [--items 100000] [--raters 3] [--grades 4] [--repeats 5]

Karat gives every coefficient of `karat agree` (12, and 3 further ones) with a bootstrap interval of 2,000 resamples and
an analytic error. The libraries give what they have: Fleiss' kappa, and for each two raters Cohen's kappa unweighted,
linear and quadratic; statsmodels with an analytic error, scikit-learn without. Each side starts from the same matrix
of grades in memory, and they take turns. Values that both have are compared first; a difference above 1e-9 is an error.
Three lines are printed: medians in seconds, and how often Karat's time goes into each library's.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
from sklearn.metrics import cohen_kappa_score, confusion_matrix
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

from apps.metrics.agreement.overall import PairFigures, Scale, all_coefficients, every_pair
from apps.metrics.agreement.uncertainty import RESAMPLES

KINDS = {"cohen_kappa": None, "weighted_kappa_linear": "linear", "weighted_kappa_quadratic": "quadratic"}
Kappas = dict[tuple[int, int, str], float]


def grades(items: int, raters: int, size: int, seed: int) -> np.ndarray:
    """Items by raters; each sees the true grade in seven cases of ten and guesses in the others."""
    chance = np.random.default_rng(seed)
    true = chance.integers(0, size, (items, 1))
    guessed = chance.integers(0, size, (items, raters))
    return np.where(chance.random((items, raters)) < 0.7, true, guessed)


def by_statsmodels(rated: np.ndarray, size: int) -> tuple[float, Kappas]:
    counts, _ = aggregate_raters(rated, n_cat=size)
    kappas = {}
    for first, second in combinations(range(rated.shape[1]), 2):
        table = confusion_matrix(rated[:, first], rated[:, second], labels=range(size))
        for name, kind in KINDS.items():
            kappas[first, second, name] = float(cohens_kappa(table, wt=kind).kappa)
    return float(fleiss_kappa(counts)), kappas


def by_scikit_learn(rated: np.ndarray, size: int) -> Kappas:
    return {
        (first, second, name): float(
            cohen_kappa_score(rated[:, first], rated[:, second], weights=kind, labels=range(size))
        )
        for first, second in combinations(range(rated.shape[1]), 2)
        for name, kind in KINDS.items()
    }


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def largest_difference(pairs: list[PairFigures], theirs: Kappas) -> float:
    return max(
        abs((pair.figures[name].value or 0.0) - theirs[pair.first, pair.second, name])
        for pair in pairs
        for name in KINDS
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--raters", type=int, default=3)
    parser.add_argument("--grades", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()

    rated = grades(args.items, args.raters, args.grades, seed=1)
    scale = Scale(args.grades, tuple(float(grade) for grade in range(args.grades)), is_numeric=True)
    fleiss, theirs = by_statsmodels(rated, args.grades)
    ours, pairs = all_coefficients(rated, scale), every_pair(rated, scale)
    gap = max(
        largest_difference(pairs, theirs),
        largest_difference(pairs, by_scikit_learn(rated, args.grades)),
        abs((ours["fleiss_kappa"].value or 0.0) - fleiss),
    )
    if gap > 1e-9:
        print(f"the values differ by {gap}", file=sys.stderr)
        return 1
    times: dict[str, list[float]] = {"all": [], "pairs": [], "statsmodels": [], "scikit-learn": []}
    for _ in range(args.repeats):
        times["all"].append(seconds(lambda: all_coefficients(rated, scale)))
        times["pairs"].append(seconds(lambda: every_pair(rated, scale)))
        times["statsmodels"].append(seconds(lambda: by_statsmodels(rated, args.grades)))
        times["scikit-learn"].append(seconds(lambda: by_scikit_learn(rated, args.grades)))
    told = {name: statistics.median(values) for name, values in times.items()}
    together = told["all"] + told["pairs"]
    print(
        f"agreement: {together:.3f} s for {args.items:,} x {args.raters} x {args.grades}, intervals of {RESAMPLES:,} "
        f"resamples: {len(ours)} coefficients in {told['all']:.3f} s, 5 of each pair in {told['pairs']:.3f} s"
    )
    for name, what in (("statsmodels", "Fleiss and 3 kappas of each pair"), ("scikit-learn", "3 kappas of each pair")):
        print(f"agreement: {told[name] / together:.2f} x {name} ({told[name]:.3f} s for {what})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
