"""Scoring against pytrec-eval-terrier: nDCG@10, AP, RR, P@10 and Recall@100 of one run, a value for each query.

    python benchmarks/scoring.py [--queries 1000] [--depth 1000] [--repeats 5]

Karat also gives a bootstrap interval for each measure, pytrec-eval-terrier none. Each side starts from its own form
in memory (integer columns; dictionaries), and the two take turns. One line is printed: the median of their times
and the ratio, above 1 when Karat is faster. The values are compared first; a difference above 1e-12 is an error.
"""

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import pytrec_eval

from apps.evaluation.columns import Vocabulary, judged_columns, ranked_columns
from apps.evaluation.measures import parse_measures
from apps.evaluation.scoring import RunScores, score_run

MEASURES = parse_measures("nDCG@10 AP RR P@10 Recall@100")
THEIRS = ["ndcg_cut_10", "map", "recip_rank", "P_10", "recall_100"]
FAMILIES = {"ndcg_cut.10", "map", "recip_rank", "P.10", "recall.100"}


def collection(queries: int, depth: int, seed: int) -> tuple[dict, dict]:
    """Judgements of about a hundred blocks a query, and a run with a tie for every tenth score."""
    chance = random.Random(seed)
    qrels, run = {}, {}
    for number in range(queries):
        found = [f"block-{place:07}" for place in chance.sample(range(1_000_000), depth)]
        judged = found[: min(60, depth)] + [f"other-{place}" for place in range(40)]
        qrels[f"Q{number:05}"] = {block: chance.choice([0, 0, 0, 1, 2, 3]) for block in judged}
        run[f"Q{number:05}"] = {block: round(chance.random() * depth * 5) / 7 for block in found}
    return qrels, run


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def largest_difference(ours: RunScores, theirs: dict, queries: tuple[str, ...]) -> float:
    return max(
        abs(value - theirs[query][name])
        for query, row in zip(queries, ours.values.tolist(), strict=True)
        for name, value in zip(THEIRS, row, strict=True)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--depth", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()

    qrels, run = collection(args.queries, args.depth, seed=1)
    blocks = Vocabulary()
    judged = judged_columns(((q, b, g) for q in qrels for b, g in qrels[q].items()), blocks)
    ranked, _ = ranked_columns(((q, b, s) for q in run for b, s in run[q].items()), judged.queries, blocks)
    ids = list(blocks)
    judge = pytrec_eval.RelevanceEvaluator(qrels, FAMILIES)

    gap = largest_difference(score_run(MEASURES, judged, ranked, ids), judge.evaluate(run), judged.queries)
    if gap > 1e-12:
        print(f"the values differ by {gap}", file=sys.stderr)
        return 1
    ours, theirs = [], []
    for _ in range(args.repeats):
        ours.append(seconds(lambda: score_run(MEASURES, judged, ranked, ids)))
        theirs.append(seconds(lambda: judge.evaluate(run)))
    ratio = statistics.median(theirs) / statistics.median(ours)
    print(
        f"scoring: {ratio:.2f} x pytrec-eval-terrier ({statistics.median(ours):.3f} s with intervals against "
        f"{statistics.median(theirs):.3f} s without; {args.queries} queries, depth {args.depth})"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
