"""`karat score`: runs scored against a qrels file, without a server and without a database.

Results go to standard output, remarks and errors to standard error. Exit codes: 0 scored; 2 unusable input or
a wrong command line.
"""

from __future__ import annotations

import argparse
import sys
from typing import TextIO

from apps.common.errors import InputError
from apps.evaluation import layouts
from apps.evaluation.columns import Vocabulary
from apps.evaluation.measures import REGISTRY, Measure, parse_measure
from apps.evaluation.notation import MeasureError, split_measures
from apps.evaluation.scoring import queries_with_relevant, score_run
from apps.evaluation.significance import DEFAULT_CONFIDENCE, DEFAULT_SEED
from apps.evaluation.trecfiles import RunFile, load_qrels, load_run, looks_alike

DEFAULT_MEASURES = "nDCG@10 AP RR P@10 Recall@100"
EXIT_OK = 0
EXIT_BAD_INPUT = 2
FORMATS = {
    "table": layouts.as_table,
    "json": layouts.as_json,
    "csv": layouts.as_csv,
    "tsv": layouts.as_tsv,
}


def add_parser(subparsers: argparse._SubParsersAction) -> argparse.ArgumentParser:
    """Adds `score` to the commands of `karat`."""
    parser = subparsers.add_parser(
        "score",
        help="score runs against judgements, without a server",
        description="Score TREC runs against TREC qrels. Values equal those of trec_eval -c.",
        epilog="Files may be gzipped; - is standard input. "
        f"Measures: {', '.join(REGISTRY)}. Exit codes: 0 scored, 2 unusable input or wrong command line.",
    )
    parser.add_argument("--qrels", required=True, metavar="FILE", help="judgements: query 0 block grade")
    parser.add_argument(
        "--run",
        required=True,
        action="append",
        dest="runs",
        metavar="FILE",
        help="a run: query Q0 block rank score tag; give it again for more runs",
    )
    parser.add_argument(
        "--measures",
        default=DEFAULT_MEASURES,
        metavar="LIST",
        help=f'measures divided by spaces or commas (default: "{DEFAULT_MEASURES}")',
    )
    parser.add_argument("--per-query", action="store_true", help="also the values of every query")
    parser.add_argument("--format", choices=FORMATS, default="table", help="how to print (default: table)")
    parser.add_argument(
        "--rel-level",
        type=_whole_from_one,
        default=1,
        metavar="N",
        help="lowest relevant grade where a measure names none (default: 1)",
    )
    parser.add_argument("--seed", type=_whole, default=DEFAULT_SEED, help=f"default: {DEFAULT_SEED}")
    parser.add_argument(
        "--confidence",
        type=_share,
        default=DEFAULT_CONFIDENCE,
        metavar="SHARE",
        help=f"of the intervals (default: {DEFAULT_CONFIDENCE})",
    )
    parser.add_argument("--no-ci", action="store_true", help="without intervals")
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Scores and prints; the exit code."""
    try:
        report = _report(args, sys.stderr)
    except (InputError, MeasureError) as error:
        print(f"karat score: {error}", file=sys.stderr)
        return EXIT_BAD_INPUT
    sys.stdout.write(FORMATS[args.format](report))
    return EXIT_OK


def _report(args: argparse.Namespace, remarks: TextIO) -> layouts.Report:
    measures = _measures(args.measures, args.rel_level)
    if [args.qrels, *args.runs].count("-") > 1:
        raise MeasureError("Only one file can be standard input.")
    blocks = Vocabulary()
    judged = load_qrels(args.qrels, blocks)
    runs = []
    for path in args.runs:
        file = load_run(path, judged, blocks)
        scores = score_run(
            list(measures.values()),
            judged,
            file.ranked,
            list(blocks),
            confidence=args.confidence,
            seed=args.seed,
            with_intervals=not args.no_ci,
        )
        answered = set(file.ranked.query.tolist())
        missing = [query for number, query in enumerate(judged.queries) if number not in answered]
        _remark(file, missing, scores.judged_at_10, remarks)
        runs.append(layouts.ScoredRun(file.tag, scores, tuple(missing)))
    return layouts.Report(
        measures=measures,
        queries=judged.queries,
        with_relevant=queries_with_relevant(judged, args.rel_level),
        runs=layouts.with_distinct_tags(runs, args.runs),
        confidence=None if args.no_ci else args.confidence,
        seed=args.seed,
        with_queries=args.per_query,
    )


def _measures(text: str, rel: int) -> dict[str, Measure]:
    """The measures by the name they were asked for, each once."""
    measures = {name: parse_measure(name, rel=rel) for name in split_measures(text)}
    if not measures:
        raise MeasureError("Name at least one measure, such as nDCG@10.")
    return measures


def _remark(file: RunFile, missing: list[str], judged_at_10: float | None, remarks: TextIO) -> None:
    """What a person would want to know about the file before trusting its numbers."""
    pair = looks_alike(missing, file.unjudged)
    if pair:
        alike = f"judged query '{pair[0]}' and '{pair[1]}' of the run are not the same query"
        print(f"{file.path}: {alike}; ids must agree letter by letter.", file=remarks)
    if judged_at_10 is None:
        print(f"{file.path}: answers none of the judged queries; every value is 0.", file=remarks)
    elif judged_at_10 == 0:
        print(f"{file.path}: no block in the first ten was ever judged; check the block ids.", file=remarks)


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 0")
    return int(text)


def _whole_from_one(text: str) -> int:
    if _whole(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1")
    return int(text)


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a share between 0 and 1, such as 0.95")
    return value
