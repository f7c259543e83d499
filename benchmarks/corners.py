"""How often intervals of agreement hold the truth where they have it hardest: what a sceptic would try.

    python benchmarks/corners.py [--trials 2000] [--only three]

Read as `benchmarks/coverage.py`; one standard error is 0.5 points at 2,000 trials. Populations:

cohen       two annotators on a scale of which one grade takes 90 % (kappa 0.2, 0.5 and 0.8), on two even grades, on
            three, and on five with mistakes that are near misses (quadratic weights)
three       three annotators on the 90 % scale where kappa is 0.2, every tenth cell empty
weighted    three annotators, every tenth cell empty, on four grades with near misses, quadratic kappa 0.5 and 0.9
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from apps.metrics.agreement.alpha import krippendorff_alpha
from apps.metrics.agreement.counting import MISSING, category_counts, pair_table
from apps.metrics.agreement.multi_rater import conger_kappa, fleiss_kappa, gwet_ac
from apps.metrics.agreement.pairs import cohen_kappa
from apps.metrics.agreement.results import agreement_weights
from apps.metrics.agreement.uncertainty import Settings
from benchmarks.coverage import AT_ONCE, OF_AGREEMENT, Intervals, Line, Maker, print_table

ONE_GRADE = (0.9, 0.1)
FOUR = (0.5, 0.2, 0.18, 0.12)
FIVE = (0.7, 0.12, 0.08, 0.06, 0.04)
NEARNESS = (0.0, 1.0, 0.2, 0.04, 0.008)
HALVINGS = 60

SPREAD_EVENLY, NEAR = "guessed", "near misses"


def graded_as(prevalence: np.ndarray, share: float, mistakes: str) -> np.ndarray:
    """Chances of each grade by the true one: known in a share of cases, else guessed or missed, mostly by one."""
    size = len(prevalence)
    steps = np.abs(np.arange(size)[:, None] - np.arange(size))
    missed = np.array(NEARNESS)[steps]
    otherwise = np.tile(prevalence, (size, 1)) if mistakes == SPREAD_EVENLY else missed / missed.sum(1, keepdims=True)
    return share * np.eye(size) + (1 - share) * otherwise


def true_value(prevalence: np.ndarray, chances: np.ndarray, figure: str) -> float:
    """Kappa or alpha of the population with nominal, quadratic or ordinal weights, or Gwet's AC1 or AC2."""
    size = len(prevalence)
    both = np.einsum("t,ti,tj->ij", prevalence, chances, chances)
    share = both.sum(axis=0)
    if figure == "ordinal":
        middle = np.cumsum(share) - share / 2
        weights = 1 - (middle[:, None] - middle) ** 2
    else:
        weights = agreement_weights("nominal" if figure in {"nominal", "AC1"} else "quadratic", range(size))
    met = (np.outer(share, share) * weights).sum()
    if figure in {"AC1", "AC2"}:
        met = weights.sum() / (size * (size - 1)) * (share * (1 - share)).sum()
    return float(((both * weights).sum() - met) / (1 - met))


def chances_for(prevalence: np.ndarray, kappa: float, kind: str, mistakes: str) -> np.ndarray:
    """The chances under which kappa with these weights is what is asked for."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        is_below = true_value(prevalence, graded_as(prevalence, middle, mistakes), kind) < kappa
        low, high = (middle, high) if is_below else (low, middle)
    return graded_as(prevalence, low, mistakes)


FIGURES = {
    "Cohen's κ": (
        "nominal",
        lambda rated, size, settings: cohen_kappa(pair_table(*rated.T, size), settings=settings),
    ),
    "Cohen's κ, quadratic": (
        "quadratic",
        lambda rated, size, settings: cohen_kappa(pair_table(*rated.T, size), kind="quadratic", settings=settings),
    ),
    "Fleiss' κ": (
        "nominal",
        lambda rated, size, settings: fleiss_kappa(category_counts(rated, size), settings=settings),
    ),
    "Conger's κ": ("nominal", lambda rated, size, settings: conger_kappa(rated, size, settings=settings)),
    "AC1": ("AC1", lambda rated, size, settings: gwet_ac(category_counts(rated, size), settings=settings)),
    "AC2": (
        "AC2",
        lambda rated, size, settings: gwet_ac(category_counts(rated, size), kind="quadratic", settings=settings),
    ),
    **{
        f"α, {level}": (
            "quadratic" if level == "interval" else level,
            lambda rated, size, settings, level=level: krippendorff_alpha(
                category_counts(rated, size), level=level, settings=settings
            ),
        )
        for level in ("nominal", "ordinal", "interval")
    },
}


def of_agreement(name: str, people: int, prevalence: np.ndarray, chances: np.ndarray) -> Maker:
    """Intervals of one of FIGURES; of three people's cells every tenth is empty."""
    ask = FIGURES[name][1]

    def intervals(chance: np.random.Generator, n: int, seed: int) -> Intervals:
        for trial in range(AT_ONCE):
            true = chance.choice(len(prevalence), p=prevalence, size=n)
            bounds = chances.cumsum(axis=1)[true][:, None, :-1]
            rated = (chance.random((n, people, 1)) > bounds).sum(axis=2)
            if people > 2:
                rated[chance.random(rated.shape) < 0.1] = MISSING
            yield ask(rated, len(prevalence), Settings(seed + trial)).interval

    return intervals


def lines_of_agreement() -> dict[str, Line]:
    found = {}
    rare, weighted = ("Fleiss' κ", "Conger's κ", "AC1", "α, nominal"), ("AC2", "α, ordinal", "α, interval")
    for group, people, names, shares, words, kappas, mistakes in (
        ("cohen", 2, ("Cohen's κ",), ONE_GRADE, "90/10", (0.2, 0.5, 0.8), SPREAD_EVENLY),
        ("cohen", 2, ("Cohen's κ",), (0.5, 0.5), "50/50", (0.2, 0.9), SPREAD_EVENLY),
        ("cohen", 2, ("Cohen's κ",), (0.4, 0.35, 0.25), "3 grades", (0.5,), SPREAD_EVENLY),
        ("cohen", 2, ("Cohen's κ, quadratic",), FIVE, "5 grades", (0.8, 0.9), NEAR),
        ("three", 3, rare, ONE_GRADE, "90/10", (0.2,), SPREAD_EVENLY),
        ("weighted", 3, weighted, FOUR, "4 grades", (0.5, 0.9), NEAR),
    ):
        prevalence = np.array(shares)
        for name in names:
            for kappa in kappas:
                kind = "nominal" if mistakes == SPREAD_EVENLY else "quadratic"
                chances = chances_for(prevalence, kappa, kind, mistakes)
                truth = true_value(prevalence, chances, FIGURES[name][0])
                maker = of_agreement(name, people, prevalence, chances)
                found[f"{name} of {truth:.2f}, {words}"] = Line(group, truth, maker)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--trials", type=int, default=2_000, help="samples a figure, in hundreds (default: 2000)")
    parser.add_argument("--only", default="", metavar="GROUPS", help="names from the list above, divided by commas")
    args = parser.parse_args()
    if args.trials < AT_ONCE:
        parser.error(f"--trials is {AT_ONCE} or more")
    print_table(lines_of_agreement(), OF_AGREEMENT, set(filter(None, args.only.split(","))), args.trials)
    return 0


if __name__ == "__main__":
    sys.exit(main())
