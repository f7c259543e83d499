"""Scoring against pytrec-eval-terrier: nDCG@10, AP, RR, P@10 and Recall@100 of one run, a value for each query.

    python benchmarks/scoring.py [--queries 1000] [--depth 1000] [--repeats 5]

Karat also gives a bootstrap interval for each measure, pytrec-eval-terrier none. Two lines are printed, each the median
of the repeats, in which the two sides take turns; both are processor time, of all threads:

memory  each side starts from its own form in memory: integer columns; dictionaries
files   as processes, from two files to the end: `karat score` writes its report as JSON with every query's values; a
        script reads with pytrec-eval-terrier's own functions and scores. Scores stand with six decimals, as Lucene's
        tools write them

`benchmarks/start_up.py` has the same processes on four lines.

The values are compared first; a difference above 1e-12 is an error.
"""

import argparse
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import pytrec_eval

from apps.metrics.columns import judged_columns, ranked_columns
from apps.metrics.measures.registry import parse_measures
from apps.metrics.scoring import RunScores, score_run
from apps.metrics.vocabulary import Vocabulary

MEASURES = parse_measures("nDCG@10 AP RR P@10 Recall@100")
THEIRS = ["ndcg_cut_10", "map", "recip_rank", "P_10", "recall_100"]
FAMILIES = {"ndcg_cut.10", "map", "recip_rank", "P.10", "recall.100"}
KARAT = [Path(sys.executable).parent / "karat", "score", "--per-query", "--format", "json"]
TERRIER = f"""
import sys, pytrec_eval
with open(sys.argv[1]) as judged, open(sys.argv[2]) as ranked:
    qrels, run = pytrec_eval.parse_qrel(judged), pytrec_eval.parse_run(ranked)
print(pytrec_eval.RelevanceEvaluator(qrels, {FAMILIES}).evaluate(run))
"""


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
    """Processor seconds of this process and of those that it starts."""
    start = spent()
    work()
    return spent() - start


def spent() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def largest_difference(ours: RunScores, theirs: dict, queries: tuple[str, ...]) -> float:
    return max(
        abs(value - theirs[query][name])
        for query, row in zip(queries, ours.values.tolist(), strict=True)
        for name, value in zip(THEIRS, row, strict=True)
    )


def write_files(folder: Path, qrels: dict, run: dict) -> tuple[Path, Path]:
    """The collection as TREC files, the run best first."""
    judged, ranked = folder / "qrels.txt", folder / "run.txt"
    with judged.open("w") as out:
        out.writelines(f"{query} 0 {block} {grade}\n" for query in qrels for block, grade in qrels[query].items())
    with ranked.open("w") as out:
        for query, scores in run.items():
            best = sorted(scores.items(), key=lambda row: -row[1])
            out.writelines(f"{query} Q0 {block} {at} {score:.6f} a\n" for at, (block, score) in enumerate(best, 1))
    return judged, ranked


def run_karat(judged: Path, ranked: Path) -> None:
    subprocess.run([*KARAT, "--qrels", judged, "--run", ranked], check=True, capture_output=True)


def run_terrier(judged: Path, ranked: Path) -> None:
    subprocess.run([sys.executable, "-c", TERRIER, judged, ranked], check=True, capture_output=True)


def in_turns(ours: Callable[[], object], theirs: Callable[[], object], repeats: int) -> tuple[float, float]:
    """The medians of both."""
    times = [(seconds(ours), seconds(theirs)) for _ in range(repeats)]
    return statistics.median(mine for mine, _ in times), statistics.median(other for _, other in times)


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
    ours, theirs = in_turns(lambda: score_run(MEASURES, judged, ranked, ids), lambda: judge.evaluate(run), args.repeats)
    print_line("memory", ours, theirs, args)
    with tempfile.TemporaryDirectory() as name:
        files = write_files(Path(name), qrels, run)
        print_line("files", *in_turns(lambda: run_karat(*files), lambda: run_terrier(*files), args.repeats), args)
    return 0


def print_line(what: str, ours: float, theirs: float, args: argparse.Namespace) -> None:
    print(
        f"{what}: {ours / theirs:.2f} of pytrec-eval-terrier's time ({ours:.3f} s with intervals against "
        f"{theirs:.3f} s without; {args.queries} queries, depth {args.depth})",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
