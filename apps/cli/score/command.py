"""`karat score`: runs scored against a qrels file or a file of triples, without a server and without a database.

Results go to standard output, warnings and errors to standard error. Exit codes: 0 scored; 2 unusable input or a wrong
command line.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from typing import Any

from apps.cli.arguments import finite, share, whole, whole_from_one
from apps.cli.score.scoring import scorecard_of
from apps.cli.scorecards import FORMATS
from apps.common.errors import InputError, InputErrors
from apps.common.files.faults import as_lines
from apps.metrics.expected.measures import DEFAULT_HIT_MEASURES
from apps.metrics.expected.rules import BLOCK, TEXT
from apps.metrics.measures.entries import REGISTRY
from apps.metrics.measures.notation import MeasureError, faults_of
from apps.metrics.measures.registry import DEFAULT_MEASURES, DEFAULT_TEXT_MEASURES
from apps.metrics.scorecard import Scorecard
from apps.metrics.statistics.significance import DEFAULT_CONFIDENCE, DEFAULT_SEED

EXIT_OK = 0
EXIT_BAD_INPUT = 2
LIST_WIDTH = 100
MIXED = (
    "A run is scored by the ids of its blocks, and --results by their words: the two are never in one table. Name only "
    "one kind, or measure both by text with --hit text."
)


class ListMeasures(argparse.Action):
    """Prints every measure of the registry and exits; no file is needed."""

    def __init__(self, **options: Any) -> None:
        super().__init__(nargs=0, **options)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        sys.stdout.write(measure_list())
        parser.exit(EXIT_OK)


def measure_list() -> str:
    """Each measure with an example, its range, what it needs besides grades, and its formula in words."""
    lines = []
    for entry in REGISTRY.values():
        needs = ", ".join(sorted(entry.needs - {"grades"}))
        line = f"{entry.example}  {entry.low:g} to {entry.high:g}"
        lines.append(f"{line}, needs {needs}" if needs else line)
        lines.append(textwrap.fill(entry.words, LIST_WIDTH, initial_indent="    ", subsequent_indent="    "))
    return "\n".join(lines) + "\n"


def add_parser(subparsers: argparse._SubParsersAction) -> argparse.ArgumentParser:
    """Adds `score` to the commands of `karat`."""
    parser = subparsers.add_parser(
        "score",
        help="score runs against judgements, without a server",
        description="Score TREC runs against TREC qrels, or what a system returned against triples, or by text against "
        "qrels. Values of runs by qrels equal those of trec_eval -c.",
        epilog="Files may be gzipped; - is standard input, for one of them. "
        f"Measures: {', '.join(REGISTRY)}. Exit codes: 0 scored, 2 unusable input or wrong command line.",
    )
    _add_inputs(parser)
    _add_reading(parser)
    _add_outputs(parser)
    parser.set_defaults(run=run)
    return parser


def _add_inputs(parser: argparse.ArgumentParser) -> None:
    truth = parser.add_mutually_exclusive_group(required=True)
    truth.add_argument("--qrels", metavar="FILE", help="judgements: query 0 block grade, or a table with a heading")
    truth.add_argument("--triples", metavar="FILE", help="in their place: triples, as exported or published, as JSONL")
    parser.add_argument(
        "--run",
        action="append",
        dest="runs",
        metavar="FILE",
        help="a run: query Q0 block rank score tag; give it again for more runs",
    )
    parser.add_argument(
        "--results",
        action="append",
        metavar="FILE",
        help="returned passages, with qid, rank, and id, document_id, pages or text: JSON lines, a table or Parquet; "
        "with --qrels measured by text",
    )
    parser.add_argument(
        "--hit",
        metavar="RULE",
        help="what counts. With --triples: block (default), document, pages, evidence, evidence(share=0.9). With "
        "--qrels: block, or for --results and with --corpus text, text(share=0.9)",
    )
    parser.add_argument("--corpus", metavar="FILE", help="corpus.jsonl, for the documents, pages and texts of blocks")
    parser.add_argument("--compare", metavar="FILE", help="the baseline: a run that the others are compared with")
    parser.add_argument(
        "--weights", metavar="FILE", help="also means weighted by query: a table with the columns query and weight"
    )
    parser.add_argument("--by", metavar="FILE", help="strata: a table with the columns query and stratum, or several")
    parser.add_argument(
        "--blocks", metavar="FILE", help="attributes of blocks: a table with the column block, and others"
    )
    parser.add_argument(
        "--query-attributes", metavar="FILE", help="a table with the column query, and time or domain of queries"
    )
    parser.add_argument(
        "--unanswerable",
        metavar="FILE",
        help="queries that nothing in the corpus answers, an id on each line: for AbstentionRate and FalseAnswerRate",
    )
    parser.add_argument(
        "--abstains-below",
        type=finite,
        metavar="SCORE",
        help="a run has no answer to a query whose best score is below this (default: where it returns nothing)",
    )


def _add_reading(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fit-ids", action="store_true", help="read ids of runs that nearly fit as the judged ones, by one rule"
    )
    parser.add_argument(
        "--measures",
        metavar="LIST",
        help=f'measures separated by spaces or commas (default: "{DEFAULT_MEASURES}"; '
        f'with --triples "{DEFAULT_HIT_MEASURES}"; by text "{DEFAULT_TEXT_MEASURES}")',
    )
    parser.add_argument("--list-measures", action=ListMeasures, help="list all measures, and exit")
    parser.add_argument(
        "--rel-level",
        type=whole_from_one,
        default=1,
        metavar="N",
        help="lowest relevant grade where a measure names none (default: 1)",
    )
    parser.add_argument("--seed", type=whole, default=DEFAULT_SEED, help=f"default: {DEFAULT_SEED}")
    parser.add_argument(
        "--confidence",
        type=share,
        default=DEFAULT_CONFIDENCE,
        metavar="SHARE",
        help=f"of the intervals (default: {DEFAULT_CONFIDENCE})",
    )
    parser.add_argument("--no-ci", action="store_false", dest="with_intervals", help="no intervals")
    parser.add_argument(
        "--stratify", metavar="COLUMN", help="intervals from the scatter within the strata of this column of --by"
    )


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--per-query", action="store_true", help="also the values of every query")
    parser.add_argument(
        "--bounds", action="store_true", help="also how low and how high each mean could be if all results were judged"
    )
    parser.add_argument("--format", choices=FORMATS, default="table", help="how to print (default: table)")
    parser.add_argument("--html", metavar="FILE", help="write a report as well: one HTML file, ready to be printed")
    parser.add_argument("--markdown", metavar="FILE", help="write the same report as Markdown")


def run(args: argparse.Namespace) -> int:
    """Score, write the requested reports, and print. Returns the exit code."""
    try:
        card = _by_triples(args) if args.triples else _by_grades(args)
        _write_reports(card, args)
    except MeasureError as error:
        for fault in faults_of(error):
            print(f"karat score: {fault}", file=sys.stderr)
        return EXIT_BAD_INPUT
    except (InputError, InputErrors) as errors:
        for line in as_lines(errors):
            print(f"karat score: {line}", file=sys.stderr)
        return EXIT_BAD_INPUT
    sys.stdout.write(FORMATS[args.format](card))
    return EXIT_OK


def _by_triples(args: argparse.Namespace) -> Scorecard:
    from apps.cli.score.triples import scorecard_of_triples  # its readers are slow to load

    return scorecard_of_triples(args)


def _by_grades(args: argparse.Namespace) -> Scorecard:
    """The scores by grades, of blocks by their ids or by text. Raises MeasureError for options that contradict."""
    from apps.cli.score.triples import hit_rule, is_results  # its readers are slow to load

    rule = hit_rule(args.hit) if args.hit else None
    if rule and rule.kind not in (BLOCK, TEXT):
        raise MeasureError(f"--hit {rule.kind} goes with --triples; grades count by {BLOCK} or by {TEXT}.")
    has_results = bool(args.results or (args.compare and is_results(args.compare)))
    if rule is None and has_results and (args.runs or not args.results):
        raise MeasureError(MIXED)
    if (rule is None and has_results) or (rule and rule.kind == TEXT):
        from apps.cli.score.by_text import scorecard_by_text  # builds an index

        return scorecard_by_text(args)
    if has_results:
        raise MeasureError("--results has passages of a system's own, which are measured by text: leave out --hit.")
    if args.corpus:
        raise MeasureError("--corpus goes with --triples, and with --hit text.")
    if not args.runs:
        raise MeasureError("Name a run with --run, or what a system returned with --results and --corpus.")
    args.measures = args.measures or DEFAULT_MEASURES
    return scorecard_of(args)


def _write_reports(card: Scorecard, args: argparse.Namespace) -> None:
    """Write the requested reports. Raises InputError for a file that cannot be written."""
    if args.html or args.markdown:
        from apps.reports.core.score_document import scored_document
        from apps.reports.formats.markdown import write_reports  # only for a report

        write_reports(scored_document(card), html=args.html, markdown=args.markdown)
